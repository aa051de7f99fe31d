/* deep_relu_bounds.h - what Theorems 4.1 (gradient descent) and 4.5 (stochastic) of Zou, Cao, Zhou,
 * Gu ask of a run, as formulas. Omega, O and the e^O(L) hide constants and logarithms: constants
 * are taken as 1, e^O(L) as e^L, logarithms that a tilde hides are left out.
 */
#ifndef TSRI_DEEP_RELU_BOUNDS_H
#define TSRI_DEEP_RELU_BOUNDS_H

#include "backend/backend.h"

/* The paper's letters. */
typedef struct tsri_deep_letters {
    double n, L, m, M;   /* samples, layers, narrowest and widest layer */
    double phi, epsilon; /* least distance of two samples; the loss to reach */
    double B;            /* samples in a step; 0 = all: gradient descent */
    tsri_loss_kind loss; /* of margins */
} tsri_deep_letters;

double tsri_deep_width(const tsri_deep_letters *s);  /* m at least */
double tsri_deep_step(const tsri_deep_letters *s);   /* eta at most (Lemmas 5.6, 5.8) */
double tsri_deep_path(const tsri_deep_letters *s);   /* K eta at least (Lemmas 5.6, 5.8) */
double tsri_deep_radius(const tsri_deep_letters *s); /* tau at most (Lemmas 5.6, 5.8) */

#endif
