/* narrow.h - the one checked way from int64_t to a vendor's int. */
#ifndef TSRI_NARROW_H
#define TSRI_NARROW_H

#include "base/status.h"

/* *out = value; RESOURCES with the name of the thing when it does not fit. */
tsr_status tsri_narrow_int(int *out, int64_t value, const char *what);

/* *out = a * b; RESOURCES when the product overflows or a factor is negative. */
tsr_status tsri_multiply(int64_t *out, int64_t a, int64_t b, const char *what);

#endif
