/* winograd.c - 3x3 convolutions of stride 1 by Winograd's minimal filtering.
 *
 * Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", arXiv 1509.09308. An output
 * tile of m x m pixels needs n x n input pixels, n = m + 2. Both are carried into a space of P =
 * n*n points where the convolution is P independent matrix products:
 *
 *     M[p] = V[p] U[p]         V[p]: tiles x C,  U[p]: C x K,  M[p]: tiles x K         (forward)
 *     dU[p] = V[p]^T D[p]      D[p]: tiles x K, the transformed gradient of y          (weights)
 *
 * The gradient of the input is the forward pass on dy with the filters turned and transposed.
 * F(4x4) does 36 multiplications where the direct sum does 144.
 *
 * What makes it fast is that transformed data hardly sees main memory. With many tiles the threads
 * work apart: a thread takes a block of tiles, transforms it into its own V, multiplies with all of
 * U and carries the products back to pixels. With few tiles (small images, many channels) U is the
 * larger operand, and they work together on one span of tiles after another:
 *
 *     1. all threads: transform the span's tiles into the common V (and D)
 *     2. all threads: units of (block of tiles, block of output channels) into M and back to
 * pixels; for weights, units of (input channels, output channels) whose dU stays in a core's cache
 *
 * Apart, the gradient of the weights is summed over a fixed number of chunks of tiles, each with
 * its own dU, and then over the chunks in order: the number of threads never changes a sum.
 */
#include "backend/cpu/conv.h"

#include <assert.h>
#include <string.h>

