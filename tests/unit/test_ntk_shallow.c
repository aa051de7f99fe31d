/* Kernels of one hidden layer: against their definitions, against gradients, against chance. */
#include "testing.h"

#include "base/rng.h"
#include "linalg/gemm64.h"
#include "theory/ntk_shallow.h"

#include <math.h>

typedef struct setting {
    int64_t n, d, m;
    float *x, *w;
    double *gram, *k;
    tsri_pool *pool;
} setting;

static void make(setting *s, int64_t n, int64_t d, int64_t m, int64_t seed)
{
    tsri_rng rng = tsri_rng_stream((uint64_t)seed, TSRI_FOR_TEST, 0, 0, 0);
    *s = (setting){.n = n, .d = d, .m = m};
    s->x = calloc((size_t)(n * d), sizeof(float));
    s->w = calloc((size_t)(m * d), sizeof(float));
    s->gram = calloc((size_t)(n * n), sizeof(double));
    s->k = calloc((size_t)(n * n), sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        double norm = 0;
        for (int64_t c = 0; c < d; c++) {
            s->x[i * d + c] = (float)tsri_rng_normal(&rng);
            norm += (double)s->x[i * d + c] * (double)s->x[i * d + c];
        }
        for (int64_t c = 0; c < d; c++)
            s->x[i * d + c] = (float)((double)s->x[i * d + c] / sqrt(norm));
    }
    for (int64_t i = 0; i < m * d; i++)
        s->w[i] = (float)tsri_rng_normal(&rng);
    assert_ok(tsri_pool_create(&s->pool, 2));
    assert_ok(tsri_gram64(s->gram, s->x, n, d, s->pool));
}

static void unmake(setting *s)
{
    tsri_pool_destroy(s->pool);
    free(s->x);
    free(s->w);
    free(s->gram);
    free(s->k);
}

