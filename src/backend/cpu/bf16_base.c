/* bf16_base.c - the bf16 loops in plain C: every processor runs them, as slowly as sums of
 * floats. */
#include "backend/cpu/bf16.h"

#include "backend/cpu/counts.h"
#include "base/simd.h"

#include <string.h>

/* A pair of bf16 in 32 bits: the first in the lower half. */
static inline float first_of(uint32_t pair)
{
    return tsri_bf16_float((tsri_bf16)pair);
}

static inline float second_of(uint32_t pair)
{
    return tsri_bf16_float((tsri_bf16)(pair >> 16));
}

/* sum[j] += x[0] b[0][j] + x[1] b[1][j] for one half of the columns, in this order. */
static inline void add_pair(float *sum, const tsri_bf16 *x, const tsri_bf16 *b)
{
    float x0 = tsri_bf16_float(x[0]), x1 = tsri_bf16_float(x[1]);
    uint32_t pair[TSRI_HALF];
    memcpy(pair, b, sizeof pair);
    for (int64_t j = 0; j < TSRI_HALF; j++) {
        sum[j] += x0 * first_of(pair[j]);
        sum[j] += x1 * second_of(pair[j]);
    }
}

TSRI_CLONES
static void product(float *c, int64_t ldc, const tsri_bf16 *a, int64_t row, const int64_t *at,
                    int64_t steps, const tsri_bf16 *b, bool add)
{
    for (int64_t i = 0; i < TSRI_SIDE; i++) {
        float sum[TSRI_SIDE] = {0};
        for (int64_t s = 0; s < steps; s++)
            for (int64_t l = 0; l < TSRI_HALF; l++) {
                const tsri_bf16 *x = a + i * row + at[s] + 2 * l;
                const tsri_bf16 *bl = b + s * TSRI_STEP + l * TSRI_SIDE;
                add_pair(sum, x, bl);
                add_pair(sum + TSRI_HALF, x, bl + TSRI_TILE);
            }
        for (int64_t j = 0; j < TSRI_SIDE; j++)
            c[i * ldc + j] = add ? c[i * ldc + j] + sum[j] : sum[j];
    }
}

static void convert(tsri_bf16 *to, const float *x, tsri_preop pre, int64_t channels)
{
    for (int64_t c = 0; c < channels; c++) {
        float v = pre.scale ? pre.scale[c] * x[c] + pre.shift[c] : x[c];
        to[c] = tsri_bf16_of(pre.scale && !(v > 0) ? 0 : v);
    }
    for (int64_t c = channels; c < tsri_round_up(channels, TSRI_SIDE); c++)
        to[c] = 0;
}

static void pairs(tsri_bf16 *to, const tsri_bf16 *from, int64_t row)
{
    for (int64_t r = 0; r < TSRI_SIDE; r++)
        for (int64_t k = 0; k < TSRI_HALF; k++)
            to[r / 2 * TSRI_SIDE + 2 * k + r % 2] = from[r * row + k];
}

static void turn(tsri_bf16 *to, int64_t to_row, const tsri_bf16 *from, int64_t row)
{
    for (int64_t r = 0; r < TSRI_SIDE; r++)
        for (int64_t k = 0; k < TSRI_HALF; k++)
            to[k * to_row + r] = from[r * row + k];
}

const tsri_bf16_loops tsri_bf16_base = {
    .name = "plain", .product = product, .convert = convert, .pairs = pairs, .turn = turn};
