/* skip_inspect.c - the inspector: which items make which steps. See skip.h.
 *
 * For four rows and one block of items:
 *     1. a nibble per item, its four bits; items dealt into sixteen lists by nibble;
 *     2. complementary nibbles paired, as long as both lists last;
 *     3. what is left joined with a disjoint nibble, the heaviest first: rows that neither has
 *        multiply by a zero;
 *     4. what is left then is done as if it were on for all four rows, also with zeros.
 * Steps 3 and 4 cost a few multiplications by zero and save the loops of fourteen more classes.
 */
#include "backend/cpu/skip.h"

#include "backend/cpu/counts.h"
#include "base/alloc.h"

#include <string.h>

enum { CLASSES = 7, MOST_ITEMS = 256 };

/* The rows of item a of a pair; item b has the others. In the order of loops_skip.h. */
static const int class_rows[CLASSES] = {1, 2, 4, 8, 3, 5, 6};

tsr_status tsri_pattern_init(tsri_pattern *p, const tsri_loops *loops, int64_t n, int64_t units,
                             bool by_units)
{
    tsr_status st = TSR_OK;
    *p = (tsri_pattern){.loops = loops,
                        .by_units = by_units,
                        .rows = by_units ? units : n,
                        .items = by_units ? n : units};
    p->groups = tsri_ceil_div(p->rows, 4);
    p->blocks = tsri_ceil_div(p->items, loops->skip_items);
    TSR_TRY(tsri_alloc_raw(&p->run, p->groups * p->blocks, sizeof *p->run));
    TSR_TRY(tsri_alloc_raw(&p->at, p->groups * p->blocks * loops->skip_items, sizeof *p->at));
done:
    if (st != TSR_OK)
        tsri_pattern_fini(p);
    return st;
}

void tsri_pattern_fini(tsri_pattern *p)
{
    tsri_free(p->run);
    tsri_free(p->at);
    *p = (tsri_pattern){0};
}

/* ---- Nibbles ------------------------------------------------------------------------------- */

/* Bit i of a byte to bit 4 i. */
static uint32_t spread(uint32_t x)
{
    x = (x | x << 12) & 0x000f000fu;
    x = (x | x << 6) & 0x03030303u;
    return (x | x << 3) & 0x11111111u;
}

/* Rows are samples: eight items at a time from a byte of each of the four rows. */
static void nibbles_by_samples(uint8_t *nibble, const tsri_bits *bits, int64_t row, int64_t first,
                               int64_t count)
{
    for (int64_t t = 0; t < count; t += 8) {
        uint32_t eight = 0;
        for (int64_t r = 0; r < 4 && row + r < bits->n; r++) {
            int64_t at = first + t;
            uint64_t word = bits->word[(row + r) * bits->words + at / 64];
            eight |= spread((uint32_t)(word >> at % 64) & 255u) << r;
        }
        for (int64_t i = 0; i < 8; i++, eight >>= 4)
            nibble[t + i] = eight & 15;
    }
}

/* Rows are units: a sample's four bits stand beside each other. */
static void nibbles_by_units(uint8_t *nibble, const tsri_bits *bits, int64_t row, int64_t first,
                             int64_t count)
{
    const uint64_t *word = bits->word + first * bits->words + row / 64;
    for (int64_t t = 0; t < count; t++, word += bits->words)
        nibble[t] = (*word >> row % 64) & 15;
}

/* ---- Steps --------------------------------------------------------------------------------- */

typedef struct lists {
    uint16_t item[16][MOST_ITEMS];
    int count[16];
    uint16_t a[CLASSES][MOST_ITEMS], b[CLASSES][MOST_ITEMS];
    int pairs[CLASSES];
} lists;

static void deal(lists *l, const uint8_t *nibble, int64_t count, int unit)
{
    memset(l->count, 0, sizeof l->count);
    for (int64_t t = 0; t < count; t++) {
        int k = nibble[t];
        l->item[k][l->count[k]++] = (uint16_t)(unit * t);
    }
}

