/* deep_relu_bounds.c - widths, steps and iterations of the deep ReLU paper.
 *
 * With K eta = X / (c_0 m phi^3) ((C.9), (C.10), (C.20), (C.21) and what follows them) and the
 * radius tau of Lemmas 5.6 and 5.8, Lemma 5.5's K eta <= tau / (4^L M^(1/2) rho) gives, for layers
 * of one width, m >= X^2 16^L rho^2 (2^(12L+2) C_0 n^5 log M)^6 / (c_0^8 phi^24): with X ~ n^7 the
 * paper's n^44 / phi^24.
 *
 * X depends on p and x_0 of Assumption 3.2. The proof of Lemma 5.8 drops alpha_1 in (C.18)-(C.21);
 * it is put back. Its statement drops the n^7 that the proof ends with where x_0 > -infinity; the
 * proof counts.
 */
#include "theory/deep_relu_bounds.h"

#include <math.h>

double tsri_deep_least_slope(const tsri_loss_kind *loss, double x, double value)
{
    if (x < loss->turn)
        return loss->before;
    return value > 0 ? loss->after * pow(value, loss->power) : 0;
}

/* The integral of l^(-2p) from `to` to `from`: (C.9), (C.10). */
static double fall(double from, double to, double p)
{
    if (p == 0.5)
        return log(from / to);
    return (pow(to, 1 - 2 * p) - pow(from, 1 - 2 * p)) / (2 * p - 1);
}

/* X of K eta = X / (c_0 m phi^3). */
static double way(const tsri_deep_letters *s)
{
    const tsri_loss_kind *l = s->loss;
    double p = l->power;
    bool turns = isfinite(l->turn), stochastic = s->B > 0;
    double C = stochastic ? 1 / s->delta : 1, e = s->epsilon;
    double alpha0 = turns ? 1 / (l->before * l->before) : 0, alpha1 = 1 / (l->after * l->after);
    double n7 = 2 * pow(s->n, 7), power = 2 * pow(s->n, 7 - 2 * p);
    if (!(e < s->first))
        return NAN;
    if (stochastic && turns) /* the end of the proof of Lemma 5.8 */
        return C * s->first * (n7 * alpha0 + power * alpha1 * pow(e, -2 * p));
    if (stochastic) /* (C.20), (C.21), to epsilon / C */
        return power * alpha1 * fall(s->first, e / C, p);
    if (turns)
        return n7 * alpha0 * (s->first - e) + power * alpha1 * fall(s->first, e, p);
    return power * alpha1 * fall(s->first, e, p);
}

static double log_phi(const tsri_deep_letters *s)
{
    return s->phi > 0 && isfinite(s->phi) ? log10(s->phi) : (double)NAN;
}

double tsri_deep_log_path(const tsri_deep_letters *s)
{
    return log10(way(s)) - log10(s->m) - 3 * log_phi(s);
}

double tsri_deep_log_step(const tsri_deep_letters *s)
{
    double curved = s->lambda + s->rho;
    double most = log10(s->last) + 3 * log_phi(s) - (10 * s->L + 2) * log10(2) - 5 * log10(s->n) -
                  2 * log10(s->M) - (isfinite(curved) ? log10(curved) : (double)NAN);
    return s->B > 0 ? most + log10(s->B / s->n) : most;
}

double tsri_deep_log_steps(const tsri_deep_letters *s)
{
    return tsri_deep_log_path(s) - tsri_deep_log_step(s);
}

double tsri_deep_log_radius(const tsri_deep_letters *s)
{
    return 3 * (log10(s->last) + 3 * log_phi(s) - (12 * s->L + 2) * log10(2) - 5 * log10(s->n) -
                log10(s->M * log(s->M)));
}

double tsri_deep_log_width(const tsri_deep_letters *s)
{
    return 2 * (log10(way(s)) + s->L * log10(4) + log10(s->rho)) +
           6 * ((12 * s->L + 2) * log10(2) + 5 * log10(s->n) + log10(log(s->M))) - 24 * log_phi(s);
}
