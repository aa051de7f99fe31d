/* skip_inspect.c - the inspector: which items make which steps. See skip.h.
 *
 * For a chunk of rows and a block of items:
 *     1. rows sorted by how many items are on, three neighbours of that order make a group;
 *     2. a group's items dealt into seven lists by their three bits, a byte of each bit mask at a
 *        time: a table has the places of a byte's bits;
 *     3. complementary lists paired, as long as both last;
 *     4. what is left joined so that as few rows as possible multiply by a zero. With equal counts
 *        the three rows have the same excess: either of items for two rows, of which three make
 *        two steps, or of items for one row, of which two make a step;
 *     5. the three classes of pairs made equally long with full items, which may stand in any:
 *        loops of equal counts in one group after the other end when the processor expects it.
 */
#include "backend/cpu/skip.h"

#include "backend/cpu/counts.h"
#include "base/alloc.h"

#include <assert.h>
#include <string.h>

enum { MOST_ITEMS = 256, MOST_WORDS = MOST_ITEMS / 64, SPARE = 8, ROWS = 3, ALL = 7, EVEN = 4 };

typedef uint16_t eight __attribute__((vector_size(16)));
typedef uint16_t eight_any __attribute__((vector_size(16), aligned(2), may_alias));

void tsri_pattern_shape(tsri_pattern *p, const tsri_loops *loops, int64_t n, int64_t units,
                        bool by_units)
{
    *p = (tsri_pattern){.loops = loops,
                        .by_units = by_units,
                        .rows = by_units ? units : n,
                        .items = by_units ? n : units};
    assert(loops->skip_items <= MOST_ITEMS);
    p->chunks = tsri_ceil_div(p->rows, TSRI_SKIP_CHUNK);
    p->blocks = tsri_ceil_div(p->items, loops->skip_items);
    p->size = p->blocks > 0 ? tsri_round_up(tsri_ceil_div(p->items, p->blocks), 8) : 8;
    p->groups = tsri_ceil_div(tsri_min(p->rows, TSRI_SKIP_CHUNK), ROWS);
}

int64_t tsri_pattern_bytes(const tsri_pattern *p)
{
    int64_t parts = p->chunks * p->blocks, runs = parts * p->groups;
    int64_t turned = p->by_units ? p->rows * tsri_bit_words(p->items) : 0;
    return parts * (int64_t)sizeof *p->unit_steps + runs * (int64_t)sizeof *p->run +
           runs * 2 * p->size * (int64_t)sizeof *p->at + turned * (int64_t)sizeof *p->turned;
}

tsr_status tsri_pattern_init(tsri_pattern *p, const tsri_loops *loops, int64_t n, int64_t units,
                             bool by_units)
{
    tsr_status st = TSR_OK;
    tsri_pattern_shape(p, loops, n, units, by_units);
    int64_t parts = p->chunks * p->blocks;
    TSR_TRY(tsri_alloc(&p->unit_steps, parts, sizeof *p->unit_steps));
    TSR_TRY(tsri_alloc_raw(&p->run, parts * p->groups, sizeof *p->run));
    TSR_TRY(tsri_alloc_raw(&p->at, parts * p->groups * 2 * p->size, sizeof *p->at));
    if (by_units)
        TSR_TRY(tsri_alloc_raw(&p->turned, units * tsri_bit_words(n), sizeof *p->turned));
done:
    if (st != TSR_OK)
        tsri_pattern_fini(p);
    return st;
}

void tsri_pattern_fini(tsri_pattern *p)
{
    tsri_free(p->run);
    tsri_free(p->at);
    tsri_free(p->turned);
    tsri_free(p->unit_steps);
    *p = (tsri_pattern){0};
}

/* ---- Rows ---------------------------------------------------------------------------------- */

/* A block of one row. */
typedef struct part {
    uint64_t word[MOST_WORDS];
} part;

typedef struct inspection {
    tsri_pattern *p;
    tsri_bits bits;   /* [rows, items] */
    eight place[256]; /* of the bits of a byte, skip_unit apart */
    uint8_t count[256];
} inspection;

/* Blocks begin at whole bytes. */
static part part_of(const tsri_bits *bits, int64_t row, int64_t first, int64_t count)
{
    part x = {{0}};
    memcpy(x.word, (const char *)(bits->word + row * bits->words) + first / 8,
           (size_t)tsri_ceil_div(count, 8));
    if (count % 64 != 0)
        x.word[count / 64] &= ((uint64_t)1 << count % 64) - 1;
    return x;
}