enum {
    APART_BLOCKS = 16,     /* from so many blocks of tiles on, threads work apart */
    MOST_CHUNKS = 16,      /* sums of dU held side by side */
    SPAN_FLOATS = 1 << 17, /* V (and D) of one span: 512 kB */
    BLOCK_TILES = 48,      /* a multiple of the rows of every register tile */
    ONCE_TILES = 64,       /* so many tiles still make one block */
    BLOCK_OUT = 32,        /* output channels of a unit: P * 48 * 32 floats = 216 kB of M */
    BLOCK_IN = 64,         /* input channels of a unit of weights */
    DEPTH = 256,           /* of one product: a panel of b stays in the first-level cache */
    DEPTH_T = 128,         /* the same for weights, where both operands are read by column */
    LINE = 16,             /* floats of a cache line */
    TURN = 16              /* filters turned at a time */
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t round_up(int64_t a, int64_t b)
{
    return ceil_div(a, b) * b;
}

/* One pass, laid out. "in" and "out" are x and y of the forward pass, dy and dx of the backward
 * one. */
typedef struct layout {
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
    int64_t once_point;        /* U [points][DEPTH][cols], where it is made on the spot */
    int64_t m_point, du_point; /* M [points][block][BLOCK_OUT], dU [points][BLOCK_IN][BLOCK_OUT] */
    int64_t blocks_out, units; /* blocks of output channels; units of dw */
    bool once; /* one block of tiles: each U is used once, so made where it is used */
} layout;

/* Rows of a power of two land in few sets of a cache: one line more spreads them. */
static int64_t spread(int64_t floats)
{
    floats = round_up(floats, LINE);
    return floats / LINE % 2 == 0 ? floats + LINE : floats;
}

static void count_tiles(layout *g, const tsri_conv_shape *s, int64_t floats_per_tile)
{
    int64_t rows = g->kn->rows;
    g->tiles_h = ceil_div(g->out_h, g->form->m);
    g->tiles_w = ceil_div(g->out_w, g->form->m);
    g->tiles = s->n * g->tiles_h * g->tiles_w;
    g->block = g->tiles <= ONCE_TILES ? round_up(g->tiles, rows) : round_up(BLOCK_TILES, rows);
    g->blocks = ceil_div(g->tiles, g->block);
    g->apart = g->blocks >= APART_BLOCKS;
    g->chunks = g->apart ? min64(MOST_CHUNKS, g->blocks / 4) : 1;
    int64_t spans = ceil_div(g->tiles * floats_per_tile, SPAN_FLOATS);
    g->span = g->apart ? g->block : round_up(ceil_div(g->tiles, spans), g->block);
    g->once = g->tiles <= g->block;
}

static layout lay_out(const tsri_conv_shape *s, int m, const tsri_loops *kn, bool turned,
                      bool weights)
{
    int64_t oh = tsri_conv_out(s->h, s), ow = tsri_conv_out(s->w, s);
    layout g = {.kn = kn, .form = m == 2 ? &kn->form2 : &kn->form4};
    assert(s->size == 3 && s->stride == 1 && s->pad >= 0 && s->pad <= 2);
    g.points = (int64_t)g.form->n * g.form->n;
    g.in_h = turned ? oh : s->h, g.in_w = turned ? ow : s->w, g.in_c = turned ? s->k : s->c;
    g.out_h = turned ? s->h : oh, g.out_w = turned ? s->w : ow, g.out_c = turned ? s->c : s->k;
    g.pad = turned ? 2 - s->pad : s->pad;
    g.panels = ceil_div(g.out_c, kn->cols);
    g.v_row = round_up(g.in_c, LINE);
    if (g.v_row >= 256)
        g.v_row = spread(g.v_row);
    count_tiles(&g, s, g.points * (g.v_row + (weights ? g.panels * kn->cols : 0)));
    g.v_point = spread(g.span * g.v_row);
    g.d_point = spread(g.panels * g.span * kn->cols);
    g.u_point = spread(g.in_c * kn->cols);
    g.u_panel = g.points * g.u_point;
    g.once_point = spread(min64(g.in_c, DEPTH) * kn->cols);
    g.m_point = spread(g.block * BLOCK_OUT);
    g.du_point = spread(BLOCK_IN * BLOCK_OUT);
    g.blocks_out = ceil_div(g.out_c, BLOCK_OUT);
    g.units = ceil_div(g.in_c, BLOCK_IN) * g.blocks_out;
    return g;
}

/* ---- One pass as the pool's bodies see it -------------------------------------------------- */

/* Tiles whose V (and D) lie in memory: the common one, or a thread's own. */
typedef struct span {
    float *v, *d;
    int64_t first, last; /* tiles, last exclusive */
} span;

typedef struct job {
    layout g;
    const float *in, *w, *dy;
    float *out;
    tsri_fuse fuse;
    bool turned;
    span common;
    int64_t v_size, d_size; /* of one V, one D: where threads work apart, each has its own */
    float *u, *m,
        *du; /* m: per thread; u: common, or per thread; du: per chunk and unit, or per thread */
    int64_t u_size, m_size, du_size;
} job;

typedef struct place {
    int64_t image, row, col; /* of the tile's first output pixel */
} place;

static place tile_place(const layout *g, int64_t tile)
{
    int64_t image = tile / (g->tiles_h * g->tiles_w), rest = tile % (g->tiles_h * g->tiles_w);
    return (place){image, rest / g->tiles_w * g->form->m, rest % g->tiles_w * g->form->m};
}

static tsri_window clip(int64_t row, int64_t col, int64_t size, int64_t h, int64_t w)
{
    return (tsri_window){
        .r0 = (int)(row < 0 ? -row : 0),
        .c0 = (int)(col < 0 ? -col : 0),
        .r1 = (int)min64(size, h - row),
        .c1 = (int)min64(size, w - col),
    };
}

/* ---- Filters into U ------------------------------------------------------------------------ */

/* U of one panel for the input channels l0 .. l0 + nl - 1; u points at channel l0. */
static void filters_straight(float *u, int64_t point, const job *j, int64_t panel, int64_t l0,
                             int64_t nl)
{
    const layout *g = &j->g;
    int64_t cols = g->kn->cols, k0 = panel * cols, k = min64(cols, g->out_c - k0);
    for (int64_t p = 0; k < cols && p < g->points; p++)
        memset(u + p * point, 0, sizeof(float) * (size_t)(nl * cols));
    for (int64_t l = 0; l < nl; l++)
        g->form->weight(u + l * cols, point, j->w + (l0 + l) * g->out_c + k0, g->in_c * g->out_c,
                        k);
}

/* The filters w [9][out_c][in_c] of the backward pass: turned by 180 degrees, channels exchanged.
 */
static void filters_turned(float *u, int64_t point, const job *j, int64_t panel, int64_t l0,
                           int64_t nl)
{
    const layout *g = &j->g;
    int64_t cols = g->kn->cols, c0 = panel * cols, nc = min64(cols, g->out_c - c0);
    float t[9 * TURN * 32];
    assert(cols <= 32);
    memset(t, 0, sizeof t);
    for (int64_t done = 0; done < nl; done += TURN) {
        int64_t n = min64(TURN, nl - done);
        for (int64_t tap = 0; tap < 9; tap++) {
            const float *from = j->w + (tap * g->out_c + c0) * g->in_c + l0 + done;
            float *to = t + (8 - tap) * TURN * cols;
            for (int64_t c = 0; c < nc; c++)
                for (int64_t l = 0; l < n; l++)
                    to[l * cols + c] = from[c * g->in_c + l];
        }
        for (int64_t l = 0; l < n; l++)
            g->form->weight(u + (done + l) * cols, point, t + l * cols, TURN * cols, cols);
    }
}

static void filters(float *u, int64_t point, const job *j, int64_t panel, int64_t l0, int64_t nl)
{
    (j->turned ? filters_turned : filters_straight)(u, point, j, panel, l0, nl);
}

static void filters_body(void *context, int64_t i, int thread)
{
    job *j = context;
    (void)thread;
    filters(j->u + i * j->g.u_panel, j->g.u_point, j, i, 0, j->g.in_c);
}

/* ---- Pixels into V and D ------------------------------------------------------------------- */

/* Asks for `rows` rows of `floats` numbers: the rows of an image lie too far apart for the
 * processor to guess the next tile by itself. */
static void ask(const float *p, int64_t rows, int64_t stride, int64_t floats)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < floats; k += LINE)
            __builtin_prefetch(p + i * stride + k);
}

