/* conv_direct.c - convolutions of any size and stride as matrix products over gathered pixels.
 *
 * The pixels that a block of outputs needs are gathered, tap by tap, into rows of taps x channels
 * ("im2col", but only for a block that stays in a core's cache), and the block is one product with
 * the filters. Gathering costs one copy per K multiplications, a few per cent.
 *
 *     forward   y[q]  = rows(x)[q] W              rows(x): pixels x (taps C),  W: (taps C) x K
 *     data      dx[q] = rows(dy)[q] W'            by class of (row mod stride, column mod stride):
 *                                                 the same taps reach all pixels of a class
 *     weights   dW    = rows(x)^T dy
 */
#include "backend/cpu/conv.h"
#include "backend/cpu/counts.h"

#include <assert.h>
#include <string.h>

enum {
    BLOCK = 48,            /* pixels of a unit */
    DEPTH = 256,           /* of one product */
    SPAN_FLOATS = 1 << 18, /* gathered pixels of one span, for weights: 1 MB */
    DEPTH_T = 128,         /* pixels of one product, for weights */
    BLOCK_ROWS = 96,       /* of dW in one unit */
    BLOCK_OUT = 32,
    THIN = 16 /* fewer input channels: all taps of a pixel lie together, for weights too */
};

int64_t tsri_conv_out(int64_t in, const tsri_conv_shape *s)
{
    return (in + 2 * s->pad - s->size) / s->stride + 1;
}

/* The taps of one class of output pixels. In the forward pass there is one class with all taps, and
 * the input pixel of tap t is (row * stride + dr[t], col * stride + dc[t]). In the backward pass a
 * class is a residue (a, b) modulo the stride; its pixels are numbered within the class. */
enum { MOST_TAPS = 49 };

typedef struct taps {
    int64_t count;
    int64_t weight[MOST_TAPS]; /* index of the tap in w */
    int64_t dr[MOST_TAPS], dc[MOST_TAPS];
    int64_t rows, cols, first_row, first_col; /* pixels of the class */
} taps;

typedef struct job {
    const tsri_loops *kn;
    const float *in, *w, *dy;
    float *out;
    tsri_fuse fuse;
    taps t;
    int64_t images, in_h, in_w, in_c, out_h, out_w, out_c;
    int64_t in_step, out_step; /* stride on the side of the input (forward) or output (backward) */
    int64_t depth;             /* taps * in_c: rows of the matrix of filters */
    int64_t row, tap;          /* gathered: floats from pixel to pixel and from tap to tap */
    int64_t pixels, panels;
    float *rows, *b, *c; /* gathered; filters as panels [depth][cols]; sums */
    int64_t rows_size, c_size;
    int64_t wide;              /* rows of dW that one panel of gathered pixels gives, for weights */
    int64_t first, last, span; /* of pixels, for weights */
} job;

/* ---- Gathering ----------------------------------------------------------------------------- */

/* Taps of one row of the kernel are neighbours in memory too when they are gathered side by side:
 * one copy for all of them. */
static int64_t run_length(const job *j, int64_t t, int64_t col)
{
    int64_t n = 1;
    if (j->tap != j->in_c)
        return 1;
    while (t + n < j->t.count && j->t.dr[t + n] == j->t.dr[t] && j->t.dc[t + n] == j->t.dc[t] + n &&
           col + j->t.dc[t + n] < j->in_w)
        n++;
    return n;
}

