/* Linear algebra: products beside plain sums and with any number of threads, LAPACK's routines
 * beside matrices whose answer is known. */
#include "testing.h"

#include "base/rng.h"
#include "linalg/gemm.h"
#include "linalg/gemm64.h"
#include "linalg/lapack.h"
#include "linalg/openblas.h"

#include <math.h>

static void fill(float *x, int64_t n, int stream)
{
    tsri_rng rng = tsri_rng_stream(7, TSRI_FOR_TEST, stream, 0, 0);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)tsri_rng_normal(&rng);
}

/* ---- Products ------------------------------------------------------------------------------ */

enum { SIDE = 300 };
static float a[SIDE * SIDE], b[SIDE * SIDE], bias[SIDE], c[SIDE * SIDE], again[SIDE * SIDE];

/* Entry (i, j) by the definition of tsri_gemm; *size = what its rounding errors scale with. */
static double entry(double *size, const tsri_gemm *g, float before, int64_t i, int64_t j)
{
    double sum = 0, scale = g->scale == 0 ? 1 : g->scale;
    *size = fabs((double)before);
    for (int64_t k = 0; k < g->k; k++) {
        double u = (double)g->a[g->a_transposed ? k * g->m + i : i * g->k + k];
        double v = (double)g->b[g->b_transposed ? j * g->k + k : k * g->n + j];
        sum += scale * u * v;
        *size += fabs(scale * u * v);
    }
    sum += g->add ? (double)before : 0;
    sum += g->bias ? (double)g->bias[j] : 0;
    *size += g->bias ? fabs((double)g->bias[j]) : 0;
    return g->relu && sum < 0 ? 0 : sum;
}

/* Sums of k floats in any order are within k roundings of their size. */
static void check(const tsri_gemm *g)
{
    for (int64_t i = 0; i < g->m; i += 7)
        for (int64_t j = 0; j < g->n; j += 5) {
            double size, want = entry(&size, g, 0.25f, i, j);
            double off = fabs((double)g->c[i * g->n + j] - want);
            if (off > (double)(g->k + 3) * 6e-8 * size)
                fail_msg("(%lld, %lld) of %lld x %lld x %lld is off by %g", (long long)i,
                         (long long)j, (long long)g->m, (long long)g->n, (long long)g->k, off);
        }
}

static void run(tsri_gemm g, float *into, int threads)
{
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, threads));
    for (int64_t i = 0; i < g.m * g.n; i++)
        into[i] = 0.25f;
    g.c = into;
    assert_ok(tsri_gemm_run(&g, pool));
    tsri_pool_destroy(pool);
}

/* Shapes of one tile and of several, by rows and by columns; every way to lie and to finish. */
static void products(void **state)
{
    (void)state;
    static const int64_t shape[][3] = {{1, 1, 1},      {5, 3, 9}, {300, 150, 120},
                                       {70, 300, 260}, {0, 4, 2}, {4, 3, 0}};
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (int bits = 0; bits < 16; bits++) {
            tsri_gemm g = {.a_transposed = bits & 1,
                           .b_transposed = bits & 2,
                           .m = shape[s][0],
                           .n = shape[s][1],
                           .k = shape[s][2],
                           .a = a,
                           .b = b,
                           .c = c,
                           .add = bits & 4,
                           .scale = bits & 4 ? 0.5 : 0,
                           .bias = bits & 8 ? bias : NULL,
                           .relu = bits & 4};
            run(g, c, 1);
            check(&g);
            run(g, again, 3);
            assert_memory_equal(c, again, (size_t)(g.m * g.n) * sizeof *c);
        }
}

/* One tile in the middle of a larger matrix leaves the rest alone. */
static void tile(void **state)
{
    (void)state;
    enum { M = 3, N = 4, K = 5, WIDE = 9 };
    for (int i = 0; i < M * WIDE; i++)
        c[i] = 0.25f;
    tsri_gemm_tile(c, WIDE, a, WIDE, b, WIDE, M, N, K, false);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < WIDE; j++) {
            double want = j < N ? 0 : 0.25;
            for (int k = 0; j < N && k < K; k++)
                want += (double)a[i * WIDE + k] * (double)b[j * WIDE + k];
            assert_true(fabs((double)c[i * WIDE + j] - want) < 1e-5); /* a few floats near 1 */
        }
}