static void input_tile(const job *j, const span *part, int64_t tile)
{
    const layout *g = &j->g;
    place at = tile_place(g, tile);
    int64_t row = at.row - g->pad, col = at.col - g->pad;
    const float *x = j->in + ((at.image * g->in_h + row) * g->in_w + col) * g->in_c;
    tsri_panels to = {.width = g->v_row, .stride = 0, .point = g->v_point};
    if (row >= 0 && row + g->form->n <= g->in_h && col + 2 * g->form->m + 1 < g->in_w)
        ask(x + g->form->n * g->in_c, g->form->n, g->in_w * g->in_c, g->form->m * g->in_c);
    g->form->input(part->v + (tile - part->first) * g->v_row, to, x, g->in_w * g->in_c, g->in_c,
                   clip(row, col, g->form->n, g->in_h, g->in_w), g->in_c, j->fuse.pre);
}

static void gradient_tile(const job *j, const span *part, int64_t tile)
{
    const layout *g = &j->g;
    place at = tile_place(g, tile);
    int64_t cols = g->kn->cols;
    const float *dy = j->dy + ((at.image * g->out_h + at.row) * g->out_w + at.col) * g->out_c;
    tsri_panels to = {.width = cols, .stride = g->span * cols, .point = g->d_point};
    g->form->output_adjoint(part->d + (tile - part->first) * cols, to, dy, g->out_w * g->out_c,
                            g->out_c, clip(at.row, at.col, g->form->m, g->out_h, g->out_w),
                            g->out_c);
}

static void transform(const job *j, const span *part, int64_t first, int64_t last)
{
    for (int64_t tile = first; tile < last; tile++) {
        input_tile(j, part, tile);
        if (j->dy)
            gradient_tile(j, part, tile);
    }
}

