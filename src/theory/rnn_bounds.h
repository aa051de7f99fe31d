/* rnn_bounds.h - what Theorems 1 (gradient descent) and 2 (stochastic) of Allen-Zhu, Li, Song ask
 * of a run and promise it, as Appendices H and I state them. O, Omega and the unknown C of m >= C
 * varrho^C are taken as 1.
 */
#ifndef TSRI_RNN_BOUNDS_H
#define TSRI_RNN_BOUNDS_H

#include <stdbool.h>

/* The paper's letters. */
typedef struct tsri_rnn_letters {
    double n, L, d, m;     /* sequences, positions, outputs, units */
    double delta, epsilon; /* least distance of two first positions; the loss to reach */
    bool sgd;
} tsri_rnn_letters;

double tsri_rnn_rho(const tsri_rnn_letters *s);              /* n L d log m */
double tsri_rnn_varrho(const tsri_rnn_letters *s);           /* n L d log(m/epsilon) / delta */
double tsri_rnn_step(const tsri_rnn_letters *s);             /* eta */
double tsri_rnn_rounds(const tsri_rnn_letters *s);           /* T at least */
double tsri_rnn_rate(const tsri_rnn_letters *s, double eta); /* f shrinks by 1 - that in a step */
double tsri_rnn_radius(const tsri_rnn_letters *s);           /* tau_0 of (H.1) */

#endif
