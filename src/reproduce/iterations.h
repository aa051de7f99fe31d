/* iterations.h - K(epsilon), the iterations that a loss needs to come to epsilon, from its curve.
 *
 * A theorem on gradient descent promises its last iterate: L_S(W^(K)) <= epsilon from K on. One on
 * SGD promises the best iterate so far. A curve that dips below epsilon and rises again has come to
 * it for SGD, and not for gradient descent.
 *
 *     tsri_iterations way = {0};
 *     TSR_TRY(tsri_iterations_init(&way, round, loss, n, true));
 *     power = tsri_iterations_power(&way);              K ~ epsilon^-power
 *     tsri_iterations_fini(&way);
 */
#ifndef TSRI_ITERATIONS_H
#define TSRI_ITERATIONS_H

#include "base/status.h"

typedef struct tsri_iterations {
    int64_t n;
    double *round, *seen; /* [n] the curve */
    double *promised;     /* [n] the largest loss from there on (last iterate), or the least until
                             there (best): the first one below epsilon is at K(epsilon) */
} tsri_iterations;

/* Copies a curve of n > 0 points. */
tsr_status tsri_iterations_init(tsri_iterations *w, const double *round, const double *loss,
                                int64_t n, bool last_iterate);
void tsri_iterations_fini(tsri_iterations *w);

/* The power of 1/epsilon that K goes with over the last half of the way down, from a third of the
 * first loss to the last one, or to 1e-4 of that third: hinges end at exactly 0. NaN when there are
 * too few points to tell. */
double tsri_iterations_power(const tsri_iterations *w);

/* How many times as steep K rises against log 1/epsilon in the last half of that way than in the
 * first: of a logarithm 1. NaN likewise. */
double tsri_iterations_steepening(const tsri_iterations *w);

#endif
