/* loft_bounds.h - what the theorems of the LoFT paper (Wang, Dun, Liao, Jermaine, Kyrillidis) ask
 * for and promise of the one-hidden-layer CNN, as formulas. Constants hidden by Omega and O are
 * taken as 1.
 */
#ifndef TSRI_LOFT_BOUNDS_H
#define TSRI_LOFT_BOUNDS_H

/* The paper's letters. */
typedef struct tsri_loft {
    double n, d, p, m;        /* samples, numbers of a patch, pixels, filters */
    double S, T, xi, theta;   /* shares, rounds, chance of a filter, of being in a share */
    double kappa, eta, delta; /* deviation of the first weights, step, failure probability */
    double lambda;            /* lambda_0 */
    double squares;           /* eta^2 T; of steps that differ, the sum of their squares */
} tsri_loft;

double tsri_loft_radius(const tsri_loft *s); /* Lemma 5: kappa lambda_0 / n */
double tsri_loft_width5(const tsri_loft *s); /* Lemma 5 */
double tsri_loft_width1(const tsri_loft *s); /* Theorem 1 (K there is T) */
double tsri_loft_width2(const tsri_loft *s); /* Theorem 2 of the appendix */
double tsri_loft_step(const tsri_loft *s);

/* Theorem 1: the term that falls with m, and the one that falls with S. */
double tsri_loft_bound_m(const tsri_loft *s);
double tsri_loft_bound_S(const tsri_loft *s);

/* Corollary 1: rate per round, and both terms of the floor together. */
double tsri_loft_rate(const tsri_loft *s);
double tsri_loft_floor(const tsri_loft *s);

#endif
