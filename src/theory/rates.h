/* rates.h - the steps of a run's rounds, as its certificates need them.
 *
 * The papers' eta is constant; a run's may follow a schedule. A theorem's condition on eta is
 * checked for the largest step of the run. What a theorem promises for a round, or sums over
 * rounds, uses the step of each round.
 */
#ifndef TSRI_RATES_H
#define TSRI_RATES_H

#include "run/rate.h"

typedef struct tsri_rates {
    double least, most; /* of all rounds of the run */
    bool constant;
} tsri_rates;

tsri_rates tsri_rates_of(const tsri_settings *s, const tsri_run_position *p);

/* The step of a round; after the run's end, its last step. */
double tsri_rate_of(const tsri_settings *s, const tsri_run_position *p, int64_t round);

/* Sums of eta_t and of eta_t^2 over from <= t < to. */
double tsri_rates_sum(const tsri_settings *s, const tsri_run_position *p, int64_t from, int64_t to);
double tsri_rates_squares(const tsri_settings *s, const tsri_run_position *p, int64_t from,
                          int64_t to);

#endif
