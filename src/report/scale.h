/* scale.h - an axis: which numbers it spans, where a number lies on it, which ones are labelled.
 *
 * Ticks are multiples of 1, 2 or 5 times a power of ten; their labels are written from whole
 * numbers, so that 0.3 is never 0.30000000000000004 and no locale turns the point into a comma.
 * Numbers that cannot be drawn (not finite, above 1e300, below 1e-290 on a log axis) have no
 * position: tsri_scale_at gives NaN, and the drawing has a gap there.
 */
#ifndef TSRI_SCALE_H
#define TSRI_SCALE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsri_scale {
    bool log;
    double low, high; /* low < high; of a log axis the powers of ten */
} tsri_scale;

/* The least and the largest number seen so far; start with TSRI_SPAN_EMPTY. */
typedef struct tsri_span {
    double low, high;
} tsri_span;

#define TSRI_SPAN_EMPTY ((tsri_span){1.0, -1.0})

void tsri_span_see(tsri_span *span, double value, bool log);
bool tsri_span_empty(const tsri_span *span);

/* An axis over the span, `margin` (a part of its length) left free at both ends. An empty span
 * gives 0 to 1 (log: 1 to 10), a single number gets room on both sides. */
tsri_scale tsri_scale_of(const tsri_span *span, bool log, double margin);

/* 0 at the low end, 1 at the high end; NaN for a number without a position. */
double tsri_scale_at(const tsri_scale *scale, double value);

enum { TSRI_TICKS_MAX = 24, TSRI_MINOR_MAX = 160, TSRI_LABEL = 64 };

typedef struct tsri_ticks {
    int count;
    double at[TSRI_TICKS_MAX]; /* values */
    char label[TSRI_TICKS_MAX][TSRI_LABEL];
    char factor[TSRI_LABEL]; /* a factor of all labels, "×10⁶", or "" */
    int minor_count;         /* small marks without labels, on log axes */
    double minor[TSRI_MINOR_MAX];
} tsri_ticks;

/* About this many ticks; `whole` keeps them on whole numbers. */
void tsri_ticks_make(tsri_ticks *ticks, const tsri_scale *scale, int about, bool whole);

/* Ticks at these values and nowhere else (at most TSRI_TICKS_MAX). */
void tsri_ticks_at(tsri_ticks *ticks, const double *value, int64_t count);

/* A number in few characters: "0.05", "20,000", "3.2×10⁷". Four digits at most. */
void tsri_tick_text(char text[TSRI_LABEL], double value);

#endif
