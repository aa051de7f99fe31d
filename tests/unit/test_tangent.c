/* Exact tangent kernels of every kind of model against gradients sample by sample: ref in double,
 * one sample at a time, norms with running statistics; and those gradients against finite
 * differences, so that nothing rests on the code that is tested. */
#include "gradient_testing.h"
#include "plan_testing.h"

#include "base/rng.h"
#include "net/order.h"
#include "theory/tangent.h"

typedef struct kind {
    const char *model;
    tsri_shape input;
    int64_t n;
    bool lengths; /* sequences of different lengths */
    double scale; /* of recurrent layers, as in a share; 0 = as they are */
} kind;

static const kind kinds[] = {
    {"model: {name: mlp, hidden: []}", {6, 1, 1}, 5, false, 0},
    {"model: {name: mlp, hidden: [30, 17]}", {6, 1, 1}, 12, false, 0},
    {"model: {name: mlp, hidden: [20, 20, 20], bias: false}", {2, 3, 3}, 7, false, 0},
    {"model: {name: mlp, hidden: [12, 9], norm: batch}", {5, 1, 1}, 6, false, 0},
    {"model: {name: shallow, width: 40, kappa: 0.7}", {7, 1, 1}, 6, false, 0},
    {"model: {name: cnn1, width: 9, filter: 3}", {2, 6, 5}, 5, false, 0},
    {"model: {name: preresnet18, width: 4}", {3, 8, 8}, 4, false, 0},
    {"model: {name: resnet18, width: 4, stem: imagenet}", {3, 16, 16}, 4, false, 0},
    {"model: {name: vgg11, width: 8}", {1, 32, 32}, 4, false, 0}, /* late layers in patch form */
    {"model: {name: relu_deep, width: 14}", {5, 1, 1}, 5, false, 0},
    {"model: {name: grelu, width: 16}", {5, 1, 1}, 5, false, 0},
    {"model: {name: wideresnet, depth: 10, factor: 1}", {1, 8, 8}, 4, false, 0},
    {"model: {name: grelu, width: 16, layers: 2, gate_rank: 3}", {5, 1, 1}, 5, false, 0},
    {"model: {name: relu_twin, width: 16, layers: 3}", {5, 1, 1}, 5, false, 0},
    {"model: {name: preresnet34, width: 2}", {1, 8, 8}, 3, false, 0},
    {"model: {name: resnet34, width: 2}", {3, 8, 8}, 3, false, 0},
    /* Sequences: products of positions and of sums, W alone and all, both ways to read. */
    {"model: {name: rnn, width: 40, read: last}", {4, 4, 1}, 6, true, 0},
    {"model: {name: rnn, width: 12, read: last, train: all}", {4, 9, 1}, 5, true, 0},
    {"model: {name: rnn, width: 30, read: every, train: all}", {5, 3, 1}, 6, true, 0},
    {"model: {name: rnn, width: 24, read: every}", {5, 3, 1}, 6, false, 1.4},
    {"model: {name: rnn, width: 10, layers: 3, read: last, train: all}", {4, 6, 1}, 5, true, 1.2},
    {"model: {name: rnn, width: 20, layers: 2, read: every}", {4, 3, 1}, 5, true, 0},
    {"model: {name: rnn, width: 12, read: last, train: all}", {4, 1, 1}, 5, false, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds, OUTPUTS = 3 };

typedef struct bench {
    tsri_net *net, *net64; /* as cpu keeps it; as ref does */
    tsri_store store, store64;
    tsri_pool *pool;
    float *x;
    int32_t *length; /* [n], or NULL */
    int64_t n;
} bench;

static void make_net(tsri_net **net, const kind *k, tsri_filter_order filters)
{
    tsr_config *config = NULL;
    assert_ok(tsri_config_parse(&config, k->model, (int64_t)strlen(k->model), "test"));
    assert_ok(tsri_net_create(net, config, k->input, OUTPUTS, filters));
    for (int64_t i = 0; k->scale > 0 && i < (*net)->layers; i++)
        if ((*net)->layer[i].kind == TSRI_RECURRENT)
            (*net)->layer[i].scale = k->scale;
    tsr_config_destroy(config);
}

/* The same numbers in both; running statistics that are neither 0 nor 1. */
static void make(bench *b, const kind *k)
{
    tsri_rng rng = tsri_rng_stream(11, TSRI_FOR_TEST, 0, 0, 0);
    *b = (bench){.n = k->n};
    make_net(&b->net, k, tsri_backend_cpu.can.filters);
    make_net(&b->net64, k, false);
    assert_ok(tsri_store_init(&b->store, b->net, &tsri_backend_cpu, false));
    assert_ok(tsri_store_init(&b->store64, b->net64, &tsri_backend_ref64, true));
    assert_ok(tsri_store_fill(&b->store, 5));
    for (int64_t p = 0; p < b->net->params; p++) {
        const tsri_param *to = &b->net64->param[p], *from = &b->net->param[p];
        float *w = touch(tsri_store_at(&b->store, b->store.w, p));
        double *w64 = touch(tsri_store_at(&b->store64, b->store64.w, p));
        for (int64_t i = 0; i < from->count; i++) {
            float *at = &w[tsri_order_place(from, i)];
            if (from->role == TSRI_BUFFER)
                *at = 0.5f + tsri_rng_uniform(&rng);
            else if (from->init == TSRI_INIT_ZERO || from->init == TSRI_INIT_ONE)
                *at += 0.2f * (tsri_rng_uniform(&rng) - 0.5f);
            w64[tsri_order_place(to, i)] = (double)*at;
        }
    }
    int64_t each = tsri_shape_count(k->input);
    b->x = malloc((size_t)(b->n * each) * sizeof *b->x);
    for (int64_t i = 0; i < b->n * each; i++)
        b->x[i] = (float)tsri_rng_normal(&rng);
    if (k->lengths)
        b->length = malloc((size_t)b->n * sizeof *b->length);
    for (int64_t i = 0; k->lengths && i < b->n; i++)
        b->length[i] = (int32_t)(1 + i % k->input.h);
    assert_ok(tsri_pool_create(&b->pool, 2));
}

static void unmake(bench *b)
{
    tsri_store_fini(&b->store);
    tsri_store_fini(&b->store64);
    tsri_net_destroy(b->net);
    tsri_net_destroy(b->net64);
    tsri_pool_destroy(b->pool);
    free(b->x);
    free(b->length);
}

static tsr_status look_away(void *context, const tsri_op *op, const tsri_layer *layer)
{
    (void)context;
    (void)op;
    (void)layer;
    return TSR_OK;
}

/* g[trained] = gradient of output o at sample i, in double. */
static void gradient64(double *g, bench *b, tsri_plan *plan, int64_t i, int64_t o)
{
    double *dy = plan_output_gradient(plan);
    tsri_plan_lengths(plan, b->length ? b->length + i : NULL);
    assert_ok(tsri_plan_forward(plan, b->x + i * tsri_shape_count(b->net->input)));
    for (int64_t c = 0; c < OUTPUTS; c++)
        dy[c] = c == o;
    assert_ok(tsri_plan_backward_each(plan, look_away, NULL));
    memcpy(g, b->store64.g, (size_t)b->net64->trained * sizeof *g);
}

typedef struct one_output {
    tsri_plan *plan;
    const float *x;
    int64_t o;
} one_output;

static double value_of(void *one_output_)
{
    const one_output *f = one_output_;
    assert_ok(tsri_plan_forward(f->plan, f->x));
    return ((const double *)plan_outputs(f->plan))[f->o];
}

static uint64_t pattern_of(void *one_output_)
{
    return plan_pattern(((const one_output *)one_output_)->plan);
}

/* About 40 coordinates of a gradient, in units of its largest. */
static void check_differences(bench *b, tsri_plan *plan, const double *g, int64_t i, int64_t o,
                              const char *name)
{
    one_output f = {plan, b->x + i * tsri_shape_count(b->net->input), o};
    differences d = {.value = value_of, .pattern = pattern_of, .context = &f};
    tsri_plan_lengths(plan, b->length ? b->length + i : NULL);
    for (int64_t k = 0; k < b->net64->trained; k++) /* 0: the first position of a recurrent */
        d.unit = fmax(d.unit, fabs(g[k]));          /* network does not know W */
    assert_gradient(&d, name, touch(b->store64.w), g, b->net64->trained,
                    1 + b->net64->trained / 40);
    assert_mostly_smooth(&d, name);
}

/* want [n, n] of one output or of their sum. */
static void reference(double *want, bench *b, int64_t output, const char *name)
{
    tsri_plan *plan = NULL;
    int64_t count = b->net64->trained, n = b->n;
    double *g = malloc((size_t)(n * count) * sizeof *g);
    assert_ok(tsri_plan_create_frozen(&plan, &b->store64,
                                      tsri_device_on(&tsri_backend_ref64, b->pool), 1, true));
    memset(want, 0, (size_t)(n * n) * sizeof *want);
    for (int64_t o = 0; o < OUTPUTS; o++) {
        if (output >= 0 && o != output)
            continue;
        for (int64_t i = 0; i < n; i++)
            gradient64(g + i * count, b, plan, i, o);
        check_differences(b, plan, g, 0, o, name);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                for (int64_t k = 0; k < count; k++)
                    want[i * n + j] += g[i * count + k] * g[j * count + k];
    }
    tsri_plan_destroy(plan);
    free(g);
}

/* Largest difference, in parts of the largest entry. */
static double distance(const double *a, const double *b, int64_t n)
{
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < n * n; i++) {
        worst = fmax(worst, fabs(a[i] - b[i]));
        largest = fmax(largest, fabs(b[i]));
    }
    return worst / largest;
}

