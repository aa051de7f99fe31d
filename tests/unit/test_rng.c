/* The generator against Random123's known answers, and the distributions against their definitions.
 */
#include "testing.h"

#include "base/rng.h"

#include <math.h>

/* From Random123's kat_vectors, philox4x32 10 rounds. */
static void known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } kat[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof kat / sizeof *kat; i++) {
        uint32_t out[4];
        tsri_philox(out, kat[i].counter, kat[i].key);
        assert_memory_equal(out, kat[i].out, sizeof out);
    }
}

/* Streams that differ in one coordinate differ; the same coordinates give the same numbers. */
static void streams_are_named(void **state)
{
    (void)state;
    tsri_rng a = tsri_rng_stream(1, TSRI_FOR_INIT, 2, 3, 4), b = a;
    assert_int_equal(tsri_rng_u32(&a), tsri_rng_u32(&b));
    tsri_rng other[] = {
        tsri_rng_stream(2, TSRI_FOR_INIT, 2, 3, 4), tsri_rng_stream(1, TSRI_FOR_ORDER, 2, 3, 4),
        tsri_rng_stream(1, TSRI_FOR_INIT, 1, 3, 4), tsri_rng_stream(1, TSRI_FOR_INIT, 2, 4, 4),
        tsri_rng_stream(1, TSRI_FOR_INIT, 2, 3, 5),
    };
    tsri_rng first = tsri_rng_stream(1, TSRI_FOR_INIT, 2, 3, 4);
    uint32_t word = tsri_rng_u32(&first);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_int_not_equal(word, tsri_rng_u32(&other[i]));
    tsri_rng far = tsri_rng_stream(1, TSRI_FOR_INIT, 2, 3, 4), near = far;
    for (int i = 0; i < 40; i++)
        (void)tsri_rng_u32(&near);
    tsri_rng_seek(&far, 10);
    assert_int_equal(tsri_rng_u32(&near), tsri_rng_u32(&far));
}

static void logarithm_is_libms(void **state)
{
    (void)state;
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, 0, 0, 0);
    for (int i = 0; i < 100000; i++) {
        double x = ldexp(tsri_rng_uniform53(&rng) + 0.5, (int)tsri_rng_below(&rng, 200) - 100);
        double want = log(x);
        assert_true(fabs(tsri_log(x) - want) <= 4e-16 * fmax(1.0, fabs(want)));
    }
}

/* Against erfc: Phi(quantile(p)) = p to rounding, in the middle and in both tails. */
static void quantile_inverts(void **state)
{
    (void)state;
    for (double p = 1e-300; p < 0.5; p *= 1.7) {
        double z = tsri_normal_quantile(p);
        double back = 0.5 * erfc(-z / sqrt(2.0));
        /* d(log p)/dz is about -z in the tail: one ulp of z moves p by z^2 ulps. */
        assert_true(fabs(back - p) <= p * 4e-16 * (2.0 + z * z) * 2);
    }
    assert_true(tsri_normal_quantile(0.5) == 0.0);
    assert_true(fabs(tsri_normal_quantile(0.975) - 1.959963984540054) < 1e-14);
}

/* Moments within five standard errors of their values. */
static void normal_moments(void **state)
{
    (void)state;
    tsri_rng rng = tsri_rng_stream(7, TSRI_FOR_TEST, 0, 0, 0);
    enum { N = 1000000 };
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    for (int i = 0; i < N; i++) {
        double z = tsri_rng_normal(&rng);
        m1 += z;
        m2 += z * z;
        m3 += z * z * z;
        m4 += z * z * z * z;
    }
    double se = 5.0 / sqrt(N);
    assert_true(fabs(m1 / N) < se);
    assert_true(fabs(m2 / N - 1) < se * sqrt(2.0));
    assert_true(fabs(m3 / N) < se * sqrt(15.0));
    assert_true(fabs(m4 / N - 3) < se * sqrt(96.0));
}

/* Chi-square of bounded integers, for bounds that do not divide 2^32. */
static void bounded_is_unbiased(void **state)
{
    (void)state;
    tsri_rng rng = tsri_rng_stream(9, TSRI_FOR_TEST, 0, 0, 0);
    static const uint32_t bounds[] = {1, 2, 3, 7, 10, 1000};
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        uint32_t bound = bounds[b];
        double count[1000] = {0}, chi = 0, each = 200000.0 / bound;
        for (int i = 0; i < 200000; i++) {
            uint32_t v = tsri_rng_below(&rng, bound);
            assert_true(v < bound);
            count[v]++;
        }
        for (uint32_t v = 0; v < bound; v++)
            chi += (count[v] - each) * (count[v] - each) / each;
        /* mean bound-1, variance 2(bound-1): five deviations */
        assert_true(chi <= (bound - 1) + 5 * sqrt(2.0 * (bound - 1)) + 1e-9);
    }
}

/* Every permutation of four elements is equally frequent. */
static void permutations_are_uniform(void **state)
{
    (void)state;
    enum { TRIALS = 240000 };
    double count[256] = {0}, chi = 0;
    for (int t = 0; t < TRIALS; t++) {
        tsri_rng rng = tsri_rng_stream(3, TSRI_FOR_ORDER, 0, t, 0);
        int64_t p[4];
        tsri_rng_permutation(&rng, p, 4);
        count[p[0] * 64 + p[1] * 16 + p[2] * 4 + p[3]]++;
    }
    int kinds = 0;
    for (int i = 0; i < 256; i++)
        if (count[i] > 0) {
            kinds++;
            chi += (count[i] - TRIALS / 24.0) * (count[i] - TRIALS / 24.0) / (TRIALS / 24.0);
        }
    assert_int_equal(kinds, 24);
    assert_true(chi < 23 + 5 * sqrt(46.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(streams_are_named),
        cmocka_unit_test(logarithm_is_libms),
        cmocka_unit_test(quantile_inverts),
        cmocka_unit_test(normal_moments),
        cmocka_unit_test(bounded_is_unbiased),
        cmocka_unit_test(permutations_are_uniform),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
