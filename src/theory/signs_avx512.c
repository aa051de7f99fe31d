/* signs_avx512.c - the loops over bits for AVX-512 with VPOPCNTDQ (compiled for it:
 * CMakeLists.txt).
 *
 * Four rows and four columns at a time: 16 sums in registers, each of eight 64-bit counts; a load
 * serves four of them. Words go by in chunks, so that the columns of a strip stay in the cache.
 */
#include "theory/signs.h"

#include <immintrin.h>
#include <string.h>

/* In front of a loop: all of it. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

enum { SIDE = 4, VECTOR = 8, CHUNK = 128 }; /* words of a vector, of a chunk: 64 kB of columns */

static inline __attribute__((always_inline)) void square(uint32_t *count,
                                                         const uint64_t *const a[SIDE],
                                                         const uint64_t *const b[SIDE],
                                                         int64_t from, int64_t to, int64_t rows,
                                                         int64_t columns, bool first)
{
    __m512i acc[SIDE][SIDE];
    UNROLL
    for (int i = 0; i < SIDE; i++) {
        UNROLL
        for (int j = 0; j < SIDE; j++)
            acc[i][j] = _mm512_setzero_si512();
    }
    for (int64_t k = from; k < to; k += VECTOR) {
        __m512i y[SIDE];
        UNROLL
        for (int j = 0; j < SIDE; j++)
            y[j] = _mm512_load_si512(b[j] + k);
        UNROLL
        for (int i = 0; i < SIDE; i++) {
            __m512i x = _mm512_load_si512(a[i] + k);
            UNROLL
            for (int j = 0; j < SIDE; j++)
                acc[i][j] =
                    _mm512_add_epi64(acc[i][j], _mm512_popcnt_epi64(_mm512_and_si512(x, y[j])));
        }
    }
    UNROLL
    for (int i = 0; i < SIDE; i++) {
        UNROLL
        for (int j = 0; j < SIDE; j++) {
            uint32_t sum = (uint32_t)_mm512_reduce_add_epi64(acc[i][j]);
            uint32_t *at = count + i * TSRI_BIT_COLUMNS + j;
            if (i < rows && j < columns)
                *at = (first ? 0 : *at) + sum;
        }
    }
}

static void strip(uint32_t *count, const uint64_t *a, int64_t rows, const uint64_t *b,
                  int64_t columns, int64_t words, void *scratch)
{
    (void)scratch;
    for (int64_t from = 0; from < words; from += CHUNK) {
        int64_t to = from + CHUNK < words ? from + CHUNK : words;
        for (int64_t i = 0; i < rows; i += SIDE)
            for (int64_t j = 0; j < columns; j += SIDE) {
                const uint64_t *x[SIDE], *y[SIDE];
                for (int64_t r = 0; r < SIDE; r++) { /* after the last: the last one again */
                    x[r] = a + (i + r < rows ? i + r : rows - 1) * words;
                    y[r] = b + (j + r < columns ? j + r : columns - 1) * words;
                }
                square(count + i * TSRI_BIT_COLUMNS + j, x, y, from, to, rows - i, columns - j,
                       from == 0);
            }
    }
}

static void sign(uint64_t *to, const float *z, int64_t count)
{
    const __m512 zero = _mm512_setzero_ps();
    int64_t whole = count / 64;
    for (int64_t w = 0; w < whole; w++) {
        uint64_t word = 0;
        for (int k = 0; k < 4; k++) {
            __m512 x = _mm512_loadu_ps(z + w * 64 + k * 16);
            word |= (uint64_t)_mm512_cmp_ps_mask(x, zero, _CMP_GE_OQ) << (16 * k);
        }
        to[w] = word;
    }
    if (count % 64)
        tsri_bit_loop_base.sign(to + whole, z + whole * 64, count % 64);
}

const tsri_bit_loop tsri_bit_loop_avx512 = {.name = "avx512", .strip = strip, .sign = sign};
