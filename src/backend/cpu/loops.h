/* loops.h - the few inner loops in which training spends its time, one table per instruction
 * set.
 *
 *     const tsri_loops *kn = tsri_loops_best();
 *     kn->gemm(...)
 *
 * The loops are written once (loops_template.h) on vectors of `width` floats and compiled for
 * AVX-512, AVX2+FMA and plain vectors of four, which every processor has or imitates. The drivers
 * (winograd.c, conv_direct.c, skip.c) know nothing of instruction sets: they lay out memory, cut
 * the work into units and call the table.
 *
 * Channels are innermost everywhere (NHWC), so a vector always holds neighbouring channels.
 */
#ifndef TSRI_LOOPS_H
#define TSRI_LOOPS_H

#include "backend/samples.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Which part of a tile lies inside the image: rows r0 <= i < r1, columns c0 <= j < c1. */
typedef struct tsri_window {
    int r0, r1, c0, c1;
} tsri_window;

/* Where transformed data goes: channel c of the element at `base` lies at
 * base + (c / width) * stride + c % width; the n*n elements of a tile lie `point` apart. */
typedef struct tsri_panels {
    int64_t width, stride, point;
} tsri_panels;

/* What is done to the input of a convolution on its way in: relu(scale[c] * x + shift[c]), or
 * nothing when scale is NULL. Outside the image the value is 0 either way. */
typedef struct tsri_preop {
    const float *scale, *shift; /* [C] */
} tsri_preop;

/* The transforms of Winograd's F(m x m, 3 x 3), n = m + 2. All of them work on `channels` channels
 * of one tile; pixels of the tile are `row` and `pixel` floats apart in memory. */
typedef struct tsri_winograd_form {
    int m, n;
    /* v = B^T x B                 n x n pixels, the first `at` floats after x (or before it: a
     *                             window that is not whole may begin outside the image) */
    void (*input)(float *v, tsri_panels to, const float *x, int64_t at, int64_t row, int64_t pixel,
                  tsri_window in, int64_t channels, tsri_preop pre);
    /* y = A^T m A (+ add)         mm: points `point` apart, y: m x m pixels */
    void (*output)(float *y, int64_t row, int64_t pixel, tsri_window in, const float *add,
                   const float *mm, int64_t point, int64_t channels);
    /* v = A dy A^T                dy: m x m pixels; the adjoint of `output` */
    void (*output_adjoint)(float *v, tsri_panels to, const float *dy, int64_t row, int64_t pixel,
                           tsri_window in, int64_t channels);
    /* u = G w G^T                 w: 9 taps `tap` apart */
    void (*weight)(float *u, int64_t point, const float *w, int64_t tap, int64_t channels);
    /* dw = G^T u G                the adjoint of `weight` */
    void (*weight_adjoint)(float *dw, int64_t tap, const float *u, int64_t point, int64_t channels);
} tsri_winograd_form;

/* Steps of three rows and one block of items, by class (skip.h). */
typedef struct tsri_skip_run {
    uint16_t full, pair[3]; /* in pair[k] row k has an item of its own, the others share one */
    uint16_t row[3];        /* of its chunk; after the last row: there is none */
    uint32_t at, first;     /* where its items and its first step are in its unit */
} tsri_skip_run;

typedef struct tsri_loops {
    const char *name;
    int width; /* floats of a vector */
    int rows;  /* of the register tile; its columns are cols = 2 * width */
    int cols;

    /* c[i][j] (+)= sum_l a[i * lda + l] * b[l * kn->cols + j], i < rows <= kn->rows, j < cols <=
     * kn->cols. Columns of c from `cols` on may be written, with anything, or left. */
    void (*gemm)(float *c, int64_t ldc, const float *a, int64_t lda, const float *b, int rows,
                 int cols, int64_t l, bool add);
    /* c[i][j] (+)= sum_l a[l * lda + i] * b[l * kn->cols + j] */
    void (*gemm_t)(float *c, int64_t ldc, const float *a, int64_t lda, const float *b, int rows,
                   int cols, int64_t l, bool add);

    /* y = relu(scale x + shift) */
    void (*activate)(float *y, const float *x, tsri_preop op, int64_t pixels, int64_t channels);
    /* sums[c] = sum of x - ref[c], sums[C + c] = sum of (x - ref[c])^2 over the pixels */
    void (*moments)(float *sums, const float *x, const float *ref, int64_t pixels,
                    int64_t channels);
    /* With h = g where scale x + shift > 0, else 0:  sums[c] = sum of h, sums[C + c] = sum of
     * h (x - mean[c]) */
    void (*norm_sums)(float *sums, const float *g, const float *x, const float *mean, tsri_preop op,
                      int64_t pixels, int64_t channels);
    /* dx = scale h + coef[c] x + coef[C + c] + add; add may be NULL; dx may be g or add */
    void (*norm_backward)(float *dx, const float *g, const float *x, const float *coef,
                          tsri_preop op, const float *add, int64_t pixels, int64_t channels);

    /* backend/samples.h */
    void (*samples_table)(float *table, const float *c, const float *gram, int64_t groups,
                          int64_t columns);
    void (*samples_step)(const tsri_samples *s);
    void (*samples_outputs)(const tsri_samples *s);
    void (*samples_awake)(uint8_t *awake, const float *z, int64_t units, int64_t columns);

    tsri_winograd_form form2, form4;

    int skip_items; /* most items of a block */
    int skip_cols;  /* columns of a panel */
    int skip_unit;  /* item t is written down as skip_unit * t: the bytes of a panel's row */
    /* sum[r][j] += the steps of one run, r < 3, j < skip_cols; s: three numbers a step. `fresh`:
     * the sums begin at zero. */
    void (*skip)(float *const sum[3], bool fresh, const float *panel, const uint16_t *at,
                 const float *s, const tsri_skip_run *run);
    /* panel[t][j] = v[t * stride + j], t < items, j < skip_cols */
    void (*skip_rows)(float *panel, const float *v, int64_t stride, int64_t items);
    /* to[r * stride + j] = strip[r][j], r < rows, j < skip_cols; `past` the caches */
    void (*skip_out)(float *to, int64_t stride, const float *strip, int64_t rows, bool past);
    /* to[j * to_row + i] = from[i * from_row + j], i < rows, j < cols */
    void (*turn)(float *to, int64_t to_row, const float *from, int64_t from_row, int64_t rows,
                 int64_t cols);
    /* y[r] = sum over i < n of w[r][i] x[i] */
    void (*dots)(float y[4], const float *const w[4], const float *x, int64_t n);
    /* y[j] = sum over k < n of x[at[k]] w[at[k] * stride + j], j < cols; `at` goes on for `ahead`
     * more, whose numbers are fetched and not used */
    void (*sums)(float *y, int64_t cols, const float *w, int64_t stride, const float *x,
                 const int32_t *at, int64_t n);
    int ahead;
} tsri_loops;

/* The i-th table that this processor runs, narrowest first; NULL after the last. The environment
 * variable TESSERA_LOOPS names the last. */
const tsri_loops *tsri_loops_at(int i);

/* The widest of them. */
const tsri_loops *tsri_loops_best(void);

/* The one for convolutions whose widest side has that many channels: a wide vector that is half
 * empty does no more than a narrow one that is full. */
const tsri_loops *tsri_loops_for(int64_t channels);

/* USAGE when TESSERA_LOOPS names no table that this processor runs. */
tsr_status tsri_loops_check(void);

/* The tables themselves; the last two only on x86-64. */
extern const tsri_loops tsri_loops_base, tsri_loops_avx2, tsri_loops_avx512;

#endif
