/* loft_bounds.c - the LoFT paper's formulas, each beside its place. */
#include "theory/loft_bounds.h"

#include <math.h>

static double larger(double a, double b)
{
    return a > b ? a : b;
}

double tsri_loft_radius(const tsri_loft *s)
{
    return s->kappa * s->lambda / s->n;
}

double tsri_loft_width5(const tsri_loft *s)
{
    return s->n * s->n * log(s->n / s->delta) / (s->lambda * s->lambda);
}

double tsri_loft_width1(const tsri_loft *s)
{
    double top = pow(s->n, 4) * s->T * s->T * larger(s->n, s->d);
    return top / (pow(s->lambda, 3) * s->delta * s->delta);
}

double tsri_loft_width2(const tsri_loft *s)
{
    double top = pow(s->n, 3) * s->T * s->T * larger(s->n, s->d);
    return top / (pow(s->lambda, 4) * s->delta * s->delta * s->kappa * s->kappa);
}

double tsri_loft_step(const tsri_loft *s)
{
    return s->lambda / (s->n * s->n);
}

double tsri_loft_bound_m(const tsri_loft *s)
{
    return s->n * s->n * sqrt(s->d) /
           (s->lambda * s->lambda * s->kappa * sqrt(sqrt(s->m)) * sqrt(s->delta));
}

double tsri_loft_bound_S(const tsri_loft *s)
{
    return 2 * s->squares * s->theta * s->theta * (1 - s->xi) * s->lambda / s->S;
}

double tsri_loft_rate(const tsri_loft *s)
{
    return s->theta * s->eta * s->lambda / 2;
}

double tsri_loft_floor(const tsri_loft *s)
{
    double mask = s->xi * (1 - s->xi) * pow(s->n, 3) * s->d / (s->m * s->lambda * s->lambda);
    return mask + s->n * s->kappa * s->kappa * (s->theta - s->xi * s->xi) / s->S;
}