static int count_bits(const inspection *in, const part *x)
{
    int n = 0;
    for (int w = 0; w < MOST_WORDS; w++)
        for (uint64_t bits = x->word[w]; bits; bits >>= 8)
            n += in->count[bits & 255];
    return n;
}

/* order = the rows by rising count, equal ones as they come. */
static void sort_rows(uint16_t *order, const uint16_t *count, int64_t rows)
{
    uint16_t next[MOST_ITEMS + 2] = {0};
    for (int64_t r = 0; r < rows; r++)
        next[count[r] + 1]++;
    for (int c = 0; c <= MOST_ITEMS; c++)
        next[c + 1] = (uint16_t)(next[c + 1] + next[c]);
    for (int64_t r = 0; r < rows; r++)
        order[next[count[r]]++] = (uint16_t)r;
}

/* ---- Steps --------------------------------------------------------------------------------- */

/* Lists by mask: bit r = on for row r. The pairs of class k: a for row k, b for the others. */
typedef struct lists {
    uint16_t item[ALL + 1][MOST_ITEMS + SPARE];
    int count[ALL + 1];
    uint16_t a[ROWS][MOST_ITEMS], b[ROWS][MOST_ITEMS];
    int pairs[ROWS];
} lists;

static void deal(lists *l, const inspection *in, const part *x, const part *y, const part *z,
                 int64_t count)
{
    memset(l->count, 0, sizeof l->count);
    for (int64_t w = 0; w < tsri_ceil_div(count, 64); w++) {
        uint64_t a = x->word[w], b = y->word[w], c = z->word[w];
        uint64_t of[ALL + 1] = {0,           a & ~b & ~c, b & ~a & ~c, a & b & ~c,
                                c & ~a & ~b, a & c & ~b,  b & c & ~a,  a & b & c};
        for (int k = 1; k <= ALL; k++) {
            uint16_t *to = l->item[k] + l->count[k];
            uint64_t bits = of[k];
            for (int64_t first = 64 * w; bits; bits >>= 8, first += 8) {
                uint16_t base = (uint16_t)(first * in->p->loops->skip_unit);
                *(eight_any *)to = in->place[bits & 255] + base;
                to += in->count[bits & 255];
            }
            l->count[k] = (int)(to - l->item[k]);
        }
    }
}

static uint16_t pop(lists *l, int mask)
{
    return l->item[mask][--l->count[mask]];
}

static void add_pair(lists *l, int k, uint16_t a, uint16_t b)
{
    l->a[k][l->pairs[k]] = a;
    l->b[k][l->pairs[k]++] = b;
}

static void pair_complements(lists *l)
{
    for (int k = 0; k < ROWS; k++) {
        int a = 1 << k, b = ALL & ~a;
        int n = l->count[a] < l->count[b] ? l->count[a] : l->count[b];
        l->count[a] -= n;
        l->count[b] -= n;
        memcpy(l->a[k], l->item[a] + l->count[a], (size_t)n * sizeof **l->a);
        memcpy(l->b[k], l->item[b] + l->count[b], (size_t)n * sizeof **l->b);
        l->pairs[k] = n;
    }
}

/* A row multiplies by zero where an item is off for it, so a pair may name an item twice. */
static void join_leftovers(lists *l)
{
    while (l->count[6] > 0 && l->count[5] > 0 && l->count[3] > 0) {
        uint16_t both = pop(l, 5); /* its row 0 here, its row 2 there */
        add_pair(l, 0, both, pop(l, 6));
        add_pair(l, 2, both, pop(l, 3));
    }
    for (;;) { /* the two longest of the lists of one row */
        int least = 0;
        for (int k = 1; k < ROWS; k++)
            least = l->count[1 << k] < l->count[1 << least] ? k : least;
        int k = (least + 1) % ROWS, j = (least + 2) % ROWS;
        if (l->count[1 << k] == 0 || l->count[1 << j] == 0)
            break;
        uint16_t a = pop(l, 1 << k);
        add_pair(l, k, a, pop(l, 1 << j));
    }
    for (int k = 0; k < ROWS; k++) {
        for (int side = 0; side < 2; side++)
            for (int mask = side ? ALL & ~(1 << k) : 1 << k; l->count[mask] > 0;) {
                uint16_t alone = pop(l, mask);
                add_pair(l, k, alone, alone);
            }
    }
}