static double inner(const float *a, const float *b, int64_t d)
{
    double sum = 0;
    for (int64_t c = 0; c < d; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

static void test_gram(void **state)
{
    (void)state;
    setting s;
    make(&s, 300, 7, 1, 5); /* more than one tile */
    for (int64_t i = 0; i < s.n; i++)
        for (int64_t j = 0; j < s.n; j++)
            assert_true(fabs(s.gram[i * s.n + j] - inner(s.x + i * 7, s.x + j * 7, 7)) < 1e-14);
    unmake(&s);
}

/* H(k) and m o H are Gram matrices of gradients: of u_i by w_r it is a_r/sqrt(m) 1[w_r x_i >= 0]
 * x_i, summed over r. Explicit gradients in double, no bits. The signs are those of double
 * products, the bits those of float ones: no |<w, x>| here is so small that they differ. */
static void test_against_gradients(void **state)
{
    (void)state;
    setting s;
    tsri_signs bits;
    uint8_t mark[70];
    make(&s, 100, 5, 70, 3);
    for (int r = 0; r < 70; r++)
        mark[r] = r % 3 != 1;
    assert_ok(tsri_patterns(&bits, s.x, s.n, s.d, s.w, s.m, s.pool));
    for (int share = 0; share < 2; share++) {
        double scale = 0.3 / 70;
        if (share)
            assert_ok(tsri_kernel_share(s.k, s.gram, &bits, mark, scale, s.pool));
        else
            assert_ok(tsri_kernel_bits(s.k, s.gram, &bits, scale, s.pool));
        for (int64_t i = 0; i < s.n; i++)
            for (int64_t j = 0; j < s.n; j++) {
                double want = 0;
                for (int64_t r = 0; r < s.m; r++)
                    if ((!share || mark[r]) && inner(s.w + r * 5, s.x + i * 5, 5) >= 0 &&
                        inner(s.w + r * 5, s.x + j * 5, 5) >= 0)
                        want += inner(s.x + i * 5, s.x + j * 5, 5) * scale;
                assert_true(fabs(s.k[i * s.n + j] - want) <= 1e-13);
            }
    }
    tsri_signs_fini(&bits);
    unmake(&s);
}

/* H_inf is the mean of H over random weights: 2 million here, 10^7 with TESSERA_SLOW set, in
 * batches. The fraction of m draws with both signs on has standard deviation at most 1/(2 sqrt m);
 * 5 of them hold for all 21 pairs with probability 1 - 1e-5, and the seed is fixed. */
static void test_infinite_by_chance(void **state)
{
    (void)state;
    enum { N = 6, D = 4, M = 200000 };
    const int BATCHES = getenv("TESSERA_SLOW") ? 50 : 10;
    setting s;
    double *mean = calloc(N * N, sizeof *mean);
    make(&s, N, D, M, 9);
    for (int b = 0; b < BATCHES; b++) {
        tsri_rng rng = tsri_rng_stream(77, TSRI_FOR_TEST, 0, b, 0);
        tsri_signs bits;
        for (int64_t i = 0; i < M * D; i++)
            s.w[i] = (float)tsri_rng_normal(&rng);
        assert_ok(tsri_patterns(&bits, s.x, N, D, s.w, M, s.pool));
        assert_ok(tsri_kernel_bits(s.k, s.gram, &bits, 0.6 / M, s.pool));
        for (int i = 0; i < N * N; i++)
            mean[i] += s.k[i] / BATCHES;
        tsri_signs_fini(&bits);
    }
    tsri_kernel_infinite(s.k, s.gram, N, 0.6, s.pool);
    for (int i = 0; i < N * N; i++) {
        double bound = 5 * 0.6 * fabs(s.gram[i]) * 0.5 / sqrt((double)M * BATCHES);
        if (fabs(mean[i] - s.k[i]) > bound)
            fail_msg("H_inf[%d] is %g, the mean of %d draws %g", i, s.k[i], M * BATCHES, mean[i]);
    }
    free(mean);
    unmake(&s);
}

/* Rows that are not unit, parallel, opposite, zero. */
static void test_infinite_corners(void **state)
{
    (void)state;
    const float x[] = {1, 0, 2, 0, -1, 0, 0, 3, 0, 0};
    double gram[25], k[25];
    tsri_pool *pool = NULL;
    assert_ok(tsri_pool_create(&pool, 1));
    assert_ok(tsri_gram64(gram, x, 5, 2, pool));
    tsri_kernel_infinite(k, gram, 5, 1, pool);
    assert_true(fabs(k[0] - 0.5) < 1e-15 && fabs(k[1] - 1) < 1e-15); /* parallel: <x,x'>/2 */
    assert_true(fabs(k[2]) < 1e-15 && fabs(k[3]) < 1e-15);           /* opposite; orthogonal */
    assert_true(fabs(k[18] - 4.5) < 1e-14);
    for (int i = 0; i < 5; i++)
        assert_true(k[4 * 5 + i] == 0 && k[i * 5 + 4] == 0);
    tsri_pool_destroy(pool);
}

/* The mean over Bernoulli masks of m o H is H(k) (masked-neurons, below Definition 1). Each entry
 * of m o H is g/m times a sum of Bernoulli(xi): over K masks its mean has a known deviation,
 * g/m sqrt(count xi (1-xi) / K); 5 of them. */
static void test_mean_over_masks(void **state)
{
    (void)state;
    enum { N = 12, D = 6, M = 300, MASKS = 2000 };
    const double xi = 0.35;
    setting s;
    tsri_signs bits;
    uint8_t mark[M];
    double *mean = calloc(N * N, sizeof *mean), *h = calloc(N * N, sizeof *h);
    make(&s, N, D, M, 21);
    assert_ok(tsri_patterns(&bits, s.x, N, D, s.w, M, s.pool));
    assert_ok(tsri_kernel_bits(h, s.gram, &bits, xi / M, s.pool));
    for (int k = 0; k < MASKS; k++) {
        tsri_rng rng = tsri_rng_stream(5, TSRI_FOR_TEST, 1, k, 0);
        for (int r = 0; r < M; r++)
            mark[r] = (double)tsri_rng_uniform(&rng) < xi;
        assert_ok(tsri_kernel_share(s.k, s.gram, &bits, mark, 1.0 / M, s.pool));
        for (int i = 0; i < N * N; i++)
            mean[i] += s.k[i] / MASKS;
    }
    for (int i = 0; i < N * N; i++) {
        double count = s.gram[i] != 0 ? h[i] * M / xi / s.gram[i] : 0;
        double bound = 5 * fabs(s.gram[i]) / M * sqrt(count * xi * (1 - xi) / MASKS) + 1e-12;
        if (fabs(mean[i] - h[i]) > bound)
            fail_msg("entry %d: mean over masks %g, H(k) %g, bound %g", i, mean[i], h[i], bound);
    }
    tsri_signs_fini(&bits);
    free(mean);
    free(h);
    unmake(&s);
}

/* With categorical masks the shares of a round add up to the whole, to the bit of a sum. */
static void test_shares_add_up(void **state)
{
    (void)state;
    enum { N = 9, D = 5, M = 130, P = 3 };
    setting s;
    tsri_signs bits;
    uint8_t mark[M];
    double *sum = calloc(N * N, sizeof *sum);
    make(&s, N, D, M, 2);
    assert_ok(tsri_patterns(&bits, s.x, N, D, s.w, M, s.pool));
    for (int l = 0; l < P; l++) {
        for (int r = 0; r < M; r++)
            mark[r] = r % P == l;
        assert_ok(tsri_kernel_share(s.k, s.gram, &bits, mark, 1.0 / M, s.pool));
        for (int i = 0; i < N * N; i++)
            sum[i] += s.k[i];
    }
    assert_ok(tsri_kernel_bits(s.k, s.gram, &bits, 1.0 / M, s.pool));
    for (int i = 0; i < N * N; i++)
        assert_true(fabs(sum[i] - s.k[i]) < 1e-15);
    tsri_signs_fini(&bits);
    free(sum);
    unmake(&s);
}

static void test_failures(void **state)
{
    (void)state;
    setting s;
    make(&s, 5, 3, 20, 4);
    for (int64_t n = 0;; n++) {
        tsri_signs bits = {0};
        uint8_t mark[20] = {1};
        (void)tsri_alloc_fail_after(n, true);
        tsr_status st = tsri_patterns(&bits, s.x, 5, 3, s.w, 20, s.pool);
        if (st == TSR_OK)
            st = tsri_kernel_share(s.k, s.gram, &bits, mark, 1, s.pool);
        if (st == TSR_OK)
            st = tsri_gram64(s.gram, s.x, 5, 3, s.pool);
        (void)tsri_alloc_fail_after(-1, false);
        tsri_signs_fini(&bits);
        if (st == TSR_OK)
            break;
        assert_int_equal(st, TSR_RESOURCES);
    }
    unmake(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gram),
                                       cmocka_unit_test(test_against_gradients),
                                       cmocka_unit_test(test_infinite_by_chance),
                                       cmocka_unit_test(test_infinite_corners),
                                       cmocka_unit_test(test_mean_over_masks),
                                       cmocka_unit_test(test_shares_add_up),
                                       cmocka_unit_test(test_failures)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
