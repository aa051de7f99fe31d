/* vector.h - vectors of WIDTH floats, the same text for every instruction set.
 *
 * Included by loops_template.h after WIDTH is defined, in a file compiled for its instruction set
 * (CMakeLists.txt). The project is built with -ffp-contract=off, so fused multiply-adds are asked
 * for by name, here and nowhere else.
 */
#include <stdint.h>
#include <string.h>
#if WIDTH > 4
#include <immintrin.h>
#endif

typedef float vec __attribute__((vector_size(WIDTH * 4)));
typedef float vec_any __attribute__((vector_size(WIDTH * 4), aligned(4), may_alias));

typedef int32_t bits __attribute__((vector_size(WIDTH * 4)));

#define ALWAYS static inline __attribute__((always_inline))

/* In front of a loop: all of it, its counts being known when it is inlined; or never. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("nounroll")
#else
#define UNROLL _Pragma("GCC unroll 32")
#define ROLLED _Pragma("GCC unroll 1")
#endif

ALWAYS vec load(const float *p)
{
    return *(const vec_any *)p;
}

ALWAYS void store(float *p, vec x)
{
    *(vec_any *)p = x;
}

/* Past the caches, to an address that is a multiple of the vector; streamed() ends a row of
 * them. */
ALWAYS void stream(float *p, vec x)
{
#if WIDTH == 16
    _mm512_stream_ps(p, (__m512)x);
#elif WIDTH == 8
    _mm256_stream_ps(p, (__m256)x);
#else
    store(p, x);
#endif
}

ALWAYS void streamed(void)
{
#if WIDTH > 4
    _mm_sfence();
#endif
}

ALWAYS vec splat(float x)
{
    return x - (vec){0};
}

/* The first n floats, zeros after; n >= WIDTH loads all. Nothing after the n-th float is touched,
 * and nothing goes through memory on the way: a vector that is loaded from floats stored one by one
 * waits for all of them. */
ALWAYS vec load_some(const float *p, int64_t n)
{
    if (n >= WIDTH)
        return load(p);
#if WIDTH == 16
    return (vec)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif WIDTH == 8
    static const int32_t lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return (vec)_mm256_maskload_ps(p, _mm256_loadu_si256((const __m256i *)(lanes + 8 - n)));
#else
    vec v = {p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0};
    return v;
#endif
}

#if WIDTH == 8
/* In halves and quarters: the masked store of AVX2 takes forty steps on some processors. */
ALWAYS void store_part(float *p, __m256 v, int64_t n)
{
    __m128 part = _mm256_castps256_ps128(v);
    if (n & 4) {
        _mm_storeu_ps(p, part);
        p += 4;
        part = _mm256_extractf128_ps(v, 1);
    }
    if (n & 2) {
        _mm_storel_pi((__m64 *)p, part);
        p += 2;
        part = _mm_movehl_ps(part, part);
    }
    if (n & 1)
        _mm_store_ss(p, part);
}
#endif

ALWAYS void store_some(float *p, vec v, int64_t n)
{
    if (n >= WIDTH) {
        store(p, v);
        return;
    }
#if WIDTH == 16
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
#elif WIDTH == 8
    store_part(p, (__m256)v, n);
#else
    for (int l = 0; l < 3; l++)
        if (l < n)
            p[l] = v[l];
#endif
}

/* a * b + c, rounded once where the processor can. */
ALWAYS vec fma_(vec a, vec b, vec c)
{
#if WIDTH == 16
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif WIDTH == 8
    return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

ALWAYS vec relu(vec x)
{
    return (vec)((bits)x & (bits)(x > (vec){0}));
}

/* Bit l is set where lane l of a comparison is true. */
ALWAYS unsigned lanes_of(bits truth)
{
#if WIDTH == 16
    return _mm512_movepi32_mask((__m512i)truth);
#elif WIDTH == 8
    return (unsigned)_mm256_movemask_ps((__m256)truth);
#else
    unsigned lanes = 0;
    for (int l = 0; l < WIDTH; l++)
        lanes |= (truth[l] ? 1u : 0u) << l;
    return lanes;
#endif
}

/* A virtual norm and its ReLU. */
ALWAYS vec activate(vec v, vec scale, vec shift)
{
    return relu(fma_(scale, v, shift));
}
