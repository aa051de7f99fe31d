/* Every pass of the convolution algorithms (direct, Winograd, bf16), on every table of loops this
 * machine can run, against a plain loop in double: odd shapes, what is fused, one thread against
 * three (to the bit), and nothing written behind the scratch memory. */
#include "testing.h"

#include "backend/cpu/bf16.h"
#include "base/rng.h"

#include <math.h>

enum { GUARD = 16, THREADS = 3, DIRECT = 0, BF16 = 16 };

typedef struct tensors {
    float *x, *w, *y, *dx, *dw, *dy, *add, *add_dx, *scale, *shift;
    double *y_ref, *dx_ref, *dw_ref;
    int64_t nx, nw, ny;
} tensors;

static tsri_rng rng;

static float *random_floats(int64_t n)
{
    float *p = NULL;
    assert_ok(tsri_alloc(&p, n, sizeof *p));
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)tsri_rng_normal(&rng);
    return p;
}

static double *zeros(int64_t n)
{
    double *p = NULL;
    assert_ok(tsri_alloc(&p, n, sizeof *p));
    return p;
}

/* Few bits, so that scale x + shift is exact and rounds to the same bf16 everywhere. */
static void make_eighths(float *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = roundf(8 * p[i]) / 8;
}

static tensors make(const tsri_conv_shape *s, int m)
{
    rng = tsri_rng_stream(3, TSRI_FOR_TEST, 0, 0, 0);
    tensors t = {.nx = s->n * s->h * s->w * s->c, .nw = s->size * s->size * s->c * s->k};
    t.ny = s->n * tsri_conv_out(s->h, s) * tsri_conv_out(s->w, s) * s->k;
    t.x = random_floats(t.nx);
    t.w = random_floats(t.nw);
    t.dy = random_floats(t.ny);
    t.add = random_floats(t.ny);
    t.add_dx = random_floats(t.nx);
    t.scale = random_floats(s->c);
    t.shift = random_floats(s->c);
    t.y = random_floats(t.ny);
    t.dx = random_floats(t.nx);
    t.dw = random_floats(t.nw);
    t.y_ref = zeros(t.ny);
    t.dx_ref = zeros(t.nx);
    t.dw_ref = zeros(t.nw);
    if (m == BF16) {
        make_eighths(t.x, t.nx);
        make_eighths(t.scale, s->c);
        make_eighths(t.shift, s->c);
    }
    return t;
}

static void drop(tensors *t)
{
    void *all[] = {t->x, t->w,  t->dy, t->add,   t->add_dx, t->scale, t->shift,
                   t->y, t->dx, t->dw, t->y_ref, t->dx_ref, t->dw_ref};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tsri_free(all[i]);
}

/* ---- The definition ----------------------------------------------------------------------- */

/* What is multiplied. */
static double operand(double x, int m)
{
    return m == BF16 ? (double)tsri_bf16_round((float)x) : x;
}

static double input_value(const tensors *t, const tsri_conv_shape *s, bool fused, int64_t at)
{
    double v = (double)t->x[at];
    if (!fused)
        return v;
    v = (double)t->scale[at % s->c] * v + (double)t->shift[at % s->c];
    return v > 0 ? v : 0;
}

static void join(tensors *t, const tsri_conv_shape *s, int m, bool fused, int64_t xi, int64_t yi,
                 int64_t wi)
{
    for (int64_t c = 0; c < s->c; c++, wi += s->k) {
        double v = operand(input_value(t, s, fused, xi + c), m), g = 0;
        for (int64_t k = 0; k < s->k; k++) {
            double w = operand((double)t->w[wi + k], m), dy = operand((double)t->dy[yi + k], m);
            t->y_ref[yi + k] += v * w;
            t->dw_ref[wi + k] += v * dy;
            g += dy * w;
        }
        t->dx_ref[xi + c] += g;
    }
}