static void test_every_kind(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        bench b;
        make(&b, &kinds[k]);
        size_t square = (size_t)(b.n * b.n);
        double *want = malloc(square * sizeof *want), *got = malloc(square * sizeof *got);
        for (int64_t output = -1; output < 2; output += 2) {
            tsri_tangent_cost cost;
            tsri_tangent options = {.output = output, .length = b.length};
            reference(want, &b, output, kinds[k].model);
            assert_ok(tsri_tangent_estimate(
                &cost, &b.store, tsri_device_on(&tsri_backend_cpu, b.pool), b.n, &options));
            assert_int_equal(cost.tile, b.n);
            assert_true(strstr(kinds[k].model, "vgg11") ? cost.patches > 0 : true);
            assert_ok(tsri_tangent_kernel(got, &b.store, tsri_device_on(&tsri_backend_cpu, b.pool),
                                          b.x, b.n, &options));
            double worst = distance(got, want, b.n);
            if (worst > 1e-5) /* the bound; floats give 1e-6 */
                fail_msg("%s, output %d: off by %g", kinds[k].model, (int)output, worst);
            /* So little memory that tiles are pairs of samples, outputs one by one. */
            options.memory = cost.bytes / b.n;
            while (options.memory > 0 && cost.tile == b.n) {
                options.memory = options.memory / 2;
                if (tsri_tangent_estimate(&cost, &b.store,
                                          tsri_device_on(&tsri_backend_cpu, b.pool), b.n,
                                          &options) != TSR_OK)
                    break;
            }
            if (cost.tile < b.n &&
                tsri_tangent_estimate(&cost, &b.store, tsri_device_on(&tsri_backend_cpu, b.pool),
                                      b.n, &options) == TSR_OK) {
                assert_ok(tsri_tangent_kernel(
                    got, &b.store, tsri_device_on(&tsri_backend_cpu, b.pool), b.x, b.n, &options));
                worst = distance(got, want, b.n);
                if (worst > 1e-5)
                    fail_msg("%s in tiles of %d: off by %g", kinds[k].model, (int)cost.tile, worst);
            }
        }
        free(want);
        free(got);
        unmake(&b);
    }
}

