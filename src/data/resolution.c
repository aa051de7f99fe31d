/* resolution.c - numbers that single precision cannot tell apart. */
#include "data/resolution.h"

#include "base/text.h"

#include <float.h>
#include <math.h>

void tsri_resolution_see(tsri_resolution *r, double v)
{
    if (isnan(v))
        return;
    double step = v - r->mean;
    r->n++;
    r->mean += step / (double)r->n;
    r->squares += step * (v - r->mean);
    r->largest = fmax(r->largest, fabs(v));
    r->error = fmax(r->error, fabs(v - (double)(float)v));
    r->fractions = r->fractions || v != floor(v);
}

static double deviation_of(const tsri_resolution *r)
{
    return r->n > 0 ? sqrt(r->squares / (double)r->n) : 0;
}

bool tsri_resolution_lost(const tsri_resolution *r)
{
    double deviation = deviation_of(r);
    /* Sums that should be equal differ in their last bits of 53: that is noise, and no loss. */
    bool noise = r->fractions && deviation < 1e-13 * r->largest;
    bool tiny = r->largest < (double)FLT_MIN; /* scaling refuses these, with another remedy */
    return deviation > 0 && !noise && !tiny && r->error > 0.01 * deviation;
}

tsr_status tsri_resolution_check(const tsri_resolution *r, const char *path, const char *column)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(!tsri_resolution_lost(r), TSR_BAD_FILE,
              "%s: %s: its numbers, near %.6g, differ by a deviation of %.3g only, which single "
              "precision cannot tell apart: subtract a constant from all of them, or leave them "
              "out",
              tsri_quote(path), column, r->mean, deviation_of(r));
done:
    return st;
}