static void define(tensors *t, const tsri_conv_shape *s, int m, bool fused)
{
    int64_t oh = tsri_conv_out(s->h, s), ow = tsri_conv_out(s->w, s);
    for (int64_t i = 0; fused && i < t->nx; i++)
        t->dx_ref[i] = (double)t->add_dx[i];
    for (int64_t i = 0; fused && i < t->ny; i++)
        t->y_ref[i] = (double)t->add[i];
    for (int64_t q = 0; q < s->n * oh * ow; q++)
        for (int64_t tap = 0; tap < s->size * s->size; tap++) {
            int64_t n = q / (oh * ow), i = q / ow % oh * s->stride + tap / s->size - s->pad;
            int64_t j = q % ow * s->stride + tap % s->size - s->pad;
            if (i >= 0 && i < s->h && j >= 0 && j < s->w)
                join(t, s, m, fused, ((n * s->h + i) * s->w + j) * s->c, q * s->k,
                     tap * s->c * s->k);
        }
}

/* ---- The algorithms ------------------------------------------------------------------------ */

/* Who computes: one of the two tables. */
typedef struct crew {
    const tsri_loops *loops;
    const tsri_bf16_loops *bf16;
} crew;

/* One thread, and three. */
typedef struct pools {
    tsri_pool *one, *three;
} pools;

static pools begin(void)
{
    pools t = {0};
    assert_ok(tsri_pool_create(&t.one, 1));
    assert_ok(tsri_pool_create(&t.three, THREADS));
    return t;
}

static void end(pools *t)
{
    tsri_pool_destroy(t->one);
    tsri_pool_destroy(t->three);
}

static int64_t floats_of(const tsri_conv_shape *s, int m, crew c)
{
    if (m == BF16)
        return tsri_bf16_work(s, THREADS) / (int64_t)sizeof(float);
    return m == DIRECT ? tsri_direct_work(s, c.loops, THREADS)
                       : tsri_winograd_work(s, m, c.loops, THREADS);
}

static void bf16_passes(tensors *t, const tsri_conv_shape *s, bool fused, crew c, tsri_pool *pool,
                        float *work)
{
    tsri_bf16_team team = {c.bf16, pool, work};
    tsri_bf16_filters w = {t->w, false};
    tsri_preop pre = {fused ? t->scale : NULL, fused ? t->shift : NULL};
    tsri_bf16_finish up = {.scale = 1, .add = fused ? t->add : NULL};
    tsri_bf16_finish down = {.scale = 1, .add = fused ? t->add_dx : NULL};
    tsri_bf16_forward(t->y, t->x, w, s, pre, up, &team);
    tsri_bf16_backward_data(t->dx, t->dy, w, s, down, &team);
    tsri_bf16_backward_weights(t->dw, t->x, t->dy, s, pre, 1, &team);
}

static void all_passes(tensors *t, const tsri_conv_shape *s, int m, bool fused, crew c,
                       tsri_pool *pool, float *work)
{
    tsri_fuse f = {0};
    const tsri_conv_team *team = &(tsri_conv_team){c.loops, pool, work};
    const float *add_dx = fused ? t->add_dx : NULL;
    if (fused)
        f = (tsri_fuse){.pre = {t->scale, t->shift}, .add = t->add};
    if (m == BF16) {
        bf16_passes(t, s, fused, c, pool, work);
    } else if (m == DIRECT) {
        tsri_direct_forward(t->y, t->x, t->w, s, f, team);
        tsri_direct_backward_data(t->dx, t->dy, t->w, s, add_dx, team);
        tsri_direct_backward_weights(t->dw, t->x, t->dy, s, f, team);
    } else {
        tsri_winograd_forward(t->y, t->x, t->w, s, m, f, team);
        tsri_winograd_backward_data(t->dx, t->dy, t->w, s, m, add_dx, team);
        tsri_winograd_backward_weights(t->dw, t->x, t->dy, s, m, f, team);
    }
}

/* Largest error over the root mean square of the truth. Direct sums (of rounded operands too) and
 * F(2x2) round sums of up to 9 x 300 products: 1e-5. F(4x4) multiplies by up to 4^2 and 5^2 on the
 * way in and out, which costs a factor of about three in the largest error (measured up to 1e-5 on
 * these shapes). */
