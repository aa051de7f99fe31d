/* masked_ahead.h - a round of Algorithm 1 from the weights at hand, before it happens.
 *
 * Masks are pure functions of (seed, round, worker), so the next round can be computed step by step
 * without the team: with the masks that it will have (draw 0), and with others (draws 1, 2, ...:
 * "continuations"), since the theorems bound expectations over masks. The run does not change.
 */
#ifndef TSRI_MASKED_AHEAD_H
#define TSRI_MASKED_AHEAD_H

#include "theory/masked_ground.h"

/* k is the current round, l a share, t a local step, r a unit, i a sample. */
typedef struct tsri_masked_round {
    double loss;   /* ||y - u_(k+1)||^2 */
    double ratio;  /* (4): max over l, t of ||y - u_(t+1)^l||^2 / ||y - u_t^l||^2 */
    double blur;   /* its rounding: the largest over l, t */
    double travel; /* (5): max over l, t, r of ||w_(t,r)^l - w_r|| */
    double reach;  /* appendix C: the same over eta tau sqrt(n/m) ||y - u_0^l||, max over l */
    double drift; /* Lemma 5: max over l, t, i of |u_t^l - u_0^l| / (eta t sqrt(n) ||y - u_0^l||) */
    double drift_blur; /* its rounding */
    double radius;  /* max over l, t, r of ||w_(t,r)^l - w_(0,r)|| from the first weights, or NaN */
    double sampled; /* Lemma 14: sum over l of ||u - u_0^l||^2 */
    double outputs; /* and of ||u||^2 + ||u_0^l||^2, for the rounding of these differences */
    double pairs;   /* 1/p sum over pairs of ||u_0^l - u_0^l'||^2 */
    double ends;    /* Lemma 13: 1/p sum over l of ||y - u_tau^l||^2 */
    double parted;  /* and 1/p^2 sum over pairs of ||u_tau^l - u_tau^l'||^2 */
    double least;   /* least lambda_min(m o H) over l and t < tau if that is below options.least;
                       else options.least */
    int64_t kernels; /* how many were looked at */
} tsri_masked_round;

typedef struct tsri_masked_draw_options {
    int64_t draw;  /* 0 = the masks of the round itself */
    int64_t steps; /* local steps to compute: tau, or 0 = only look at the shares */
    double eta;
    const double *u; /* [n] outputs of the whole now */
    bool kernels;    /* look at m o H */
    double least;    /* least lambda_min so far; infinity = none */
    double *mixed;   /* [m, d] out, or NULL: the mixed gradient g of the first step, and */
    double *mixing;  /* [n] sum_r a_r/sqrt(m) relu(<w_r, x_i>) f_r^(i), f the mixing function */
} tsri_masked_draw_options;

tsr_status tsri_masked_ahead(tsri_masked_round *out, tsri_masked_ground *g,
                             const tsri_masked_draw_options *o);

#endif