/* gemm64 and gram64 agree with each other and with themselves on other numbers of threads. */
static void products_in_double(void **state)
{
    (void)state;
    enum { D = 40 };
    double *x = calloc((size_t)SIDE * D, sizeof *x), *g[3];
    for (int i = 0; i < SIDE * D; i++)
        x[i] = (double)a[i];
    for (int t = 0; t < 3; t++) {
        tsri_pool *pool = NULL;
        assert_ok(tsri_pool_create(&pool, t == 1 ? 3 : 1));
        g[t] = calloc((size_t)SIDE * SIDE, sizeof *g[t]);
        tsri_gemm64 product = {
            .b_transposed = true, .m = SIDE, .n = SIDE, .k = D, .a = x, .b = x, .c = g[t]};
        assert_ok(t < 2 ? tsri_gram64(g[t], a, SIDE, D, pool) : tsri_gemm64_run(&product, pool));
        tsri_pool_destroy(pool);
    }
    assert_memory_equal(g[0], g[1], SIDE * SIDE * sizeof *g[0]);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_true(fabs(g[0][i] - g[2][i]) < 1e-12); /* 40 products near 1, in another order */
    double sum = 0;
    for (int k = 0; k < D; k++)
        sum += x[290 * D + k] * x[3 * D + k];
    assert_true(fabs(g[0][290 * SIDE + 3] - sum) < 1e-12);
    assert_true(g[0][290 * SIDE + 3] == g[0][3 * SIDE + 290]);
    for (int t = 0; t < 3; t++)
        free(g[t]);
    free(x);
}

/* BLAS counts in int. */
static void too_large(void **state)
{
    (void)state;
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 1));
    tsri_gemm g = {.m = 1, .n = 1, .k = (int64_t)1 << 31, .a = a, .b = b, .c = c};
    assert_fails(tsri_gemm_run(&g, pool), TSR_RESOURCES, "inner size of a matrix product");
    double one[1] = {1};
    tsri_gemm64 g64 = {.m = (int64_t)1 << 31, .n = 1, .k = 1, .a = one, .b = one, .c = one};
    assert_fails(tsri_gemm64_run(&g64, pool), TSR_RESOURCES, "rows of a matrix product");
    assert_fails(tsri_eigenvalues(one, one, (int64_t)1 << 31), TSR_RESOURCES, "symmetric matrix");
    tsri_pool_destroy(pool);
}

/* ---- LAPACK -------------------------------------------------------------------------------- */

/* The sum of e_k v_k v_k^T with known, orthogonal v_k. */
static void eigenvectors(void **state)
{
    (void)state;
    enum { N = 4 };
    static const double v[N][N] = {
        {.5, .5, .5, .5}, {.5, -.5, .5, -.5}, {.5, .5, -.5, -.5}, {.5, -.5, -.5, .5}};
    static const double value[N] = {7, 1, -2, 3};
    double sum[N * N] = {0}, got[2 * N];
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N * N; i++)
            sum[i] += value[k] * v[k][i / N] * v[k][i % N];
    assert_ok(tsri_eigenvectors(got, sum, N, 2));
    for (int e = 0; e < 2; e++) {
        double along = 0;
        for (int i = 0; i < N; i++)
            along += got[e * N + i] * v[e == 0 ? 0 : 3][i];
        assert_true(fabs(fabs(along) - 1) < 1e-12);
    }
}

static void cholesky(void **state)
{
    (void)state;
    double k[9] = {4, 1, 0, 1, 3, 1, 0, 1, 2}, other[9], x[3] = {6, 10, 8}; /* of (1, 2, 3) */
    bool definite = false;
    memcpy(other, k, sizeof k);
    assert_ok(tsri_cholesky(k, 3, &definite));
    assert_true(definite);
    tsri_cholesky_solve(x, k, 3);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(x[i] - (i + 1)) < 1e-14);
    other[0] = -1;
    assert_ok(tsri_cholesky(other, 3, &definite));
    assert_false(definite);
}

