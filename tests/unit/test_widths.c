/* Layers of every width from 1 to 70 channels: the loops over pixels (batch norm and its ReLU) on
 * every table that this machine runs against sums in double, and a small network on cpu against
 * ref. Widths that no vector divides once went one number at a time; now they go by masks, or with
 * several pixels in a vector, and each way has its own end of a row to get wrong. What lies behind
 * the operands is poison, what lies behind the results is guarded. */
#include "plan_testing.h"

#include "backend/cpu/loops.h"
#include "base/rng.h"
#include "net/order.h"
#include "net/plan.h"

#include <math.h>

enum { WIDEST = 70, MOST_PIXELS = 67, GUARD = 16, MOST = WIDEST * MOST_PIXELS + GUARD };

/* ---- Loops over pixels --------------------------------------------------------------------- */

typedef struct operands {
    float x[MOST], g[MOST], add[MOST]; /* [pixels][C] */
    float scale[WIDEST + GUARD], shift[WIDEST + GUARD], mean[WIDEST + GUARD];
    float coef[2 * WIDEST + GUARD];
    int64_t pixels, C;
} operands;

static operands in;
static float out[MOST];

/* n random numbers, NaN behind them */
static void fill(float *p, int64_t n, tsri_rng *rng)
{
    for (int64_t i = 0; i < n + GUARD; i++)
        p[i] = i < n ? (float)tsri_rng_normal(rng) : NAN;
}

static void draw(int64_t pixels, int64_t C)
{
    tsri_rng rng = tsri_rng_stream(5, TSRI_FOR_TEST, (uint32_t)pixels, (uint32_t)C, 0);
    in.pixels = pixels, in.C = C;
    float *big[] = {in.x, in.g, in.add}, *small[] = {in.scale, in.shift, in.mean};
    for (int i = 0; i < 3; i++) {
        fill(big[i], pixels * C, &rng);
        fill(small[i], C, &rng);
    }
    fill(in.coef, 2 * C, &rng);
}

static void guard(int64_t n)
{
    for (int64_t i = 0; i < n + GUARD; i++)
        out[i] = i < n ? NAN : 42;
}

/* Within `tolerance`, and nothing written behind. */
static void expect(const char *what, const char *table, const double *want, int64_t n,
                   double tolerance)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)out[i] - want[i]) <= tolerance))
            fail_msg("%s, %s, %lld pixels of %lld channels: [%lld] is %.9g, not %.9g", what, table,
                     (long long)in.pixels, (long long)in.C, (long long)i, (double)out[i], want[i]);
    for (int64_t i = n; i < n + GUARD; i++)
        if (out[i] != 42)
            fail_msg("%s, %s, %lld pixels of %lld channels: writes behind its result", what, table,
                     (long long)in.pixels, (long long)in.C);
}

/* Numbers within +-5, products of three of them, 67 in a sum: 1e-3 is ten roundings of the largest.
 */
static const double sums_within = 1e-3, numbers_within = 1e-4;

static bool on(int64_t i)
{
    int64_t c = i % in.C;
    return fmaf(in.scale[c], in.x[i], in.shift[c]) > 0;
}

static void activates(const tsri_loops *kn)
{
    static double want[MOST];
    int64_t n = in.pixels * in.C;
    for (int64_t i = 0; i < n; i++)
        want[i] =
            fmax(0, (double)in.scale[i % in.C] * (double)in.x[i] + (double)in.shift[i % in.C]);
    guard(n);
    kn->activate(out, in.x, (tsri_preop){in.scale, in.shift}, in.pixels, in.C);
    expect("activate", kn->name, want, n, numbers_within);
}

static void sums_moments(const tsri_loops *kn)
{
    double want[2 * WIDEST] = {0};
    for (int64_t i = 0; i < in.pixels * in.C; i++) {
        double d = (double)in.x[i] - (double)in.mean[i % in.C];
        want[i % in.C] += d;
        want[in.C + i % in.C] += d * d;
    }
    guard(2 * in.C);
    kn->moments(out, in.x, in.mean, in.pixels, in.C);
    expect("moments", kn->name, want, 2 * in.C, sums_within);
}

