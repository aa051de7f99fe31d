/* winograd.h - what the files of Winograd's algorithm share: one pass, laid out and cut up.
 *
 *     winograd.c           forward and data: products and back to pixels; memory
 *     winograd_weights.c   the gradient of the weights
 *     winograd_layout.c    sizes
 *     winograd_filters.c   filters into U
 *     winograd_tiles.c     pixels into V and D
 *
 * For those files only; everyone else includes conv.h. The letters are those of winograd.c.
 */
#ifndef TSRI_WINOGRAD_H
#define TSRI_WINOGRAD_H

#include "backend/cpu/conv.h"
#include "backend/cpu/counts.h"

enum {
    TSRI_WINO_OUT = 32,   /* output channels of a unit: P * 48 * 32 floats = 216 kB of M */
    TSRI_WINO_IN = 64,    /* input channels of a unit of weights */
    TSRI_WINO_DEPTH = 256 /* of one product: a panel of b stays in the first-level cache */
};

/* One pass, laid out. "in" and "out" are x and y of the forward pass, dy and dx of the backward
 * one. */
typedef struct tsri_wino_layout {
    const tsri_loops *kn;
    const tsri_winograd_form *form;
    int64_t points;
    int64_t in_h, in_w, in_c, out_h, out_w, out_c, pad;
    int64_t tiles_h, tiles_w, tiles;
    int64_t span, block;    /* tiles of a common V, tiles of a unit */
    int64_t blocks, chunks; /* of tiles in all; chunks of blocks for weights */
    bool apart;
    int64_t panels;            /* of kn->cols output channels */
    int64_t v_row, v_point;    /* V [points][span][in_c] */
    int64_t d_point;           /* D [points][panels][span][cols] */
    int64_t u_point, u_panel;  /* U [panels][points][in_c][cols] */
    int64_t once_point;        /* U [points][WINO_DEPTH][cols], where it is made on the spot */
    int64_t m_point, du_point; /* M [points][block][WINO_OUT], dU [points][WINO_IN][WINO_OUT] */
    int64_t blocks_out, units; /* blocks of output channels; units of dw */
    bool once; /* one block of tiles: each U is used once, so made where it is used */
} tsri_wino_layout;

/* Tiles whose V (and D) lie in memory: the common one, or a thread's own. */
typedef struct tsri_wino_span {
    float *v, *d;
    int64_t first, last; /* tiles, last exclusive */
} tsri_wino_span;

/* One pass as the pool's bodies see it. */
typedef struct tsri_wino_job {
    tsri_wino_layout g;
    const float *in, *w, *dy;
    float *out;
    tsri_fuse fuse;
    bool turned;
    tsri_wino_span common;
    int64_t v_size, d_size; /* of one V, one D: where threads work apart, each has its own */
    float *u;               /* common; where each is used once, per thread */
    float *m;               /* per thread */
    float *du;              /* per chunk and unit; where one span is all, per thread */
    int64_t u_size, m_size, du_size;
} tsri_wino_job;

typedef struct tsri_wino_place {
    int64_t image, row, col; /* of the tile's first output pixel */
} tsri_wino_place;

/* ---- winograd_layout.c --------------------------------------------------------------------- */

typedef enum tsri_wino_pass {
    TSRI_WINO_FORWARD,
    TSRI_WINO_DATA,   /* the gradient of the input: "in" is dy, filters are turned */
    TSRI_WINO_WEIGHTS /* the gradient of the weights: V and D are both needed */
} tsri_wino_pass;

tsri_wino_layout tsri_wino_lay_out(const tsri_conv_shape *s, int m, const tsri_loops *kn,
                                   tsri_wino_pass pass);

tsri_wino_place tsri_wino_tile_place(const tsri_wino_layout *g, int64_t tile);

/* Which of size x size pixels from (row, col) on lie in an image of h x w. */
tsri_window tsri_wino_clip(int64_t row, int64_t col, int64_t size, int64_t h, int64_t w);

/* The next n floats of the scratch memory; with work = NULL they are only counted. */
float *tsri_wino_slice(float *work, int64_t *used, int64_t n);

/* ---- winograd_filters.c -------------------------------------------------------------------- */

/* U of one panel for the input channels l0 .. l0 + nl - 1, points `point` floats apart; u points at
 * channel l0. */
void tsri_wino_filters(float *u, int64_t point, const tsri_wino_job *j, int64_t panel, int64_t l0,
                       int64_t nl);

/* ---- winograd_tiles.c ---------------------------------------------------------------------- */

/* V (and with j->dy also D) of the tiles first .. last - 1, which lie in `part`. */
void tsri_wino_transform(const tsri_wino_job *j, const tsri_wino_span *part, int64_t first,
                         int64_t last);

/* Block i of tiles, to be transformed into the thread's own memory. */
tsri_wino_span tsri_wino_own_span(const tsri_wino_job *j, int64_t i, int thread);

/* Threads together: span after span is transformed and handed to `body`, as `units` calls, or as
 * many for each block of tiles. */
void tsri_wino_run_spans(tsri_wino_job *j, tsri_pool *pool, tsri_pool_body body, int64_t units,
                         bool per_block);

/* ---- winograd_weights.c -------------------------------------------------------------------- */

/* Cuts the scratch memory of the gradient of the weights; returns how many floats that takes. */
int64_t tsri_wino_cut_weights(tsri_wino_job *j, float *work, int threads);

#endif
