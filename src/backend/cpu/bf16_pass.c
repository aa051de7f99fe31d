/* bf16_pass.c - y of a convolution, and dx: products of a grid with packed filters.
 *
 * The whole input becomes a grid once; then blocks of slots times panels of 32 outputs. The
 * filters of a panel stay in the second cache while all slots of a block meet them. (Cutting the
 * sums, so that they stay in the first one, was slower: 252 to 289 ms for a step of a
 * PreActResNet-18 instead of 228.)
 */
#include "backend/cpu/bf16_grid.h"

#include "backend/cpu/counts.h"

#include <string.h>

enum {
    BLOCK = 256, /* slots of a unit */
    FILL = 64,   /* slots converted by one unit */
    UNITS = 32   /* wanted at least, where there are that many panels */
};

typedef struct pass {
    const tsri_bf16_loops *loops;
    tsri_bf16_grid grid;
    tsri_class class;
    const float *in;
    tsri_preop pre;
    const float *w;
    bool turned;                  /* the filters of a tap lie with the depth of the sum innermost */
    int64_t depth_rows, out_rows; /* of the filters of a tap: numbers from one to the next */
    tsri_bf16_finish finish;
    float *out;
    int64_t out_h, out_w, out_c;
    int64_t steps, panels, blocks, groups; /* groups: units that share the panels of a block */
    int64_t slots;                         /* of one phase in memory, lead and tail with it */
    int64_t *at;                           /* [steps] where a step's numbers lie, from the slot */
    float *sums;                           /* [threads][BLOCK][32] */
    tsri_bf16 *cells;                      /* [phases][slots][wide] */
    tsri_bf16 *filters;                    /* [panels][steps][TSRI_STEP] */
} pass;

/* ---- Memory -------------------------------------------------------------------------------- */

/* The bytes of a pass with that many taps, each part a multiple of 64; and where they lie in
 * `work`. */
static int64_t lay_out(pass *p, void *work, int threads, int64_t taps)
{
    int64_t wide = p->grid.wide, steps = taps * wide / TSRI_SIDE;
    p->slots = p->grid.lead + tsri_round_up(p->grid.line, BLOCK) + p->grid.tail;
    int64_t at = tsri_round_up(steps * (int64_t)sizeof *p->at, 64);
    int64_t sums = (int64_t)threads * BLOCK * TSRI_SIDE * (int64_t)sizeof *p->sums;
    int64_t cells = p->grid.phases * p->slots * wide * (int64_t)sizeof *p->cells;
    int64_t filters =
        tsri_ceil_div(p->out_c, TSRI_SIDE) * steps * TSRI_STEP * (int64_t)sizeof *p->filters;
    p->at = work;
    p->sums = tsri_behind(work, at);
    p->cells = tsri_behind(p->sums, sums);
    p->filters = tsri_behind(p->cells, cells);
    return at + sums + cells + filters;
}

/* ---- The parts ----------------------------------------------------------------------------- */

static void fill_body(void *context, int64_t i, int thread)
{
    pass *p = context;
    (void)thread;
    int64_t pieces = tsri_ceil_div(p->slots, FILL), phase = i / pieces, first = i % pieces * FILL;
    int64_t count = tsri_min(FILL, p->slots - first);
    tsri_grid_fill(p->cells + (phase * p->slots + first) * p->grid.wide, &p->grid, phase,
                   first - p->grid.lead, count, p->in, p->pre, p->loops);
}

/* 32 x 32 filters of one tap, from depth c0 and output k0 on, as bf16 [depth][out], zeros where
 * there are none. */
static void take_square(tsri_bf16 *to, const pass *p, const float *w, int64_t c0, int64_t k0)
{
    tsri_bf16 rows[TSRI_SIDE * TSRI_SIDE];
    int64_t depth = tsri_min(TSRI_SIDE, p->grid.c - c0), outs = tsri_min(TSRI_SIDE, p->out_c - k0);
    int64_t count = p->turned ? outs : depth, length = p->turned ? depth : outs;
    int64_t row = p->turned ? p->out_rows : p->depth_rows;
    const float *from = w + c0 * p->depth_rows + k0 * p->out_rows;
    for (int64_t r = 0; r < TSRI_SIDE; r++)
        if (r < count)
            p->loops->convert(rows + r * TSRI_SIDE, from + r * row, (tsri_preop){0}, length);
        else
            memset(rows + r * TSRI_SIDE, 0, sizeof *rows * TSRI_SIDE);
    if (!p->turned)
        memcpy(to, rows, sizeof rows);
    for (int64_t half = 0; p->turned && half < TSRI_SIDE; half += TSRI_HALF)
        p->loops->turn(to + half * TSRI_SIDE, TSRI_SIDE, rows + half, TSRI_SIDE);
}

