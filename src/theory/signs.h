/* signs.h - activation patterns, one bit per unit, and how many units each pair of samples shares.
 *
 *     row i | 64 units | 64 units | ... |        words 64-bit words, zeros after unit m
 *
 * |row_i AND row_j| for all pairs is a product of two matrices of bits. There are three loops for
 * it; the best one that the processor can run is chosen at run time:
 *
 *     avx512   AND and VPOPCNTDQ, 512 units at a time, 4 x 4 rows in registers
 *     avx2     for each group of four units of row i the table c[v] = |v AND these four| is in a
 *              register; one shuffle looks up 32 columns j. That is half the work of counting the
 *              bits of 256 units with two shuffles (Mula) or of adding them up in carry-save form
 *     base     plain C
 */
#ifndef TSRI_SIGNS_H
#define TSRI_SIGNS_H

#include "base/pool.h"

typedef struct tsri_signs {
    int64_t n, m;  /* samples, units */
    int64_t words; /* of a row, a multiple of 8 */
    uint64_t *row; /* [n][words] */
} tsri_signs;

tsr_status tsri_signs_init(tsri_signs *bits, int64_t n, int64_t m); /* all zero */
void tsri_signs_fini(tsri_signs *bits);

/* Row i, units from .. from+count-1 (from a multiple of 64) = 1 where z >= 0. */
void tsri_signs_sign(tsri_signs *bits, int64_t i, int64_t from, const float *z, int64_t count);

/* The units in mark[0..m) as a row of words; and to = from with only those units. Same shapes. */
void tsri_signs_row(uint64_t *row, int64_t words, const uint8_t *mark, int64_t m);
void tsri_signs_and(tsri_signs *to, const tsri_signs *from, const uint64_t *row);

/* Units in which row i of a and row i of b differ. */
int64_t tsri_signs_differ(const tsri_signs *a, const tsri_signs *b, int64_t i);

/* Receives the counts: called for row i and columns from .. from+count-1 with i < from + count, by
 * any thread, for each pair i <= j at least once. It writes only what belongs to (i, j). */
typedef void (*tsri_counts_sink)(void *context, int64_t i, int64_t from, int64_t count,
                                 const uint32_t *counts);

/* counts[j] = |row_i AND row_j| for all pairs with i <= j, handed to the sink. Results do not
 * depend on the number of threads or on the loop. */
tsr_status tsri_signs_gram(const tsri_signs *bits, tsri_pool *pool, tsri_counts_sink sink,
                           void *context);

/* ---- The loops ----------------------------------------------------------------------------- */

enum {
    TSRI_BIT_COLUMNS = 64,     /* of a strip: 2 vectors of 32 */
    TSRI_BIT_SCRATCH = 1 << 17 /* bytes that a loop may use: half of a small second-level cache */
};

typedef struct tsri_bit_loop {
    const char *name;
    /* count[i * TSRI_BIT_COLUMNS + j] = |a_i AND b_j|, i < rows, j < columns <= TSRI_BIT_COLUMNS;
     * beyond the columns it is undefined. `words` is a multiple of 8; rows of a and b are aligned
     * to 64 bytes, and so is `scratch` [TSRI_BIT_SCRATCH]. */
    void (*strip)(uint32_t *count, const uint64_t *a, int64_t rows, const uint64_t *b,
                  int64_t columns, int64_t words, void *scratch);
    /* Bit k of `to` = z[k] >= 0; the rest of the last word is zero. */
    void (*sign)(uint64_t *to, const float *z, int64_t count);
} tsri_bit_loop;

/* Loop i of those that this processor can run, the best one last; then NULL. */
const tsri_bit_loop *tsri_bit_loop_at(int i);

/* The same product by a loop of the caller's choice: for tests and benchmarks. */
tsr_status tsri_signs_gram_by(const tsri_signs *bits, const tsri_bit_loop *loop, tsri_pool *pool,
                              tsri_counts_sink sink, void *context);

extern const tsri_bit_loop tsri_bit_loop_base, tsri_bit_loop_avx2, tsri_bit_loop_avx512;

#endif
