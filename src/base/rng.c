/* rng.c - Philox4x32-10 and the distributions drawn from it. */
#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- The bijection ------------------------------------------------------------------------ */

void tsri_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * x0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * x2;
        x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)p1;
        x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)p0;
        k0 += 0x9E3779B9u; /* the golden ratio */
        k1 += 0xBB67AE85u; /* sqrt 3 - 1 */
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

/* ---- Streams ------------------------------------------------------------------------------ */

tsri_rng tsri_rng_stream(uint64_t seed, tsri_purpose purpose, int64_t layer, int64_t round,
                         int64_t worker)
{
    assert(layer >= 0 && layer < (1 << 24) && round >= 0 && worker >= 0);
    tsri_rng rng = {
        {(uint32_t)seed, (uint32_t)(seed >> 32)},
        {0, (uint32_t)purpose << 24 | (uint32_t)layer, (uint32_t)round, (uint32_t)worker},
        {0},
        4};
    return rng;
}

void tsri_rng_seek(tsri_rng *rng, uint32_t block)
{
    rng->counter[0] = block;
    rng->used = 4;
}

uint32_t tsri_rng_u32(tsri_rng *rng)
{
    if (rng->used == 4) {
        tsri_philox(rng->out, rng->counter, rng->key);
        rng->counter[0]++;
        rng->used = 0;
    }
    return rng->out[rng->used++];
}

float tsri_rng_uniform(tsri_rng *rng)
{
    return (float)(tsri_rng_u32(rng) >> 8) * 0x1p-24f;
}

double tsri_rng_uniform53(tsri_rng *rng)
{
    uint64_t high = tsri_rng_u32(rng), low = tsri_rng_u32(rng);
    uint64_t bits = (high << 32 | low) >> 12; /* 52 bits, then the middle of the cell */
    return ((double)bits + 0.5) * 0x1p-52;
}

uint32_t tsri_rng_below(tsri_rng *rng, uint32_t bound)
{
    assert(bound > 0);
    uint64_t m = (uint64_t)tsri_rng_u32(rng) * bound;
    if ((uint32_t)m < bound) {
        uint32_t threshold = -bound % bound; /* 2^32 mod bound: the part that would be biased */
        while ((uint32_t)m < threshold)
            m = (uint64_t)tsri_rng_u32(rng) * bound;
    }
    return (uint32_t)(m >> 32);
}

void tsri_rng_permutation(tsri_rng *rng, int64_t *perm, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        perm[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = tsri_rng_below(rng, (uint32_t)i + 1);
        int64_t t = perm[i];
        perm[i] = perm[j];
        perm[j] = t;
    }
}

/* ---- The normal distribution -------------------------------------------------------------- */

double tsri_log(double x)
{
    /* x = m 2^e with m in [sqrt(1/2), sqrt 2); log m = 2 atanh(s), s = (m-1)/(m+1), |s| < 0.172,
     * so that ten terms of the odd series leave less than 1e-17. */
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t e = (int64_t)(bits >> 52) - 1022;
    bits = (bits & 0xFFFFFFFFFFFFFull) | 0x3FE0000000000000ull;
    double m;
    memcpy(&m, &bits, sizeof m); /* [1/2, 1) */
    if (m < 0.70710678118654752440) {
        m *= 2.0;
        e -= 1;
    }
    double s = (m - 1.0) / (m + 1.0), s2 = s * s, sum = 0.0;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * s2 + 1.0 / (double)k;
    return 2.0 * s * sum + (double)e * 0.69314718055994530942;
}

static double ratio(const double num[8], const double den[8], double r)
{
    double p = num[7], q = den[7];
    for (int i = 6; i >= 0; i--) {
        p = p * r + num[i];
        q = q * r + den[i];
    }
    return p / q;
}

/* Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988: three
 * rational functions of degree 7, relative error about 1e-16. */
double tsri_normal_quantile(double p)
{
    static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                5.76949722146069140550e0,  3.64784832476320460504e0,
                                1.27045825245236838258e0,  2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    double q = p - 0.5;
    if (q > -0.425 && q < 0.425)
        return q * ratio(a, b, 0.180625 - q * q);
    double r = sqrt(-tsri_log(q < 0 ? p : 1.0 - p));
    double z = r <= 5.0 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5.0);
    return q < 0 ? -z : z;
}

double tsri_rng_normal(tsri_rng *rng)
{
    return tsri_normal_quantile(tsri_rng_uniform53(rng));
}