/* The pixels that output `pixel` needs, tap t at to + t * j->tap. */
static void gather(float *to, const job *j, int64_t pixel)
{
    int64_t per = j->t.rows * j->t.cols, image = pixel / per, rest = pixel % per;
    int64_t row = rest / j->t.cols * j->in_step, col = rest % j->t.cols * j->in_step;
    const float *x = j->in + image * j->in_h * j->in_w * j->in_c;
    for (int64_t t = 0, n = 1; t < j->t.count; t += n) {
        int64_t r = row + j->t.dr[t], c = col + j->t.dc[t];
        bool ok = r >= 0 && r < j->in_h && c >= 0 && c < j->in_w;
        n = ok ? run_length(j, t, col) : 1;
        int64_t from = (r * j->in_w + c) * j->in_c;
        if (ok && j->fuse.pre.scale)
            j->kn->activate(to + t * j->tap, x + from, j->fuse.pre, n, j->in_c);
        else if (ok)
            memcpy(to + t * j->tap, x + from, sizeof(float) * (size_t)(n * j->in_c));
        else
            memset(to + t * j->tap, 0, sizeof(float) * (size_t)j->in_c);
    }
}

static int64_t out_offset(const job *j, int64_t pixel)
{
    int64_t per = j->t.rows * j->t.cols, image = pixel / per, rest = pixel % per;
    int64_t row = j->t.first_row + rest / j->t.cols * j->out_step;
    int64_t col = j->t.first_col + rest % j->t.cols * j->out_step;
    return ((image * j->out_h + row) * j->out_w + col) * j->out_c;
}

/* ---- Forward and data ---------------------------------------------------------------------- */

/* b [panels][taps][in_c][cols] from w [taps][in_c][out_c], or from w [taps][out_c][in_c]. */
static void pack_panel(void *context, int64_t panel, int thread)
{
    job *j = context;
    (void)thread;
    int64_t cols = j->kn->cols, k0 = panel * cols, nk = tsri_min(cols, j->out_c - k0);
    bool turned = j->out_step > 1 || j->dy;
    int64_t k_step = turned ? j->in_c : 1, c_step = turned ? 1 : j->out_c;
    float *b = j->b + panel * j->depth * cols;
    for (int64_t t = 0; t < j->t.count; t++) {
        const float *w = j->w + j->t.weight[t] * j->in_c * j->out_c + k0 * k_step;
        for (int64_t c = 0; c < j->in_c; c++, b += cols) {
            for (int64_t k = 0; k < nk; k++)
                b[k] = w[c * c_step + k * k_step];
            for (int64_t k = nk; k < cols; k++)
                b[k] = 0;
        }
    }
}

