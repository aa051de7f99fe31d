/* bf16.h - convolutions and linear layers with bf16 operands, as one kind of matrix product.
 *
 * A table of loops per instruction set: AMX tiles, AVX512_BF16, and plain C, which runs everywhere
 * and is what tests and machines without either compute with. Their one product is
 *
 *     c [32][32]  (+)=  sum over steps s of  a_s [32][32] b_s [32][32]
 *
 * a_s is read where it lies, 32 numbers in each of 32 rows; b_s is packed as the instructions want
 * it: two halves of 16 columns, each [16 pairs of rows][16 columns][2].
 *
 * All three passes of a convolution are this product (bf16_pass.c, bf16_weights.c) on grids
 * (bf16_grid.h); a linear layer is a 1x1 convolution of 1x1 images. Shapes, layouts and promises
 * are those of conv.h: no thread count changes a bit.
 */
#ifndef TSRI_CPU_BF16_H
#define TSRI_CPU_BF16_H

#include "backend/bf16.h"
#include "backend/cpu/conv.h"

enum {
    TSRI_SIDE = 32,                    /* of a block of c, and the depth of a step */
    TSRI_HALF = 16,                    /* columns of one packed tile */
    TSRI_TILE = TSRI_SIDE * TSRI_HALF, /* numbers of it */
    TSRI_STEP = 2 * TSRI_TILE          /* packed numbers of b_s */
};

typedef struct tsri_bf16_loops {
    const char *name;
    void (*begin)(void); /* (optional) on a thread before its products, and after them */
    void (*end)(void);   /* (optional) */

    /* c[i * ldc + j] (+)= sum_s sum_l a[i * row + at[s] + l] b_s[l][j], b_s at b + s TSRI_STEP */
    void (*product)(float *c, int64_t ldc, const tsri_bf16 *a, int64_t row, const int64_t *at,
                    int64_t steps, const tsri_bf16 *b, bool add);
    /* to[c] = x[c], or relu(scale[c] x[c] + shift[c]); zeros up to the next multiple of 32 */
    void (*convert)(tsri_bf16 *to, const float *x, tsri_preop pre, int64_t channels);
    /* A tile of 32 rows and 16 columns as pairs of rows, to [16][16][2] ... */
    void (*pairs)(tsri_bf16 *to, const tsri_bf16 *from, int64_t row);
    /* ... and transposed, to [16][32] with rows to_row apart */
    void (*turn)(tsri_bf16 *to, int64_t to_row, const tsri_bf16 *from, int64_t row);
} tsri_bf16_loops;

/* The i-th table that this processor runs, slowest first; NULL after the last. The first is plain
 * C. */
const tsri_bf16_loops *tsri_bf16_at(int i);

/* The fastest of them. */
const tsri_bf16_loops *tsri_bf16_best(void);

/* Is that one better than plain C? */
bool tsri_bf16_fast(void);

extern const tsri_bf16_loops tsri_bf16_base, tsri_bf16_avx512, tsri_bf16_amx;

/* ---- Passes -------------------------------------------------------------------------------- */

typedef struct tsri_bf16_team {
    const tsri_bf16_loops *loops;
    tsri_pool *pool;
    void *work; /* 64-byte aligned, as many bytes as tsri_bf16_work says */
} tsri_bf16_team;

/* What becomes of a sum of products: scale sum + bias[k] + add, then max(., 0). */
typedef struct tsri_bf16_finish {
    float scale;
    const float *bias; /* [K] or NULL */
    const float *add;  /* layout of the result, or the result itself, or NULL */
    bool relu;
} tsri_bf16_finish;

/* Filters are [size][size][c][k], or [k][c] of a linear layer: `rows_out`, size 1. */
typedef struct tsri_bf16_filters {
    const float *w;
    bool rows_out;
} tsri_bf16_filters;

int64_t tsri_bf16_work(const tsri_conv_shape *s, int threads);

void tsri_bf16_forward(float *y, const float *x, tsri_bf16_filters w, const tsri_conv_shape *s,
                       tsri_preop pre, tsri_bf16_finish finish, const tsri_bf16_team *team);
void tsri_bf16_backward_data(float *dx, const float *dy, tsri_bf16_filters w,
                             const tsri_conv_shape *s, tsri_bf16_finish finish,
                             const tsri_bf16_team *team);

/* dw [size][size][c][k] = scale times the gradient. */
void tsri_bf16_backward_weights(float *dw, const float *x, const float *dy,
                                const tsri_conv_shape *s, tsri_preop pre, float scale,
                                const tsri_bf16_team *team);

/* The memory of each, for tsri_bf16_work. */
int64_t tsri_bf16_pass_work(const tsri_conv_shape *s, int threads);
int64_t tsri_bf16_weights_work(const tsri_conv_shape *s, int threads);

#endif
