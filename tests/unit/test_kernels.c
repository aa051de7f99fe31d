/* Every kernel of the cpu backend against ref, forward and backward, over odd, unit, empty and
 * large shapes, with one and with three threads (which must not change a bit). */
#include "testing.h"

#include "backend/backend.h"
#include "base/rng.h"

#include <math.h>

typedef struct buffers {
    float *x, *y, *dx, *dy, *w, *b, *dw, *db, *mean, *var, *saved, *scratch;
} buffers;

typedef struct op_case {
    tsri_kind kind;
    int64_t n;
    tsri_shape in, out;
    bool bias, relu, training, need_dx, dx_add;
} op_case;

static int64_t weights_of(const op_case *c)
{
    return c->kind == TSRI_LINEAR ? tsri_shape_count(c->in) * tsri_shape_count(c->out) : c->in.c;
}

static float *numbers(tsri_rng *rng, int64_t n, double scale)
{
    float *p = NULL;
    assert_ok(tsri_alloc(&p, n, sizeof *p));
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)(scale * tsri_rng_normal(rng));
    return p;
}

/* Runs a case on a backend; the inputs depend on the case only. */
static buffers run_case(const op_case *c, int64_t number, const tsri_backend *backend,
                        tsri_pool *pool)
{
    int64_t in = c->n * tsri_shape_count(c->in), out = c->n * tsri_shape_count(c->out);
    int64_t channels = tsri_shape_count(c->out);
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, number, 0, 0);
    buffers v = {.x = numbers(&rng, in, 1),
                 .y = numbers(&rng, out, 0),
                 .dx = numbers(&rng, in, 1),
                 .dy = numbers(&rng, out, 1),
                 .w = numbers(&rng, weights_of(c), 1),
                 .b = numbers(&rng, channels, 1),
                 .dw = numbers(&rng, weights_of(c), 1),
                 .db = numbers(&rng, channels, 1),
                 .mean = numbers(&rng, channels, 1),
                 .var = numbers(&rng, channels, 1)};
    for (int64_t i = 0; i < channels; i++)
        v.var[i] = fabsf(v.var[i]) + 0.1f;
    tsri_op op = {.kind = c->kind,
                  .n = c->n,
                  .in = c->in,
                  .out = c->out,
                  .training = c->training,
                  .relu = c->relu,
                  .eps = 1e-5,
                  .momentum = 0.1,
                  .need_dx = c->need_dx,
                  .dx_add = c->dx_add,
                  .x = v.x,
                  .y = v.y,
                  .dx = v.dx,
                  .dy = v.dy,
                  .w = v.w,
                  .b = c->bias ? v.b : NULL,
                  .dw = v.dw,
                  .db = c->bias ? v.db : NULL,
                  .mean = v.mean,
                  .var = v.var,
                  .pool = pool};
    assert_ok(tsri_op_setup(&op, backend));
    assert_ok(tsri_alloc(&v.saved, op.saved_bytes, 1));
    assert_ok(tsri_alloc(&v.scratch, op.scratch_bytes, 1));
    op.saved = v.saved;
    op.scratch = v.scratch;
    assert_ok(op.kernel->forward(&op));
    if (c->training)
        assert_ok(op.kernel->backward(&op));
    tsri_op_teardown(&op);
    return v;
}

static void free_buffers(buffers *v)
{
    float *all[] = {v->x,  v->y,  v->dx,   v->dy,  v->w,     v->b,
                    v->dw, v->db, v->mean, v->var, v->saved, v->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tsri_free(all[i]);
}

/* A product adds K terms of size about 1 in another order than ref: partial sums grow to sqrt(K),
 * and K of them are rounded, independently: the difference is about sqrt(K) sqrt(K) = K ulps of 1.
 * Norm divides its sums by the count again, so that sqrt(K) is left, and multiplies by w r, here
 * below 30. */
static double tolerance_of(const op_case *c)
{
    double ulp = 6e-8, in = (double)tsri_shape_count(c->in), out = (double)tsri_shape_count(c->out);
    if (c->kind == TSRI_LINEAR)
        return 2 * ulp * (fmax(fmax(in, out), (double)c->n) + 1);
    return ulp * 4 * 30 * sqrt((double)c->n + 1);
}

static void compare(const char *what, int64_t number, const float *got, const float *want,
                    int64_t n, double tolerance)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance * (1 + fabs((double)want[i]))))
            fail_msg("case %lld: %s[%lld] = %.9g, ref has %.9g", (long long)number, what,
                     (long long)i, (double)got[i], (double)want[i]);
}

