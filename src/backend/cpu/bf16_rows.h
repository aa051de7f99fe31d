/* bf16_rows.h - rounding and rearranging with AVX512_BF16: a part of bf16_avx512.c and bf16_amx.c,
 * which the build compiles for it. */
#include "backend/cpu/bf16.h"

#include <immintrin.h>

/* Sixteen floats of x from c on, zeros after `channels`, through the norm in front. */
static inline __m512 take(const float *x, tsri_preop pre, int64_t c, int64_t channels)
{
    int64_t left = channels - c;
    unsigned lanes = left >= 16 ? 0xffff : left > 0 ? (1u << left) - 1 : 0;
    __mmask16 some = (__mmask16)lanes;
    __m512 v = _mm512_maskz_loadu_ps(some, x + c);
    if (!pre.scale)
        return v;
    __m512 scale = _mm512_maskz_loadu_ps(some, pre.scale + c);
    v = _mm512_fmadd_ps(scale, v, _mm512_maskz_loadu_ps(some, pre.shift + c));
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_GT_OQ), v);
}

static void convert(tsri_bf16 *to, const float *x, tsri_preop pre, int64_t channels)
{
    for (int64_t c = 0; c < channels; c += TSRI_SIDE) {
        __m512 low = take(x, pre, c, channels), high = take(x, pre, c + TSRI_HALF, channels);
        _mm512_storeu_si512(to + c, (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
}

/* Rows r and r + 1 of sixteen columns, the second in the upper halves. */
static inline __m512i pair(const tsri_bf16 *from, int64_t row)
{
    __m512i low = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from));
    __m512i high = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(from + row)));
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

static void pairs(tsri_bf16 *to, const tsri_bf16 *from, int64_t row)
{
    for (int64_t r = 0; r < TSRI_HALF; r++)
        _mm512_storeu_si512(to + r * TSRI_SIDE, pair(from + 2 * r * row, row));
}

/* A transposition of 16 x 16 pairs: within fours of a lane, then lanes within fours, then
 * across. */
static void turn(tsri_bf16 *to, int64_t to_row, const tsri_bf16 *from, int64_t row)
{
    __m512i a[16], b[16];
    for (int r = 0; r < 16; r++)
        a[r] = pair(from + 2 * r * row, row);
    for (int r = 0; r < 16; r += 2) {
        b[r] = _mm512_unpacklo_epi32(a[r], a[r + 1]);
        b[r + 1] = _mm512_unpackhi_epi32(a[r], a[r + 1]);
    }
    for (int r = 0; r < 16; r += 4) { /* a[r + i]: column i of each lane, rows r .. r + 3 */
        a[r] = _mm512_unpacklo_epi64(b[r], b[r + 2]);
        a[r + 1] = _mm512_unpackhi_epi64(b[r], b[r + 2]);
        a[r + 2] = _mm512_unpacklo_epi64(b[r + 1], b[r + 3]);
        a[r + 3] = _mm512_unpackhi_epi64(b[r + 1], b[r + 3]);
    }
    for (int i = 0; i < 4; i++) { /* lane l of a[4 g + i]: column 4 l + i, rows 4 g .. 4 g + 3 */
        __m512i low01 = _mm512_shuffle_i32x4(a[i], a[4 + i], 0x44);
        __m512i high01 = _mm512_shuffle_i32x4(a[i], a[4 + i], 0xee);
        __m512i low23 = _mm512_shuffle_i32x4(a[8 + i], a[12 + i], 0x44);
        __m512i high23 = _mm512_shuffle_i32x4(a[8 + i], a[12 + i], 0xee);
        b[i] = _mm512_shuffle_i32x4(low01, low23, 0x88);
        b[4 + i] = _mm512_shuffle_i32x4(low01, low23, 0xdd);
        b[8 + i] = _mm512_shuffle_i32x4(high01, high23, 0x88);
        b[12 + i] = _mm512_shuffle_i32x4(high01, high23, 0xdd);
    }
    for (int c = 0; c < 16; c++)
        _mm512_storeu_si512(to + c * to_row, b[c]);
}