/* Counts are multiples of EVEN: they change slowly along the groups, which are sorted. */
static void even_out(lists *l)
{
    int steps = l->count[ALL] + l->pairs[0] + l->pairs[1] + l->pairs[2];
    int even = steps / ROWS / EVEN * EVEN;
    for (int k = 0; k < ROWS; k++) {
        int want = l->pairs[k] > even ? (l->pairs[k] + EVEN - 1) / EVEN * EVEN : even;
        while (l->pairs[k] < want && l->count[ALL] > 0) {
            uint16_t full = pop(l, ALL);
            add_pair(l, k, full, full);
        }
    }
}

/* Returns what is after the last. */
static uint16_t *write_steps(tsri_skip_run *run, uint16_t *at, const lists *l)
{
    run->full = (uint16_t)l->count[ALL];
    memcpy(at, l->item[ALL], (size_t)run->full * sizeof *at);
    at += run->full;
    for (int k = 0; k < ROWS; k++) {
        run->pair[k] = (uint16_t)l->pairs[k];
        for (int i = 0; i < l->pairs[k]; i++, at += 2) {
            at[0] = l->a[k][i];
            at[1] = l->b[k][i];
        }
    }
    return at;
}

/* ---- All ----------------------------------------------------------------------------------- */

/* Three rows, from order[0] on; of the last of a chunk there may be fewer. */
static void take_rows(tsri_skip_run *run, part x[ROWS], const part *parts, const uint16_t *order,
                      int64_t left, int64_t none)
{
    for (int r = 0; r < ROWS; r++) {
        run->row[r] = r < left ? order[r] : (uint16_t)none;
        x[r] = r < left ? parts[order[r]] : (part){{0}};
    }
}

static void inspect_unit(void *context, int64_t unit, int thread)
{
    (void)thread;
    const inspection *in = context;
    tsri_pattern *p = in->p;
    int64_t row = unit / p->blocks * TSRI_SKIP_CHUNK, first = unit % p->blocks * p->size;
    int64_t rows = tsri_min(TSRI_SKIP_CHUNK, p->rows - row);
    int64_t count = tsri_max(0, tsri_min(p->size, p->items - first));
    part parts[TSRI_SKIP_CHUNK];
    uint16_t on[TSRI_SKIP_CHUNK], order[TSRI_SKIP_CHUNK];
    for (int64_t r = 0; r < rows; r++) {
        parts[r] = part_of(&in->bits, row + r, first, count);
        on[r] = (uint16_t)count_bits(in, &parts[r]);
    }
    sort_rows(order, on, rows);
    uint16_t *start = p->at + unit * p->groups * 2 * p->size, *at = start;
    int64_t steps = 0;
    for (int64_t g = 0; g < tsri_ceil_div(rows, ROWS); g++) {
        tsri_skip_run *run = &p->run[unit * p->groups + g];
        part x[ROWS];
        lists l;
        take_rows(run, x, parts, order + ROWS * g, rows - ROWS * g, rows);
        deal(&l, in, &x[0], &x[1], &x[2], count);
        pair_complements(&l);
        join_leftovers(&l);
        even_out(&l);
        run->at = (uint32_t)(at - start);
        run->first = (uint32_t)steps;
        at = write_steps(run, at, &l);
        steps += run->full + run->pair[0] + run->pair[1] + run->pair[2];
    }
    p->unit_steps[unit] = steps;
}

static void fill_tables(inspection *in)
{
    for (int byte = 0; byte < 256; byte++) {
        int n = 0;
        in->place[byte] = (eight){0};
        for (int bit = 0; bit < 8; bit++)
            if (byte >> bit & 1)
                in->place[byte][n++] = (uint16_t)(bit * in->p->loops->skip_unit);
        in->count[byte] = (uint8_t)n;
    }
}

void tsri_pattern_inspect(tsri_pattern *p, const tsri_bits *bits, tsri_pool *pool)
{
    inspection in = {.p = p, .bits = *bits};
    if (p->by_units) {
        tsri_bits_turn(p->turned, bits, pool);
        in.bits = (tsri_bits){bits->units, bits->n, tsri_bit_words(bits->n), p->turned};
    }
    fill_tables(&in);
    tsri_pool_run(pool, inspect_unit, &in, p->chunks * p->blocks);
    p->steps = 0;
    for (int64_t i = 0; i < p->chunks * p->blocks; i++)
        p->steps += p->unit_steps[i];
}

double tsri_pattern_work(const tsri_pattern *p)
{
    double dense = (double)p->rows * (double)p->items;
    return dense > 0 ? (double)ROWS * (double)p->steps / dense : 0;
}
