/* masked_bounds.h - what the theorems of the masked-neurons paper (Liao, Kyrillidis) ask for and
 * promise, as formulas. Omega, O and Theta hide constants: they are taken as 1 here.
 */
#ifndef TSRI_MASKED_BOUNDS_H
#define TSRI_MASKED_BOUNDS_H

/* The paper's letters. */
typedef struct tsri_masked {
    double n, d, m;       /* samples, inputs, hidden units */
    double p, tau, K;     /* subnetworks, local steps, rounds */
    double xi, theta;     /* chance of a unit; of being in one share at least */
    double kappa, eta;    /* deviation of the first weights; local step */
    double delta, lambda; /* failure probability; lambda_0 */
} tsri_masked;

/* Theorem 2: width, and the radius within which it holds (body; the appendix has 1/24 of it). */
double tsri_masked_width2(const tsri_masked *s);
double tsri_masked_radius(const tsri_masked *s);

/* Theorem 3 (Bernoulli masks): the three terms of the width (6), the step, the rate per round
 * alpha = eta theta tau lambda_0 / 4, the six terms of B_1 in the paper's order. */
enum { TSRI_WIDTH3_TERMS = 3, TSRI_B1_TERMS = 6 };
void tsri_masked_width3(double term[TSRI_WIDTH3_TERMS], const tsri_masked *s);
double tsri_masked_step3(const tsri_masked *s);
double tsri_masked_rate3(const tsri_masked *s);
void tsri_masked_b1(double term[TSRI_B1_TERMS], const tsri_masked *s);
double tsri_masked_floor3(const tsri_masked *s); /* their sum */

/* Theorem 4 (categorical masks): width, step, 1 - the factor per round, floor. */
double tsri_masked_width4(const tsri_masked *s);
double tsri_masked_step4(const tsri_masked *s);
double tsri_masked_rate4(const tsri_masked *s);
double tsri_masked_floor4(const tsri_masked *s);

/* Corollaries 1 (dropout), 2 (multi-sample dropout), 3 (IST): width and floor. */
double tsri_masked_corollary_width(int which, const tsri_masked *s);
double tsri_masked_corollary_floor(int which, const tsri_masked *s);

#endif
