/* bf16_grid.h - images laid out so that a convolution is a sum of shifted matrix products.
 *
 * A grid is one long line of slots, a pixel or zeros in each; after every row of an image and
 * after its last row there are as many slots of zeros as the filters reach over the edge (they
 * serve the next row, or the next image, too):
 *
 *     lead | x x x x 0 | x x x x 0 | 0 0 0 0 0 | x x x x 0 | ...      4x2 images, 3x3 filters
 *
 * Output q of the line is the sum over taps of (slot q + shift of the tap) times the tap's filters,
 * for any 32 neighbouring q, whole rows or not: outputs that fall on slots of zeros are not
 * written.
 *
 * With a stride the pixels are split into phases (row mod stride, column mod stride), each a grid
 * of its own, so that neighbouring outputs still read neighbouring slots. Backward the outputs are
 * split into such classes instead.
 */
#ifndef TSRI_CPU_BF16_GRID_H
#define TSRI_CPU_BF16_GRID_H

#include "backend/cpu/bf16.h"

enum { TSRI_MOST_TAPS = 49 };

typedef struct tsri_tap {
    int64_t weight; /* its place among the filters */
    int64_t phase;
    int64_t dr, dc; /* output (i, j) reads slot (i + dr, j + dc) of the phase */
} tsri_tap;

/* Outputs (i step + row, j step + col), i < rows, j < cols, and the taps that reach them. */
typedef struct tsri_class {
    int64_t count;
    tsri_tap tap[TSRI_MOST_TAPS];
    int64_t rows, cols, step, row, col;
} tsri_class;

typedef struct tsri_bf16_grid {
    int64_t images, h, w, c;           /* of the tensor */
    int64_t wide;                      /* numbers of a slot: c rounded up to a step */
    int64_t rows, cols;                /* slots of an image */
    int64_t lead, tail;                /* slots before the first and after the last image */
    int64_t line;                      /* slots of all images */
    int64_t step;                      /* slot (i, j) of a phase is pixel (i step + row, ...) */
    int64_t phases;                    /* those that some tap reads */
    int64_t phase_row[TSRI_MOST_TAPS]; /* `row` and `col` of each   */
    int64_t phase_col[TSRI_MOST_TAPS];
} tsri_bf16_grid;

/* The forward pass: x as a grid, one class of outputs. */
void tsri_grid_forward(tsri_bf16_grid *grid, tsri_class *all, const tsri_conv_shape *s);

/* The gradient of the input: dy as a grid. Classes that no tap reaches have count 0. */
void tsri_grid_backward(tsri_bf16_grid *grid, const tsri_conv_shape *s);
void tsri_grid_class(tsri_class *out, const tsri_conv_shape *s, int64_t row, int64_t col);

/* dy of the weight gradient: the slots of `grid`'s line, dy where `all` has outputs. */
tsri_bf16_grid tsri_grid_outputs(const tsri_bf16_grid *grid, const tsri_class *all,
                                 int64_t channels);

static inline int64_t tsri_grid_shift(const tsri_bf16_grid *grid, const tsri_tap *tap)
{
    return tap->dr * grid->cols + tap->dc;
}

/* Slots [from, from + count) of a phase into to [count][wide]; `from` may lie before or after the
 * line. */
void tsri_grid_fill(tsri_bf16 *to, const tsri_bf16_grid *grid, int64_t phase, int64_t from,
                    int64_t count, const float *x, tsri_preop pre, const tsri_bf16_loops *loops);

#endif