/* On ref (images with channels first), and the same bits whatever the number of threads. */
static void test_backends_and_threads(void **state)
{
    (void)state;
    static const kind some[] = {
        {"model: {name: cnn1, width: 9, filter: 3}", {2, 6, 5}, 5, false, 0},
        {"model: {name: preresnet18, width: 4}", {3, 8, 8}, 4, false, 0},
        {"model: {name: rnn, width: 12, layers: 2, read: last, train: all}", {4, 5, 1}, 5, true, 0},
    };
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        bench b;
        make(&b, &some[k]);
        double want[25], got[25];
        tsri_store ref;
        tsri_tangent options = {.output = -1, .length = b.length};
        reference(want, &b, -1, some[k].model);
        assert_ok(tsri_store_init(&ref, b.net64, &tsri_backend_cpu, false));
        for (int64_t i = 0; i < b.net64->total; i++)
            ((float *)ref.w)[i] = (float)((double *)b.store64.w)[i];
        assert_ok(tsri_tangent_kernel(got, &ref, tsri_device_on(&tsri_backend_ref, b.pool), b.x,
                                      b.n, &options));
        assert_true(distance(got, want, b.n) < 1e-5);
        tsri_store_fini(&ref);
        for (int threads = 1; threads <= 3; threads++) {
            tsri_pool *pool = NULL;
            assert_ok(tsri_pool_create(&pool, threads));
            assert_ok(tsri_tangent_kernel(threads == 1 ? want : got, &b.store,
                                          tsri_device_on(&tsri_backend_cpu, pool), b.x, b.n,
                                          &options));
            if (threads > 1)
                assert_memory_equal(got, want, (size_t)(b.n * b.n) * sizeof *got);
            tsri_pool_destroy(pool);
        }
        unmake(&b);
    }
}

