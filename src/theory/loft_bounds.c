/* loft_bounds.c - the LoFT paper's formulas, each beside its place. */
#include "theory/loft_bounds.h"

#include <math.h>
#include <stdint.h>

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- Lemmas 1 to 5 (appendix B.1 to B.3) ---------------------------------------------------- */

double tsri_loft_radius(const tsri_loft *s)
{
    return s->kappa * s->lambda / (12 * s->n);
}

double tsri_loft_near(const tsri_loft *s)
{
    return 3 * s->m * tsri_loft_radius(s) / s->kappa;
}

double tsri_loft_width_near(const tsri_loft *s)
{
    return s->kappa * log(s->n * s->p / s->delta) / tsri_loft_radius(s);
}

double tsri_loft_chance_near(const tsri_loft *s)
{
    return larger(0, 1 - s->n * s->p * exp(-s->m * tsri_loft_radius(s) / s->kappa));
}

double tsri_loft_start(const tsri_loft *s)
{
    return s->kappa * sqrt(2 * s->m * s->d) - sqrt(s->m) * tsri_loft_radius(s);
}

double tsri_loft_patch(const tsri_loft *s)
{
    double R = tsri_loft_radius(s);
    return s->m * (2 * s->kappa * s->kappa - R * R);
}

double tsri_loft_width_first(const tsri_loft *s)
{
    double t = s->lambda / (4 * s->n);
    return log(2 * s->n * s->n / s->delta) / (t * t);
}

double tsri_loft_width_later(const tsri_loft *s)
{
    return log(s->n * s->p / s->delta) / tsri_loft_radius(s);
}

double tsri_loft_entry_first(const tsri_loft *s)
{
    return log(s->n / s->delta) / sqrt(s->m);
}

double tsri_loft_entry_later(const tsri_loft *s)
{
    return 3 * tsri_loft_radius(s) / s->kappa;
}

/* ---- Mixing of shares (appendix B.4, C.2) --------------------------------------------------- */

/* E[1/N; N > 0] of N ~ Binomial(S, xi). */
static double mean_inverse(const tsri_loft *s)
{
    double sum = 0, odds = log(s->xi) - log1p(-s->xi);
    if (s->xi >= 1)
        return 1 / s->S;
    for (int64_t owners = 1; owners <= (int64_t)s->S; owners++) {
        double k = (double)owners;
        sum += exp(lgamma(s->S + 1) - lgamma(k + 1) - lgamma(s->S - k + 1) + k * odds +
                   s->S * log1p(-s->xi)) /
               k;
    }
    return sum;
}

double tsri_loft_spread(const tsri_loft *s)
{
    return 8 * s->n * s->kappa * s->kappa * (s->theta - s->xi * s->xi) / s->S;
}

double tsri_loft_variance(const tsri_loft *s)
{
    return s->xi * (1 - s->xi) * mean_inverse(s) / s->theta;
}

double tsri_loft_mixing(const tsri_loft *s)
{
    double square = s->xi * s->xi;
    return s->theta * (square + tsri_loft_variance(s)) - square * s->theta * s->theta;
}

double tsri_loft_mixing_claimed(const tsri_loft *s)
{
    return s->theta * s->theta * (1 - s->xi) / s->S;
}

/* ---- Theorems 1 and 2, Corollary 1 ---------------------------------------------------------- */

double tsri_loft_width1_formula(const tsri_loft *s)
{
    double top = pow(s->n, 4) * s->T * s->T * larger(s->n, s->d);
    return top / (pow(s->lambda, 3) * s->delta * s->delta);
}

double tsri_loft_width2_formula(const tsri_loft *s)
{
    double top = pow(s->n, 3) * s->T * s->T * larger(s->n, s->d);
    return top / (pow(s->lambda, 4) * s->delta * s->delta * s->kappa * s->kappa);
}

double tsri_loft_step_formula(const tsri_loft *s)
{
    return s->lambda / (s->n * s->n);
}

double tsri_loft_bound_m_formula(const tsri_loft *s)
{
    return s->n * s->n * sqrt(s->d) /
           (s->lambda * s->lambda * s->kappa * sqrt(sqrt(s->m)) * sqrt(s->delta));
}

double tsri_loft_bound_S_formula(const tsri_loft *s)
{
    return 2 * s->squares * s->theta * s->theta * (1 - s->xi) * s->lambda / s->S;
}

double tsri_loft_moved_formula(const tsri_loft *s, double first)
{
    double mask = s->xi * (1 - s->xi) * s->n * s->n * sqrt(s->d) / (s->m * s->lambda);
    double share = s->n * s->kappa * sqrt((s->theta - s->xi * s->xi) / (s->m * s->S));
    return sqrt(s->n / s->m) / s->lambda * first + s->steps * s->theta * (mask + share);
}

double tsri_loft_rate(const tsri_loft *s)
{
    return s->theta * s->eta * s->lambda / 2;
}

/* The floor whose first term has this factor. */
static double floor_of(const tsri_loft *s, double mask)
{
    return mask * pow(s->n, 3) * s->d / (s->m * s->lambda * s->lambda) +
           s->n * s->kappa * s->kappa * (s->theta - s->xi * s->xi) / s->S;
}

double tsri_loft_floor1_formula(const tsri_loft *s)
{
    return floor_of(s, s->xi * (1 - s->xi));
}

double tsri_loft_floor2_formula(const tsri_loft *s)
{
    return floor_of(s, s->xi * s->xi * (1 - s->xi) * (1 - s->xi));
}

/* ---- Appendix C ----------------------------------------------------------------------------- */

double tsri_loft_step_C(const tsri_loft *s)
{
    return 1 / (4 * s->xi * s->xi * s->n);
}

double tsri_loft_radius_C(const tsri_loft *s)
{
    return s->n / (s->lambda * sqrt(s->m));
}

double tsri_loft_drift_C(const tsri_loft *s, double eta, double error, double square, double other)
{
    double first = 3 * s->xi * sqrt(pow(s->n, 3) * s->d) /
                   (s->lambda * s->kappa * sqrt(sqrt(s->m))) * (error + other);
    double second = s->n * s->n * s->kappa / s->lambda * sqrt(s->d / s->m);
    double third = 2 * s->theta * s->theta * (1 - s->xi) * s->kappa * s->kappa * s->n / s->S;
    double fourth = 3 * s->xi * s->xi * s->n * s->n / (s->kappa * s->lambda * sqrt(s->m)) * square;
    return eta * (first + second) + eta * eta * (third + fourth);
}
