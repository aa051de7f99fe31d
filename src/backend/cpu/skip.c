/* skip.c - the executor's driver: packs, cuts into panels, calls the loops. See skip.h.
 *
 *     turn S, if its items are not innermost                             a pool loop
 *     pack S: three numbers a step, in the order of the steps            a pool loop over runs
 *     for each chunk of rows and panel of columns of V and C             a pool loop
 *         for each block of items
 *             pack V: block x panel, in the first-level cache
 *             for each group of three rows: the straight-line loops
 *
 * A chunk's sums, a panel wide, stay in the second-level cache from the first block to the last,
 * in a strip without gaps: the rows of C itself are a power of two apart as often as not, and fall
 * upon a few sets of the cache. The last block writes to C. While the groups of one block run, the
 * next block of V and the next group's sums are fetched.
 */
#include "backend/cpu/skip.h"

#include "backend/cpu/counts.h"

#include <string.h>

enum { ROWS = 3, SLICE = 32, SIDE = 64 };

typedef struct work {
    const tsri_skip *skip;
    const float *s; /* S [rows, items] */
    float *turned;  /* its memory, where it had to be turned */
    float *numbers; /* S, packed, [chunks, blocks] */
    float *own;     /* [threads] a panel of V, a strip of C */
    int64_t panels; /* of a chunk */
    int64_t slices; /* of the runs of a unit */
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

static int64_t turned_floats(const tsri_pattern *p)
{
    return p->by_units ? tsri_round_up(p->rows * p->items, TSRI_LINE) : 0;
}

static int64_t panel_floats(const tsri_pattern *p)
{
    return p->size * p->loops->skip_cols;
}

/* The strip has a row more, for groups of fewer than three. */
static int64_t own_floats(const tsri_pattern *p)
{
    int64_t rows = tsri_min(p->rows, TSRI_SKIP_CHUNK) + 1;
    return panel_floats(p) + rows * p->loops->skip_cols;
}

int64_t tsri_skip_scratch(const tsri_pattern *p, int threads)
{
    return (all_number_floats(p) + turned_floats(p) + threads * own_floats(p)) *
           (int64_t)sizeof(float);
}

/* ---- Packing S ----------------------------------------------------------------------------- */

/* A strip of SIDE rows of S. */
static void turn_strip(void *context, int64_t i, int thread)
{
    (void)thread;
    const work *w = context;
    const tsri_pattern *p = w->skip->pattern;
    int64_t row = i * SIDE, rows = tsri_min(SIDE, p->rows - row);
    for (int64_t t = 0; t < p->items; t += SIDE)
        p->loops->turn(w->turned + row * p->items + t, p->items, w->skip->s + t * p->rows + row,
                       p->rows, tsri_min(SIDE, p->items - t), rows);
}

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

static void pack_slice(void *context, int64_t i, int thread)
{
    (void)thread;
    const work *w = context;
    const tsri_pattern *p = w->skip->pattern;
    int64_t unit = i / w->slices, g = i % w->slices * SLICE;
    int64_t row = unit / p->blocks * TSRI_SKIP_CHUNK, first = unit % p->blocks * p->size;
    int64_t rows = tsri_min(TSRI_SKIP_CHUNK, p->rows - row);
    float scale = w->skip->scale == 0 ? 1 : (float)w->skip->scale;
    int shift = __builtin_ctz((unsigned)p->loops->skip_unit);
    for (int64_t end = tsri_min(g + SLICE, tsri_ceil_div(rows, ROWS)); g < end; g++) {
        const tsri_skip_run *run = &p->run[unit * p->groups + g];
        const float *x[ROWS];
        for (int r = 0; r < ROWS;
             r++) /* where there is no row any will do: its sums are no one's */
            x[r] = w->s + (row + tsri_min(run->row[r], rows - 1)) * p->items + first;
        pack_run(w->numbers + unit * number_floats(p) + ROWS * (int64_t)run->first, x,
                 p->at + unit * p->groups * 2 * p->size + run->at, run, shift, scale);
    }
}

/* ---- Packing V ----------------------------------------------------------------------------- */

/* Block b of a panel: so many items and columns of V from v on. */
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

/* Part g of `groups` of what pack_panel will read, into the second-level cache. */
static void fetch_panel(const tsri_skip *k, const corner *c, int64_t g, int64_t groups)
{
    bool by_items = k->v_col == 1;
    int64_t rows = by_items ? c->items : c->cols, length = by_items ? c->cols : c->items;
    int64_t stride = by_items ? k->v_item : k->v_col, lines = tsri_ceil_div(length, TSRI_LINE);
    for (int64_t i = g * rows * lines / groups; i < (g + 1) * rows * lines / groups; i++)
        __builtin_prefetch(c->v + i / lines * stride + i % lines * TSRI_LINE, 0, 2);
}

/* ---- Running ------------------------------------------------------------------------------- */

typedef struct place {
    const work *w;
    int64_t chunk, rows;  /* of this chunk */
    float *c;             /* its first row, this panel's first column */
    bool whole;           /* as many columns as a panel has */
    float *panel, *strip; /* of this thread */
} place;

/* A group's sums before and after block b. */
typedef struct sums {
    const float *from[ROWS];
    float *to[ROWS];
} sums;

static sums sums_of(const place *at, const tsri_skip_run *run, int64_t b)
{
    const tsri_skip *k = at->w->skip;
    bool first = b == 0, last = b == k->pattern->blocks - 1;
    sums s;
    for (int r = 0; r < ROWS; r++) {
        int64_t row = run->row[r];
        float *strip = at->strip + row * k->pattern->loops->skip_cols;
        bool direct = at->whole && row < at->rows;
        s.from[r] = first && k->add && direct ? at->c + row * k->cols : strip;
        s.to[r] = last && direct ? at->c + row * k->cols : strip;
    }
    if (first && !k->add)
        s.from[0] = NULL;
    return s;
}

static void fetch_sums(const sums *s, int64_t cols)
{
    for (int r = 0; r < ROWS; r++)
        for (int64_t i = 0; i < cols; i += TSRI_LINE) {
            __builtin_prefetch(s->to[r] + i, 1, 3);
            if (s->from[0] && s->from[r] != s->to[r])
                __builtin_prefetch(s->from[r] + i, 0, 3);
        }
}

static void run_block(const place *at, int64_t b, const corner *next)
{
    const tsri_skip *k = at->w->skip;
    const tsri_pattern *p = k->pattern;
    int64_t unit = at->chunk * p->blocks + b, groups = tsri_ceil_div(at->rows, ROWS);
    const float *numbers = at->w->numbers + unit * number_floats(p);
    const uint16_t *items = p->at + unit * p->groups * 2 * p->size;
    const tsri_skip_run *run = p->run + unit * p->groups;
    sums now = sums_of(at, run, b), then = now;
    for (int64_t g = 0; g < groups; g++, run++, now = then) {
        if (g + 1 < groups) {
            then = sums_of(at, run + 1, b);
            fetch_sums(&then, p->loops->skip_cols);
        }
        if (next)
            fetch_panel(k, next, g, groups);
        p->loops->skip(now.to, now.from, at->panel, items + run->at,
                       numbers + ROWS * (int64_t)run->first, run);
    }
}

/* Panels at the right edge of C do not write to it: their vectors reach beyond. */
static void copy_edge(const place *at, int64_t cols, bool out)
{
    const tsri_skip *k = at->w->skip;
    for (int64_t r = 0; r < at->rows; r++) {
        float *c = at->c + r * k->cols, *strip = at->strip + r * k->pattern->loops->skip_cols;
        memcpy(out ? c : strip, out ? strip : c, (size_t)cols * sizeof *c);
    }
}

static void run_panel(void *context, int64_t i, int thread)
{
    const work *w = context;
    const tsri_skip *k = w->skip;
    const tsri_pattern *p = k->pattern;
    int64_t chunk = i / w->panels, j = i % w->panels * p->loops->skip_cols;
    int64_t row = chunk * TSRI_SKIP_CHUNK;
    place at = {.w = w,
                .chunk = chunk,
                .rows = tsri_min(TSRI_SKIP_CHUNK, p->rows - row),
                .c = k->c + row * k->cols + j,
                .whole = j + p->loops->skip_cols <= k->cols,
                .panel = w->own + thread * own_floats(p)};
    at.strip = at.panel + panel_floats(p);
    corner c = corner_of(k, 0, j), next;
    if (k->add && !at.whole)
        copy_edge(&at, c.cols, false);
    for (int64_t b = 0; b < p->blocks; b++, c = next) {
        next = corner_of(k, b + 1, j);
        pack_panel(at.panel, k, &c);
        run_block(&at, b, b + 1 < p->blocks ? &next : NULL);
    }
    if (!at.whole)
        copy_edge(&at, corner_of(k, 0, j).cols, true);
}

void tsri_skip_run_all(const tsri_skip *skip, tsri_pool *pool)
{
    const tsri_pattern *p = skip->pattern;
    work w = {.skip = skip, .s = skip->s, .numbers = skip->scratch};
    w.turned = w.numbers + all_number_floats(p);
    w.own = w.turned + turned_floats(p);
    w.panels = tsri_ceil_div(skip->cols, p->loops->skip_cols);
    w.slices = tsri_ceil_div(p->groups, SLICE);
    if (p->blocks == 0) {
        if (!skip->add)
            memset(skip->c, 0, (size_t)(p->rows * skip->cols) * sizeof *skip->c);
        return;
    }
    if (p->by_units) {
        tsri_pool_run(pool, turn_strip, &w, tsri_ceil_div(p->rows, SIDE));
        w.s = w.turned;
    }
    tsri_pool_run(pool, pack_slice, &w, p->chunks * p->blocks * w.slices);
    tsri_pool_run(pool, run_panel, &w, p->chunks * w.panels);
}
