/* Adam's step: both backends give the same bits, and what the formula gives in double. */
#include "plan_testing.h"

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { STEPS = 30 };

typedef struct numbers {
    int64_t n;
    float *w[2], *v[2], *s[2], *dw; /* of cpu and of ref */
    double *w64, *v64, *s64;
} numbers;

static void make(numbers *a, int64_t n)
{
    tsri_rng rng = tsri_rng_stream(5, TSRI_FOR_TEST, 0, 0, 0);
    a->n = n;
    assert_ok(tsri_alloc(&a->dw, n, sizeof *a->dw));
    assert_ok(tsri_alloc(&a->w64, n, sizeof *a->w64));
    assert_ok(tsri_alloc(&a->v64, n, sizeof *a->v64));
    assert_ok(tsri_alloc(&a->s64, n, sizeof *a->s64));
    for (int k = 0; k < 2; k++) {
        assert_ok(tsri_alloc(&a->w[k], n, sizeof **a->w));
        assert_ok(tsri_alloc(&a->v[k], n, sizeof **a->v));
        assert_ok(tsri_alloc(&a->s[k], n, sizeof **a->s));
    }
    for (int64_t i = 0; i < n; i++) {
        a->w[0][i] = a->w[1][i] = (float)tsri_rng_normal(&rng);
        a->w64[i] = (double)a->w[0][i];
    }
}

static void unmake(numbers *a)
{
    for (int k = 0; k < 2; k++) {
        tsri_free(a->w[k]);
        tsri_free(a->v[k]);
        tsri_free(a->s[k]);
    }
    tsri_free(a->dw);
    tsri_free(a->w64);
    tsri_free(a->v64);
    tsri_free(a->s64);
}

/* The paper's Algorithm 1 (Kingma and Ba), with the decay in one of its two places. */
static void in_double(numbers *a, const tsri_optim *u, double rate, int64_t step)
{
    for (int64_t i = 0; i < a->n; i++) {
        double g = (double)a->dw[i] + (u->decoupled ? 0 : u->decay * a->w64[i]);
        a->v64[i] = u->momentum * a->v64[i] + (1 - u->momentum) * g;
        a->s64[i] = u->beta2 * a->s64[i] + (1 - u->beta2) * g * g;
        double m = a->v64[i] / (1 - pow(u->momentum, (double)step));
        double v = a->s64[i] / (1 - pow(u->beta2, (double)step));
        a->w64[i] -=
            (u->decoupled ? rate * u->decay * a->w64[i] : 0) + rate * m / (sqrt(v) + u->epsilon);
    }
}

static void both_and_double(int64_t n, bool decoupled, tsri_pool *pool)
{
    numbers a;
    const tsri_backend *backend[] = {&tsri_backend_cpu, &tsri_backend_ref};
    tsri_rng rng = tsri_rng_stream(6, TSRI_FOR_TEST, 0, 0, 0);
    make(&a, n);
    for (int64_t step = 1; step <= STEPS; step++) {
        const tsri_optim rule = {.momentum = 0.9,
                                 .beta2 = 0.999,
                                 .epsilon = 1e-8,
                                 .decay = 0.1,
                                 .adam = true,
                                 .decoupled = decoupled};
        const tsri_dials dials = tsri_optim_dials(&rule, 0.01, step - 1);
        tsri_adam u = {.count = n, .dw = as_mem(a.dw), .dials = as_mem(&dials)};
        for (int64_t i = 0; i < n; i++) /* some have no gradient for ever */
            a.dw[i] = i % 7 == 3 ? 0.0F : (float)tsri_rng_normal(&rng);
        for (int k = 0; k < 2; k++) {
            u.w = as_mem(a.w[k]);
            u.v = as_mem(a.v[k]);
            u.s = as_mem(a.s[k]);
            assert_ok(backend[k]->adam(&u, tsri_device_on(backend[k], pool)));
        }
        in_double(&a, &rule, 0.01, step);
        assert_memory_equal(a.w[0], a.w[1], (size_t)n * sizeof(float));
        assert_memory_equal(a.v[0], a.v[1], (size_t)n * sizeof(float));
        assert_memory_equal(a.s[0], a.s[1], (size_t)n * sizeof(float));
        for (int64_t i = 0; i < n; i++) /* each step rounds some times, at most 2^-23 of |w| < 8 */
            assert_true(fabs((double)a.w[0][i] - a.w64[i]) < (double)step * 4e-6);
    }
    unmake(&a);
}

static void equal_and_right(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 17, 16384, 40001};
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 2));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int decoupled = 0; decoupled < 2; decoupled++)
            both_and_double(sizes[i], decoupled, pool);
    tsri_pool_destroy(pool);
}

/* A gradient of one sign: the first step is the rate, whatever the gradient's size. */
static void first_step_is_the_rate(void **state)
{
    (void)state;
    float w[] = {1, 1}, v[2] = {0}, s[2] = {0}, dw[] = {1e-3F, -50};
    const tsri_optim rule = {.momentum = 0.9, .beta2 = 0.999, .epsilon = 1e-12, .adam = true};
    const tsri_dials dials = tsri_optim_dials(&rule, 0.25, 0);
    tsri_adam u = {.count = 2,
                   .w = as_mem(w),
                   .v = as_mem(v),
                   .s = as_mem(s),
                   .dw = as_mem(dw),
                   .dials = as_mem(&dials)};
    assert_ok(tsri_backend_ref.adam(&u, alone_on(&tsri_backend_ref)));
    assert_true(fabs((double)w[0] - 0.75) < 1e-6 && fabs((double)w[1] - 1.25) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_and_right),
                                       cmocka_unit_test(first_step_is_the_rate)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
