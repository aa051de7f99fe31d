/* What every model is made of: the table and the schema agree, numbers of parameters are those that
 * the same networks have in PyTorch, every dimension has its axis, images of any size, sentences
 * for what cannot be. */
#include "testing.h"

#include "net/net.h"
#include "net/store.h"

#include <math.h>

static tsr_status create(tsri_net **net, const char *model, tsri_shape input, int64_t outputs)
{
    tsr_config *config = NULL;
    assert_ok(tsri_config_parse(&config, model, (int64_t)strlen(model), "run.yaml"));
    tsr_status st = tsri_net_create(net, config, input, outputs, false);
    tsr_config_destroy(config);
    return st;
}

static void schema_knows_every_model(void **state)
{
    (void)state;
    char names[512] = "";
    for (int i = 0; tsri_models[i]; i++) {
        strcat(names, i ? "|" : "");
        strcat(names, tsri_models[i]->name);
        assert_true(strlen(names) < sizeof names / 2);
    }
    assert_string_equal(names, tsri_schema[tsri_schema_find("model.name")].choices);
}

/* Every key that a model's row says it reads is one of the schema, and every key of the section has
 * somebody who reads it. */
static void keys_have_readers(void **state)
{
    (void)state;
    char key[80];
    for (int i = 0; tsri_models[i]; i++)
        for (const char *at = tsri_models[i]->keys; *at; at += strspn(at, " ")) {
            (void)snprintf(key, sizeof key, "model.%.*s", (int)strcspn(at, " "), at);
            assert_true(tsri_schema_find(key) >= 0);
            at += strcspn(at, " ");
        }
    for (int64_t k = 0; k < tsri_schema_count; k++) {
        const char *last = tsri_schema[k].key + strlen("model.");
        if (strncmp(tsri_schema[k].key, "model.", strlen("model.")) != 0 ||
            strcmp(last, "name") == 0)
            continue;
        int64_t readers = 0;
        for (int i = 0; tsri_models[i]; i++)
            readers += tsri_reads(tsri_models[i]->keys, last);
        assert_true(readers > 0);
    }
}

/* Trained numbers, as torchvision and the usual PyTorch modules have them; preresnet18 is 11171146
 * with the last norm (1024) behind it. */
static void parameters_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        tsri_shape input;
        int64_t outputs, trained;
    } table[] = {
        {"model: {name: preresnet18}", {3, 32, 32}, 10, 11171146 + 1024},
        {"model: {name: resnet18, stem: imagenet}", {3, 224, 224}, 1000, 11689512},
        {"model: {name: resnet34}", {3, 224, 224}, 1000, 21797672},
        {"model: {name: resnet50}", {3, 224, 224}, 1000, 25557032},
        {"model: {name: resnet101}", {3, 224, 224}, 1000, 44549160},
        {"model: {name: resnet152}", {3, 224, 224}, 1000, 60192808},
        {"model: {name: wide_resnet50_2}", {3, 224, 224}, 1000, 68883240},
        {"model: {name: wide_resnet101_2}", {3, 224, 224}, 1000, 126886696},
        {"model: {name: vgg11_bn}", {3, 224, 224}, 1000, 132868840},
        {"model: {name: vgg13_bn}", {3, 224, 224}, 1000, 133053736},
        {"model: {name: vgg16_bn}", {3, 224, 224}, 1000, 138365992},
        {"model: {name: vgg19_bn}", {3, 224, 224}, 1000, 143678248},
        {"model: {name: vgg11_plain}", {3, 224, 224}, 1000, 132863336},
        {"model: {name: vgg13_plain}", {3, 224, 224}, 1000, 133047848},
        {"model: {name: vgg16_plain}", {3, 224, 224}, 1000, 138357544},
        {"model: {name: vgg19_plain}", {3, 224, 224}, 1000, 143667240},
        {"model: {name: wideresnet, depth: 28, factor: 10}", {3, 32, 32}, 10, 36479194},
        {"model: {name: wideresnet, depth: 16, factor: 4}", {3, 32, 32}, 10, 2748890},
        {"model: {name: vgg11}", {3, 32, 32}, 10, 9231114},
        {"model: {name: cnn1, width: 100}", {3, 32, 32}, 1, 2700},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        tsri_net *net = NULL;
        assert_ok(create(&net, table[i].model, table[i].input, table[i].outputs));
        if (net->trained != table[i].trained)
            fail_msg("%s: %lld trained numbers, expected %lld", table[i].model,
                     (long long)net->trained, (long long)table[i].trained);
        tsri_net_destroy(net);
    }
}

