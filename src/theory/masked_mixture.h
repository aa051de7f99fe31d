/* masked_mixture.h - the mean effect of masks on outputs and gradients: Lemmas 1 and 2 of the
 * masked-neurons paper.
 *
 * In a round, unit r sees the mean of the outputs of the shares that have it (the mixing function
 * f_r) and takes the mean of their gradients (the mixed gradient g_r). Both are 0 when no share has
 * it. Their means over masks have a bias, because in a share that has r, r is certain to be there:
 *
 *     Lemma 1, on sample i:   E f_r^(i) = theta u^(i) + D1,  D1 = theta (1-xi)/sqrt(m) a_r relu
 *     Lemma 2:                E g_r     = theta/xi dL/dw_r + D2,
 *                             D2 = theta (1-xi)/m sum_i x_i relu
 *
 * where relu stands for relu(<w_r, x_i>) (the paper has w_r' in Lemma 1, its proof w_r). The biases
 * are known. How much of them each draw of masks shows, 1 in the mean, is measured:
 *
 *     <f - theta u, D1> / ||D1||^2   over units, on each sample and on all of them
 *     <g - theta/xi dL/dw, D2> / ||D2||^2
 */
#ifndef TSRI_MASKED_MIXTURE_H
#define TSRI_MASKED_MIXTURE_H

#include "theory/masked_ground.h"

typedef struct tsri_mixture {
    int64_t n, m, d, draws;
    double xi, theta;
    double *mixed, *mixing;      /* [m, d], [n]: of a draw (masked_ahead.h); NULL = not wanted */
    double *plain, *bias;        /* [m, d] the terms of Lemma 2 */
    double size;                 /* ||D2||^2 */
    double *outputs, *lift;      /* [n] u, and ||D1||^2 of a sample over theta (1-xi) */
    double *along, *all, *part;  /* [draws] of g, of f; [draws, n] of f on each sample */
    double relative, f_relative; /* the biases relative to the other terms */
} tsri_mixture;

/* `whole` is the pass of the whole network now; outputs are taken from it. */
tsr_status tsri_mixture_init(tsri_mixture *x, tsri_masked_ground *g, tsri_masked_pass *whole,
                             int64_t draws);
void tsri_mixture_fini(tsri_mixture *x);

/* Reads `mixed` and `mixing`, which a draw has filled. */
void tsri_mixture_note(tsri_mixture *x, int64_t draw);

/* bias, along with its interval (Lemma 2); mixing, mixing_part with its interval, mixing_missed
 * (Lemma 1). */
tsr_status tsri_mixture_keep(tsri_past *past, const tsri_mixture *x);

#endif
