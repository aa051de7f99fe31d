/* resolution.h - numbers that single precision cannot tell apart.
 *
 * Inputs and targets are floats, of 24 bits. Seconds since 1970 (1,700,000,000) are 128 apart as
 * floats, and numbers of 17 digits a billion: a column of them loses what it says before anything
 * is scaled. Such a column is refused instead of being learned as noise.
 *
 *     tsri_resolution r = {0};
 *     for each number v of the column: tsri_resolution_see(&r, v);
 *     TSR_TRY(tsri_resolution_check(&r, path, "column 1 (when)"));
 */
#ifndef TSRI_RESOLUTION_H
#define TSRI_RESOLUTION_H

#include "base/status.h"

typedef struct tsri_resolution {
    int64_t n;
    double mean, squares;  /* of the numbers, and of their distances from it */
    double largest, error; /* the largest, and the most that rounding to a float changed one */
    bool fractions;        /* not all are whole */
} tsri_resolution;

void tsri_resolution_see(tsri_resolution *r, double v); /* NaN, a missing cell, is not looked at */

/* Does rounding change a number by more than a hundredth of the column's deviation? */
bool tsri_resolution_lost(const tsri_resolution *r);

/* BAD_FILE when it does. */
tsr_status tsri_resolution_check(const tsri_resolution *r, const char *path, const char *column);

#endif
