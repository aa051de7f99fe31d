/* packed.h - products by one matrix many times: it is laid out once, as the register tiles read it.
 *
 * A recurrent network multiplies by the same W at every position. OpenBLAS would copy W into its
 * own layout each time, which for a batch of 64 is a fifth of the work; here it is copied once a
 * step. The layout is that of loops.h: panels of `cols` columns, zeros after the last column.
 *
 *     tsri_pack(b, w, n, k, true, pool);                     b = W^T in panels, W [n, k]
 *     tsri_packed_run(&product, pool);                       c = a W^T, and what comes after it
 *
 * The bits do not depend on the number of threads: panels are computed whole, each by one.
 */
#ifndef TSRI_PACKED_H
#define TSRI_PACKED_H

#include "base/pool.h"

/* Floats that a packed [k, n] takes. */
int64_t tsri_packed_size(int64_t k, int64_t n);

/* b = w [k, n] in panels; `transposed`: w lies as [n, k]. */
void tsri_pack(float *b, const float *w, int64_t k, int64_t n, bool transposed, tsri_pool *pool);

/* c [rows, n] = gate(start + scale a b):
 *
 *     forward of a position    start = x_l,  gate: what is above 0, in rows whose sequence lasts
 *     backward of a position   start = dy_l, gate: what belongs to units with mask above 0
 *
 * A row goes through the same steps wherever it lies.
 */
typedef struct tsri_packed {
    int64_t rows, n, k;
    const float *a; /* [rows, k], rows lda apart, or NULL: nothing is added to start */
    int64_t lda;    /* not a power of two: such rows would meet in few sets of the cache */
    const float *b; /* packed [k, n] */
    float scale;
    const float *start; /* [rows, n], or NULL: the product alone, c = scale a b */
    const float *mask;  /* [rows, n], or NULL: the result itself is the mask */
    const int32_t
        *length; /* [rows] and position: rows whose length is at most that become 0; or NULL */
    int64_t position;
    float *c;    /* [rows, n]; not a */
    float *copy; /* [rows, n] the same, rows lda apart: a of the next product; or NULL */
} tsri_packed;

void tsri_packed_run(const tsri_packed *p, tsri_pool *pool);

#endif
