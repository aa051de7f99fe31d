/* estimate.c - what few measurements tell: a median; a mean and a straight line, each with its
 * interval. */
#include "base/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A table where the expansion in 1/freedom (Fisher and Cornish, about the normal's 1.96) is still
 * too rough. */
double tsri_student(int64_t freedom)
{
    static const double few[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060};
    if (freedom < 1)
        return (double)NAN;
    if (freedom <= 8)
        return few[freedom - 1];
    double z = 1.959964, z2 = z * z, n = (double)freedom;
    return z * (1 + (z2 + 1) / (4 * n) + ((5 * z2 + 16) * z2 + 3) / (96 * n * n) +
                (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n * n));
}

static tsri_estimate around(double value, double error, int64_t freedom)
{
    double t = tsri_student(freedom);
    return (tsri_estimate){value, value - t * error, value + t * error};
}

tsri_estimate tsri_mean_of(const double *value, int64_t n)
{
    double sum = 0, squares = 0, count = (double)n;
    for (int64_t i = 0; i < n; i++)
        sum += value[i];
    double mean = sum / count; /* 0 / 0 is NaN */
    for (int64_t i = 0; i < n; i++)
        squares += (value[i] - mean) * (value[i] - mean);
    return around(mean, sqrt(squares / (count - 1) / count), n - 1);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double tsri_median_of(double *value, int64_t n)
{
    qsort(value, (size_t)n, sizeof *value, ascending);
    return value[n / 2];
}

tsri_estimate tsri_slope_of(double *offset, const double *x, const double *y, int64_t n)
{
    double mx = tsri_mean_of(x, n).value, my = tsri_mean_of(y, n).value;
    double xx = 0, xy = 0, rest = 0;
    for (int64_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    double slope = xx > 0 ? xy / xx : (double)NAN;
    for (int64_t i = 0; i < n; i++) {
        double error = y[i] - my - slope * (x[i] - mx);
        rest += error * error;
    }
    if (offset)
        *offset = my - slope * mx;
    return around(slope, sqrt(rest / (double)(n - 2) / xx), n - 2);
}

bool tsri_surely_above(tsri_estimate e, double bound)
{
    return e.value > bound && (isnan(e.low) || e.low > bound);
}

bool tsri_surely_below(tsri_estimate e, double bound)
{
    return e.value < bound && (isnan(e.high) || e.high < bound);
}

const char *tsri_estimate_text(char text[TSRI_ESTIMATE_TEXT], tsri_estimate e)
{
    if (isnan(e.value))
        (void)snprintf(text, TSRI_ESTIMATE_TEXT, "unknown");
    else if (isinf(e.value))
        (void)snprintf(text, TSRI_ESTIMATE_TEXT, "infinite");
    else if (isnan(e.low) || isnan(e.high))
        (void)snprintf(text, TSRI_ESTIMATE_TEXT, "%.3g", e.value);
    else
        (void)snprintf(text, TSRI_ESTIMATE_TEXT, "%.3g (95 %%: %.3g to %.3g)", e.value, e.low,
                       e.high);
    return text;
}
