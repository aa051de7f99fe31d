/* skip.c - the executor's driver: packs, cuts into panels, calls the loops. See skip.h.
 *
 *     for some blocks of items (their packed S fits the second-level cache)
 *         pack S: four numbers a step, in the order of the steps        a pool loop over groups
 *         for each panel of columns of V and C                          a pool loop
 *             for each of the blocks
 *                 pack V: block x panel, in the first-level cache
 *                 for each group of four rows: the straight-line loops
 */
#include "backend/cpu/skip.h"

#include "backend/cpu/counts.h"

#include <assert.h>
#include <string.h>

typedef float quad __attribute__((vector_size(16)));
typedef float quad_any __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t quad_bits __attribute__((vector_size(16)));

enum { MOST_ITEMS = 256 };

typedef struct work {
    const tsri_skip *skip;
    float *numbers;   /* S, packed */
    float *own;       /* [threads] a panel of V, a strip of C */
    int64_t from, to; /* blocks */
} work;

static int64_t panel_floats(const tsri_loops *l)
{
    return (int64_t)l->skip_items * l->skip_cols;
}

/* Worst case: every item a step of its own. */
static int64_t number_floats(const tsri_pattern *p)
{
    int64_t items = (int64_t)p->loops->skip_items * tsri_min(p->loops->skip_blocks, p->blocks);
    return 4 * p->groups * items;
}

static int64_t own_floats(const tsri_pattern *p)
{
    return panel_floats(p->loops) + 4 * p->groups * p->loops->skip_cols;
}

int64_t tsri_skip_scratch(const tsri_pattern *p, int threads)
{
    return (number_floats(p) + threads * own_floats(p)) * (int64_t)sizeof(float);
}

static quad get(const float *p)
{
    return *(const quad_any *)p;
}

static void put(float *p, quad x)
{
    *(quad_any *)p = x;
}

