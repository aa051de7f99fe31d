/* conv.h - convolutions on plain memory: sizes in, numbers out, nothing allocated.
 *
 *     tsri_conv_shape s = {.n = 64, .h = 32, .w = 32, .c = 64, .k = 64,
 *                          .size = 3, .stride = 1, .pad = 1};
 *     int64_t floats = tsri_winograd_work(&s, 4, loops, threads);
 *     tsri_winograd_forward(y, x, w, &s, 4, (tsri_fuse){0},
 *                           &(tsri_conv_team){loops, pool, work});
 *
 * Layouts, channels innermost:   x [n][h][w][c]   y [n][oh][ow][k]   w [size][size][c][k]
 *
 * Every result is a pure function of the operands, the shape, the algorithm and the table of loops:
 * the work is cut into units by the shape alone and each number is summed by one unit in a fixed
 * order, so neither the number of threads nor their luck changes a bit.
 */
#ifndef TSRI_CONV_H
#define TSRI_CONV_H

#include "base/pool.h"
#include "backend/cpu/loops.h"

typedef struct tsri_conv_shape {
    int64_t n, h, w;           /* images, height and width of the input */
    int64_t c, k;              /* channels in and out */
    int64_t size, stride, pad; /* square kernels */
} tsri_conv_shape;

/* What is fused into the passes that read x: relu(scale * x + shift) on the way in (the forward
 * pass and the weight gradient use the same), and in the forward pass the sum with `add`, which has
 * the layout of y. All may be NULL. */
typedef struct tsri_fuse {
    tsri_preop pre;
    const float *add;
} tsri_fuse;

/* The threads and scratch memory of a convolution (64-byte aligned, as many floats as the _work
 * function says; its contents mean nothing before or after). */
typedef struct tsri_conv_team {
    const tsri_loops *loops;
    tsri_pool *pool;
    float *work;
} tsri_conv_team;

int64_t tsri_conv_out(int64_t in, const tsri_conv_shape *s); /* height or width of y */

/* Winograd F(m x m, 3 x 3), m = 2 or 4: size 3, stride 1, pad 0 to 2. */
int64_t tsri_winograd_work(const tsri_conv_shape *s, int m, const tsri_loops *kn, int threads);
void tsri_winograd_forward(float *y, const float *x, const float *w, const tsri_conv_shape *s,
                           int m, tsri_fuse fuse, const tsri_conv_team *team);
void tsri_winograd_backward_data(float *dx, const float *dy, const float *w,
                                 const tsri_conv_shape *s, int m, const float *add,
                                 const tsri_conv_team *team);
void tsri_winograd_backward_weights(float *dw, const float *x, const float *dy,
                                    const tsri_conv_shape *s, int m, tsri_fuse fuse,
                                    const tsri_conv_team *team);

/* Direct sums, any size, stride and pad. */
int64_t tsri_direct_work(const tsri_conv_shape *s, const tsri_loops *kn, int threads);
void tsri_direct_forward(float *y, const float *x, const float *w, const tsri_conv_shape *s,
                         tsri_fuse fuse, const tsri_conv_team *team);
/* The same, to the bit, with filters that many calls read: b = w as the products want it. */
int64_t tsri_direct_packed_size(const tsri_conv_shape *s, const tsri_loops *kn); /* floats of b */
void tsri_direct_pack(float *b, const float *w, const tsri_conv_shape *s,
                      const tsri_conv_team *team);
void tsri_direct_forward_packed(float *y, const float *x, float *b, const tsri_conv_shape *s,
                                tsri_fuse fuse, const tsri_conv_team *team);
/* dx = the gradient + add; add may be NULL, or dx itself. */
void tsri_direct_backward_data(float *dx, const float *dy, const float *w, const tsri_conv_shape *s,
                               const float *add, const tsri_conv_team *team);
void tsri_direct_backward_weights(float *dw, const float *x, const float *dy,
                                  const tsri_conv_shape *s, tsri_fuse fuse,
                                  const tsri_conv_team *team);

#endif
