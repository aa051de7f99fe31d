/* rnn_bounds.h - what Allen-Zhu, Li, Song, "On the Convergence Rate of Training Recurrent Neural
 * Networks", ask of a run and promise, as the appendices state it. Formulas without the constants
 * of O and Omega are called `_form`: a row divides what was measured by them. */
#ifndef TSRI_RNN_BOUNDS_H
#define TSRI_RNN_BOUNDS_H

#include <stdbool.h>

/* The paper's letters. */
typedef struct tsri_rnn_letters {
    double n, L, d, m;     /* sequences, positions, outputs, units */
    double delta, epsilon; /* separation of first positions; the loss to reach */
    bool sgd;
} tsri_rnn_letters;

double tsri_rnn_rho(const tsri_rnn_letters *s);    /* n L d log m */
double tsri_rnn_varrho(const tsri_rnn_letters *s); /* n L d log(m/epsilon) / delta */

/* The largest delta of Lemma B.9, 1 / (10^6 L^2 log^3 m); section 2.1 says to decrease delta. */
double tsri_rnn_delta_most(double L, double m);

/* Theorems 1 and 2. */
double tsri_rnn_power(const tsri_rnn_letters *s);            /* the least C of m >= C varrho^C */
double tsri_rnn_log_width(const tsri_rnn_letters *s);        /* log10 of that C varrho^C */
double tsri_rnn_step(const tsri_rnn_letters *s);             /* eta */
double tsri_rnn_rounds(const tsri_rnn_letters *s);           /* T at least */
double tsri_rnn_rounds_most(const tsri_rnn_letters *s);      /* T at most */
double tsri_rnn_rate(const tsri_rnn_letters *s, double eta); /* f shrinks by Omega of that */
double tsri_rnn_radius(const tsri_rnn_letters *s);           /* tau_0 of (H.1) */

/* The least width m with m >= C varrho^C, where varrho depends on m, and its step and T: log10 of
 * each, because they do not fit a double. s->delta is the separation of the data; s->m is
 * ignored. */
typedef struct tsri_rnn_asked {
    double width, step, iterations;
} tsri_rnn_asked;

tsri_rnn_asked tsri_rnn_ask(const tsri_rnn_letters *s);

/* Definition D.1. */
double tsri_rnn_beta_plus(const tsri_rnn_letters *s);
double tsri_rnn_beta_minus(const tsri_rnn_letters *s);

/* (C.1) of Lemma C.2's proof, with the C of |D W ... D W| <= C L^3: bounds of |g'|, |h'|, of |D'|_0
 * and of |D' g| when |W'|_2 <= tau / sqrt(m). */
typedef struct tsri_rnn_stability {
    double g, flips, flip_g;
} tsri_rnn_stability;

tsri_rnn_stability tsri_rnn_stable(const tsri_rnn_letters *s, double C, double tau);

/* Lemma C.9 (a) and (d); Lemmas C.10, C.11 for y with N non-zeros of at most tau / sqrt(m). */
double tsri_rnn_c9_form(const tsri_rnn_letters *s, double tau);
double tsri_rnn_c10_form(const tsri_rnn_letters *s, double N, double tau);
double tsri_rnn_c11a_form(const tsri_rnn_letters *s, double N, double tau);
double tsri_rnn_c11b_form(const tsri_rnn_letters *s, double N, double tau);

/* Theorem 4 for a step of norm `size` and a largest loss vector of norm `loss`. */
double tsri_rnn_smooth_form(const tsri_rnn_letters *s, double tau, double loss, double size);

#endif