static void compare(const char *what, const tsri_conv_shape *s, int m, const float *got,
                    const double *want, int64_t n)
{
    double square = 0, most = 0;
    for (int64_t i = 0; i < n; i++) {
        double e = fabs((double)got[i] - want[i]);
        square += want[i] * want[i];
        most = e > most || isnan(e) ? e : most;
    }
    double relative = most / (sqrt(square / (double)n) + 1e-30);
    if (!(relative <= (m == 4 ? 3e-5 : 1e-5)))
        fail_msg("%s of %lldx%lldx%lld, %lld to %lld channels, size %lld, tile %d: error %.2g",
                 what, (long long)s->n, (long long)s->h, (long long)s->w, (long long)s->c,
                 (long long)s->k, (long long)s->size, m, relative);
}

/* What no pass may leave as it was: NaN. */
static void forget_outputs(tensors *t)
{
    memset(t->y, 0xff, (size_t)t->ny * sizeof *t->y);
    memset(t->dx, 0xff, (size_t)t->nx * sizeof *t->dx);
    memset(t->dw, 0xff, (size_t)t->nw * sizeof *t->dw);
}

static void assert_same(const tensors *t, const tensors *u)
{
    assert_memory_equal(t->y, u->y, (size_t)t->ny * sizeof *t->y);
    assert_memory_equal(t->dx, u->dx, (size_t)t->nx * sizeof *t->dx);
    assert_memory_equal(t->dw, u->dw, (size_t)t->nw * sizeof *t->dw);
}

/* Filters that were packed before give the same bits. */
static void packed_passes(tensors *t, const tsri_conv_shape *s, bool fused, crew c, tsri_pool *pool,
                          float *work)
{
    const tsri_conv_team *team = &(tsri_conv_team){c.loops, pool, work};
    tsri_fuse f = {0};
    float *b = random_floats(tsri_direct_packed_size(s, c.loops));
    if (fused)
        f = (tsri_fuse){.pre = {t->scale, t->shift}, .add = t->add};
    memset(t->y, 0xff, (size_t)t->ny * sizeof *t->y);
    tsri_direct_pack(b, t->w, s, team);
    tsri_direct_forward_packed(t->y, t->x, b, s, f, team);
    tsri_free(b);
}

/* One way to compute it, with one thread and with three, against the definition in `t`. */
static void check(tensors *t, tensors *u, const tsri_conv_shape *s, int m, bool fused, crew c,
                  const pools *team)
{
    int64_t floats = floats_of(s, m, c);
    float *work = random_floats(floats + GUARD), guard[GUARD];
    memcpy(guard, work + floats, sizeof guard);
    forget_outputs(t);
    forget_outputs(u);
    all_passes(t, s, m, fused, c, team->one, work);
    all_passes(u, s, m, fused, c, team->three, work);
    compare("y", s, m, t->y, t->y_ref, t->ny);
    compare("dx", s, m, t->dx, t->dx_ref, t->nx);
    compare("dw", s, m, t->dw, t->dw_ref, t->nw);
    assert_same(t, u);
    if (m == DIRECT) {
        packed_passes(u, s, fused, c, team->three, work);
        assert_same(t, u);
    }
    assert_memory_equal(guard, work + floats, sizeof guard);
    tsri_free(work);
}

/* Tiles from `least` to `most`; DIRECT is the first, then come Winograd's. The definition is summed once for all tables. */
static void check_floats(const tsri_conv_shape *s, int least, int most, bool fused,
                         const pools *team)
{
    crew c = {0};
    tensors t = make(s, DIRECT), u = make(s, DIRECT);
    define(&t, s, DIRECT, fused);
    for (int k = 0; (c.loops = tsri_loops_at(k)) != NULL; k++)
        for (int m = least; m <= most; m += 2)
            check(&t, &u, s, m, fused, c, team);
    drop(&t);
    drop(&u);
}

static void check_bf16(const tsri_conv_shape *s, bool fused, const pools *team)
{
    crew c = {0};
    tensors t = make(s, BF16), u = make(s, BF16);
    define(&t, s, BF16, fused);
    for (int k = 0; (c.bf16 = tsri_bf16_at(k)) != NULL; k++)
        check(&t, &u, s, BF16, fused, c, team);
    drop(&t);
    drop(&u);
}

