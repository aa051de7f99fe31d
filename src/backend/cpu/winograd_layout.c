/* winograd_layout.c - how a pass of Winograd is cut into tiles, blocks and memory: by the shape
 * alone, so that the number of threads changes no bit. */
#include "backend/cpu/winograd.h"

#include <assert.h>

enum {
    APART_BLOCKS = 16,     /* from that many blocks of tiles on, threads work apart */
    MOST_CHUNKS = 16,      /* sums of dU held side by side */
    SPAN_FLOATS = 1 << 17, /* V (and D) of one span: 512 kB */
    BLOCK_TILES = 48,      /* a multiple of the rows of every register tile */
    ONCE_TILES = 64        /* that many tiles still make one block */
};

static void count_tiles(tsri_wino_layout *g, const tsri_conv_shape *s, int64_t floats_per_tile)
{
    int64_t rows = g->kn->rows;
    g->tiles_h = tsri_ceil_div(g->out_h, g->form->m);
    g->tiles_w = tsri_ceil_div(g->out_w, g->form->m);
    g->tiles = s->n * g->tiles_h * g->tiles_w;
    g->block = tsri_round_up(g->tiles > ONCE_TILES ? BLOCK_TILES : tsri_max(g->tiles, 1), rows);
    g->blocks = tsri_ceil_div(g->tiles, g->block);
    g->apart = g->blocks >= APART_BLOCKS;
    g->chunks = g->apart ? tsri_min(MOST_CHUNKS, g->blocks / 4) : 1;
    int64_t spans = tsri_max(1, tsri_ceil_div(g->tiles * floats_per_tile, SPAN_FLOATS));
    g->span = g->apart ? g->block : tsri_round_up(tsri_ceil_div(g->tiles, spans), g->block);
    g->once = g->tiles <= g->block;
}

tsri_wino_layout tsri_wino_lay_out(const tsri_conv_shape *s, int m, const tsri_loops *kn,
                                   tsri_wino_pass pass)
{
    bool turned = pass == TSRI_WINO_DATA;
    int64_t oh = tsri_conv_out(s->h, s), ow = tsri_conv_out(s->w, s);
    tsri_wino_layout g = {.kn = kn, .form = m == 2 ? &kn->form2 : &kn->form4};
    assert(s->size == 3 && s->stride == 1 && s->pad >= 0 && s->pad <= 2);
    g.points = (int64_t)g.form->n * g.form->n;
    g.in_h = turned ? oh : s->h, g.in_w = turned ? ow : s->w, g.in_c = turned ? s->k : s->c;
    g.out_h = turned ? s->h : oh, g.out_w = turned ? s->w : ow, g.out_c = turned ? s->c : s->k;
    g.pad = turned ? 2 - s->pad : s->pad;
    g.panels = tsri_ceil_div(g.out_c, kn->cols);
    g.v_row = tsri_round_up(g.in_c, TSRI_LINE);
    if (g.v_row >= 256)
        g.v_row = tsri_spread(g.v_row);
    int64_t d_row = pass == TSRI_WINO_WEIGHTS ? g.panels * kn->cols : 0;
    count_tiles(&g, s, g.points * (g.v_row + d_row));
    g.v_point = tsri_spread(g.span * g.v_row);
    g.d_point = tsri_spread(g.panels * g.span * kn->cols);
    g.u_point = tsri_spread(g.in_c * kn->cols);
    g.u_panel = g.points * g.u_point;
    g.once_point = tsri_spread(tsri_min(g.in_c, TSRI_WINO_DEPTH) * kn->cols);
    g.m_point = tsri_spread(g.block * TSRI_WINO_OUT);
    g.du_point = tsri_spread(TSRI_WINO_IN * TSRI_WINO_OUT);
    g.blocks_out = tsri_ceil_div(g.out_c, TSRI_WINO_OUT);
    g.units = tsri_ceil_div(g.in_c, TSRI_WINO_IN) * g.blocks_out;
    return g;
}

tsri_wino_place tsri_wino_tile_place(const tsri_wino_layout *g, int64_t tile)
{
    int64_t image = tile / (g->tiles_h * g->tiles_w), rest = tile % (g->tiles_h * g->tiles_w);
    return (tsri_wino_place){image, rest / g->tiles_w * g->form->m, rest % g->tiles_w * g->form->m};
}

tsri_window tsri_wino_clip(int64_t row, int64_t col, int64_t size, int64_t h, int64_t w)
{
    return (tsri_window){
        .r0 = (int)(row < 0 ? -row : 0),
        .c0 = (int)(col < 0 ? -col : 0),
        .r1 = (int)tsri_min(size, h - row),
        .c1 = (int)tsri_min(size, w - col),
    };
}

float *tsri_wino_slice(float *work, int64_t *used, int64_t n)
{
    float *at = work ? work + *used : NULL;
    *used += n;
    return at;
}
