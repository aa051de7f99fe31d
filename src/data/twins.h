/* twins.h - rows that are one point.
 *
 * All n rows are found equal or not without comparing every two: a 64-bit hash of each is sorted,
 * and rows whose hashes agree are compared number by number. Minus zero is zero.
 *
 *     static void row(float *x, const void *context, int64_t i) { ... row i to x[dim] ... }
 *     static tsr_status twin(void *context, int64_t i, int64_t j, bool *enough) { ... }
 *
 *     tsri_row_twins t = {.n = n, .dim = dim, .row = row, .twin = twin, .context = &mine};
 *     TSR_TRY(tsri_row_twins_find(&t));
 */
#ifndef TSRI_TWINS_H
#define TSRI_TWINS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tsri_row_twins {
    int64_t n, dim;
    void (*row)(float *x, const void *context, int64_t i);
    /* Rows i < j are equal; *enough = true ends the search, so does a failure. Of three equal rows
     * the first and second, then the second and third are reported. */
    tsr_status (*twin)(void *context, int64_t i, int64_t j, bool *enough);
    void *context;
} tsri_row_twins;

/* The same order of twins for the same rows, whatever the machine. */
tsr_status tsri_row_twins_find(const tsri_row_twins *t);

#endif