static void pair_complements(lists *l)
{
    for (int k = 0; k < CLASSES; k++) {
        int a = class_rows[k], b = 15 & ~a;
        int n = l->count[a] < l->count[b] ? l->count[a] : l->count[b];
        l->count[a] -= n;
        l->count[b] -= n;
        memcpy(l->a[k], l->item[a] + l->count[a], (size_t)n * sizeof **l->a);
        memcpy(l->b[k], l->item[b] + l->count[b], (size_t)n * sizeof **l->b);
        l->pairs[k] = n;
    }
}

/* Nibble a with the disjoint nibble b, in the class of a. */
static void join(lists *l, int a, int b)
{
    int k = 0;
    while (class_rows[k] != a && class_rows[k] != (15 & ~a))
        k++;
    bool swap = class_rows[k] != a;
    while (l->count[a] > 0 && l->count[b] > 0) {
        uint16_t x = l->item[a][--l->count[a]], y = l->item[b][--l->count[b]];
        l->a[k][l->pairs[k]] = swap ? y : x;
        l->b[k][l->pairs[k]++] = swap ? x : y;
    }
}

static void join_leftovers(lists *l)
{
    static const int heaviest_first[14] = {7, 11, 13, 14, 3, 5, 6, 9, 10, 12, 1, 2, 4, 8};
    for (int i = 0; i < 14; i++) {
        int a = heaviest_first[i];
        for (int j = i + 1; j < 14 && l->count[a] > 0; j++)
            if ((a & heaviest_first[j]) == 0)
                join(l, a, heaviest_first[j]);
        while (l->count[a] > 0)
            l->item[15][l->count[15]++] = l->item[a][--l->count[a]];
    }
}

static void write_steps(tsri_skip_run *run, uint16_t *at, const lists *l)
{
    run->full = (uint16_t)l->count[15];
    memcpy(at, l->item[15], (size_t)run->full * sizeof *at);
    at += run->full;
    for (int k = 0; k < CLASSES; k++) {
        run->pair[k] = (uint16_t)l->pairs[k];
        for (int i = 0; i < l->pairs[k]; i++) {
            *at++ = l->a[k][i];
            *at++ = l->b[k][i];
        }
    }
}

/* ---- All ----------------------------------------------------------------------------------- */

typedef struct inspection {
    tsri_pattern *p;
    const tsri_bits *bits;
} inspection;

static void inspect_group(void *context, int64_t g, int thread)
{
    (void)thread;
    const inspection *in = context;
    tsri_pattern *p = in->p;
    uint8_t nibble[MOST_ITEMS];
    lists l;
    for (int64_t b = 0; b < p->blocks; b++) {
        int64_t first = b * p->loops->skip_items, place = b * p->groups + g;
        int64_t count = tsri_min(p->loops->skip_items, p->items - first);
        (p->by_units ? nibbles_by_units : nibbles_by_samples)(nibble, in->bits, 4 * g, first,
                                                              count);
        deal(&l, nibble, count, p->loops->skip_unit);
        pair_complements(&l);
        join_leftovers(&l);
        write_steps(&p->run[place], p->at + place * p->loops->skip_items, &l);
    }
}

static int64_t run_steps(const tsri_skip_run *run)
{
    int64_t steps = run->full;
    for (int k = 0; k < CLASSES; k++)
        steps += run->pair[k];
    return steps;
}

/* Where each run's numbers will lie when its blocks are packed one behind the other. */
static void place_runs(tsri_pattern *p)
{
    p->steps = 0;
    for (int64_t b = 0, first = 0; b < p->blocks; b++) {
        first = b % p->loops->skip_blocks == 0 ? 0 : first;
        for (int64_t g = 0; g < p->groups; g++) {
            tsri_skip_run *run = &p->run[b * p->groups + g];
            run->first = (uint32_t)first;
            first += run_steps(run);
            p->steps += run_steps(run);
        }
    }
}

void tsri_pattern_inspect(tsri_pattern *p, const tsri_bits *bits, tsri_pool *pool)
{
    inspection in = {p, bits};
    tsri_pool_run(pool, inspect_group, &in, p->groups);
    place_runs(p);
}

double tsri_pattern_work(const tsri_pattern *p)
{
    double dense = (double)p->rows * (double)p->items;
    return dense > 0 ? 4.0 * (double)p->steps / dense : 0;
}
