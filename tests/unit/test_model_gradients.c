/* Small instances of every convolutional model, through the plan with all it fuses, on ref in
 * double: gradients against central differences. And a network made for the plan: sums of every
 * kind, layers that no model has. */
#include "gradient_testing.h"

#include "base/rng.h"
#include "plan_testing.h"

enum { BATCH = 4, OUTPUTS = 3, OF_EACH = 3 };

typedef struct fixture {
    tsri_net *net;
    tsri_store store;
    tsri_pool *pool;
    tsri_plan *plan;
    float *x;
    int32_t label[BATCH];
} fixture;

/* Takes the net. */
static void set_up(fixture *f, tsri_net *net, int64_t seed)
{
    *f = (fixture){.net = net};
    tsri_rng rng = tsri_rng_stream((uint64_t)seed, TSRI_FOR_TEST, 0, 0, 0);
    int64_t count = BATCH * tsri_shape_count(net->input);
    assert_ok(tsri_store_init(&f->store, net, &tsri_backend_ref64, true));
    assert_ok(tsri_store_fill(&f->store, (uint64_t)seed));
    /* Norms away from weight 1 and bias 0, where a mistake could hide. */
    for (int64_t p = 0; p < net->params; p++)
        if (net->param[p].role == TSRI_TRAINED && net->param[p].dims == 1)
            for (int64_t i = 0; i < net->param[p].count; i++)
                ((double *)touch(tsri_store_at(&f->store, f->store.w, p)))[i] +=
                    0.2 * tsri_rng_normal(&rng);
    assert_ok(tsri_pool_create(&f->pool, 1));
    assert_ok(tsri_plan_create(&f->plan, &f->store, tsri_device_on(&tsri_backend_ref64, f->pool),
                               BATCH, true));
    assert_ok(tsri_alloc(&f->x, count, sizeof *f->x));
    for (int64_t i = 0; i < count; i++)
        f->x[i] = (float)tsri_rng_normal(&rng);
    for (int i = 0; i < BATCH; i++)
        f->label[i] = (int32_t)tsri_rng_below(&rng, OUTPUTS);
}

static void tear_down(fixture *f)
{
    tsri_free(f->x);
    tsri_plan_destroy(f->plan);
    tsri_pool_destroy(f->pool);
    tsri_store_fini(&f->store);
    tsri_net_destroy(f->net);
}

static double mean_loss(void *fixture_)
{
    fixture *f = fixture_;
    tsri_loss loss = {.kind = &tsri_loss_cross_entropy, .valid = BATCH, .label = f->label};
    assert_ok(tsri_plan_forward(f->plan, f->x));
    assert_ok(tsri_plan_loss(f->plan, &loss));
    return plan_tally(f->plan).sum / BATCH;
}

static uint64_t pattern(void *fixture_)
{
    return plan_pattern(((fixture *)fixture_)->plan);
}

/* About OF_EACH numbers of every trained tensor, spread over it. */
static void check_gradients(fixture *f, const char *name)
{
    differences d = {.value = mean_loss, .pattern = pattern, .context = f};
    (void)mean_loss(f);
    assert_ok(tsri_plan_backward(f->plan));
    for (int64_t p = 0; p < f->net->params; p++) {
        const tsri_param *param = &f->net->param[p];
        if (param->role != TSRI_TRAINED)
            continue;
        char what[200];
        int64_t stride = param->count > OF_EACH ? param->count / OF_EACH : 1,
                first = 7 * p % stride;
        double *w = touch(tsri_store_at(&f->store, f->store.w, p)),
               *g = touch(tsri_store_at(&f->store, f->store.g, p));
        (void)snprintf(what, sizeof what, "%s, %s from %lld", name, param->name, (long long)first);
        assert_gradient(&d, what, w + first, g + first, param->count - first, stride);
    }
    assert_mostly_smooth(&d, name);
}

static void gradients_of_models(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        tsri_shape input;
    } table[] = {
        {"model: {name: preresnet18, width: 2}", {3, 8, 8}},
        {"model: {name: preresnet18, width: 2, stem: imagenet}", {1, 18, 17}},
        {"model: {name: preresnet34, width: 2}", {1, 6, 6}},
        {"model: {name: resnet18, width: 2, bias: false}", {3, 8, 8}},
        {"model: {name: resnet18, width: 2, stem: imagenet}", {1, 18, 17}},
        {"model: {name: resnet34, width: 2}", {1, 6, 6}},
        {"model: {name: resnet50, width: 2}", {1, 16, 16}},
        {"model: {name: wide_resnet50_2, width: 1}", {1, 16, 16}},
        {"model: {name: wideresnet, depth: 10, factor: 2}", {2, 3, 4}},
        {"model: {name: wideresnet, depth: 16, factor: 1}", {1, 4, 3}},
        {"model: {name: vgg11, width: 2}", {3, 8, 8}},
        {"model: {name: vgg11, width: 2, bias: false}", {1, 9, 6}},
        {"model: {name: cnn1, width: 5}", {3, 6, 6}},
        {"model: {name: cnn1, width: 4, filter: 5, kappa: 0.5}", {1, 5, 4}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        fixture f;
        tsr_config *config = NULL;
        tsri_net *net = NULL;
        const char *text = table[i].model;
        assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "test"));
        assert_ok(tsri_net_create(&net, config, table[i].input, OUTPUTS, false));
        tsr_config_destroy(config);
        set_up(&f, net, 1);
        check_gradients(&f, text);
        tear_down(&f);
    }
}