static const tsri_conv_shape stride_one[] = {
    {1, 1, 1, 1, 1, 3, 1, 1},      {1, 4, 4, 8, 16, 3, 1, 1},    {1, 5, 7, 3, 5, 3, 1, 1},
    {2, 9, 6, 17, 33, 3, 1, 1},    {3, 8, 8, 64, 40, 3, 1, 1},   {1, 7, 7, 13, 70, 3, 1, 0},
    {2, 6, 5, 9, 10, 3, 1, 2},     {6, 16, 16, 70, 50, 3, 1, 1}, {64, 4, 4, 48, 32, 3, 1, 1},
    {13, 32, 32, 20, 17, 3, 1, 1}, {2, 4, 4, 300, 40, 3, 1, 1},  {1, 2, 31, 65, 1, 3, 1, 1},
};

static const tsri_conv_shape with_stride[] = {
    {2, 9, 8, 17, 33, 3, 2, 1},  {1, 8, 8, 64, 40, 1, 2, 0}, {2, 32, 32, 3, 64, 3, 1, 1},
    {3, 11, 7, 5, 6, 5, 3, 2},   {1, 1, 1, 1, 1, 1, 1, 0},   {4, 16, 16, 64, 48, 3, 2, 1},
    {2, 14, 15, 3, 20, 7, 2, 3}, {2, 5, 5, 4, 4, 1, 3, 0},
};

/* bf16 has one path with what is fused and without: half of the cases will do. */
static void check_all(const tsri_conv_shape *shapes, size_t count, int most, const pools *team)
{
    for (size_t i = 0; i < count; i++) {
        check_floats(&shapes[i], DIRECT, most, false, team);
        check_floats(&shapes[i], DIRECT, most, true, team);
        check_bf16(&shapes[i], i % 2, team);
    }
}

static void every_pass_is_the_definition(void **state)
{
    pools team = begin();
    (void)state;
    check_all(stride_one, sizeof stride_one / sizeof *stride_one, 4, &team);
    check_all(with_stride, sizeof with_stride / sizeof *with_stride, DIRECT, &team);
    end(&team);
}

/* Shares and tickets have widths that no vector divides: all of them, each with another one. */
static void every_width(void **state)
{
    pools team = begin();
    (void)state;
    for (int64_t width = 1; width <= 40; width++) {
        tsri_conv_shape plain = {1, 5, 6, width, 41 - width, 3, 1, 1},
                        strided = {1, 5, 6, width, 41 - width, 3, 2, 1};
        check_floats(&plain, 4, 4, width % 2, &team);
        check_floats(&plain, 2, 2, width % 2 == 0, &team);
        check_floats(&strided, DIRECT, DIRECT, width % 2, &team);
    }
    end(&team);
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* To the nearest, ties to even, past the largest to infinity; signs, zeros and NaN stay. Every
 * table rounds alike. */
static void rounding_to_bf16(void **state)
{
    (void)state;
    static const uint32_t cases[][2] = {
        {0x00000000, 0x00000000}, {0x80000000, 0x80000000}, {0x3f800000, 0x3f800000},
        {0x3f808000, 0x3f800000}, {0x3f808001, 0x3f810000}, {0x3f807fff, 0x3f800000},
        {0x3f818000, 0x3f820000}, {0xbf818000, 0xbf820000}, {0x7f7f7fff, 0x7f7f0000},
        {0x7f7f8000, 0x7f800000}, {0x7f800000, 0x7f800000}, {0xff800000, 0xff800000},
    };
    const tsri_bf16_loops *loops;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float x = float_of(cases[i][0]);
        assert_int_equal(bits_of(tsri_bf16_round(x)), cases[i][1]);
        for (int k = 0; (loops = tsri_bf16_at(k)) != NULL; k++) {
            tsri_bf16 got[TSRI_SIDE];
            loops->convert(got, &x, (tsri_preop){0}, 1);
            assert_int_equal(got[0], cases[i][1] >> 16);
            assert_int_equal(got[1], 0);
        }
    }
    assert_true(isnan(tsri_bf16_round(float_of(0x7f800001))));
    assert_true(isnan(tsri_bf16_round(float_of(0xffffffff))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pass_is_the_definition),
                                       cmocka_unit_test(every_width),
                                       cmocka_unit_test(rounding_to_bf16)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