static void transform_body(void *context, int64_t i, int thread)
{
    job *j = context;
    (void)thread;
    int64_t first = j->common.first + i * j->g.kn->rows;
    transform(j, &j->common, first, min64(first + j->g.kn->rows, j->common.last));
}

/* Block i in the thread's own memory. */
static span own_span(const job *j, int64_t i, int thread)
{
    return (span){.v = j->common.v + thread * j->v_size,
                  .d = j->dy ? j->common.d + thread * j->d_size : NULL,
                  .first = i * j->g.block,
                  .last = min64((i + 1) * j->g.block, j->g.tiles)};
}

/* Threads together: span after span is transformed and handed to `body`. */
static void run_spans(job *j, tsri_pool *pool, tsri_pool_body body, int64_t units, bool per_block)
{
    const layout *g = &j->g;
    span *part = &j->common;
    for (part->first = 0; part->first < g->tiles; part->first = part->last) {
        part->last = min64(part->first + g->span, g->tiles);
        int64_t tiles = part->last - part->first;
        tsri_pool_run(pool, transform_body, j, ceil_div(tiles, g->kn->rows));
        tsri_pool_run(pool, body, j, units * (per_block ? ceil_div(tiles, g->block) : 1));
    }
}

/* ---- Products and back to pixels ----------------------------------------------------------- */

/* M[p] (+)= V[p] U[p] for one block of tiles, one panel of columns and `depth` input channels. */
static void multiply_panel(float *m, const float *v, const float *u, int64_t u_point,
                           const layout *g, int64_t tiles, int64_t depth, bool add)
{
    for (int64_t p = 0; p < g->points; p++, m += g->m_point, v += g->v_point, u += u_point)
        for (int64_t t = 0; t < tiles; t += g->kn->rows)
            g->kn->gemm(m + t * BLOCK_OUT, BLOCK_OUT, v + t * g->v_row, g->v_row, u,
                        (int)min64(g->kn->rows, tiles - t), depth, add);
}

/* One panel of M, in slices of input channels whose U stays in a core's cache. */
static void multiply_slices(float *m, const float *v, float *mine, const job *j, int64_t panel,
                            int64_t tiles)
{
    const layout *g = &j->g;
    for (int64_t l = 0; l < g->in_c; l += DEPTH) {
        int64_t depth = min64(DEPTH, g->in_c - l), point = g->once ? g->once_point : g->u_point;
        const float *u = mine;
        if (g->once)
            filters(mine, point, j, panel, l, depth);
        else
            u = j->u + panel * g->u_panel + l * g->kn->cols;
        multiply_panel(m, v + l, u, point, g, tiles, depth, l > 0);
    }
}

static void output_tile(const job *j, const float *m, int64_t tile, int64_t k0)
{
    const layout *g = &j->g;
    place at = tile_place(g, tile);
    int64_t offset = ((at.image * g->out_h + at.row) * g->out_w + at.col) * g->out_c + k0;
    g->form->output(j->out + offset, g->out_w * g->out_c, g->out_c,
                    clip(at.row, at.col, g->form->m, g->out_h, g->out_w),
                    j->fuse.add ? j->fuse.add + offset : NULL, m, g->m_point,
                    min64(BLOCK_OUT, g->out_c - k0));
}

/* One block of tiles of a span, one block of output channels. */
static void output_unit(const job *j, const span *part, int64_t first, int64_t k0, int thread)
{
    const layout *g = &j->g;
    int64_t k1 = min64(k0 + BLOCK_OUT, g->out_c), tiles = min64(g->block, part->last - first);
    float *m = j->m + thread * j->m_size, *mine = j->u + thread * j->u_size;
    for (int64_t k = k0; k < k1; k += g->kn->cols)
        multiply_slices(m + (k - k0), part->v + (first - part->first) * g->v_row, mine, j,
                        k / g->kn->cols, tiles);
    for (int64_t t = 0; t < tiles; t++)
        output_tile(j, m + t * BLOCK_OUT, first + t, k0);
}

