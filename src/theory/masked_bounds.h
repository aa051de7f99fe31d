/* masked_bounds.h - what the theorems of the masked-neurons paper (Liao, Kyrillidis) ask for and
 * promise, as formulas, with the constants that its appendices state.
 *
 * Widths: the theorems write Omega(...) and never give its constant; these are the `order`
 * functions. What the proofs use is explicit: a union bound (Theorem 2) and the base case of the
 * induction (Theorems 3 and 4), which is condition (3) of Hypothesis 1 at k = 0. These are the
 * `width` functions.
 *
 * Where the paper contradicts itself:
 *   - Theorem 2 has R = kappa lambda_0/(8n), its proof needs /(12n); appendix C /(64n), Lemma 6
 *     /(128n), Lemma 12 xi kappa lambda_0/(144n), Lemma 9 and appendix A /(192n).
 *   - Appendix B ends with e^(-m xi lambda_0/(8n^2)) - ... where Hoeffding gave
 *     2 e^(-m lambda_0^2/(8n^2)) + e^(-m xi R/(10 kappa)): the latter is used here.
 *   - (5) lacks a tau in its second term that appendix C has: with the tau here.
 *   - B_1's first term has lost kappa^2 xi^2 (Lemma 6), and the factor 2 of 2 |<y - u, E I'>|: here
 *     it is as Theorem 3 states it.
 *   - Theorem 4's step is lambda_0/n^2, but Hypothesis 1, on which it rests, is proved for /(4n^2).
 *   - Theorem 4's width has max(n^2, d) and no kappa in the body, max(n^4, n^2 d, p K^2)/kappa^2 in
 *     appendix F: the latter is used here, with gamma = 1/2 as in the body.
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
    double C;             /* 1 + max |y_i| */
} tsri_masked;

/* ---- Radii within which weights stay: kappa lambda_0 / (parts n) ----------------------------- */

double tsri_masked_radius(const tsri_masked *s, double parts);
double tsri_masked_radius12(const tsri_masked *s); /* Lemma 12: xi kappa lambda_0 / (144n) */
double tsri_masked_radius3(const tsri_masked *s);  /* the least that Theorem 3's proof asks for */
double tsri_masked_radius4(const tsri_masked *s);  /* Theorem 4's: appendix A */

/* ---- Theorem 2 ------------------------------------------------------------------------------ */

double tsri_masked_order2(const tsri_masked *s); /* n^2 log(Kpn/delta) / (xi lambda_0^2) */

/* The least m with K p n^2 (2 e^(-m lambda_0^2/(8n^2)) + e^(-m xi lambda_0/(120n))) <= delta. */
double tsri_masked_width2(const tsri_masked *s);

/* ---- Steps ---------------------------------------------------------------------------------- */

double tsri_masked_step1(const tsri_masked *s);  /* Hypothesis 1, appendix C: lambda_0/(4n^2) */
double tsri_masked_step6(const tsri_masked *s);  /* Lemma 6: lambda_0/(16 (tau-1) n^2); tau > 1 */
double tsri_masked_step10(const tsri_masked *s); /* Lemma 10: lambda_0/(48 n tau max(n, p)) */
double tsri_masked_step3(const tsri_masked *s);  /* the least that Theorem 3 asks for */

/* ---- Hypothesis 1 --------------------------------------------------------------------------- */

/* B = sqrt(B_1/alpha) + kappa sqrt(xi (1-xi) p n), and what (3) adds to the distance because of it
 * when `left` rounds remain: 2 eta tau sqrt(2nK/(m delta)) left B. */
double tsri_masked_B(const tsri_masked *s, double alpha, double B1);
double tsri_masked_reserve(const tsri_masked *s, double alpha, double B1, double left);

/* All that (3) adds to the distance at round k, with (2) for its expectation and `first` for that of
 * ||y - u_0||^2: 2 eta tau sqrt(2nK/(m delta)) (sqrt((1-alpha)^k first + B_1)/alpha + (K-k) B). */
double tsri_masked_demand(const tsri_masked *s, double alpha, double B1, double first, double k);

/* The right side of (5), with ||y - u_k|| in place of its expectation. */
double tsri_masked_travel(const tsri_masked *s, double residual);

/* The m at which (3) holds at k = 0 with E ||y - u_0|| <= C sqrt(n) (Lemma 26); B_1 is that of
 * s->m. */
double tsri_masked_base(const tsri_masked *s, double alpha, double B1, double R);

/* ---- Theorem 3 (Bernoulli masks) ------------------------------------------------------------ */

/* The three terms of (6), the rate per round alpha = eta theta tau lambda_0 / 4, the six terms of
 * B_1 in the paper's order. */
enum { TSRI_WIDTH3_TERMS = 3, TSRI_B1_TERMS = 6 };
void tsri_masked_order3(double term[TSRI_WIDTH3_TERMS], const tsri_masked *s);
double tsri_masked_width3(const tsri_masked *s);
double tsri_masked_rate3(const tsri_masked *s);
void tsri_masked_b1(double term[TSRI_B1_TERMS], const tsri_masked *s);
double tsri_masked_floor3(const tsri_masked *s); /* their sum */

/* ---- Theorem 4 (categorical masks), gamma = 1/2 --------------------------------------------- */

double tsri_masked_order4(const tsri_masked *s); /* tau^2 K max(n^4, n^2 d, p K^2) /
                                                    (kappa^2 lambda_0^4 delta) */
double tsri_masked_width4(const tsri_masked *s);
double tsri_masked_rate4(const tsri_masked *s);  /* 1 - the factor of a round */
double tsri_masked_gain4(const tsri_masked *s);  /* what a round adds: 64 eta tau (p-1)^2 kappa^2
                                                    n^3 d / (lambda_0 m) */
double tsri_masked_floor4(const tsri_masked *s); /* 256 tau (p-1)^2 kappa^2 n^3 d/(lambda_0^2 m) */

/* ---- Corollaries of Theorem 3, by the paper's numbers: width and floor, up to constants --------- */

typedef enum tsri_masked_corollary {
    TSRI_COROLLARY_DROPOUT = 1,
    TSRI_COROLLARY_MULTISAMPLE = 2,
    TSRI_COROLLARY_IST = 3
} tsri_masked_corollary;

double tsri_masked_corollary_order(tsri_masked_corollary which, const tsri_masked *s);
double tsri_masked_corollary_floor(tsri_masked_corollary which, const tsri_masked *s);

/* ---- Lemmas --------------------------------------------------------------------------------- */

double tsri_masked_flips(const tsri_masked *s, double R);   /* 16: 4 m R / kappa */
double tsri_masked_length(const tsri_masked *s, double R);  /* 22: kappa sqrt(2md) - sqrt(m) R */
double tsri_masked_squares(const tsri_masked *s, double R); /* 23: 2 m kappa^2 - m R^2 */
double tsri_masked_variance(const tsri_masked *s);          /* 25: 4 xi (1-xi) n kappa^2 */

#endif