static void sums_gradients(const tsri_loops *kn)
{
    double want[2 * WIDEST] = {0};
    for (int64_t i = 0; i < in.pixels * in.C; i++) {
        double h = on(i) ? (double)in.g[i] : 0;
        want[i % in.C] += h;
        want[in.C + i % in.C] += h * ((double)in.x[i] - (double)in.mean[i % in.C]);
    }
    guard(2 * in.C);
    kn->norm_sums(out, in.g, in.x, in.mean, (tsri_preop){in.scale, in.shift}, in.pixels, in.C);
    expect("norm_sums", kn->name, want, 2 * in.C, sums_within);
}

/* Into memory of its own, over g, and over what is added. */
static void goes_back(const tsri_loops *kn)
{
    static double want[MOST];
    static const char *const names[] = {"norm_backward", "norm_backward over g",
                                        "norm_backward over add"};
    int64_t n = in.pixels * in.C;
    for (int way = 0; way < 3; way++) {
        const float *g = way == 1 ? out : in.g, *add = way == 2 ? out : NULL;
        for (int64_t i = 0; i < n; i++) {
            int64_t c = i % in.C;
            want[i] = (on(i) ? (double)in.scale[c] * (double)in.g[i] : 0) +
                      (double)in.coef[c] * (double)in.x[i] + (double)in.coef[in.C + c] +
                      (way == 2 ? (double)in.add[i] : 0);
        }
        guard(n);
        if (way > 0)
            memcpy(out, way == 1 ? in.g : in.add, (size_t)n * sizeof *out);
        kn->norm_backward(out, g, in.x, in.coef, (tsri_preop){in.scale, in.shift}, add, in.pixels,
                          in.C);
        expect(names[way], kn->name, want, n, numbers_within);
    }
}

static void every_width_of_pixels(void **state)
{
    (void)state;
    static const int64_t pixels[] = {1, 3, 16, MOST_PIXELS};
    const tsri_loops *kn;
    for (int k = 0; (kn = tsri_loops_at(k)) != NULL; k++)
        for (int64_t C = 1; C <= WIDEST; C++)
            for (size_t p = 0; p < sizeof pixels / sizeof *pixels; p++) {
                draw(pixels[p], C);
                activates(kn);
                sums_moments(kn);
                sums_gradients(kn);
                goes_back(kn);
            }
}

/* ---- Networks ------------------------------------------------------------------------------ */

enum { BATCH = 3 };

static int64_t width; /* of the network that is built */

/* Both kinds of norm (one that a convolution applies as it reads, one with a sum behind), strides
 * of 1 and 2, a bias, both pools; `width` channels inside, one more in the streams. */
static tsr_status narrow(tsri_net *net)
{
    tsr_status st = TSR_OK;
    int x = 0, v, stream, inner, axis;
    TSR_TRY(tsri_net_axis(net, &stream, width + 1, false, "stream"));
    TSR_TRY(tsri_net_axis(net, &inner, width, true, "inner"));
    TSR_TRY(tsri_net_axis(net, &axis, net->outputs, false, "output"));
    TSR_TRY(tsri_net_conv(net, &x, x, stream, 3, 1, 1, true, 2, "stem"));
    TSR_TRY(tsri_net_norm(net, &v, x, "n1"));
    TSR_TRY(tsri_net_relu(net, &v, v, "r1"));
    TSR_TRY(tsri_net_conv(net, &v, v, inner, 3, 1, 1, false, 2, "c1"));
    TSR_TRY(tsri_net_norm(net, &v, v, "n2"));
    TSR_TRY(tsri_net_relu(net, &v, v, "r2"));
    TSR_TRY(tsri_net_conv(net, &v, v, stream, 3, 1, 1, false, 2, "c2"));
    TSR_TRY(tsri_net_norm(net, &v, v, "n3"));
    TSR_TRY(tsri_net_add(net, &x, v, x, "sum"));
    TSR_TRY(tsri_net_relu(net, &v, x, "r3"));
    TSR_TRY(tsri_net_pool(net, &v, v, TSRI_MAXPOOL, 3, 1, 1, "max"));
    TSR_TRY(tsri_net_conv(net, &v, v, inner, 3, 2, 1, false, 2, "c3"));
    TSR_TRY(tsri_net_norm(net, &v, v, "n4"));
    TSR_TRY(tsri_net_relu(net, &v, v, "r4"));
    TSR_TRY(tsri_net_pool(net, &v, v, TSRI_AVGPOOL, 2, 1, 0, "avg"));
    TSR_TRY(tsri_net_global(net, &v, v, "gap"));
    TSR_TRY(tsri_net_linear(net, &v, v, axis, true, 1, "fc"));
done:
    return st;
}