static void pack_body(void *context, int64_t i, int thread)
{
    pass *p = context;
    (void)thread;
    tsri_bf16 square[TSRI_SIDE * TSRI_SIDE];
    int64_t panel = i / p->class.count, t = i % p->class.count, per = p->grid.wide / TSRI_SIDE;
    const float *w = p->w + p->class.tap[t].weight * p->grid.c * p->out_c;
    tsri_bf16 *to = p->filters + (panel * p->steps + t * per) * TSRI_STEP;
    for (int64_t s = 0; s < per; s++, to += TSRI_STEP) {
        take_square(square, p, w, s * TSRI_SIDE, panel * TSRI_SIDE);
        p->loops->pairs(to, square, TSRI_SIDE);
        p->loops->pairs(to + TSRI_TILE, square + TSRI_HALF, TSRI_SIDE);
    }
}

static void finish_row(float *y, const float *sum, const tsri_bf16_finish *f, int64_t at, int64_t k,
                       int64_t count)
{
    for (int64_t j = 0; j < count; j++) {
        float v =
            f->scale * sum[j] + (f->bias ? f->bias[k + j] : 0) + (f->add ? f->add[at + j] : 0);
        y[j] = f->relu && v < 0 ? 0 : v;
    }
}

/* The sums of a block and a panel to where the outputs lie. */
static void write_block(const pass *p, const float *sum, int64_t first, int64_t count,
                        int64_t panel)
{
    const tsri_class *c = &p->class;
    int64_t per = p->grid.rows * p->grid.cols, k = panel * TSRI_SIDE,
            outs = tsri_min(TSRI_SIDE, p->out_c - k);
    bool plain = !p->finish.bias && !p->finish.relu && p->finish.scale == 1;
    const float *add = p->finish.add;
    int64_t image = first / per, row = first % per / p->grid.cols, col = first % p->grid.cols;
    for (int64_t q = 0; q < count; q++, col++, sum += TSRI_SIDE) {
        if (col == p->grid.cols) {
            col = 0;
            if (++row == p->grid.rows)
                row = 0, image++;
        }
        if (row >= c->rows || col >= c->cols)
            continue;
        int64_t at =
            ((image * p->out_h + row * c->step + c->row) * p->out_w + col * c->step + c->col) *
                p->out_c +
            k;
        if (plain && add)
            for (int64_t j = 0; j < outs; j++)
                p->out[at + j] = sum[j] + add[at + j];
        else if (plain)
            memcpy(p->out + at, sum, sizeof *sum * (size_t)outs);
        else
            finish_row(p->out + at, sum, &p->finish, at, k, outs);
    }
}

/* All slots of the block times one panel. */
static void multiply(float *sums, const pass *p, int64_t first, int64_t count, int64_t panel)
{
    const tsri_bf16 *a = p->cells + (p->grid.lead + first) * p->grid.wide;
    for (int64_t q = 0; q < count; q += TSRI_SIDE)
        p->loops->product(sums + q * TSRI_SIDE, TSRI_SIDE, a + q * p->grid.wide, p->grid.wide,
                          p->at, p->steps, p->filters + panel * p->steps * TSRI_STEP, false);
}

static void block_body(void *context, int64_t i, int thread)
{
    pass *p = context;
    int64_t first = i / p->groups * BLOCK, group = i % p->groups;
    int64_t count = tsri_min(BLOCK, p->grid.line - first);
    int64_t from = group * p->panels / p->groups, to = (group + 1) * p->panels / p->groups;
    float *sums = p->sums + (int64_t)thread * BLOCK * TSRI_SIDE;
    if (p->loops->begin)
        p->loops->begin();
    if (p->steps == 0)
        memset(sums, 0, sizeof *sums * BLOCK * TSRI_SIDE);
    for (int64_t panel = from; panel < to; panel++) {
        if (p->steps > 0)
            multiply(sums, p, first, count, panel);
        write_block(p, sums, first, count, panel);
    }
    if (p->loops->end)
        p->loops->end();
}

