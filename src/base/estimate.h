/* estimate.h - estimates from a few measurements: a median; a mean and a straight line, each with
 * its interval.
 *
 * Intervals are Student's, 95 %: right for as few as two normal measurements, and honestly wide
 * then. One measurement has none: its ends are NaN, and what compares them with a bound must say so
 * (reproduce/judge.h does).
 */
#ifndef TSRI_ESTIMATE_H
#define TSRI_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsri_estimate {
    double value, low, high;
} tsri_estimate;

#define TSRI_MISS 0.05 /* the chance that a 95 % interval misses the mean */

/* The mean of value[n]; NaN when n is 0. Not finite when one of them is not. */
tsri_estimate tsri_mean_of(const double *value, int64_t n);

/* The same with an interval that misses the mean with another chance. */
tsri_estimate tsri_mean_within(const double *value, int64_t n, double miss);

/* The middle one of value[n], n > 0, the upper of two. Leaves them sorted, the least first. */
double tsri_median_of(double *value, int64_t n);

/* The slope of the least-squares line through (x, y); *offset (or NULL) where it meets x = 0. NaN
 * when all x are the same. The interval supposes independent normal errors of y. */
tsri_estimate tsri_slope_of(double *offset, const double *x, const double *y, int64_t n);

enum { TSRI_ESTIMATE_TEXT = 80 };

/* "3.21 (95 %: 2.1 to 4.9)", or the value alone, or "infinite", or "unknown"; returns `text`. */
const char *tsri_estimate_text(char text[TSRI_ESTIMATE_TEXT], tsri_estimate e);

/* t with P(|T| > t) = miss for Student's T of that many degrees of freedom, at most 1000 of them:
 * from there on it is taken as that of 1000, at most 0.002 too wide. NaN for freedom < 1. */
double tsri_student(int64_t freedom, double miss);

#endif