typedef struct pass {
    tsri_net *net;
    tsri_store store;
    double loss;
} pass;

static void run_pass(pass *p, const tsri_backend *backend, tsri_pool *pool)
{
    static const tsri_shape input = {2, 7, 6};
    static const char text[] = "conv: auto";
    tsr_config *config = NULL;
    tsri_plan *plan = NULL;
    int32_t label[BATCH] = {0, 1, 2};
    float x[BATCH * 2 * 7 * 6];
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, 0, 0, 0);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = (float)tsri_rng_normal(&rng);
    assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "test"));
    assert_ok(tsri_net_build(&p->net, config, input, 3, backend->can.filters, narrow));
    assert_ok(tsri_store_init(&p->store, p->net, backend, true));
    assert_ok(tsri_store_fill(&p->store, 1));
    assert_ok(tsri_plan_create(&plan, &p->store, tsri_device_on(backend, pool), BATCH, true));
    tsri_loss loss = {.kind = &tsri_loss_cross_entropy, .valid = BATCH, .label = label};
    assert_ok(tsri_plan_forward(plan, x));
    assert_ok(tsri_plan_loss(plan, &loss));
    assert_ok(tsri_plan_backward(plan));
    p->loss = plan_tally(plan).sum;
    tsri_plan_destroy(plan);
    tsr_config_destroy(config);
}

static void free_pass(pass *p)
{
    tsri_store_fini(&p->store);
    tsri_net_destroy(p->net);
}

/* Gradients relative to the largest of all: f32 and Winograd's rounding through four layers and as
 * many norms of three samples (measured up to 4e-5; a wrong lane is of the order of 1). */
static void compare(const pass *got, const pass *want)
{
    const float *dx = touch(got->store.g), *dy = touch(want->store.g);
    double largest = 0;
    for (int64_t i = 0; i < want->net->trained; i++)
        largest = fmax(largest, fabs((double)dy[i]));
    for (int64_t p = 0; p < want->net->params; p++) {
        const tsri_param *a = &got->net->param[p], *b = &want->net->param[p];
        for (int64_t i = 0; b->offset < want->net->trained && i < b->count; i++) {
            double x = (double)dx[a->offset + tsri_order_place(a, i)];
            double y = (double)dy[b->offset + tsri_order_place(b, i)];
            if (!(fabs(x - y) <= 1e-3 * largest))
                fail_msg("width %lld, gradient of %s[%lld]: %.9g, ref has %.9g", (long long)width,
                         b->name, (long long)i, x, y);
        }
    }
}

static void every_width_of_a_network(void **state)
{
    (void)state;
    tsri_pool *one = NULL, *three = NULL;
    assert_ok(tsri_backend_cpu.start(3));
    assert_ok(tsri_pool_create(&one, 1));
    assert_ok(tsri_pool_create(&three, 3));
    for (width = 1; width <= 40; width++) {
        pass want = {0}, got = {0}, again = {0};
        run_pass(&want, &tsri_backend_ref, one);
        run_pass(&got, &tsri_backend_cpu, one);
        run_pass(&again, &tsri_backend_cpu, three);
        assert_true(fabs(got.loss - want.loss) <= 1e-4 * want.loss);
        compare(&got, &want);
        assert_memory_equal(got.store.g, again.store.g, (size_t)got.net->trained * sizeof(float));
        free_pass(&want);
        free_pass(&got);
        free_pass(&again);
    }
    tsri_pool_destroy(one);
    tsri_pool_destroy(three);
}

/* Narrow layers get narrow vectors, and never those without fused multiply-adds where there are
 * others. */
static void narrow_layers_get_narrow_vectors(void **state)
{
    (void)state;
    const tsri_loops *next = tsri_loops_at(1);
    assert_ptr_equal(tsri_loops_for(1000), tsri_loops_best());
    assert_ptr_equal(tsri_loops_for(1), next ? next : tsri_loops_at(0));
    if (next)
        assert_ptr_equal(tsri_loops_for(next->width), next);
    if (next && tsri_loops_at(2))
        assert_ptr_equal(tsri_loops_for(next->width + 1), tsri_loops_at(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_width_of_pixels),
                                       cmocka_unit_test(every_width_of_a_network),
                                       cmocka_unit_test(narrow_layers_get_narrow_vectors)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
