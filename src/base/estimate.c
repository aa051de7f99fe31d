/* estimate.c - estimates from a few measurements, with Student's intervals. */
#include "base/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* P(|T| <= t) for Student's T: Abramowitz and Stegun, 26.7.3 (odd) and 26.7.4 (even). */
static double chance_within(double t, int64_t freedom)
{
    const double pi = 3.14159265358979323846;
    double angle = atan(t / sqrt((double)freedom)), s = sin(angle), c = cos(angle);
    bool odd = freedom % 2 == 1;
    double term = odd ? c : 1, sum = 0;
    for (int64_t k = odd ? 1 : 0; k <= freedom - 2; k += 2) {
        sum += term;
        term *= c * c * (double)(k + 1) / (double)(k + 2);
    }
    return odd ? 2 / pi * (angle + s * sum) : s * sum;
}

double tsri_student(int64_t freedom, double miss)
{
    double low = 0, high = 1;
    if (freedom < 1 || !(miss > 0 && miss < 1))
        return (double)NAN;
    freedom = freedom < 1000 ? freedom : 1000; /* 0.002 above the normal's, and no nearer to tell */
    while (chance_within(high, freedom) < 1 - miss)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (chance_within(middle, freedom) < 1 - miss)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static tsri_estimate around(double value, double error, int64_t freedom, double miss)
{
    double t = tsri_student(freedom, miss);
    return (tsri_estimate){value, value - t * error, value + t * error};
}

tsri_estimate tsri_mean_within(const double *value, int64_t n, double miss)
{
    double sum = 0, squares = 0, count = (double)n;
    for (int64_t i = 0; i < n; i++)
        sum += value[i];
    double mean = sum / count; /* 0 / 0 is NaN */
    for (int64_t i = 0; i < n; i++)
        squares += (value[i] - mean) * (value[i] - mean);
    return around(mean, sqrt(squares / (count - 1) / count), n - 1, miss);
}

tsri_estimate tsri_mean_of(const double *value, int64_t n)
{
    return tsri_mean_within(value, n, TSRI_MISS);
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
    return around(slope, sqrt(rest / (double)(n - 2) / xx), n - 2, TSRI_MISS);
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
