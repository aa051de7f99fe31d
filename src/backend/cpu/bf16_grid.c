/* bf16_grid.c - the geometry of grids, and filling them. */
#include "backend/cpu/bf16_grid.h"

#include "backend/cpu/counts.h"

#include <assert.h>

/* ---- Geometry ------------------------------------------------------------------------------ */

/* Remainder of a division that rounds down. */
static int64_t modulo(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return r < 0 ? r + b : r;
}

static int64_t find_phase(tsri_bf16_grid *g, int64_t row, int64_t col)
{
    for (int64_t p = 0; p < g->phases; p++)
        if (g->phase_row[p] == row && g->phase_col[p] == col)
            return p;
    g->phase_row[g->phases] = row;
    g->phase_col[g->phases] = col;
    return g->phases++;
}

/* How far the taps of a class reach: up, down, left, right of an output, and its outputs. */
typedef struct reach {
    int64_t up, down, left, right, rows, cols;
} reach;

static void widen(reach *to, const tsri_class *c)
{
    for (int64_t t = 0; t < c->count; t++) {
        to->up = tsri_max(to->up, -c->tap[t].dr);
        to->down = tsri_max(to->down, c->tap[t].dr);
        to->left = tsri_max(to->left, -c->tap[t].dc);
        to->right = tsri_max(to->right, c->tap[t].dc);
    }
    to->rows = tsri_max(to->rows, c->rows);
    to->cols = tsri_max(to->cols, c->cols);
}

/* A reading left of a row must meet zeros at the end of the row before, one right of it zeros of
 * its own row; likewise up and down. The first phase has the most pixels of a row and column. */
static void settle(tsri_bf16_grid *g, const reach *r)
{
    int64_t h = tsri_ceil_div(g->h, g->step), w = tsri_ceil_div(g->w, g->step);
    g->rows = tsri_max(h + r->up, r->rows + r->down);
    g->cols = tsri_max(w + r->left, r->cols + r->right);
    g->wide = tsri_round_up(g->c, TSRI_SIDE);
    g->line = g->images * g->rows * g->cols;
    g->lead = r->up * g->cols + r->left;
    g->tail = r->down * g->cols + r->right;
}

void tsri_grid_forward(tsri_bf16_grid *grid, tsri_class *all, const tsri_conv_shape *s)
{
    reach r = {0};
    *grid = (tsri_bf16_grid){.images = s->n, .h = s->h, .w = s->w, .c = s->c, .step = s->stride};
    *all = (tsri_class){.rows = tsri_conv_out(s->h, s), .cols = tsri_conv_out(s->w, s), .step = 1};
    assert(s->size * s->size <= TSRI_MOST_TAPS);
    for (int64_t i = 0; i < s->size * s->size; i++) {
        int64_t row = i / s->size - s->pad, col = i % s->size - s->pad;
        int64_t a = modulo(row, s->stride), b = modulo(col, s->stride);
        all->tap[all->count++] = (tsri_tap){.weight = i,
                                            .phase = find_phase(grid, a, b),
                                            .dr = (row - a) / s->stride,
                                            .dc = (col - b) / s->stride};
    }
    widen(&r, all);
    settle(grid, &r);
}

/* Pixel (row + i stride, col + j stride) of dx meets dy (i + dr, j + dc) through tap (a, b) exactly
 * when row + pad - a = dr stride and col + pad - b = dc stride. */
void tsri_grid_class(tsri_class *out, const tsri_conv_shape *s, int64_t row, int64_t col)
{
    *out = (tsri_class){.rows = tsri_ceil_div(s->h - row, s->stride),
                        .cols = tsri_ceil_div(s->w - col, s->stride),
                        .step = s->stride,
                        .row = row,
                        .col = col};
    for (int64_t i = 0; i < s->size * s->size; i++) {
        int64_t a = row + s->pad - i / s->size, b = col + s->pad - i % s->size;
        if (a % s->stride == 0 && b % s->stride == 0)
            out->tap[out->count++] =
                (tsri_tap){.weight = i, .dr = a / s->stride, .dc = b / s->stride};
    }
}

void tsri_grid_backward(tsri_bf16_grid *grid, const tsri_conv_shape *s)
{
    reach r = {0};
    *grid = (tsri_bf16_grid){.images = s->n,
                             .h = tsri_conv_out(s->h, s),
                             .w = tsri_conv_out(s->w, s),
                             .c = s->k,
                             .step = 1,
                             .phases = 1};
    for (int64_t a = 0; a < s->stride && a < s->h; a++)
        for (int64_t b = 0; b < s->stride && b < s->w; b++) {
            tsri_class c;
            tsri_grid_class(&c, s, a, b);
            widen(&r, &c);
        }
    settle(grid, &r);
}

tsri_bf16_grid tsri_grid_outputs(const tsri_bf16_grid *grid, const tsri_class *all,
                                 int64_t channels)
{
    return (tsri_bf16_grid){.images = grid->images,
                            .h = all->rows,
                            .w = all->cols,
                            .c = channels,
                            .wide = tsri_round_up(channels, TSRI_SIDE),
                            .rows = grid->rows,
                            .cols = grid->cols,
                            .line = grid->line,
                            .step = 1,
                            .phases = 1};
}

/* ---- Filling ------------------------------------------------------------------------------- */

void tsri_grid_fill(tsri_bf16 *to, const tsri_bf16_grid *grid, int64_t phase, int64_t from,
                    int64_t count, const float *x, tsri_preop pre, const tsri_bf16_loops *loops)
{
    int64_t per = grid->rows * grid->cols, before = from < 0 ? tsri_min(-from, count) : 0;
    int64_t first = tsri_max(from, 0), image = first / per, i = first % per / grid->cols,
            j = first % grid->cols;
    memset(to, 0, sizeof *to * (size_t)(before * grid->wide));
    to += before * grid->wide;
    for (int64_t q = before; q < count; q++, to += grid->wide) {
        int64_t row = i * grid->step + grid->phase_row[phase];
        int64_t col = j * grid->step + grid->phase_col[phase];
        if (image < grid->images && row < grid->h && col < grid->w)
            loops->convert(to, x + ((image * grid->h + row) * grid->w + col) * grid->c, pre,
                           grid->c);
        else
            memset(to, 0, sizeof *to * (size_t)grid->wide);
        if (++j == grid->cols) {
            j = 0;
            if (++i == grid->rows)
                i = 0, image++;
        }
    }
}
