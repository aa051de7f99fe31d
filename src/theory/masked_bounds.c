/* masked_bounds.c - the masked-neurons paper's formulas, each beside its place. */
#include "theory/masked_bounds.h"

#include <math.h>

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- Theorem 2 ---------------------------------------------------------------------------- */

double tsri_masked_width2(const tsri_masked *s)
{
    return s->n * s->n * log(s->K * s->p * s->n / s->delta) / (s->xi * s->lambda * s->lambda);
}

double tsri_masked_radius(const tsri_masked *s)
{
    return s->kappa * s->lambda / (8 * s->n);
}

/* ---- Theorem 3 ---------------------------------------------------------------------------- */

void tsri_masked_width3(double term[TSRI_WIDTH3_TERMS], const tsri_masked *s)
{
    double k2 = s->kappa * s->kappa, l2 = s->lambda * s->lambda, times = s->K / s->delta;
    term[0] = times * pow(s->n, 4) / (k2 * s->xi * s->theta * l2 * l2);
    term[1] = times * s->n * s->K * s->K * tsri_masked_floor3(s) / (k2 * s->theta * l2);
    term[2] = times * s->K * s->K * s->p;
}

double tsri_masked_step3(const tsri_masked *s)
{
    return s->lambda / (larger(s->n, s->p) * s->n * s->tau);
}

double tsri_masked_rate3(const tsri_masked *s)
{
    return s->eta * s->theta * s->tau * s->lambda / 4;
}

void tsri_masked_b1(double term[TSRI_B1_TERMS], const tsri_masked *s)
{
    double n = s->n, n3 = n * n * n, k2 = s->kappa * s->kappa, l = s->lambda;
    double tau = s->tau, less = tau - 1, spread = s->theta - s->xi * s->xi;
    double C1 = 4 * s->theta * s->theta * (1 - s->xi) * n * k2 / s->p;
    term[0] = 64 * (1 - s->xi) * (1 - s->xi) * n3 * s->d / (s->m * l * l);
    term[1] = 68 * s->eta * tau * spread * n3 * k2 / (s->p * l);
    term[2] = spread * n * k2 / (6 * tau * tau * s->p);
    term[3] = less * less * s->p * C1 / (24 * tau * tau);
    term[4] = 8 * s->eta * s->eta * less * less * n * n3 * s->p * C1 / (l * l);
    term[5] = 4 * s->eta * less * s->p * n * C1;
}

double tsri_masked_floor3(const tsri_masked *s)
{
    double term[TSRI_B1_TERMS], sum = 0;
    tsri_masked_b1(term, s);
    for (int i = 0; i < TSRI_B1_TERMS; i++)
        sum += term[i];
    return sum;
}

/* ---- Theorem 4 ---------------------------------------------------------------------------- */

double tsri_masked_width4(const tsri_masked *s)
{
    double n2 = s->n * s->n, l2 = s->lambda * s->lambda;
    return s->tau * s->tau * n2 * s->K * larger(n2, s->d) / (l2 * l2 * s->delta);
}

double tsri_masked_step4(const tsri_masked *s)
{
    return s->lambda / (s->n * s->n);
}

double tsri_masked_rate4(const tsri_masked *s)
{
    return (1 - pow(1 - s->eta * s->lambda / 2, s->tau)) / 2;
}

double tsri_masked_floor4(const tsri_masked *s)
{
    double others = s->p - 1;
    return s->tau * others * others * pow(s->n, 3) * s->d / (s->lambda * s->lambda * s->m);
}

/* ---- Corollaries -------------------------------------------------------------------------- */

double tsri_masked_corollary_width(int which, const tsri_masked *s)
{
    double chance = which == 1 ? s->xi * s->xi : s->xi * s->theta;
    return pow(s->n, 5) * s->K / (chance * pow(s->lambda, 4) * s->delta);
}

double tsri_masked_corollary_floor(int which, const tsri_masked *s)
{
    double off = 1 - s->xi, few = off * off / (s->n * s->K);
    if (which == 1)
        return off;
    if (which == 2)
        return few + (s->theta - s->xi * s->xi) / s->p;
    double less = (s->tau - 1) / s->tau;
    return few + (s->theta - s->xi) / s->p + less * less * s->theta * s->theta * off;
}
