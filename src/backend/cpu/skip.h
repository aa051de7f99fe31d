/* skip.h - matrix products that skip what is known to be zero.
 *
 *     C[r, :] (+)= scale * sum over items t of S[r, t] V[t, :]        S[r, t] = 0 where bit (r, t)
 *                                                                     is off
 *
 * The bits are unstructured: half of each row, another half in each row. Multiplying by a mask
 * saves nothing, so the work is done in two halves. The inspector takes three rows at a time and
 * looks at each item's three bits. Two items with complementary bits (011 and 100) make one step in
 * which every row multiplies exactly once; items that are on for all three rows make one step each.
 * The steps are sorted by class, three kinds of pairs, and written down. The executor
 * (loops_skip.h) runs each class as straight-line code on a block of V that stays in the
 * first-level cache.
 *
 * Three rows walk in step, so the row with most items on decides. Which rows walk together is
 * chosen anew for every block, rows with equally many items on in it: at half density that leaves
 * 0.51 of the dense multiplications, where neighbours would leave 0.54.
 *
 * Why three rows and four vectors of columns: twelve sums keep two multipliers of four cycles'
 * latency busy, and sixteen registers hold them with three numbers and one vector of V. A step of
 * one row (no pairs) loads a vector for every multiplication, two rows five for six, three rows
 * three quarters, and loads are scarce; four rows load less still, but have seven kinds of pairs,
 * each a loop whose end the processor does not foresee.
 *
 * A layer y = x W^T with gates on x and on y has all three of its products in this form:
 *
 *               rows      items     S     V      pattern
 *     forward   samples   inputs    x     W^T    of the gates of x, by samples
 *     backward  samples   outputs   dy    W      of the gates of y, by samples
 *     weights   outputs   samples   dy    x      of the gates of y, by units
 *
 * The order of each sum depends on the bits alone, not on the number of threads.
 */
#ifndef TSRI_SKIP_H
#define TSRI_SKIP_H

#include "backend/cpu/loops.h"
#include "base/pool.h"

/* Bits [n, units], each row in whole words, bit u of row i at word[i * words + u / 64]. Bits after
 * the last unit are zero. */
typedef struct tsri_bits {
    int64_t n, units, words;
    const uint64_t *word;
} tsri_bits;

static inline int64_t tsri_bit_words(int64_t units)
{
    return (units + 63) / 64;
}

/* word[i] = x > 0, or x != 0, for n rows of `units` floats. */
void tsri_bits_of(uint64_t *word, const float *x, int64_t n, int64_t units, tsri_pool *pool);
void tsri_bits_nonzero(uint64_t *word, const float *x, int64_t n, int64_t units, tsri_pool *pool);

/* x = 0 where the bit is off, for n rows. */
void tsri_bits_mask(float *x, const uint64_t *word, int64_t n, int64_t units, tsri_pool *pool);

/* to [units, n] = bits [n, units] turned, tsri_bit_words(n) words a row. */
void tsri_bits_turn(uint64_t *to, const tsri_bits *bits, tsri_pool *pool);

enum { TSRI_SKIP_CHUNK = 512 }; /* rows whose sums fit the second-level cache, a panel wide */

/* What the inspector found. Rows are cut into chunks, items into blocks; a chunk of rows and a
 * block of items are a unit, which has a run for each three rows. */
typedef struct tsri_pattern {
    const tsri_loops *loops;
    bool by_units; /* rows are the units, items the samples */
    int64_t rows, items;
    int64_t chunks, blocks;
    int64_t size;        /* items of a block, a multiple of 8 */
    int64_t groups;      /* runs of a unit */
    tsri_skip_run *run;  /* [chunks, blocks, groups] */
    uint16_t *at;        /* [chunks, blocks, 2 groups size] in each unit run after run: full steps'
                            items, then pairs of items; loops->skip_unit times the item's place in
                            its block */
    uint64_t *turned;    /* bits by units */
    int64_t *unit_steps; /* [chunks, blocks] */
    int64_t steps;       /* of all runs: multiplications of three numbers with a row of V */
} tsri_pattern;

/* How patterns of bits [n, units] are cut, and the bytes that they take; takes none. */
void tsri_pattern_shape(tsri_pattern *p, const tsri_loops *loops, int64_t n, int64_t units,
                        bool by_units);
int64_t tsri_pattern_bytes(const tsri_pattern *p);

/* The same with that memory. RESOURCES when there is none. */
tsr_status tsri_pattern_init(tsri_pattern *p, const tsri_loops *loops, int64_t n, int64_t units,
                             bool by_units);
void tsri_pattern_fini(tsri_pattern *p);

/* Looks at the bits; allocates nothing. */
void tsri_pattern_inspect(tsri_pattern *p, const tsri_bits *bits, tsri_pool *pool);

/* The part of the dense multiplications that the steps do: 0.51 for random bits half of which are
 * on. */
double tsri_pattern_work(const tsri_pattern *p);

typedef struct tsri_skip {
    const tsri_pattern *pattern;
    const float *s;        /* S [rows, items], or [items, rows] for a pattern by units  */
    const float *v;        /* V[t, j] = v[t * v_item + j * v_col], one of the two is 1  */
    int64_t v_item, v_col; /* strides of V                                              */
    float *c;              /* [rows, cols]                                              */
    int64_t cols;          /* columns of V and C                                        */
    bool add;              /* C += instead of C =                                       */
    double scale;          /* 0 = 1                                                     */
    void *scratch;         /* tsri_skip_scratch() bytes                                 */
} tsri_skip;

int64_t tsri_skip_scratch(const tsri_pattern *p, int threads);
void tsri_skip_run_all(const tsri_skip *skip, tsri_pool *pool);

/* Few samples: only the outputs that are on, y[n, outputs] = scale W x + b there and 0 elsewhere;
 * with `relu` no less than 0. W [outputs, inputs], gates as in tsri_bits, or NULL: all are on.
 * (skip_rows.c) */
typedef struct tsri_rows {
    int64_t n, inputs, outputs;
    const float *w, *x, *b; /* b may be NULL */
    float *y;
    const uint64_t *gates;
    double scale; /* 0 = 1 */
    bool relu;
} tsri_rows;

void tsri_rows_run(const tsri_rows *rows, tsri_pool *pool);

/* One sample, with weights that were laid out once: those of inputs that are 0 are not read.
 * y = scale W x + b; with `relu` max(y, 0). (skip_columns.c) */
typedef struct tsri_columns {
    int64_t inputs, outputs;
    const float *w;     /* [inputs, outputs], from tsri_columns_pack */
    const float *x, *b; /* b may be NULL */
    float *y;
    int32_t *at;  /* [tsri_columns_room()], written */
    double scale; /* 0 = 1 */
    bool relu;
} tsri_columns;

int64_t tsri_columns_room(int64_t inputs);

/* to [inputs, outputs] = W [outputs, inputs]. */
void tsri_columns_pack(float *to, const float *w, int64_t inputs, int64_t outputs, tsri_pool *pool);
void tsri_columns_run(const tsri_columns *columns, tsri_pool *pool);

#endif