/* x of least norm: A x = y, and x in the span of A's rows. */
static void least_norm(void **state)
{
    (void)state;
    enum { N = 3, M = 7 };
    double rows[N * M], kept[N * M], x[M] = {1, -2, 0.5};
    int64_t rank;
    tsri_rng rng = tsri_rng_stream(2, TSRI_FOR_TEST, 0, 0, 0);
    for (int i = 0; i < N * M; i++)
        kept[i] = rows[i] = tsri_rng_normal(&rng);
    assert_ok(tsri_least_norm(x, rows, N, M, 1, 1e-12, &rank));
    assert_int_equal(rank, N);
    static const double want[N] = {1, -2, 0.5};
    double norm = 0, through[N] = {0};
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < M; j++)
            sum += kept[i * M + j] * x[j];
        assert_true(fabs(sum - want[i]) < 1e-12);
    }
    /* |x|^2 = y^T (A A^T)^-1 y */
    double g[N * N];
    bool definite;
    for (int i = 0; i < N; i++) {
        through[i] = want[i];
        for (int k = 0; k < N; k++) {
            g[i * N + k] = 0;
            for (int j = 0; j < M; j++)
                g[i * N + k] += kept[i * M + j] * kept[k * M + j];
        }
    }
    for (int j = 0; j < M; j++)
        norm += x[j] * x[j];
    assert_ok(tsri_cholesky(g, N, &definite));
    tsri_cholesky_solve(through, g, N);
    double least = 0;
    for (int i = 0; i < N; i++)
        least += through[i] * want[i];
    assert_true(fabs(norm - least) < 1e-10 * least);
}

static void not_finite(void **state)
{
    (void)state;
    double k[4] = {1, NAN, NAN, 1}, value[2], rows[4] = {1, NAN, 2, 3}, x[2] = {1, 1};
    int64_t rank;
    bool definite;
    assert_fails(tsri_eigenvalues(value, k, 2), TSR_FAILURE, "not finite");
    assert_fails(tsri_cholesky(k, 2, &definite), TSR_FAILURE, "dpotrf");
    assert_fails(tsri_least_norm(x, rows, 2, 2, 1, 0, &rank), TSR_FAILURE, "not finite");
}

static tsr_status one_of_each(tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    double gram[9], vector[3], rows[6] = {1, 2, 3, 4, 5, 7}, x[3] = {1, 1};
    int64_t rank;
    TSR_TRY(tsri_gram64(gram, a, 3, 4, pool));
    TSR_TRY(tsri_eigenvectors(vector, gram, 3, 1));
    TSR_TRY(tsri_least_norm(x, rows, 2, 3, 1, 1e-12, &rank));
done:
    return st;
}

static void memory_runs_out(void **state)
{
    (void)state;
    tsri_pool *pool = NULL;
    tsr_status st = TSR_RESOURCES;
    assert_ok(tsri_pool_create(&pool, 1));
    for (int64_t n = 0; st != TSR_OK; n++) {
        (void)tsri_alloc_fail_after(n, false);
        st = one_of_each(pool);
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
    }
    tsri_pool_destroy(pool);
}

int main(void)
{
    fill(a, SIDE * SIDE, 0);
    fill(b, SIDE * SIDE, 1);
    fill(bias, SIDE, 2);
    if (tsri_openblas_start(3) != TSR_OK)
        fail_msg("%s", tsr_last_error());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),           cmocka_unit_test(tile),
        cmocka_unit_test(products_in_double), cmocka_unit_test(too_large),
        cmocka_unit_test(eigenvectors),       cmocka_unit_test(cholesky),
        cmocka_unit_test(least_norm),         cmocka_unit_test(not_finite),
        cmocka_unit_test(memory_runs_out)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
