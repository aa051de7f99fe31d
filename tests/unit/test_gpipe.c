/* GPipe: equal to the bit to plain training on the same micro-batches, for every number of stages
 * and threads; bytes by hand; cuts only where one tensor crosses, and balanced as brute force
 * balances them. */
#include "run_testing.h"

#include "base/rng.h"
#include "net/depth.h"

#include <math.h>

static const char preresnet[] =
    "data: {name: glyphs, n: 24, test_n: 4, channels: 3}\nmodel: {name: preresnet18, width: 3}\n"
    "batch: 8\noptim: {lr: 0.05, momentum: 0.9, weight_decay: 0.001}\nrounds: 100\n";
static const char mlp[] = "data: {name: glyphs, n: 60, test_n: 4}\n"
                          "model: {name: mlp, hidden: [9, 7, 5, 6], norm: batch}\n"
                          "batch: 12\nrounds: 100\noptim: {lr: 0.05}\n";

#define NO_MLP "model.hidden=[256, 256];model.norm=none;" /* for models that do not read them */

static const char rnn[] =
    "data: {name: sequences, n: 40, length: 6}\nmodel: {name: rnn, width: 16}\n"
    "batch: 10\nrounds: 100\noptim: {lr: 0.001}\n";

/* ---- Identity ----------------------------------------------------------------------------- */

static void equal_to_plain(const char *text, const char *more, int micro, int most, int threads)
{
    char settings[300];
    (void)snprintf(settings, sizeof settings, "%sscheme.micro_batches=%d", more, micro);
    outcome plain = after(text, settings, 3);
    assert_int_equal(plain.bytes, 0);
    for (int stages = 1; stages <= most; stages++)
        for (int t = 1; t <= threads; t++) {
            (void)snprintf(settings, sizeof settings,
                           "%sscheme.name=gpipe;scheme.workers=%d;scheme.micro_batches=%d;"
                           "threads=%d",
                           more, stages, micro, t);
            outcome piped = after(text, settings, 3);
            assert_true(plain.loss == piped.loss);
            same(&plain, piped);
        }
    tsri_free(plain.w);
}

static void stages_change_no_bit(void **state)
{
    (void)state;
    equal_to_plain(preresnet, "", 4, 4, 3);
    equal_to_plain(preresnet, "", 1, 3, 1);
    equal_to_plain(preresnet, "model.name=resnet18;", 2, 4, 2);
    equal_to_plain(preresnet, "model.name=vgg11;", 2, 4, 2);
    equal_to_plain(preresnet, "model.name=wideresnet;model.width=64;model.factor=1;model.depth=10;",
                   2, 5, 2);
    equal_to_plain(preresnet, "backend=ref;data.limit=8;", 2, 3, 1);
    equal_to_plain(mlp, "", 3, 5, 3);
    equal_to_plain(mlp, "model.norm=none;loss=half_squares;optim.lr=0.001;", 4, 5, 2);
    equal_to_plain(mlp, "optim.name=gd;", 3, 2, 2);
    equal_to_plain(rnn, "", 2, 2, 2);
    equal_to_plain(preresnet, "model.name=cnn1;model.width=6;loss=cross_entropy;", 2, 2, 2);
    equal_to_plain(mlp, "model.name=shallow;model.width=30;" NO_MLP "loss=cross_entropy;", 2, 2, 1);
    equal_to_plain(mlp, "model.name=relu_deep;model.norm=none;data.name=sphere;", 2, 4, 2);
    /* products after a cut skip what the whole's skip */
    equal_to_plain(mlp, "skip=on;model.norm=none;model.hidden=[150, 140, 130];data.n=128;batch=64;",
                   2, 4, 2);
}

/* What crosses may be gated, and wide enough on both sides for products that skip: after the cut
 * nobody knew the gates, took a dense product, and summed in another order. Deep layers of a narrow
 * net have samples whose units are all off: gates that are on, of values that are 0. */
