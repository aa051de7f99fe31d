/* Eigenvalues: matrices whose spectrum is known. */
#include "testing.h"

#include "base/rng.h"
#include "theory/spectrum.h"

#include <math.h>

/* k = P diag(value) P with the reflection P = I - 2 v v^T: a full matrix of known spectrum. */
static double *reflect(const double *value, int64_t n)
{
    double *v = calloc((size_t)n, sizeof *v), *k = calloc((size_t)(n * n), sizeof *k), norm = 0;
    tsri_rng rng = tsri_rng_stream(3, TSRI_FOR_TEST, n, 0, 0);
    for (int64_t i = 0; i < n; i++) {
        v[i] = tsri_rng_normal(&rng);
        norm += v[i] * v[i];
    }
    double middle = 0;
    for (int64_t i = 0; i < n; i++)
        v[i] /= sqrt(norm);
    for (int64_t i = 0; i < n; i++)
        middle += v[i] * v[i] * value[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            k[i * n + j] = (i == j ? value[i] : 0) - 2 * v[i] * v[j] * (value[i] + value[j]) +
                           4 * v[i] * v[j] * middle;
    free(v);
    return k;
}

static void test_full(void **state)
{
    (void)state;
    enum { N = 40 };
    double value[N], found[N];
    for (int i = 0; i < N; i++)
        value[i] = 0.01 + i * i;
    double *k = reflect(value, N), *work = calloc(N * N, sizeof *work);
    assert_ok(tsri_spectrum(found, work, k, N));
    for (int i = 0; i < N; i++)
        assert_true(fabs(found[i] - value[i]) < 1e-11);
    k[5] = k[5 * N] = NAN;
    assert_fails(tsri_spectrum(found, work, k, N), TSR_FAILURE, "not finite");
    free(k);
    free(work);
}

/* A kernel's spectrum: one large value, many small ones. The bound must hold for the ends at every
 * number of steps, and shrink to rounding when the space is used up. */
static void test_lanczos(void **state)
{
    (void)state;
    enum { N = 120 };
    double value[N];
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 2));
    for (int i = 0; i < N; i++)
        value[i] = 0.02 + 35 * pow((double)i / (N - 1), 6);
    double *k = reflect(value, N);
    for (int64_t steps = 10; steps <= 200; steps += 10) {
        tsri_eigen low, high;
        assert_ok(tsri_lanczos(&low, &high, k, N, steps, 0, pool));
        assert_true(fabs(high.value - value[N - 1]) <= high.error);
        double nearest = INFINITY; /* some eigenvalue lies within the error */
        for (int i = 0; i < N; i++)
            nearest = fmin(nearest, fabs(low.value - value[i]));
        assert_true(nearest <= low.error);
        if (steps >= N)
            assert_true(low.error < 1e-10 && fabs(low.value - value[0]) < 1e-10);
    }
    tsri_eigen low, high, low2, high2;
    assert_ok(tsri_spectrum_ends(&low, &high, k, N, pool));
    assert_true(fabs(low.value - value[0]) < 1e-12 && fabs(high.value - value[N - 1]) < 1e-12);
    tsri_pool_destroy(pool);
    assert_ok(tsri_pool_create(&pool, 1)); /* the same bits with another number of threads */
    assert_ok(tsri_lanczos(&low, &high, k, N, 50, 0, pool));
    tsri_pool_destroy(pool);
    assert_ok(tsri_pool_create(&pool, 3));
    assert_ok(tsri_lanczos(&low2, &high2, k, N, 50, 0, pool));
    assert_memory_equal(&low, &low2, sizeof low);
    assert_memory_equal(&high, &high2, sizeof high);
    tsri_pool_destroy(pool);
    free(k);
}

/* The unit matrix: the space is invariant after one step. One number: n = 1. */
static void test_corners(void **state)
{
    (void)state;
    double k[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
    tsri_eigen low, high;
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 1));
    assert_ok(tsri_lanczos(&low, &high, k, 3, 10, 1e-12, pool));
    assert_true(fabs(low.value - 2) < 1e-14 && fabs(high.value - 2) < 1e-14 && low.error < 1e-13);
    assert_ok(tsri_lanczos(&low, &high, k, 1, 10, 1e-12, pool));
    assert_true(low.value == 2 && high.value == 2);
    tsri_pool_destroy(pool);
}

/* Eigenvalues 1 and 3. */
static void test_above(void **state)
{
    (void)state;
    double k[4] = {2, 1, 1, 2}, work[4];
    bool above;
    assert_ok(tsri_spectrum_above(&above, work, k, 2, 1 - 1e-12));
    assert_true(above);
    assert_ok(tsri_spectrum_above(&above, work, k, 2, 1 + 1e-12));
    assert_false(above);
    assert_true(k[0] == 2 && k[1] == 1 && k[3] == 2); /* it is left alone */
}

/* Where Lanczos is taken its value is proven: no eigenvalue lies below it by more than its error.
 */
static void test_proven(void **state)
{
    (void)state;
    enum { N = 1600 };
    double *k = calloc(N * N, sizeof *k), *work = malloc(sizeof(double) * N * N);
    tsri_eigen low, high;
    tsri_pool *pool = NULL;
    bool above;
    assert_non_null(k);
    assert_non_null(work);
    assert_ok(tsri_pool_create(&pool, 1));
    for (int64_t i = 0; i < N; i++)
        k[i * N + i] = 1 + (double)i / N;
    assert_ok(tsri_spectrum_proven(&low, &high, work, k, N, pool));
    assert_true(fabs(low.value - 1) <= low.error + 1e-12 && fabs(high.value - 2) < 1e-2);
    assert_ok(tsri_spectrum_above(&above, work, k, N, low.value - low.error));
    assert_true(above);
    free(k);
    free(work);
    tsri_pool_destroy(pool);
}

static void test_failures(void **state)
{
    (void)state;
    double k[4] = {2, 1, 1, 2};
    tsri_eigen low, high;
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 1));
    for (int64_t n = 0;; n++) {
        (void)tsri_alloc_fail_after(n, true);
        tsr_status st = tsri_lanczos(&low, &high, k, 2, 2, 0, pool);
        if (st == TSR_OK)
            st = tsri_spectrum_ends(&low, &high, k, 2, pool);
        (void)tsri_alloc_fail_after(-1, false);
        if (st == TSR_OK)
            break;
        assert_int_equal(st, TSR_RESOURCES);
    }
    assert_true(fabs(low.value - 1) < 1e-15 && fabs(high.value - 3) < 1e-15);
    tsri_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full),    cmocka_unit_test(test_lanczos),
        cmocka_unit_test(test_corners), cmocka_unit_test(test_above),
        cmocka_unit_test(test_proven),  cmocka_unit_test(test_failures)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