static const char *const small[] = {
    "model: {name: mlp, hidden: [5, 4], norm: batch}",
    "model: {name: preresnet18, width: 2}",
    "model: {name: preresnet34, width: 3, stem: imagenet}",
    "model: {name: resnet18, width: 2}",
    "model: {name: resnet34, width: 2, stem: imagenet}",
    "model: {name: resnet50, width: 2}",
    "model: {name: wide_resnet50_2, width: 2, stem: imagenet}",
    "model: {name: wideresnet, depth: 10, factor: 1}",
    "model: {name: wideresnet, depth: 16, factor: 2}",
    "model: {name: vgg11, width: 2}",
    "model: {name: cnn1, width: 6}",
};
enum { SMALL = sizeof small / sizeof *small };

/* Every dimension with an axis is as long as the axis says; every cuttable axis is read and written
 * by weights; both ends are not cuttable; names are unique. */
static void axes_fit(void **state)
{
    (void)state;
    for (int m = 0; m < SMALL; m++) {
        tsri_net *net = NULL;
        assert_ok(create(&net, small[m], (tsri_shape){3, 12, 10}, 7));
        int64_t rows[256] = {0}, columns[256] = {0};
        for (int64_t p = 0; p < net->params; p++) {
            const tsri_param *q = &net->param[p];
            for (int d = 0; d < q->dims; d++)
                if (q->axis[d] >= 0)
                    assert_int_equal(q->shape[d], net->axis[q->axis[d]].size * q->inner[d]);
            if (q->dims >= 2) {
                rows[q->axis[0]]++;
                columns[q->axis[1]]++;
            }
            assert_int_equal(tsri_net_param(net, q->name), p);
        }
        assert_true(!net->axis[0].cuttable && !net->axis[net->axes - 1].cuttable);
        for (int64_t a = 0; a < net->axes; a++) {
            if (net->axis[a].cuttable)
                assert_true(rows[a] == 1 && columns[a] == 1);
            for (int64_t b = 0; b < a; b++)
                assert_string_not_equal(net->axis[a].name, net->axis[b].name);
        }
        tsri_net_destroy(net);
    }
}

static void axes_of_a_residual_network(void **state)
{
    (void)state;
    tsri_net *net = NULL;
    assert_ok(create(&net, "model: {name: preresnet18, width: 4}", (tsri_shape){3, 8, 8}, 10));
    static const struct {
        const char *name;
        int64_t size;
        bool cuttable;
    } want[] = {
        {"input", 3, false},          {"layer1.stream", 4, false},  {"layer1.0.inner", 4, true},
        {"layer1.1.inner", 4, true},  {"layer2.stream", 8, false},  {"layer2.0.inner", 8, true},
        {"layer2.1.inner", 8, true},  {"layer3.stream", 16, false}, {"layer3.0.inner", 16, true},
        {"layer3.1.inner", 16, true}, {"layer4.stream", 32, false}, {"layer4.0.inner", 32, true},
        {"layer4.1.inner", 32, true}, {"output", 10, false},
    };
    assert_int_equal(net->axes, sizeof want / sizeof *want);
    for (int64_t a = 0; a < net->axes; a++) {
        assert_string_equal(net->axis[a].name, want[a].name);
        assert_int_equal(net->axis[a].size, want[a].size);
        assert_int_equal(net->axis[a].cuttable, want[a].cuttable);
    }
    /* conv1's rows, bn2 and conv2's columns: what a share of the inner axis takes. */
    const tsri_param *conv1 = &net->param[tsri_net_param(net, "layer2.1.conv1.weight")];
    const tsri_param *bn2 = &net->param[tsri_net_param(net, "layer2.1.bn2.running_var")];
    const tsri_param *conv2 = &net->param[tsri_net_param(net, "layer2.1.conv2.weight")];
    assert_true(conv1->axis[0] == 6 && conv1->axis[1] == 4 && bn2->axis[0] == 6);
    assert_true(conv2->axis[0] == 4 && conv2->axis[1] == 6);
    tsri_net_destroy(net);
}

static void images_of_any_size(void **state)
{
    (void)state;
    static const tsri_shape sizes[] = {{1, 28, 28}, {3, 32, 32}, {3, 64, 64},  {1, 1, 1},
                                       {4, 1, 30},  {2, 33, 7},  {3, 100, 130}};
    for (int m = 0; m < SMALL; m++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            tsri_net *net = NULL;
            assert_ok(create(&net, small[m], sizes[s], 2));
            assert_int_equal(tsri_shape_count(net->value[net->values - 1].shape), 2);
            tsri_net_destroy(net);
        }
}