static void output_together(void *context, int64_t i, int thread)
{
    job *j = context;
    int64_t first = j->common.first + i / j->g.blocks_out * j->g.block;
    output_unit(j, &j->common, first, i % j->g.blocks_out * BLOCK_OUT, thread);
}

static void output_apart(void *context, int64_t i, int thread)
{
    job *j = context;
    span part = own_span(j, i, thread);
    transform(j, &part, part.first, part.last);
    for (int64_t k0 = 0; k0 < j->g.out_c; k0 += BLOCK_OUT)
        output_unit(j, &part, part.first, k0, thread);
}

/* The next n floats of the scratch memory; with work = NULL they are only counted. */
static float *slice(float *work, int64_t *used, int64_t n)
{
    float *at = work ? work + *used : NULL;
    *used += n;
    return at;
}

/* Cuts the scratch memory; returns how many floats that takes. */
static int64_t cut_convolve(job *j, float *work, int threads)
{
    const layout *g = &j->g;
    j->v_size = g->points * g->v_point;
    j->m_size = g->points * g->m_point;
    j->u_size = g->once ? g->points * g->once_point : 0;
    int64_t used = 0;
    j->common.v = slice(work, &used, (g->apart ? threads : 1) * j->v_size);
    j->m = slice(work, &used, threads * j->m_size);
    j->u = slice(work, &used, g->once ? threads * j->u_size : g->panels * g->u_panel);
    return used;
}

static void convolve(job *j, const tsri_conv_team *team)
{
    const layout *g = &j->g;
    cut_convolve(j, team->work, tsri_pool_threads(team->pool));
    if (!g->once)
        tsri_pool_run(team->pool, filters_body, j, g->panels);
    if (g->apart)
        tsri_pool_run(team->pool, output_apart, j, g->blocks);
    else
        run_spans(j, team->pool, output_together, g->blocks_out, true);
}

void tsri_winograd_forward(float *y, const float *x, const float *w, const tsri_conv_shape *s,
                           int m, tsri_fuse fuse, const tsri_conv_team *team)
{
    job j = {
        .g = lay_out(s, m, team->loops, false, false), .in = x, .w = w, .out = y, .fuse = fuse};
    convolve(&j, team);
}

void tsri_winograd_backward_data(float *dx, const float *dy, const float *w,
                                 const tsri_conv_shape *s, int m, const float *add,
                                 const tsri_conv_team *team)
{
    job j = {.g = lay_out(s, m, team->loops, true, false),
             .in = dy,
             .w = w,
             .out = dx,
             .fuse.add = add,
             .turned = true};
    convolve(&j, team);
}

/* ---- The gradient of the weights ----------------------------------------------------------- */

typedef struct unit {
    int64_t c0, rows, k0, cols; /* of dw */
} unit;

static unit unit_at(const layout *g, int64_t i)
{
    int64_t c0 = i / g->blocks_out * BLOCK_IN, k0 = i % g->blocks_out * BLOCK_OUT;
    return (unit){c0, min64(BLOCK_IN, g->in_c - c0), k0, min64(BLOCK_OUT, g->out_c - k0)};
}

/* dU[p] (+)= V[p]^T D[p] for one unit. */
static void multiply_weights(float *du, const job *j, const span *part, unit b, bool add)
{
    const layout *g = &j->g;
    int64_t tiles = part->last - part->first, width = g->kn->cols;
    for (int64_t p = 0; p < g->points; p++)
        for (int64_t k = 0; k < b.cols; k += width)
            for (int64_t t = 0; t < tiles; t += DEPTH_T)
                for (int64_t r = 0; r < b.rows; r += g->kn->rows)
                    g->kn->gemm_t(du + p * g->du_point + r * BLOCK_OUT + k, BLOCK_OUT,
                                  part->v + p * g->v_point + t * g->v_row + b.c0 + r, g->v_row,
                                  part->d + p * g->d_point +
                                      ((b.k0 + k) / width * g->span + t) * width,
                                  (int)min64(g->kn->rows, b.rows - r), min64(DEPTH_T, tiles - t),
                                  add || t > 0);
}

