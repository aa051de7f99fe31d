/* iterations.h - K(epsilon), the iterations that a loss needs to reach epsilon, from its curve.
 *
 * A theorem on gradient descent is about the last iterate: L_S(W^(K)) <= epsilon from K on. A
 * theorem on SGD is about the best iterate so far. A curve that dips below epsilon and rises again
 * has reached it for SGD, but not for gradient descent.
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
    double *promised;     /* [n] the largest loss from there on (last iterate), or the least up to
                             there (best): the first one below epsilon is at K(epsilon) */
} tsri_iterations;

/* Copies a curve of n > 0 points. */
tsr_status tsri_iterations_init(tsri_iterations *w, const double *round, const double *loss,
                                int64_t n, bool last_iterate);
void tsri_iterations_fini(tsri_iterations *w);

/* The power of 1/epsilon with which K grows over the last half of the way down. The way goes from a
 * third of the first loss to the last loss, or to 1e-4 of that third, because hinges end at exactly
 * 0. NaN when there are too few points, or when the way is shorter than a factor of ten. */
double tsri_iterations_power(const tsri_iterations *w);

/* The slope of K against log 1/epsilon in the last half of that way, over the slope in the first
 * half: 1 for a logarithm. NaN likewise. */
double tsri_iterations_steepening(const tsri_iterations *w);

/* Is the least loss in the last tenth of the run? Then it was not at its end. */
bool tsri_iterations_falling(const tsri_iterations *w);

#endif