static void write_pixel(const job *j, const float *c, int64_t pixel, int64_t k0)
{
    int64_t n = tsri_min(j->kn->cols, j->out_c - k0), at = out_offset(j, pixel) + k0;
    float *y = j->out + at;
    if (!j->fuse.add) {
        memcpy(y, c, sizeof(float) * (size_t)n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        y[i] = c[i] + j->fuse.add[at + i];
}

/* One panel of one block of pixels into c. */
static void multiply(float *c, int64_t ldc, const job *j, const float *rows, int64_t pixels,
                     int64_t panel)
{
    const float *b = j->b + panel * j->depth * j->kn->cols;
    int cols = (int)tsri_min(j->kn->cols, j->out_c - panel * j->kn->cols);
    for (int64_t l = 0; l < j->depth; l += DEPTH)
        for (int64_t q = 0; q < pixels; q += j->kn->rows)
            j->kn->gemm(c + q * ldc, ldc, rows + q * j->row + l, j->row, b + l * j->kn->cols,
                        (int)tsri_min(j->kn->rows, pixels - q), cols, tsri_min(DEPTH, j->depth - l),
                        l > 0);
}

static void block_body(void *context, int64_t i, int thread)
{
    job *j = context;
    int64_t first = i * BLOCK, pixels = tsri_min(BLOCK, j->pixels - first), cols = j->kn->cols;
    float *rows = j->rows + thread * j->rows_size, *c = j->c + thread * j->c_size;
    for (int64_t q = 0; q < pixels; q++)
        gather(rows + q * j->row, j, first + q);
    for (int64_t panel = 0; panel < j->panels; panel++) {
        bool in_place = j->out_step == 1 && !j->fuse.add && (panel + 1) * cols <= j->out_c;
        if (in_place) {
            multiply(j->out + first * j->out_c + panel * cols, j->out_c, j, rows, pixels, panel);
            continue;
        }
        multiply(c, cols, j, rows, pixels, panel);
        for (int64_t q = 0; q < pixels; q++)
            write_pixel(j, c + q * cols, first + q, panel * cols);
    }
}

/* A class of pixels that no tap reaches. */
static void blank_body(void *context, int64_t i, int thread)
{
    job *j = context;
    (void)thread;
    int64_t last = tsri_min((i + 1) * BLOCK, j->pixels);
    for (int64_t q = i * BLOCK; q < last; q++) {
        int64_t at = out_offset(j, q);
        if (j->fuse.add)
            memmove(j->out + at, j->fuse.add + at, sizeof(float) * (size_t)j->out_c);
        else
            memset(j->out + at, 0, sizeof(float) * (size_t)j->out_c);
    }
}

static void lay_out_class(job *j, const tsri_conv_team *team)
{
    int threads = tsri_pool_threads(team->pool);
    j->depth = j->t.count * j->in_c;
    j->row = tsri_spread(j->depth);
    j->tap = j->in_c;
    j->pixels = j->images * j->t.rows * j->t.cols;
    j->panels = tsri_ceil_div(j->out_c, j->kn->cols);
    j->rows_size = BLOCK * j->row;
    j->c_size = BLOCK * j->kn->cols;
    j->c = team->work;
    j->rows = j->c + threads * j->c_size;
    j->b = j->rows + threads * j->rows_size;
}

static void run_class(job *j, const tsri_conv_team *team)
{
    lay_out_class(j, team);
    int64_t blocks = tsri_ceil_div(j->pixels, BLOCK);
    if (j->t.count > 0) {
        tsri_pool_run(team->pool, pack_panel, j, j->panels);
        tsri_pool_run(team->pool, block_body, j, blocks);
    } else if (j->fuse.add != j->out) {
        tsri_pool_run(team->pool, blank_body, j, blocks);
    }
}

static taps forward_taps(const tsri_conv_shape *s)
{
    taps t = {.rows = tsri_conv_out(s->h, s), .cols = tsri_conv_out(s->w, s)};
    assert(s->size * s->size <= MOST_TAPS);
    for (int64_t r = 0; r < s->size; r++)
        for (int64_t c = 0; c < s->size; c++, t.count++) {
            t.weight[t.count] = r * s->size + c;
            t.dr[t.count] = r - s->pad;
            t.dc[t.count] = c - s->pad;
        }
    return t;
}

static job forward_job(const tsri_conv_shape *s, const tsri_conv_team *team)
{
    return (job){.kn = team->loops,
                 .t = forward_taps(s),
                 .images = s->n,
                 .in_h = s->h,
                 .in_w = s->w,
                 .in_c = s->c,
                 .out_h = tsri_conv_out(s->h, s),
                 .out_w = tsri_conv_out(s->w, s),
                 .out_c = s->k,
                 .in_step = s->stride,
                 .out_step = 1};
}

void tsri_direct_forward(float *y, const float *x, const float *w, const tsri_conv_shape *s,
                         tsri_fuse fuse, const tsri_conv_team *team)
{
    job j = forward_job(s, team);
    j.in = x, j.w = w, j.out = y, j.fuse = fuse;
    run_class(&j, team);
}

int64_t tsri_direct_packed_size(const tsri_conv_shape *s, const tsri_loops *kn)
{
    return s->size * s->size * s->c * tsri_round_up(s->k, kn->cols);
}

void tsri_direct_pack(float *b, const float *w, const tsri_conv_shape *s,
                      const tsri_conv_team *team)
{
    job j = forward_job(s, team);
    lay_out_class(&j, team);
    j.w = w, j.b = b;
    tsri_pool_run(team->pool, pack_panel, &j, j.panels);
}

void tsri_direct_forward_packed(float *y, const float *x, float *b, const tsri_conv_shape *s,
                                tsri_fuse fuse, const tsri_conv_team *team)
{
    job j = forward_job(s, team);
    lay_out_class(&j, team);
    j.in = x, j.b = b, j.out = y, j.fuse = fuse;
    tsri_pool_run(team->pool, block_body, &j, tsri_ceil_div(j.pixels, BLOCK));
}

/* Pixel (a + i stride, b + l stride) of dx meets dy (i + dr, l + dc) through tap (r, c) exactly
 * when a + pad - r = dr stride and b + pad - c = dc stride. */
static taps backward_taps(const tsri_conv_shape *s, int64_t a, int64_t b)
{
    taps t = {.rows = tsri_ceil_div(s->h - a, s->stride),
              .cols = tsri_ceil_div(s->w - b, s->stride),
              .first_row = a,
              .first_col = b};
    for (int64_t r = 0; r < s->size; r++)
        for (int64_t c = 0; c < s->size; c++) {
            if ((a + s->pad - r) % s->stride != 0 || (b + s->pad - c) % s->stride != 0)
                continue;
            t.weight[t.count] = r * s->size + c;
            t.dr[t.count] = (a + s->pad - r) / s->stride;
            t.dc[t.count++] = (b + s->pad - c) / s->stride;
        }
    return t;
}

void tsri_direct_backward_data(float *dx, const float *dy, const float *w, const tsri_conv_shape *s,
                               const float *add, const tsri_conv_team *team)
{
    job j = {.kn = team->loops,
             .in = dy,
             .dy = dy,
             .w = w,
             .out = dx,
             .fuse.add = add,
             .images = s->n,
             .in_h = tsri_conv_out(s->h, s),
             .in_w = tsri_conv_out(s->w, s),
             .in_c = s->k,
             .out_h = s->h,
             .out_w = s->w,
             .out_c = s->c,
             .in_step = 1,
             .out_step = s->stride};
    for (int64_t a = 0; a < s->stride && a < s->h; a++)
        for (int64_t b = 0; b < s->stride && b < s->w; b++) {
            j.t = backward_taps(s, a, b);
            run_class(&j, team);
        }
}

/* ---- Weights ------------------------------------------------------------------------------- */

static void gather_body(void *context, int64_t i, int thread)
{
    job *j = context;
    (void)thread;
    int64_t cols = j->kn->cols, first = j->first + i * BLOCK,
            last = tsri_min(first + BLOCK, j->last);
    for (int64_t q = first; q < last; q++) {
        gather(j->rows + (q - j->first) * j->row, j, q);
        const float *dy = j->dy + q * j->out_c;
        for (int64_t k = 0; k < j->out_c; k += cols) {
            float *to = j->b + (k / cols * j->span + q - j->first) * cols;
            int64_t n = tsri_min(cols, j->out_c - k);
            memcpy(to, dy + k, sizeof(float) * (size_t)n);
            memset(to + n, 0, sizeof(float) * (size_t)(cols - n));
        }
    }
}

/* dW (+)= rows^T dy for `rows` rows of dW from row r0 of a panel of gathered pixels. */
static void multiply_weights(float *c, int64_t ldc, const job *j, const float *gathered,
                             int64_t rows, int64_t k)
{
    int64_t pixels = j->last - j->first, cols = j->kn->cols;
    for (int64_t q = 0; q < pixels; q += DEPTH_T)
        for (int64_t r = 0; r < rows; r += j->kn->rows)
            j->kn->gemm_t(c + r * ldc, ldc, gathered + q * j->row + r, j->row,
                          j->b + (k / cols * j->span + q) * cols,
                          (int)tsri_min(j->kn->rows, rows - r), (int)tsri_min(cols, j->out_c - k),
                          tsri_min(DEPTH_T, pixels - q), j->first + q > 0);
}

static void weights_body(void *context, int64_t i, int thread)
{
    job *j = context;
    (void)thread;
    int64_t per = tsri_ceil_div(j->wide, BLOCK_ROWS), outs = tsri_ceil_div(j->out_c, BLOCK_OUT);
    int64_t k0 = i % outs * BLOCK_OUT, k1 = tsri_min(k0 + BLOCK_OUT, j->out_c);
    int64_t panel = i / outs / per, r0 = i / outs % per * BLOCK_ROWS,
            rows = tsri_min(BLOCK_ROWS, j->wide - r0);
    int64_t ldc = tsri_round_up(j->out_c, BLOCK_OUT), at = panel * j->wide + r0;
    for (int64_t k = k0; k < k1; k += j->kn->cols)
        multiply_weights(j->c + at * ldc + k, ldc, j, j->rows + panel * j->tap + r0, rows, k);
    if (j->last == j->pixels)
        for (int64_t r = at; r < at + rows; r++)
            memcpy(j->out + r * j->out_c + k0, j->c + r * ldc + k0,
                   sizeof(float) * (size_t)(k1 - k0));
}

/* Gathered pixels as panels [taps][span][in_c], or one panel [span][taps * in_c] when in_c is
 * thin. */
static void lay_out_weights(job *j)
{
    bool thin = j->in_c < THIN;
    j->depth = j->t.count * j->in_c;
    j->wide = thin ? j->depth : j->in_c;
    assert(j->wide > 0);
    j->row = j->wide >= 256 ? tsri_spread(j->wide) : tsri_round_up(j->wide, TSRI_LINE);
    j->pixels = j->images * j->t.rows * j->t.cols;
    j->panels = tsri_ceil_div(j->out_c, j->kn->cols);
    int64_t floats = j->row * j->depth / j->wide + j->panels * j->kn->cols;
    int64_t spans = tsri_max(1, tsri_ceil_div(j->pixels * floats, SPAN_FLOATS));
    j->span = tsri_round_up(tsri_ceil_div(j->pixels, spans), DEPTH_T);
    j->tap = thin ? j->in_c : j->span * j->row;
    j->rows_size = j->span * j->row * j->depth / j->wide;
    j->c_size = tsri_round_up(j->depth, TSRI_LINE) * tsri_round_up(j->out_c, BLOCK_OUT);
}

void tsri_direct_backward_weights(float *dw, const float *x, const float *dy,
                                  const tsri_conv_shape *s, tsri_fuse fuse,
                                  const tsri_conv_team *team)
{
    if (s->n == 0) { /* the sum of nothing, which no unit would write */
        memset(dw, 0, sizeof(float) * (size_t)(s->size * s->size * s->c * s->k));
        return;
    }
    job j = forward_job(s, team);
    j.in = x, j.dy = dy, j.out = dw, j.fuse = fuse;
    lay_out_weights(&j);
    j.c = team->work;
    j.rows = j.c + j.c_size;
    j.b = j.rows + j.rows_size;
    int64_t units =
        j.depth / j.wide * tsri_ceil_div(j.wide, BLOCK_ROWS) * tsri_ceil_div(j.out_c, BLOCK_OUT);
    for (j.first = 0; j.first < j.pixels; j.first = j.last) {
        j.last = tsri_min(j.first + j.span, j.pixels);
        tsri_pool_run(team->pool, gather_body, &j, tsri_ceil_div(j.last - j.first, BLOCK));
        tsri_pool_run(team->pool, weights_body, &j, units);
    }
}

/* ---- Memory -------------------------------------------------------------------------------- */

int64_t tsri_direct_work(const tsri_conv_shape *s, const tsri_loops *kn, int threads)
{
    tsri_conv_team team = {.loops = kn};
    job j = forward_job(s, &team);
    lay_out_weights(&j);
    int64_t weights = j.c_size + j.rows_size + j.span * j.panels * kn->cols;
    int64_t in = s->c > s->k ? s->c : s->k, row = tsri_spread(s->size * s->size * in);
    int64_t filters =
        s->size * s->size * tsri_round_up(s->c, kn->cols) * tsri_round_up(s->k, kn->cols);
    int64_t pass = threads * BLOCK * (kn->cols + row) + filters;
    return tsri_max(weights, pass);
}