static void gates_behind_a_cut(void **state)
{
    (void)state;
    static const char grelu[] =
        "data: {name: random-labels, n: 128, test_n: 4, dim: 8, classes: 140}\n"
        "model: {name: grelu, width: 150, layers: 2}\nbatch: 64\n"
        "loss: cross_entropy\nrounds: 100\noptim: {lr: 0.01}\n";
    equal_to_plain(grelu, "", 2, 3, 2);
    equal_to_plain(grelu, "", 1, 3, 1);
    equal_to_plain(grelu, "skip=on;", 2, 3, 1);
    equal_to_plain(grelu, "skip=off;", 2, 3, 1);
    equal_to_plain(grelu, "model.gate_rank=3;", 2, 3, 1);
    equal_to_plain(grelu, "model.gate_rank=1;model.layers=6;", 2, 3, 1);
    equal_to_plain(grelu, "model.name=relu_twin;model.layers=3;", 2, 4, 2);
    equal_to_plain(grelu, "backend=ref;", 2, 3, 1);
}

/* The cuts may lie anywhere, and measured ones do. */
static void places_change_no_bit(void **state)
{
    (void)state;
    outcome plain = after(preresnet, "scheme.micro_batches=2", 2);
    same(&plain, after(preresnet,
                       "scheme.name=gpipe;scheme.workers=3;scheme.micro_batches=2;"
                       "scheme.cuts=layer1.0,layer4.1",
                       2));
    same(&plain, after(preresnet,
                       "scheme.name=gpipe;scheme.workers=3;scheme.micro_batches=2;"
                       "scheme.balance=time",
                       2));
    tsri_free(plain.w);
}

/* Adding gradients up is the batch's gradient: without norms only the rounding differs. */
static void micro_batches_are_the_batch(void **state)
{
    (void)state;
    outcome whole = after(mlp, "model.norm=none", 3);
    outcome parts = after(mlp, "model.norm=none;scheme.micro_batches=4", 3);
    double most = 0;
    for (int64_t i = 0; i < whole.count; i++)
        most = fmax(most, fabs((double)(whole.w[i] - parts.w[i])));
    assert_true(most > 0 && most < 1e-5); /* weights of size 1, three steps of rounding in float */
    assert_true(fabs(whole.loss - parts.loss) < 1e-5);
    tsri_free(whole.w);
    tsri_free(parts.w);
}

/* After layer2.1: 6 channels of 16x16; after layer3.1: 12 of 8x8. There and back, 4 bytes, 8
 * samples, 3 rounds. */
static void bytes_by_hand(void **state)
{
    (void)state;
    outcome o = after(preresnet,
                      "scheme.name=gpipe;scheme.workers=3;scheme.micro_batches=2;"
                      "scheme.cuts=layer2.1,layer3.1",
                      3);
    assert_int_equal(o.bytes, 3 * 8 * 2 * 4 * (6 * 16 * 16 + 12 * 8 * 8));
    tsri_free(o.w);
    o = after(preresnet, "scheme.name=gpipe;scheme.workers=1;scheme.micro_batches=2", 3);
    assert_int_equal(o.bytes, 0);
    tsri_free(o.w);
}

/* ---- Places ------------------------------------------------------------------------------- */

static tsri_net *net_of(const char *settings)
{
    tsri_net *net = NULL;
    tsr_config *config = make_config("model: {width: 4}\n", settings);
    assert_ok(tsri_net_create(&net, config, (tsri_shape){3, 32, 32}, 10, true));
    tsr_config_destroy(config);
    return net;
}

static void expect_places(const char *model, const char *expected)
{
    char have[1000] = "";
    tsri_net *net = net_of(model);
    for (int64_t i = 0; i <= net->layers; i++)
        if (tsri_depth_cuttable(net, i))
            (void)strcat(strcat(have, net->layer[i - 1].name), " ");
    assert_string_equal(have, expected);
    tsri_net_destroy(net);
}

static void one_tensor_crosses(void **state)
{
    (void)state;
    expect_places("model.name=preresnet18",
                  "conv1 layer1.0.add layer1.1.add layer2.0.add layer2.1.add layer3.0.add "
                  "layer3.1.add layer4.0.add layer4.1.add relu pool ");
    expect_places("model.name=resnet18",
                  "conv1 layer1.0.relu2 layer1.1.relu2 layer2.0.relu2 layer2.1.relu2 "
                  "layer3.0.relu2 layer3.1.relu2 layer4.0.relu2 layer4.1.relu2 pool ");
}

