/* deep_relu_bounds.h - what Theorems 4.1 (gradient descent) and 4.5 (stochastic) of Zou, Cao, Zhou,
 * Gu ask of a run, as formulas.
 *
 * The main text hides factors in poly(n, 1/phi) e^O(L). The proofs of Lemmas 5.6 and 5.8 give all
 * of them except two absolute constants: c_0 of Theorem 5.3 (v), and C_0 = sqrt(3) C' + 1 with the
 * C' of Theorem 5.1 (vi). So every function gives the formula without those two, as a logarithm to
 * base 10, because n^44 does not fit a double. NaN where the loss has no lambda (hinge), where no
 * two samples differ, or where the run is below epsilon from the start.
 */
#ifndef TSRI_DEEP_RELU_BOUNDS_H
#define TSRI_DEEP_RELU_BOUNDS_H

#include "backend/backend.h"

/* The paper's letters. */
typedef struct tsri_deep_letters {
    double n, L, m, M, last;    /* samples, layers, narrowest, widest and last layer */
    double phi, epsilon;        /* least distance of two samples; the loss to reach */
    double first;               /* L_S(W(0)) */
    double rho, lambda;         /* slope and curvature of the loss (Assumptions 3.3, 3.4) */
    double B;                   /* samples in a step; 0 = all: gradient descent */
    double delta;               /* stochastic: Markov's inequality is used with 1 - delta */
    const tsri_loss_kind *loss; /* a loss of margins */
} tsri_deep_letters;

double tsri_deep_log_path(const tsri_deep_letters *s);   /* K eta at least this / c_0 */
double tsri_deep_log_step(const tsri_deep_letters *s);   /* eta at most this c_0 */
double tsri_deep_log_steps(const tsri_deep_letters *s);  /* K at least this / c_0^2 */
double tsri_deep_log_radius(const tsri_deep_letters *s); /* tau at most this (c_0 / C_0)^3 */
double tsri_deep_log_width(const tsri_deep_letters *s);  /* m at least this C_0^6 / c_0^8 */

/* Assumption 3.2 of a loss: the least |l'(x)|, alpha_0 below x_0 and alpha_1 l^p from there on,
 * with value = l(x). The row of the loss has the paper's letters: x_0 is `turn`, alpha_0 `before`,
 * alpha_1 `after`, p `power`, rho `steepest`, lambda `curved`. */
double tsri_deep_least_slope(const tsri_loss_kind *loss, double x, double value);

#endif
