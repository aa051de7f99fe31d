/* Patterns of bits: every loop that this processor runs against a count unit by unit. */
#include "testing.h"

#include "base/rng.h"
#include "theory/signs.h"

typedef struct answer {
    int64_t n;
    uint32_t *count; /* [n, n] */
} answer;

static void keep(void *context, int64_t i, int64_t from, int64_t count, const uint32_t *counts)
{
    answer *a = context;
    for (int64_t j = 0; j < count; j++)
        if (from + j >= i)
            a->count[i * a->n + from + j] = counts[j];
}

/* density: 0 = one in two; 1 = all ones, which fills every sum to its limit. */
static void fill(tsri_signs *bits, int64_t n, int64_t m, int all)
{
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, n, m, 0);
    float *z = malloc((size_t)m * sizeof *z);
    assert_ok(tsri_signs_init(bits, n, m));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t r = 0; r < m; r++)
            z[r] = all ? 0.0f : tsri_rng_uniform(&rng) - 0.5f;
        tsri_signs_sign(bits, i, 0, z, m);
    }
    free(z);
}

static int bit(const tsri_signs *b, int64_t i, int64_t r)
{
    return (int)(b->row[i * b->words + r / 64] >> (r % 64) & 1);
}

static void check(const tsri_signs *b, const answer *a, const char *name)
{
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t j = i; j < b->n; j++) {
            uint32_t want = 0;
            for (int64_t k = 0; k < b->words; k++)
                want += (uint32_t)__builtin_popcountll(b->row[i * b->words + k] &
                                                       b->row[j * b->words + k]);
            if (a->count[i * b->n + j] != want)
                fail_msg("%s: n %lld m %lld: count(%lld, %lld) is %u, not %u", name,
                         (long long)b->n, (long long)b->m, (long long)i, (long long)j,
                         a->count[i * b->n + j], want);
        }
}

/* Sizes at and beside every edge: strips of 64, rows in sixes and pieces of 512, words in eights,
 * sums of 31 bytes and chunks of 496 (3968 units). */
static void test_loops(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1},    {2, 63},   {5, 64},    {95, 65},
                                       {96, 512}, {65, 513}, {130, 249}, {7, 3968},
                                       {6, 3969}, {9, 8192}, {3, 70000}, {600, 100}};
    for (int threads = 1; threads <= 3; threads += 2) {
        tsri_pool *pool = NULL;
        assert_ok(tsri_pool_create(&pool, threads));
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int all = 0; all < 2; all++) {
                tsri_signs bits;
                fill(&bits, sizes[s][0], sizes[s][1], all);
                const tsri_bit_loop *loop;
                for (int l = 0; (loop = tsri_bit_loop_at(l)) != NULL; l++) {
                    answer a = {bits.n, calloc((size_t)(bits.n * bits.n), sizeof(uint32_t))};
                    assert_ok(tsri_signs_gram_by(&bits, loop, pool, keep, &a));
                    check(&bits, &a, loop->name);
                    free(a.count);
                }
                tsri_signs_fini(&bits);
            }
        tsri_pool_destroy(pool);
    }
}

/* Zero, minus zero and NaN: the indicator is >= 0. */
static void test_sign(void **state)
{
    (void)state;
    float z[130];
    const tsri_bit_loop *loop;
    for (int i = 0; i < 130; i++)
        z[i] = (float)(i % 7 - 3);
    z[5] = -0.0f;
    z[70] = strtof("nan", NULL);
    z[129] = 1;
    for (int l = 0; (loop = tsri_bit_loop_at(l)) != NULL; l++) {
        tsri_signs b;
        assert_ok(tsri_signs_init(&b, 1, 130));
        loop->sign(b.row, z, 130);
        for (int i = 0; i < 130; i++)
            assert_int_equal(bit(&b, 0, i), z[i] >= 0);
        for (int64_t i = 130; i < b.words * 64; i++)
            assert_int_equal(bit(&b, 0, i), 0);
        tsri_signs_fini(&b);
    }
}

static void test_share(void **state)
{
    (void)state;
    tsri_signs a, b;
    uint8_t mark[200];
    uint64_t row[8];
    fill(&a, 4, 200, 0);
    assert_ok(tsri_signs_init(&b, 4, 200));
    for (int r = 0; r < 200; r++)
        mark[r] = r % 3 == 0;
    tsri_signs_row(row, a.words, mark, 200);
    tsri_signs_and(&b, &a, row);
    for (int64_t i = 0; i < 4; i++) {
        int64_t differ = 0;
        for (int64_t r = 0; r < 200; r++) {
            assert_int_equal(bit(&b, i, r), bit(&a, i, r) && mark[r]);
            differ += bit(&a, i, r) != bit(&b, i, r);
        }
        assert_int_equal(tsri_signs_differ(&a, &b, i), differ);
    }
    tsri_signs_fini(&a);
    tsri_signs_fini(&b);
}

static void test_failures(void **state)
{
    (void)state;
    tsri_signs b;
    tsri_pool *pool = NULL;
    answer a = {3, calloc(9, sizeof(uint32_t))};
    fill(&b, 3, 10, 0);
    assert_ok(tsri_pool_create(&pool, 1));
    (void)tsri_alloc_fail_after(0, true);
    tsr_status st = tsri_signs_gram(&b, pool, keep, &a);
    (void)tsri_alloc_fail_after(-1, false);
    assert_int_equal(st, TSR_RESOURCES);
    tsri_pool_destroy(pool);
    tsri_signs_fini(&b);
    free(a.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loops), cmocka_unit_test(test_sign),
                                       cmocka_unit_test(test_share),
                                       cmocka_unit_test(test_failures)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