/* The least of the dearest parts over all ways to cut. */
static double brute(const tsri_net *net, const double *cost, int64_t from, int64_t parts)
{
    double sum = 0, least = INFINITY;
    for (int64_t i = from; i < net->layers; i++) {
        sum += cost[i];
        if (parts > 1 && tsri_depth_cuttable(net, i + 1))
            least = fmin(least, fmax(sum, brute(net, cost, i + 1, parts - 1)));
    }
    return parts == 1 ? sum : least;
}

static void balance_is_the_best(void **state)
{
    (void)state;
    tsri_net *net = net_of("model.name=preresnet18");
    double cost[200];
    int64_t begin[8];
    for (uint32_t seed = 1; seed <= 20; seed++) {
        tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_SHARE, 0, 0, 0);
        for (int64_t i = 0; i < net->layers; i++)
            cost[i] = tsri_rng_uniform53(&rng);
        for (int64_t parts = 1; parts <= 4; parts++) {
            double dearest = 0;
            assert_ok(tsri_depth_balance(begin, net, cost, parts));
            assert_int_equal(begin[0], 0);
            assert_int_equal(begin[parts], net->layers);
            for (int64_t p = 0; p < parts; p++) {
                double sum = 0;
                for (int64_t i = begin[p]; i < begin[p + 1]; i++)
                    sum += cost[i];
                dearest = fmax(dearest, sum);
            }
            /* sums of the same numbers in another order */
            assert_true(fabs(dearest / brute(net, cost, 0, parts) - 1) < 1e-12);
        }
    }
    assert_int_equal(tsri_depth_most(net), 12);
    assert_fails(tsri_depth_balance(begin, net, cost, 13), TSR_USAGE, "12 at most");
    tsri_net_destroy(net);
}

/* ---- Refusals and faults ------------------------------------------------------------------ */

static void refusals(void **state)
{
    (void)state;
    refuse(preresnet, "scheme.name=gpipe;scheme.workers=13;scheme.micro_batches=1", "12 at most");
    refuse(preresnet, "scheme.name=gpipe;scheme.workers=3", "3 micro-batches do not divide");
    refuse(preresnet, "scheme.micro_batches=5", "scheme.micro_batches");
    refuse(preresnet, "scheme.name=gpipe;scheme.workers=2;scheme.cuts=layer2.1.conv1",
           "cannot be cut after layer2.1.conv1");
    refuse(preresnet, "scheme.name=gpipe;scheme.workers=2;scheme.cuts=nothing",
           "it can after conv1, layer1.0.add");
    refuse(preresnet, "scheme.name=gpipe;scheme.workers=4;scheme.cuts=layer2.1", "names fewer");
    refuse(preresnet, "scheme.name=gpipe;scheme.workers=2;scheme.cuts=layer2.1,layer3.1",
           "names more");
    refuse(preresnet, "scheme.name=gpipe;scheme.workers=4;scheme.cuts=layer3.1,layer2.1,layer1.1",
           "in the order");
    refuse(preresnet, "scheme.name=gpipe;scheme.workers=2;scheme.data=shard", "same samples");
    refuse(mlp, "scheme.name=gpipe;scheme.workers=2;scheme.micro_batches=12", "batch norm");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    walk_allocations(mlp,
                     "threads=1;data.prefetch=false;scheme.name=gpipe;scheme.workers=2;"
                     "scheme.micro_batches=2;scheme.balance=time",
                     1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_change_no_bit),
        cmocka_unit_test(gates_behind_a_cut),
        cmocka_unit_test(places_change_no_bit),
        cmocka_unit_test(micro_batches_are_the_batch),
        cmocka_unit_test(bytes_by_hand),
        cmocka_unit_test(one_tensor_crosses),
        cmocka_unit_test(balance_is_the_best),
        cmocka_unit_test(refusals),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
