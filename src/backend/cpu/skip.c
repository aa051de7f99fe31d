/* skip.c - the executor's driver: packs, cuts into panels, calls the loops. See skip.h.
 *
 *     pack S: three numbers a step, in the order of the steps            a pool loop
 *         (units whose items are not innermost are turned first, in the second-level cache)
 *     for each chunk of rows and panel of columns of V and C             a pool loop
 *         for each block of items
 *             pack V: block x panel, in the first-level cache
 *             for each group of three rows: the straight-line loops
 *         copy the sums to C
 *
 * A chunk's sums, a panel wide, stay in the second-level cache from the first block to the last,
 * in a strip without gaps: the rows of C itself are a power of two apart as often as not, and fall
 * upon a few sets of the cache. They go to C at the end, row after row: groups have rows from all
 * over the chunk. While the groups of one block run, the next block of V is fetched.
 */
#include "backend/cpu/skip.h"

#include "backend/cpu/counts.h"

#include <string.h>

enum { ROWS = 3, SLICE = 32, PAST = 4 << 20 };

typedef struct work {
    const tsri_skip *skip;
    float *numbers; /* S, packed, [chunks, blocks] */
    float *own;     /* [threads] a turned unit of S, then a panel of V and a strip of C */
    int64_t panels; /* of a chunk */
    int64_t slices; /* of a unit; each packs `slice` runs */
    int64_t slice;
    bool past; /* sums go past the caches: C is more than they hold */
} work;

/* ---- Memory -------------------------------------------------------------------------------- */

/* Of a unit. Worst case: every item a step of its own. */
static int64_t number_floats(const tsri_pattern *p)
{
    return ROWS * p->groups * p->size;
}

static int64_t all_number_floats(const tsri_pattern *p)
{
    return tsri_round_up(p->chunks * p->blocks * number_floats(p), TSRI_LINE);
}

static int64_t panel_floats(const tsri_pattern *p)
{
    return p->size * p->loops->skip_cols;
}

/* The strip has a row more, for groups of fewer than three. */
static int64_t own_floats(const tsri_pattern *p)
{
    int64_t rows = tsri_min(p->rows, TSRI_SKIP_CHUNK);
    int64_t tile = p->by_units ? tsri_round_up(rows * p->size, TSRI_LINE) : 0;
    return tsri_max(tile, panel_floats(p) + (rows + 1) * p->loops->skip_cols);
}

int64_t tsri_skip_scratch(const tsri_pattern *p, int threads)
{
    return (all_number_floats(p) + threads * own_floats(p)) * (int64_t)sizeof(float);
}

/* ---- Packing S ----------------------------------------------------------------------------- */

/* x: the three rows of the block. `shift`: of what item 1 is in `at`. */
static void pack_run(float *to, const float *const x[ROWS], const uint16_t *at,
                     const tsri_skip_run *run, int shift, float scale)
{
    for (int n = run->full; n > 0; n--, at++, to += ROWS)
        for (int r = 0; r < ROWS; r++)
            to[r] = scale * x[r][*at >> shift];
    for (int k = 0; k < ROWS; k++) {
        const int i = (k + 1) % ROWS, j = (k + 2) % ROWS;
        const float *own = x[k], *one = x[i], *other = x[j];
        for (int n = run->pair[k]; n > 0; n--, at += 2, to += ROWS) {
            to[k] = scale * own[at[0] >> shift];
            to[i] = scale * one[at[1] >> shift];
            to[j] = scale * other[at[1] >> shift];
        }
    }
}

/* Rows of S, `row` floats apart, from the first row and item of a unit on. */
typedef struct rows_of_s {
    const float *s;
    int64_t row;
} rows_of_s;

static rows_of_s rows_of_unit(const work *w, int64_t row, int64_t rows, int64_t first, int thread)
{
    const tsri_skip *k = w->skip;
    const tsri_pattern *p = k->pattern;
    if (!p->by_units)
        return (rows_of_s){k->s + row * p->items + first, p->items};
    float *tile = w->own + thread * own_floats(p);
    p->loops->turn(tile, p->size, k->s + first * p->rows + row, p->rows,
                   tsri_min(p->size, p->items - first), rows);
    return (rows_of_s){tile, p->size};
}