/* The stem: stride 1 up to 64 pixels, stride 4 in all beyond. */
static void stem_follows_the_images(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        int64_t side, size, last; /* of conv1; of the last images */
    } table[] = {
        {"model: {name: preresnet18, width: 1}", 64, 3, 8},
        {"model: {name: preresnet18, width: 1}", 65, 7, 3},
        {"model: {name: resnet18, width: 1}", 224, 7, 7},
        {"model: {name: resnet18, width: 1, stem: cifar}", 224, 3, 28},
        {"model: {name: resnet18, width: 1, stem: imagenet}", 32, 7, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        tsri_net *net = NULL;
        assert_ok(create(&net, table[i].model, (tsri_shape){3, table[i].side, table[i].side}, 2));
        assert_int_equal(net->layer[0].size, table[i].size);
        for (int64_t l = 0; l < net->layers; l++)
            if (net->layer[l].kind == TSRI_GLOBALPOOL)
                assert_int_equal(net->value[net->layer[l].in].shape.h, table[i].last);
        tsri_net_destroy(net);
    }
}

/* N(0, 2/inputs) for convolutions, +-1/(p sqrt m) for the fixed layer of cnn1. */
static void weights_start_as_said(void **state)
{
    (void)state;
    tsri_net *net = NULL;
    tsri_store store;
    assert_ok(
        create(&net, "model: {name: cnn1, width: 400, kappa: 0.3}", (tsri_shape){3, 5, 4}, 2));
    assert_ok(tsri_store_init(&store, net, &tsri_backend_ref64, true));
    assert_ok(tsri_store_fill(&store, 1));
    assert_int_equal(net->param[1].role, TSRI_FIXED);
    assert_int_equal(net->trained, 400 * 27);
    const double *w = touch(tsri_store_at(&store, store.w, 0)),
                 *a = touch(tsri_store_at(&store, store.w, 1));
    double squares = 0, plus = 0, size = 1 / (20 * sqrt(400.0));
    for (int64_t i = 0; i < net->param[0].count; i++)
        squares += w[i] * w[i];
    /* the mean of 10800 squares of deviation kappa^2 sqrt 2 lies within 5 deviations of kappa^2 */
    assert_true(fabs(squares / 10800 / 0.09 - 1) < 5 * sqrt(2.0 / 10800));
    for (int64_t i = 0; i < net->param[1].count; i++) {
        assert_true(fabs(fabs(a[i]) - size) < 1e-15);
        plus += a[i] > 0;
    }
    assert_true(fabs(plus - 8000) < 5 * sqrt(16000.0) / 2);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
}

/* A window that does not fit. Every model's images can shrink to a pixel, so none has one. */
static tsr_status too_large(tsri_net *net)
{
    int axis, x;
    assert_ok(tsri_net_axis(net, &axis, 4, true, "a"));
    return tsri_net_conv(net, &x, 0, axis, 7, 1, 1, false, 2.0, "conv1");
}

static void sentences(void **state)
{
    (void)state;
    tsri_net *net = NULL;
    assert_fails(
        create(&net, "model:\n  name: wideresnet\n  depth: 18\n", (tsri_shape){3, 8, 8}, 2),
        TSR_USAGE, "run.yaml:3:10: model.depth of a wideresnet is 6n+4");
    assert_fails(create(&net, "model: {name: cnn1, filter: 4}", (tsri_shape){3, 8, 8}, 2),
                 TSR_USAGE, "run.yaml:1:29: model.filter is odd");
    tsr_config *config = NULL;
    assert_ok(tsri_config_parse(&config, "model: {name: mlp}", 18, "run.yaml"));
    assert_fails(tsri_net_build(&net, config, (tsri_shape){3, 4, 4}, 2, false, too_large),
                 TSR_USAGE,
                 "run.yaml:1:15: the model is too deep for these images: at conv1 they are 4x4");
    tsr_config_destroy(config);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int m = 0; m < SMALL; m++) {
        tsr_config *config = NULL;
        tsr_status st = TSR_RESOURCES;
        assert_ok(tsri_config_parse(&config, small[m], (int64_t)strlen(small[m]), "test"));
        for (int64_t n = 0; st != TSR_OK; n++) {
            tsri_net *net = NULL;
            (void)tsri_alloc_fail_after(n, false);
            st = tsri_net_create(&net, config, (tsri_shape){3, 8, 8}, 2, true);
            (void)tsri_alloc_fail_after(-1, false);
            assert_true(st == TSR_OK || (st == TSR_RESOURCES && !net));
            tsri_net_destroy(net);
        }
        tsr_config_destroy(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema_knows_every_model),
        cmocka_unit_test(keys_have_readers),
        cmocka_unit_test(parameters_are_counted),
        cmocka_unit_test(axes_fit),
        cmocka_unit_test(axes_of_a_residual_network),
        cmocka_unit_test(images_of_any_size),
        cmocka_unit_test(stem_follows_the_images),
        cmocka_unit_test(weights_start_as_said),
        cmocka_unit_test(sentences),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
