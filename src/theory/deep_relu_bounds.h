/* deep_relu_bounds.h - what Theorems 4.1 (gradient descent) and 4.5 (stochastic) of Zou, Cao, Zhou,
 * Gu ask of a run, as formulas.
 *
 * The main text hides factors in poly(n, 1/phi) e^O(L); the proofs of Lemmas 5.6 and 5.8 have them
 * all but two absolute constants: c_0 of Theorem 5.3 (v), and C_0 = sqrt(3) C' + 1 with the C' of
 * Theorem 5.1 (vi). So every function gives the formula without those two, as the logarithm to base
 * 10: n^44 is no double. NaN where the loss has no lambda (hinge), no two samples differ, or the
 * run is below epsilon from the start.
 */
#ifndef TSRI_DEEP_RELU_BOUNDS_H
#define TSRI_DEEP_RELU_BOUNDS_H

#include "backend/backend.h"

/* The paper's letters. */
typedef struct tsri_deep_letters {
    double n, L, m, M, last; /* samples, layers, narrowest, widest and last layer */
    double phi, epsilon;     /* least distance of two samples; the loss to reach */
    double first;            /* L_S(W(0)) */
    double rho, lambda;      /* slope and curvature of the loss (Assumptions 3.3, 3.4) */
    double B;                /* samples in a step; 0 = all: gradient descent */
    double delta;            /* stochastic: Markov's inequality is used with 1 - delta */
    tsri_loss_kind loss;     /* of margins */
} tsri_deep_letters;

double tsri_deep_log_path(const tsri_deep_letters *s);   /* K eta at least this / c_0 */
double tsri_deep_log_step(const tsri_deep_letters *s);   /* eta at most this c_0 */
double tsri_deep_log_steps(const tsri_deep_letters *s);  /* K at least this / c_0^2 */
double tsri_deep_log_radius(const tsri_deep_letters *s); /* tau at most this (c_0 / C_0)^3 */
double tsri_deep_log_width(const tsri_deep_letters *s);  /* m at least this C_0^6 / c_0^8 */

/* Assumption 3.2 of a loss: |l'| >= alpha_0 below x_0, >= alpha_1 l^p from there on. */
typedef struct tsri_deep_tail {
    double x0, alpha0, alpha1, p; /* x0 = -infinity: alpha0 means nothing */
} tsri_deep_tail;

tsri_deep_tail tsri_deep_tail_of(tsri_loss_kind loss);
double tsri_deep_least_slope(tsri_loss_kind loss, double x, double value); /* value = l(x) */

/* rho and lambda where they hold for every x; infinity where there is none. */
double tsri_deep_rho(tsri_loss_kind loss);
double tsri_deep_lambda(tsri_loss_kind loss);

#endif
