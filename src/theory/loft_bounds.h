/* loft_bounds.h - what the theorems of the LoFT paper (Wang, Dun, Liao, Jermaine, Kyrillidis) ask
 * and promise for the CNN with one hidden layer, as formulas.
 *
 * The theorems hide constants (Omega, O); the displays of the proofs show them. A function called
 * `formula` is the inside of an Omega or O: a number to compare with, not a requirement. All others
 * have the constant of the display they name.
 */
#ifndef TSRI_LOFT_BOUNDS_H
#define TSRI_LOFT_BOUNDS_H

/* The paper's letters. */
typedef struct tsri_loft {
    double n, d, p, m;        /* samples, numbers of a patch, pixels, filters */
    double S, T, xi, theta;   /* shares, rounds, chance of a filter, of being in a share */
    double kappa, eta, delta; /* deviation of the first weights, step, failure probability */
    double lambda;            /* lambda_0 */
    double squares;           /* eta^2 T; if steps differ, the sum of their squares */
    double steps;             /* eta T; if they differ, their sum */
} tsri_loft;

/* Lemma 5: 3 n R / kappa <= lambda_0 / 4, so R = kappa lambda_0 / (12 n). */
double tsri_loft_radius(const tsri_loft *s);

/* Lemma 1: how many filters a move by R can flip on a patch, 3 m R / kappa; the width at which that
 * fails with probability delta, n p exp(-m R / kappa) = delta; the probability that it is stated
 * with. */
double tsri_loft_near(const tsri_loft *s);
double tsri_loft_width_near(const tsri_loft *s);
double tsri_loft_chance_near(const tsri_loft *s);

double tsri_loft_start(const tsri_loft *s); /* Lemma 2: kappa sqrt(2md) - sqrt(m) R */
double tsri_loft_patch(const tsri_loft *s); /* Lemma 3, of a patch: 2 m kappa^2 - m R^2 */

/* Lemma 5: the width of H(0), 2 n^2 exp(-m t^2) = delta with n t = lambda_0 / 4 (Hoeffding as the
 * proof has it), and of H(t), log(np/delta) / R; how far entries of H(0) and H(t) may be off. */
double tsri_loft_width_first(const tsri_loft *s);
double tsri_loft_width_later(const tsri_loft *s);
double tsri_loft_entry_first(const tsri_loft *s); /* log(n/delta) / sqrt(m) */
double tsri_loft_entry_later(const tsri_loft *s); /* 3 R / kappa */

/* Appendix B.4: E ||u~_r - u||^2 of a filter in a share is at most 8 n kappa^2 (theta-xi^2) / S,
 * `spread`. The exact value follows from the squares of the weights, with the `variance` Var nu_rr'
 * = xi (1-xi) E[1/N | N > 0], N ~ Binomial(S, xi). Appendix C.2 claims E nu^^2 = theta^2 (1-xi) /
 * S, `mixing_claimed`; the exact value is `mixing`. */
double tsri_loft_spread(const tsri_loft *s);
double tsri_loft_variance(const tsri_loft *s);
double tsri_loft_mixing(const tsri_loft *s);
double tsri_loft_mixing_claimed(const tsri_loft *s);

/* Theorem 1 (K there is T), Theorem 2 of the appendix. */
double tsri_loft_width1_formula(const tsri_loft *s);
double tsri_loft_width2_formula(const tsri_loft *s);
double tsri_loft_step_formula(const tsri_loft *s);
double tsri_loft_bound_m_formula(const tsri_loft *s);             /* the term that falls with m */
double tsri_loft_bound_S_formula(const tsri_loft *s);             /* the one that falls with S */
double tsri_loft_moved_formula(const tsri_loft *s, double first); /* first = ||u_0 - y|| */

/* Corollary 1 and Theorem 2: the rate per round, and their floors, which differ: xi (1-xi) in the
 * corollary, xi^2 (1-xi)^2 in the theorem, which is proven. */
double tsri_loft_rate(const tsri_loft *s);
double tsri_loft_floor1_formula(const tsri_loft *s);
double tsri_loft_floor2_formula(const tsri_loft *s);

/* Appendix C with its constants: the step at which 2 xi^2 eta^2 n is at most eta / 2; the radius
 * n / (lambda_0 sqrt m) that its displays insert; and what a round may add to ||W - W^||^2 +
 * (eta/2) sum ||u - u^||^2, given the errors ||u_t - y||, its square, and ||u^_t - y||. */
double tsri_loft_step_C(const tsri_loft *s);
double tsri_loft_radius_C(const tsri_loft *s);
double tsri_loft_drift_C(const tsri_loft *s, double eta, double error, double square, double other);

#endif