static void pack_slice(void *context, int64_t i, int thread)
{
    const work *w = context;
    const tsri_pattern *p = w->skip->pattern;
    int64_t unit = i / w->slices, g = i % w->slices * w->slice;
    int64_t row = unit / p->blocks * TSRI_SKIP_CHUNK, first = unit % p->blocks * p->size;
    int64_t rows = tsri_min(TSRI_SKIP_CHUNK, p->rows - row);
    rows_of_s s = rows_of_unit(w, row, rows, first, thread);
    float scale = w->skip->scale == 0 ? 1 : (float)w->skip->scale;
    int shift = __builtin_ctz((unsigned)p->loops->skip_unit);
    for (int64_t end = tsri_min(g + w->slice, tsri_ceil_div(rows, ROWS)); g < end; g++) {
        const tsri_skip_run *run = &p->run[unit * p->groups + g];
        const float *x[ROWS]; /* where there is no row any will do: its sums are no one's */
        for (int r = 0; r < ROWS; r++)
            x[r] = s.s + tsri_min(run->row[r], rows - 1) * s.row;
        pack_run(w->numbers + unit * number_floats(p) + ROWS * (int64_t)run->first, x,
                 p->at + unit * p->groups * 2 * p->size + run->at, run, shift, scale);
    }
}

/* ---- Packing V ----------------------------------------------------------------------------- */

/* Block b of a panel: that many items and columns of V from v on. */
typedef struct corner {
    const float *v;
    int64_t items, cols;
} corner;

static corner corner_of(const tsri_skip *k, int64_t b, int64_t j)
{
    const tsri_pattern *p = k->pattern;
    int64_t first = b * p->size;
    return (corner){k->v + first * k->v_item + j * k->v_col,
                    tsri_max(0, tsri_min(p->size, p->items - first)),
                    tsri_min(p->loops->skip_cols, k->cols - j)};
}

static void pack_panel(float *panel, const tsri_skip *k, const corner *c)
{
    const tsri_loops *l = k->pattern->loops;
    if (c->cols < l->skip_cols)
        memset(panel, 0, (size_t)(c->items * l->skip_cols) * sizeof *panel);
    if (k->v_col == 1 && c->cols == l->skip_cols)
        l->skip_rows(panel, c->v, k->v_item, c->items);
    else if (k->v_col == 1)
        for (int64_t t = 0; t < c->items; t++)
            memcpy(panel + t * l->skip_cols, c->v + t * k->v_item, (size_t)c->cols * sizeof *panel);
    else
        l->turn(panel, l->skip_cols, c->v, k->v_col, c->cols, c->items);
}

/* What pack_panel will read, into the second-level cache, a few lines at a time. */
typedef struct fetch {
    const float *v;
    int64_t rows, stride, lines; /* of V's memory; lines of a row */
    int64_t row, line, step;     /* where it is; how many at a time */
} fetch;

static fetch fetch_of(const tsri_skip *k, int64_t b, int64_t j, int64_t times)
{
    corner c = corner_of(k, b, j);
    bool by_items = k->v_col == 1;
    fetch f = {.v = c.v,
               .rows = by_items ? c.items : c.cols,
               .stride = by_items ? k->v_item : k->v_col,
               .lines = tsri_ceil_div(by_items ? c.cols : c.items, TSRI_LINE)};
    f.step = tsri_ceil_div(f.rows * f.lines, times);
    return f;
}

static inline void fetch_some(fetch *f)
{
    for (int64_t i = 0; i < f->step && f->line < f->lines; i++) {
        __builtin_prefetch(f->v + f->row * f->stride + f->line * TSRI_LINE, 0, 2);
        if (++f->row == f->rows) {
            f->row = 0;
            f->line++;
        }
    }
}

/* ---- Running ------------------------------------------------------------------------------- */

