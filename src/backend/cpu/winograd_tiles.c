/* winograd_tiles.c - pixels into the space of points: V = B^T x B, and D = A dy A^T for the
 * gradient of the weights. */
#include "backend/cpu/winograd.h"

/* Asks for `rows` rows of `floats` numbers: the rows of an image lie too far apart for the
 * processor to guess the next tile by itself. */
static void ask(const float *p, int64_t rows, int64_t stride, int64_t floats)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < floats; k += TSRI_LINE)
            __builtin_prefetch(p + i * stride + k);
}

static void input_tile(const tsri_wino_job *j, const tsri_wino_span *part, int64_t tile)
{
    const tsri_wino_layout *g = &j->g;
    tsri_wino_place at = tsri_wino_tile_place(g, tile);
    int64_t row = at.row - g->pad, col = at.col - g->pad;
    int64_t first = ((at.image * g->in_h + row) * g->in_w + col) * g->in_c;
    tsri_panels to = {.width = g->v_row, .stride = 0, .point = g->v_point};
    if (row >= 0 && row + g->form->n <= g->in_h && col + 2 * g->form->m + 1 < g->in_w)
        ask(j->in + first + g->form->n * g->in_c, g->form->n, g->in_w * g->in_c,
            g->form->m * g->in_c);
    g->form->input(part->v + (tile - part->first) * g->v_row, to, j->in, first, g->in_w * g->in_c,
                   g->in_c, tsri_wino_clip(row, col, g->form->n, g->in_h, g->in_w), g->in_c,
                   j->fuse.pre);
}

static void gradient_tile(const tsri_wino_job *j, const tsri_wino_span *part, int64_t tile)
{
    const tsri_wino_layout *g = &j->g;
    tsri_wino_place at = tsri_wino_tile_place(g, tile);
    int64_t cols = g->kn->cols;
    const float *dy = j->dy + ((at.image * g->out_h + at.row) * g->out_w + at.col) * g->out_c;
    tsri_panels to = {.width = cols, .stride = g->span * cols, .point = g->d_point};
    g->form->output_adjoint(
        part->d + (tile - part->first) * cols, to, dy, g->out_w * g->out_c, g->out_c,
        tsri_wino_clip(at.row, at.col, g->form->m, g->out_h, g->out_w), g->out_c);
}

void tsri_wino_transform(const tsri_wino_job *j, const tsri_wino_span *part, int64_t first,
                         int64_t last)
{
    for (int64_t tile = first; tile < last; tile++) {
        input_tile(j, part, tile);
        if (j->dy)
            gradient_tile(j, part, tile);
    }
}

static void transform_body(void *context, int64_t i, int thread)
{
    tsri_wino_job *j = context;
    (void)thread;
    int64_t first = j->common.first + i * j->g.kn->rows;
    tsri_wino_transform(j, &j->common, first, tsri_min(first + j->g.kn->rows, j->common.last));
}

tsri_wino_span tsri_wino_own_span(const tsri_wino_job *j, int64_t i, int thread)
{
    return (tsri_wino_span){.v = j->common.v + thread * j->v_size,
                            .d = j->dy ? j->common.d + thread * j->d_size : NULL,
                            .first = i * j->g.block,
                            .last = tsri_min((i + 1) * j->g.block, j->g.tiles)};
}

void tsri_wino_run_spans(tsri_wino_job *j, tsri_pool *pool, tsri_pool_body body, int64_t units,
                         bool per_block)
{
    const tsri_wino_layout *g = &j->g;
    tsri_wino_span *part = &j->common;
    for (part->first = 0; part->first < g->tiles; part->first = part->last) {
        part->last = tsri_min(part->first + g->span, g->tiles);
        int64_t tiles = part->last - part->first;
        tsri_pool_run(pool, transform_body, j, tsri_ceil_div(tiles, g->kn->rows));
        tsri_pool_run(pool, body, j, units * (per_block ? tsri_ceil_div(tiles, g->block) : 1));
    }
}
