/* arrays.h - a program's own arrays, read number by number. */
#ifndef TSRI_ARRAYS_H
#define TSRI_ARRAYS_H

#include "base/status.h"

/* USAGE when it cannot be one: no such type, too many dimensions, a negative size. `what` names it:
 * "x". Numbers in it: tsri_array_count. */
tsr_status tsri_array_check(const tsr_array *a, const char *what);
int64_t tsri_array_count(const tsr_array *a);
int64_t tsri_array_bytes(const tsr_array *a); /* of one number */

/* Does it lie in C's order, without gaps? */
bool tsri_array_plain(const tsr_array *a);

/* to [count], of the same type, in C's order. */
void tsri_array_copy(void *to, const tsr_array *a);

/* to [count of a row] = the numbers of row i, as floats; F64 is rounded. */
void tsri_array_row(float *to, const tsr_array *a, int64_t i);

void tsri_array_row_doubles(double *to, const tsr_array *a, int64_t i);

/* The same for bytes (U8); and the one whole number of a row of one: false when it is not whole. */
void tsri_array_row_bytes(uint8_t *to, const tsr_array *a, int64_t i);
bool tsri_array_whole(int64_t *to, const tsr_array *a, int64_t i);

#endif