typedef struct place {
    const work *w;
    int64_t chunk, rows;  /* of this chunk */
    float *c;             /* its first row, this panel's first column */
    int64_t cols;         /* of this panel that C has */
    float *panel, *strip; /* of this thread */
} place;

static void run_block(const place *at, int64_t b, fetch next)
{
    const tsri_skip *k = at->w->skip;
    const tsri_pattern *p = k->pattern;
    int64_t unit = at->chunk * p->blocks + b, groups = tsri_ceil_div(at->rows, ROWS);
    const float *numbers = at->w->numbers + unit * number_floats(p);
    const uint16_t *items = p->at + unit * p->groups * 2 * p->size;
    const tsri_skip_run *run = p->run + unit * p->groups;
    bool fresh = b == 0 && !k->add;
    for (int64_t g = 0; g < groups; g++, run++) {
        float *sum[ROWS];
        for (int r = 0; r < ROWS; r++)
            sum[r] = at->strip + run->row[r] * p->loops->skip_cols;
        fetch_some(&next);
        p->loops->skip(sum, fresh, at->panel, items + run->at, numbers + ROWS * (int64_t)run->first,
                       run);
    }
}

/* Where the sums begin with C. */
static void read_sums(const place *at)
{
    const tsri_skip *k = at->w->skip;
    int64_t cols = k->pattern->loops->skip_cols;
    for (int64_t r = 0; r < at->rows; r++)
        memcpy(at->strip + r * cols, at->c + r * k->cols, (size_t)at->cols * sizeof *at->c);
}

static void write_sums(const place *at)
{
    const tsri_skip *k = at->w->skip;
    const tsri_loops *l = k->pattern->loops;
    if (at->cols == l->skip_cols)
        l->skip_out(at->c, k->cols, at->strip, at->rows, at->w->past);
    else
        for (int64_t r = 0; r < at->rows; r++)
            memcpy(at->c + r * k->cols, at->strip + r * l->skip_cols,
                   (size_t)at->cols * sizeof *at->c);
}

static void run_panel(void *context, int64_t i, int thread)
{
    const work *w = context;
    const tsri_skip *k = w->skip;
    const tsri_pattern *p = k->pattern;
    int64_t chunk = i / w->panels, j = i % w->panels * p->loops->skip_cols;
    int64_t row = chunk * TSRI_SKIP_CHUNK;
    int64_t rows = tsri_min(TSRI_SKIP_CHUNK, p->rows - row), groups = tsri_ceil_div(rows, ROWS);
    place at = {.w = w,
                .chunk = chunk,
                .rows = rows,
                .c = k->c + row * k->cols + j,
                .cols = tsri_min(p->loops->skip_cols, k->cols - j),
                .panel = w->own + thread * own_floats(p)};
    at.strip = at.panel + panel_floats(p);
    if (k->add)
        read_sums(&at);
    for (int64_t b = 0; b < p->blocks; b++) {
        corner c = corner_of(k, b, j);
        pack_panel(at.panel, k, &c);
        run_block(&at, b, fetch_of(k, b + 1, j, groups));
    }
    write_sums(&at);
}

void tsri_skip_run_all(const tsri_skip *skip, tsri_pool *pool)
{
    const tsri_pattern *p = skip->pattern;
    work w = {.skip = skip, .numbers = skip->scratch};
    w.own = w.numbers + all_number_floats(p);
    w.panels = tsri_ceil_div(skip->cols, p->loops->skip_cols);
    w.slice = p->by_units ? p->groups : SLICE;
    w.slices = tsri_ceil_div(p->groups, w.slice);
    w.past = p->rows * skip->cols >= PAST;
    if (p->blocks == 0) {
        if (!skip->add)
            memset(skip->c, 0, (size_t)(p->rows * skip->cols) * sizeof *skip->c);
        return;
    }
    tsri_pool_run(pool, pack_slice, &w, p->chunks * p->blocks * w.slices);
    tsri_pool_run(pool, run_panel, &w, p->chunks * w.panels);
}