static const op_case cases[] = {
    {TSRI_LINEAR, 1, {1, 1, 1}, {1, 1, 1}, true, false, true, true, false},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, true, true, true, true, false},
    {TSRI_LINEAR, 3, {5, 1, 1}, {7, 1, 1}, false, true, true, true, true},
    {TSRI_LINEAR, 0, {5, 1, 1}, {7, 1, 1}, true, true, true, true, false},
    {TSRI_LINEAR, 17, {33, 1, 1}, {129, 1, 1}, true, true, true, false, false},
    {TSRI_LINEAR, 64, {2, 5, 5}, {10, 1, 1}, true, false, true, true, false},
    {TSRI_LINEAR, 128, {784, 1, 1}, {300, 1, 1}, true, true, true, true, false},
    {TSRI_LINEAR, 200, {257, 1, 1}, {515, 1, 1}, false, false, true, true, true},
    {TSRI_LINEAR, 100, {300, 1, 1}, {10, 1, 1}, true, false, false, false, false},
    {TSRI_NORM, 2, {1, 1, 1}, {1, 1, 1}, true, false, true, true, false},
    {TSRI_NORM, 5, {3, 1, 1}, {3, 1, 1}, true, true, true, true, false},
    {TSRI_NORM, 128, {257, 1, 1}, {257, 1, 1}, true, true, true, true, true},
    {TSRI_NORM, 70, {40000, 1, 1}, {40000, 1, 1}, true, true, true, true, false},
    {TSRI_NORM, 1000, {31, 1, 1}, {31, 1, 1}, true, false, true, false, false},
    {TSRI_NORM, 5000, {64, 1, 1}, {64, 1, 1}, true, true, true, true, false},
    {TSRI_NORM, 9, {31, 1, 1}, {31, 1, 1}, true, true, false, false, false},
    {TSRI_RELU, 1, {1, 1, 1}, {1, 1, 1}, true, false, true, true, false},
    {TSRI_RELU, 7, {1000, 3, 3}, {1000, 3, 3}, true, false, true, true, true},
    {TSRI_RELU, 0, {4, 1, 1}, {4, 1, 1}, true, false, true, true, false},
};

static void cpu_equals_ref(void **state)
{
    (void)state;
    tsri_pool *one = NULL, *three = NULL;
    assert_ok(tsri_pool_create(&one, 1));
    assert_ok(tsri_pool_create(&three, 3));
    assert_ok(tsri_backend_cpu.start(3));
    for (int64_t i = 0; i < (int64_t)(sizeof cases / sizeof *cases); i++) {
        const op_case *c = &cases[i];
        buffers want = run_case(c, i, &tsri_backend_ref, one);
        buffers got = run_case(c, i, &tsri_backend_cpu, one);
        buffers again = run_case(c, i, &tsri_backend_cpu, three);
        int64_t in = c->n * tsri_shape_count(c->in), out = c->n * tsri_shape_count(c->out);
        double tolerance = tolerance_of(c);
        compare("y", i, got.y, want.y, out, tolerance);
        compare("dx", i, got.dx, want.dx, in, tolerance);
        compare("dw", i, got.dw, want.dw, weights_of(c), tolerance);
        compare("db", i, got.db, want.db, tsri_shape_count(c->out), tolerance);
        compare("mean", i, got.mean, want.mean, c->out.c, tolerance);
        compare("var", i, got.var, want.var, c->out.c, tolerance);
        assert_memory_equal(got.y, again.y, (size_t)out * sizeof *got.y);
        assert_memory_equal(got.dx, again.dx, (size_t)in * sizeof *got.dx);
        assert_memory_equal(got.dw, again.dw, (size_t)weights_of(c) * sizeof *got.dw);
        free_buffers(&want);
        free_buffers(&got);
        free_buffers(&again);
    }
    tsri_pool_destroy(one);
    tsri_pool_destroy(three);
}

/* The update is elementwise: equal to ref to the bit. */
static void update_equals_ref(void **state)
{
    (void)state;
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 2));
    static const int64_t sizes[] = {0, 1, 17, 16384, 50001};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int nesterov = 0; nesterov < 2; nesterov++) {
            tsri_rng rng = tsri_rng_stream(2, TSRI_FOR_TEST, 0, 0, 0);
            float *w = numbers(&rng, sizes[s], 1), *v = numbers(&rng, sizes[s], 1);
            float *dw = numbers(&rng, sizes[s], 1), *w2 = NULL, *v2 = NULL;
            assert_ok(tsri_alloc(&w2, sizes[s], sizeof *w2));
            assert_ok(tsri_alloc(&v2, sizes[s], sizeof *v2));
            memcpy(w2, w, (size_t)sizes[s] * sizeof *w);
            memcpy(v2, v, (size_t)sizes[s] * sizeof *v);
            tsri_update u = {sizes[s], w, v, dw, 0.1, 0.9, 5e-4, nesterov};
            tsri_update u2 = {sizes[s], w2, v2, dw, 0.1, 0.9, 5e-4, nesterov};
            assert_ok(tsri_backend_cpu.update(&u, pool));
            assert_ok(tsri_backend_ref.update(&u2, pool));
            assert_memory_equal(w, w2, (size_t)sizes[s] * sizeof *w);
            assert_memory_equal(v, v2, (size_t)sizes[s] * sizeof *v);
            float *all[] = {w, v, dw, w2, v2};
            for (int i = 0; i < 5; i++)
                tsri_free(all[i]);
        }
    tsri_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cpu_equals_ref),
                                       cmocka_unit_test(update_equals_ref)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