/* Sums that cannot be fused, or whose summand's gradient must have memory of its own: of a value
 * with itself, of a value read again later, of two convolutions, of a norm and its own input; with
 * and without ReLU. And average pooling, a ReLU alone, flatten. */
static tsr_status sums(tsri_net *net)
{
    int a, hidden, v, w, u, twice;
    assert_ok(tsri_net_axis(net, &a, 3, true, "a"));
    assert_ok(tsri_net_conv(net, &v, 0, a, 3, 1, 1, true, 2.0, "stem"));
    assert_ok(tsri_net_add(net, &twice, v, v, "twice"));
    assert_ok(tsri_net_relu(net, &twice, twice, "twice.relu"));
    assert_ok(tsri_net_conv(net, &w, twice, a, 1, 1, 0, false, 2.0, "left"));
    assert_ok(tsri_net_conv(net, &u, v, a, 3, 1, 1, false, 2.0, "right"));
    assert_ok(tsri_net_add(net, &u, w, u, "both")); /* fused into right */
    assert_ok(tsri_net_relu(net, &u, u, "alone"));
    assert_ok(tsri_net_add(net, &w, twice, u, "old")); /* u is read again below */
    assert_ok(tsri_net_norm(net, &v, w, "norm"));      /* and added to its own input */
    assert_ok(tsri_net_add(net, &v, v, w, "own"));
    assert_ok(tsri_net_add(net, &v, u, v, "again")); /* the first summand is the older */
    assert_ok(tsri_net_relu(net, &v, v, "again.relu"));
    assert_ok(tsri_net_norm(net, &w, v, "last")); /* fused with sum and ReLU */
    assert_ok(tsri_net_add(net, &w, twice, w, "last.add"));
    assert_ok(tsri_net_relu(net, &w, w, "last.relu"));
    assert_ok(tsri_net_pool(net, &w, w, TSRI_AVGPOOL, 3, 2, 1, "average"));
    assert_ok(tsri_net_pool(net, &u, w, TSRI_MAXPOOL, 2, 1, 0, "largest"));
    assert_ok(tsri_net_flatten(net, &u, u, "flatten"));
    assert_ok(tsri_net_axis(net, &hidden, OUTPUTS, false, "output"));
    assert_ok(tsri_net_linear(net, &u, u, hidden, true, 1.0, "linear"));
    assert_ok(tsri_net_global(net, &v, w, "global"));
    assert_ok(tsri_net_linear(net, &v, v, hidden, true, 1.0, "side"));
    assert_ok(tsri_net_add(net, &v, u, v, "output"));
    return TSR_OK;
}

static void gradients_of_sums(void **state)
{
    (void)state;
    for (int64_t seed = 1; seed <= 5; seed++) {
        fixture f;
        tsr_config *config = NULL;
        tsri_net *net = NULL;
        assert_ok(tsri_config_parse(&config, "seed: 1", 7, "test"));
        assert_ok(tsri_net_build(&net, config, (tsri_shape){2, 5, 4}, OUTPUTS, false, sums));
        tsr_config_destroy(config);
        set_up(&f, net, seed);
        check_gradients(&f, "sums");
        tear_down(&f);
    }
}

/* What the plan is to fuse in a block of each family: nothing but convolutions, norms, one pooling
 * and one linear layer is left. */
static void blocks_are_fused(void **state)
{
    (void)state;
    static const char *const models[] = {"model: {name: preresnet18, width: 2}",
                                         "model: {name: resnet18, width: 2}"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        fixture f;
        tsr_config *config = NULL;
        tsri_net *net = NULL;
        assert_ok(tsri_config_parse(&config, models[i], (int64_t)strlen(models[i]), "test"));
        assert_ok(tsri_net_create(&net, config, (tsri_shape){3, 8, 8}, OUTPUTS, false));
        tsr_config_destroy(config);
        set_up(&f, net, 1);
        for (int64_t k = 0; k < tsri_plan_ops(f.plan); k++) {
            const char *name;
            tsri_kind kind = tsri_plan_op(f.plan, k, &name)->kind;
            if (kind == TSRI_ADD || kind == TSRI_RELU)
                fail_msg("%s: %s stands alone", models[i], name);
        }
        tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_models),
        cmocka_unit_test(gradients_of_sums),
        cmocka_unit_test(blocks_are_fused),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
