/* narrow.c - checked conversions of sizes. */
#include "base/narrow.h"

#include <limits.h>

tsr_status tsri_narrow_int(int *out, int64_t value, const char *what)
{
    if (value < INT_MIN || value > INT_MAX)
        return tsri_fail(TSR_RESOURCES, "%s is %lld, more than the 2^31-1 that a library takes",
                         what, (long long)value);
    *out = (int)value;
    return TSR_OK;
}

tsr_status tsri_multiply(int64_t *out, int64_t a, int64_t b, const char *what)
{
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, out))
        return tsri_fail(TSR_RESOURCES, "%s: %lld x %lld is out of range", what, (long long)a,
                         (long long)b);
    return TSR_OK;
}
