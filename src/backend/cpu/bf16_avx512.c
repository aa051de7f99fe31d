/* bf16_avx512.c - the bf16 loops on vectors: two multiplications and additions per float of a sum
 * in one instruction. */
#include "backend/cpu/bf16_rows.h"

#include <string.h>

enum { ROWS = 8 }; /* 16 sums in registers, two vectors of b, one number of a at a time */

static inline __m512bh both(const tsri_bf16 *a)
{
    int32_t two;
    memcpy(&two, a, sizeof two);
    return (__m512bh)_mm512_set1_epi32(two);
}

static inline __m512bh load(const tsri_bf16 *b)
{
    return (__m512bh)_mm512_loadu_si512(b);
}

static void rows_of_product(float *c, int64_t ldc, const tsri_bf16 *a, int64_t row,
                            const int64_t *at, int64_t steps, const tsri_bf16 *b, bool add)
{
    __m512 sum[ROWS][2];
    for (int i = 0; i < ROWS; i++)
        sum[i][0] = sum[i][1] = _mm512_setzero_ps();
    for (int64_t s = 0; s < steps; s++, b += TSRI_STEP)
        for (int l = 0; l < TSRI_HALF; l++) {
            __m512bh b0 = load(b + l * TSRI_SIDE), b1 = load(b + TSRI_TILE + l * TSRI_SIDE);
#pragma GCC unroll 8
            for (int i = 0; i < ROWS; i++) {
                __m512bh x = both(a + i * row + at[s] + 2 * l);
                sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, b0);
                sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, b1);
            }
        }
    for (int i = 0; i < ROWS; i++)
        for (int h = 0; h < 2; h++) {
            float *to = c + i * ldc + h * TSRI_HALF;
            _mm512_storeu_ps(to, add ? _mm512_add_ps(sum[i][h], _mm512_loadu_ps(to)) : sum[i][h]);
        }
}

static void product(float *c, int64_t ldc, const tsri_bf16 *a, int64_t row, const int64_t *at,
                    int64_t steps, const tsri_bf16 *b, bool add)
{
    for (int64_t i = 0; i < TSRI_SIDE; i += ROWS)
        rows_of_product(c + i * ldc, ldc, a + i * row, row, at, steps, b, add);
}

const tsri_bf16_loops tsri_bf16_avx512 = {
    .name = "avx512", .product = product, .convert = convert, .pairs = pairs, .turn = turn};