/* ---- The whole ----------------------------------------------------------------------------- */

static void fill(pass *p, tsri_pool *pool)
{
    tsri_pool_run(pool, fill_body, p, p->grid.phases * tsri_ceil_div(p->slots, FILL));
}

static void run_class(pass *p, tsri_pool *pool)
{
    int64_t per = p->grid.wide / TSRI_SIDE;
    p->steps = p->class.count * per;
    p->panels = tsri_ceil_div(p->out_c, TSRI_SIDE);
    p->blocks = tsri_ceil_div(p->grid.line, BLOCK);
    if (p->blocks == 0 || p->panels == 0)
        return;
    p->groups = tsri_min(p->panels, tsri_ceil_div(UNITS, p->blocks));
    for (int64_t s = 0; s < p->steps; s++) {
        const tsri_tap *tap = &p->class.tap[s / per];
        p->at[s] = (tap->phase * p->slots + tsri_grid_shift(&p->grid, tap)) * p->grid.wide +
                   s % per * TSRI_SIDE;
    }
    tsri_pool_run(pool, pack_body, p, p->panels * p->class.count);
    tsri_pool_run(pool, block_body, p, p->blocks * p->groups);
}

static pass forward_pass(const tsri_conv_shape *s)
{
    pass p = {.out_c = s->k, .depth_rows = s->k, .out_rows = 1};
    tsri_grid_forward(&p.grid, &p.class, s);
    p.out_h = p.class.rows;
    p.out_w = p.class.cols;
    return p;
}

static pass backward_pass(const tsri_conv_shape *s)
{
    pass p = {.out_h = s->h,
              .out_w = s->w,
              .out_c = s->c,
              .turned = true,
              .depth_rows = 1,
              .out_rows = s->k};
    tsri_grid_backward(&p.grid, s);
    return p;
}

/* [k][c] of a linear layer: the other way round. */
static void take_filters(pass *p, tsri_bf16_filters f)
{
    p->w = f.w;
    if (!f.rows_out)
        return;
    p->turned = !p->turned;
    p->depth_rows = p->turned ? 1 : p->out_c;
    p->out_rows = p->turned ? p->grid.c : 1;
}

void tsri_bf16_forward(float *y, const float *x, tsri_bf16_filters w, const tsri_conv_shape *s,
                       tsri_preop pre, tsri_bf16_finish finish, const tsri_bf16_team *team)
{
    pass p = forward_pass(s);
    p.loops = team->loops, p.in = x, p.pre = pre, p.finish = finish, p.out = y;
    take_filters(&p, w);
    lay_out(&p, team->work, tsri_pool_threads(team->pool), s->size * s->size);
    fill(&p, team->pool);
    run_class(&p, team->pool);
}

void tsri_bf16_backward_data(float *dx, const float *dy, tsri_bf16_filters w,
                             const tsri_conv_shape *s, tsri_bf16_finish finish,
                             const tsri_bf16_team *team)
{
    pass p = backward_pass(s);
    p.loops = team->loops, p.in = dy, p.finish = finish, p.out = dx;
    take_filters(&p, w);
    lay_out(&p, team->work, tsri_pool_threads(team->pool), s->size * s->size);
    fill(&p, team->pool);
    for (int64_t a = 0; a < s->stride && a < s->h; a++)
        for (int64_t b = 0; b < s->stride && b < s->w; b++) {
            tsri_grid_class(&p.class, s, a, b);
            run_class(&p, team->pool);
        }
}

int64_t tsri_bf16_pass_work(const tsri_conv_shape *s, int threads)
{
    pass f = forward_pass(s), b = backward_pass(s);
    int64_t taps = s->size * s->size;
    return tsri_max(lay_out(&f, NULL, threads, taps), lay_out(&b, NULL, threads, taps));
}
