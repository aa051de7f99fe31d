/* deep_relu_bounds.c - widths, steps and iterations of the deep ReLU paper.
 *
 * All four losses are one formula: with K eta = X / (m phi^3) (Lemmas 5.6 and 5.8) and the radius
 * tau = phi^9 / n^15 that they need, Lemma 5.5's K eta <= tau / sqrt(m) gives m = n^30 X^2 /
 * phi^24, which is how the proofs of Theorems 4.1 and 4.5 arrive at n^44 / phi^24. X depends on the
 * power p and the turning point x_0 of Assumption 3.2.
 */
#include "theory/deep_relu_bounds.h"

#include <math.h>

/* |l'| >= alpha_1 l^p from x_0 on, |l'| >= alpha_0 before: p, and whether x_0 is finite. */
typedef struct tail {
    double p;
    bool turns;
} tail;

static tail tail_of(tsri_loss_kind loss)
{
    switch (loss) {
    case TSRI_SQUARED_HINGE: /* |l'| = 2 l^(1/2) */
        return (tail){0.5, false};
    case TSRI_EXPONENTIAL: /* |l'| = l */
        return (tail){1, false};
    case TSRI_LOGISTIC: /* |l'| >= 1/2 below 0, >= l / (2 log 2) from there on */
        return (tail){1, true};
    default: /* hinge: |l'| = 1 below 1, l = 0 from there on */
        return (tail){0, true};
    }
}

/* X = a + b. */
static void terms(double *a, double *b, const tsri_deep_letters *s)
{
    tail t = tail_of(s->loss);
    double power = pow(s->n, 7 - 2 * t.p), e = s->epsilon;
    *b = 0;
    if (s->B > 0 && (t.turns || t.p < 0.5)) { /* Lemma 5.8 */
        *a = power * pow(e, -2 * t.p);
        return;
    }
    if (t.p < 0.5)
        *a = power;
    else if (t.p > 0.5)
        *a = power * pow(e, 1 - 2 * t.p);
    else
        *a = power * log(1 / e);
    if (t.turns && t.p > 0)
        *b = pow(s->n, 7);
}

double tsri_deep_width(const tsri_deep_letters *s)
{
    double a, b;
    terms(&a, &b, s);
    return exp(s->L) * pow(s->n, 30) * (a * a + b * b) / pow(s->phi, 24);
}

double tsri_deep_path(const tsri_deep_letters *s)
{
    double a, b;
    terms(&a, &b, s);
    return (a + b) / (s->m * pow(s->phi, 3));
}

double tsri_deep_step(const tsri_deep_letters *s)
{
    double most = pow(s->phi, 3) / (pow(s->n, 5) * s->M) * exp(-s->L);
    return s->B > 0 ? most * s->B / s->n : most;
}

double tsri_deep_radius(const tsri_deep_letters *s)
{
    return pow(s->phi, 9) / pow(s->n, 15) * exp(-s->L);
}