static void write_weights(const job *j, const float *du, unit b)
{
    const layout *g = &j->g;
    for (int64_t r = 0; r < b.rows; r++)
        g->form->weight_adjoint(j->out + (b.c0 + r) * g->out_c + b.k0, g->in_c * g->out_c,
                                du + r * BLOCK_OUT, g->du_point, b.cols);
}

static void weights_together(void *context, int64_t i, int thread)
{
    job *j = context;
    bool only = j->g.span >= j->g.tiles;
    float *du = j->du + (only ? thread : i) * j->du_size;
    unit b = unit_at(&j->g, i);
    multiply_weights(du, j, &j->common, b, j->common.first > 0);
    if (j->common.last == j->g.tiles)
        write_weights(j, du, b);
}

static void weights_apart(void *context, int64_t chunk, int thread)
{
    job *j = context;
    const layout *g = &j->g;
    int64_t first = chunk * g->blocks / g->chunks, last = (chunk + 1) * g->blocks / g->chunks;
    for (int64_t i = first; i < last; i++) {
        span part = own_span(j, i, thread);
        transform(j, &part, part.first, part.last);
        for (int64_t u = 0; u < g->units; u++)
            multiply_weights(j->du + (chunk * g->units + u) * j->du_size, j, &part, unit_at(g, u),
                             i > first);
    }
}

static void weights_gather(void *context, int64_t i, int thread)
{
    job *j = context;
    const layout *g = &j->g;
    (void)thread;
    float *sum = j->du + i * j->du_size;
    for (int64_t chunk = 1; chunk < g->chunks; chunk++) {
        const float *du = j->du + (chunk * g->units + i) * j->du_size;
        for (int64_t k = 0; k < j->du_size; k++)
            sum[k] += du[k];
    }
    write_weights(j, sum, unit_at(g, i));
}

static int64_t cut_weights(job *j, float *work, int threads)
{
    const layout *g = &j->g;
    int64_t sums = g->apart ? g->chunks * g->units : g->span >= g->tiles ? threads : g->units;
    j->v_size = g->points * g->v_point;
    j->d_size = g->points * g->d_point;
    j->du_size = g->points * g->du_point;
    int64_t used = 0;
    j->common.v = slice(work, &used, (g->apart ? threads : 1) * j->v_size);
    j->common.d = slice(work, &used, (g->apart ? threads : 1) * j->d_size);
    j->du = slice(work, &used, sums * j->du_size);
    return used;
}

void tsri_winograd_backward_weights(float *dw, const float *x, const float *dy,
                                    const tsri_conv_shape *s, int m, tsri_fuse fuse,
                                    const tsri_conv_team *team)
{
    job j = {
        .g = lay_out(s, m, team->loops, false, true), .in = x, .dy = dy, .out = dw, .fuse = fuse};
    cut_weights(&j, team->work, tsri_pool_threads(team->pool));
    if (j.g.apart) {
        tsri_pool_run(team->pool, weights_apart, &j, j.g.chunks);
        tsri_pool_run(team->pool, weights_gather, &j, j.g.units);
    } else {
        run_spans(&j, team->pool, weights_together, j.g.units, false);
    }
}

/* ---- Memory -------------------------------------------------------------------------------- */

int64_t tsri_winograd_work(const tsri_conv_shape *s, int m, const tsri_loops *kn, int threads)
{
    job f = {.g = lay_out(s, m, kn, false, false)}, b = {.g = lay_out(s, m, kn, true, false)};
    job w = {.g = lay_out(s, m, kn, false, true)};
    int64_t most = cut_weights(&w, NULL, threads), also = cut_convolve(&f, NULL, threads);
    most = also > most ? also : most;
    also = cut_convolve(&b, NULL, threads);
    return also > most ? also : most;
}