static void transpose(quad x[4])
{
    quad a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
    quad b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    quad c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
    quad d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    x[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    x[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

/* to[i * to_row + j] = from[i * from_row + j * from_col]; one of the strides of `from` is 1. */
static void copy_turned(float *to, int64_t to_row, const float *from, int64_t from_row,
                        int64_t from_col, int64_t rows, int64_t cols)
{
    if (from_col == 1) {
        for (int64_t i = 0; i < rows; i++)
            memcpy(to + i * to_row, from + i * from_row, (size_t)cols * sizeof *to);
        return;
    }
    assert(from_row == 1);
    int64_t r4 = rows / 4 * 4, c4 = cols / 4 * 4;
    for (int64_t j = 0; j < c4; j += 4)
        for (int64_t i = 0; i < r4; i += 4) {
            quad x[4];
            for (int k = 0; k < 4; k++)
                x[k] = get(from + i + (j + k) * from_col);
            transpose(x);
            for (int k = 0; k < 4; k++)
                put(to + (i + k) * to_row + j, x[k]);
        }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i < r4 ? c4 : 0; j < cols; j++)
            to[i * to_row + j] = from[i + j * from_col];
}

/* ---- Packing S ----------------------------------------------------------------------------- */

/* Item t's four numbers side by side; rows behind the last are zero. */
static void gather_rows(float *x, const tsri_skip *k, int64_t row, int64_t item, int64_t count)
{
    int64_t rows = tsri_min(4, k->pattern->rows - row);
    const float *s = k->s + row * k->s_row + item * k->s_item;
    if (rows < 4)
        memset(x, 0, (size_t)(4 * count) * sizeof *x);
    copy_turned(x, 4, s, k->s_item, k->s_row, count, rows);
    if (k->scale != 0 && k->scale != 1)
        for (int64_t i = 0; i < 4 * count; i++)
            x[i] *= (float)k->scale;
}

/* `unit`: what item 1 is in `at`. */
static void pack_run(float *to, const float *x, const uint16_t *at, const tsri_skip_run *run,
                     int unit)
{
    const int shift = __builtin_ctz((unsigned)unit);
    static const quad_bits rows[7] = {{-1, 0, 0, 0},  {0, -1, 0, 0},  {0, 0, -1, 0}, {0, 0, 0, -1},
                                      {-1, -1, 0, 0}, {-1, 0, -1, 0}, {0, -1, -1, 0}};
    for (int n = run->full; n > 0; n--, to += 4)
        put(to, get(x + 4 * (*at++ >> shift)));
    for (int k = 0; k < 7; k++)
        for (int n = run->pair[k]; n > 0; n--, at += 2, to += 4) {
            quad_bits a = (quad_bits)get(x + 4 * (at[0] >> shift)),
                      b = (quad_bits)get(x + 4 * (at[1] >> shift));
            put(to, (quad)((a & rows[k]) | (b & ~rows[k])));
        }
}

static void pack_group(void *context, int64_t g, int thread)
{
    (void)thread;
    const work *w = context;
    const tsri_pattern *p = w->skip->pattern;
    float x[4 * MOST_ITEMS];
    for (int64_t b = w->from; b < w->to; b++) {
        int64_t first = b * p->loops->skip_items, place = b * p->groups + g;
        gather_rows(x, w->skip, 4 * g, first, tsri_min(p->loops->skip_items, p->items - first));
        pack_run(w->numbers + 4 * (int64_t)p->run[place].first, x,
                 p->at + place * p->loops->skip_items, &p->run[place], p->loops->skip_unit);
    }
}

/* ---- Packing V ----------------------------------------------------------------------------- */

/* Block b, columns from j; within the panel column after column (loops_skip.h). */
static void pack_panel(float *panel, const tsri_skip *k, int64_t b, int64_t j, int64_t cols)
{
    const tsri_loops *l = k->pattern->loops;
    int64_t first = b * l->skip_items, count = tsri_min(l->skip_items, k->pattern->items - first);
    if (cols < l->skip_cols)
        memset(panel, 0, (size_t)panel_floats(l) * sizeof *panel);
    for (int64_t c = 0; c < cols; c += l->skip_line) {
        int64_t width = tsri_min(l->skip_line, l->skip_cols - c);
        copy_turned(panel + c * l->skip_items, width, k->v + first * k->v_item + (j + c) * k->v_col,
                    k->v_item, k->v_col, count, tsri_min(width, cols - c));
    }
}

/* ---- Running ------------------------------------------------------------------------------- */

/* Where several blocks are done one after the other, C is summed in a strip of its own,
 * [groups * 4, skip_cols] without gaps: the rows of C itself are a power of two apart as often as
 * not, and fall upon a few sets of the cache. So are the edges of C, for the loops write whole
 * groups and panels. */
static void flush_strip(const work *w, const float *strip, int64_t from_row, int64_t j,
                        int64_t cols)
{
    const tsri_skip *k = w->skip;
    int64_t width = k->pattern->loops->skip_cols;
    bool add = k->add || w->from > 0;
    for (int64_t r = from_row; r < k->pattern->rows; r++) {
        float *c = k->c + r * k->cols + j;
        const float *sum = strip + r * width;
        if (add)
            for (int64_t i = 0; i < cols; i++)
                c[i] += sum[i];
        else
            memcpy(c, sum, (size_t)cols * sizeof *c);
    }
}

static void run_group(const work *w, float *c, int64_t ldc, const float *panel, int64_t b,
                      int64_t g, bool add)
{
    const tsri_pattern *p = w->skip->pattern;
    int64_t place = b * p->groups + g;
    const tsri_skip_run *run = &p->run[place];
    p->loops->skip(c, ldc, panel, p->at + place * p->loops->skip_items,
                   w->numbers + 4 * (int64_t)run->first, run, add);
}

static void run_panel(void *context, int64_t i, int thread)
{
    const work *w = context;
    const tsri_skip *k = w->skip;
    const tsri_pattern *p = k->pattern;
    const tsri_loops *l = p->loops;
    int64_t j = i * l->skip_cols, cols = tsri_min(l->skip_cols, k->cols - j);
    int64_t direct = l->skip_blocks == 1 && cols == l->skip_cols ? p->rows / 4 : 0; /* groups */
    float *panel = w->own + thread * own_floats(p), *strip = panel + panel_floats(l);
    for (int64_t b = w->from; b < w->to; b++) {
        pack_panel(panel, k, b, j, cols);
        for (int64_t g = 0; g < direct; g++)
            run_group(w, k->c + 4 * g * k->cols + j, k->cols, panel, b, g, k->add || b > 0);
        for (int64_t g = direct; g < p->groups; g++)
            run_group(w, strip + 4 * g * l->skip_cols, l->skip_cols, panel, b, g, b > w->from);
    }
    flush_strip(w, strip, 4 * direct, j, cols);
}

void tsri_skip_run_all(const tsri_skip *skip, tsri_pool *pool)
{
    const tsri_pattern *p = skip->pattern;
    work w = {.skip = skip, .numbers = skip->scratch};
    w.own = w.numbers + number_floats(p);
    assert(p->loops->skip_items <= MOST_ITEMS);
    for (; w.from < p->blocks; w.from = w.to) {
        w.to = tsri_min(p->blocks, w.from + p->loops->skip_blocks);
        tsri_pool_run(pool, pack_group, &w, p->groups);
        tsri_pool_run(pool, run_panel, &w, tsri_ceil_div(skip->cols, p->loops->skip_cols));
    }
    if (p->blocks == 0 && !skip->add)
        memset(skip->c, 0, (size_t)(p->rows * skip->cols) * sizeof *skip->c);
    if (skip->gates)
        tsri_bits_mask(skip->c, skip->gates->word, p->rows, skip->cols, pool);
}