/* More samples than a square of pairs and than a batch of the plan. */
static void test_many_samples(void **state)
{
    (void)state;
    static const kind many = {"model: {name: mlp, hidden: [16]}", {4, 1, 1}, 210, false, 0};
    bench b;
    make(&b, &many);
    double *want = malloc((size_t)(b.n * b.n) * sizeof *want);
    double *got = malloc((size_t)(b.n * b.n) * sizeof *got);
    tsri_tangent options = {.output = -1};
    reference(want, &b, -1, many.model);
    assert_ok(tsri_tangent_kernel(got, &b.store, tsri_device_on(&tsri_backend_cpu, b.pool), b.x,
                                  b.n, &options));
    assert_true(distance(got, want, b.n) < 1e-5);
    options.memory = 40000;
    assert_ok(tsri_tangent_kernel(got, &b.store, tsri_device_on(&tsri_backend_cpu, b.pool), b.x,
                                  b.n, &options));
    assert_true(distance(got, want, b.n) < 1e-5);
    free(want);
    free(got);
    unmake(&b);
}

static void test_refusals(void **state)
{
    (void)state;
    bench b;
    double k[144];
    make(&b, &kinds[1]);
    tsri_tangent options = {.output = OUTPUTS};
    assert_fails(tsri_tangent_kernel(k, &b.store, tsri_device_on(&tsri_backend_cpu, b.pool), b.x,
                                     b.n, &options),
                 TSR_USAGE, "output 3 is not one of the network's 3");
    options = (tsri_tangent){.output = 0, .memory = 100};
    assert_fails(tsri_tangent_kernel(k, &b.store, tsri_device_on(&tsri_backend_cpu, b.pool), b.x,
                                     b.n, &options),
                 TSR_RESOURCES, "allow more");
    options = (tsri_tangent){.output = -1};
    for (int64_t n = 0;; n++) {
        (void)tsri_alloc_fail_after(n, true);
        tsr_status st = tsri_tangent_kernel(k, &b.store, tsri_device_on(&tsri_backend_cpu, b.pool),
                                            b.x, b.n, &options);
        (void)tsri_alloc_fail_after(-1, false);
        if (st == TSR_OK)
            break;
        assert_int_equal(st, TSR_RESOURCES);
    }
    unmake(&b);
}

int main(void)
{
    assert_ok(tsri_backend_cpu.start(2));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind), cmocka_unit_test(test_backends_and_threads),
        cmocka_unit_test(test_many_samples), cmocka_unit_test(test_refusals)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
