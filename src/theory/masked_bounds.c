/* masked_bounds.c - the masked-neurons paper's formulas, each beside its place. */
#include "theory/masked_bounds.h"

#include <math.h>

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double square(double a)
{
    return a * a;
}

/* ---- Radii -------------------------------------------------------------------------------- */

double tsri_masked_radius(const tsri_masked *s, double parts)
{
    return s->kappa * s->lambda / (parts * s->n);
}

double tsri_masked_radius12(const tsri_masked *s)
{
    return s->xi * tsri_masked_radius(s, 144);
}

double tsri_masked_radius3(const tsri_masked *s)
{
    return fmin(tsri_masked_radius(s, 192), tsri_masked_radius12(s));
}

double tsri_masked_radius4(const tsri_masked *s)
{
    return tsri_masked_radius(s, 192);
}

/* ---- Theorem 2 ---------------------------------------------------------------------------- */

double tsri_masked_order2(const tsri_masked *s)
{
    return s->n * s->n * log(s->K * s->p * s->n / s->delta) / (s->xi * s->lambda * s->lambda);
}

/* Appendix B: Hoeffding with t = lambda_0/(4n); Bernstein with R = kappa lambda_0/(12n); a union
 * over pairs of samples, rounds and shares. */
static double chance2(const tsri_masked *s, double m)
{
    double hoeffding = 2 * exp(-m * square(s->lambda / s->n) / 8);
    double bernstein = exp(-m * s->xi * s->lambda / (120 * s->n));
    return s->K * s->p * s->n * s->n * (hoeffding + bernstein);
}

double tsri_masked_width2(const tsri_masked *s)
{
    double low = 0, high = 1;
    if (!(s->lambda > 0))
        return isnan(s->lambda) ? (double)NAN : (double)INFINITY;
    while (chance2(s, high) > s->delta && isfinite(high))
        high *= 2;
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (chance2(s, middle) > s->delta)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- Steps -------------------------------------------------------------------------------- */

double tsri_masked_step1(const tsri_masked *s)
{
    return s->lambda / (4 * s->n * s->n);
}

double tsri_masked_step6(const tsri_masked *s)
{
    return s->lambda / (16 * (s->tau - 1) * s->n * s->n);
}

double tsri_masked_step10(const tsri_masked *s)
{
    return s->lambda / (48 * s->n * s->tau * larger(s->n, s->p));
}

double tsri_masked_step3(const tsri_masked *s)
{
    double step = fmin(tsri_masked_step1(s), tsri_masked_step10(s));
    if (isnan(s->lambda))
        return NAN;
    return s->tau > 1 ? fmin(step, tsri_masked_step6(s)) : step;
}

/* ---- Hypothesis 1 ------------------------------------------------------------------------- */

static double markov(const tsri_masked *s) /* sqrt(2nK / (m delta)) */
{
    return sqrt(2 * s->n * s->K / (s->m * s->delta));
}

double tsri_masked_B(const tsri_masked *s, double alpha, double B1)
{
    return sqrt(B1 / alpha) + s->kappa * sqrt(s->xi * (1 - s->xi) * s->p * s->n);
}

double tsri_masked_reserve(const tsri_masked *s, double alpha, double B1, double left)
{
    return 2 * s->eta * s->tau * markov(s) * left * tsri_masked_B(s, alpha, B1);
}

double tsri_masked_demand(const tsri_masked *s, double alpha, double B1, double first, double k)
{
    double residual = sqrt(pow(1 - alpha, k) * first + B1);
    return 2 * s->eta * s->tau * markov(s) * residual / alpha +
           tsri_masked_reserve(s, alpha, B1, s->K - k);
}

double tsri_masked_travel(const tsri_masked *s, double residual)
{
    return s->eta * s->tau * markov(s) * residual +
           2 * s->eta * s->tau * s->kappa * s->n *
               sqrt(2 * s->xi * (1 - s->xi) * s->p * s->K / (s->m * s->delta));
}

double tsri_masked_base(const tsri_masked *s, double alpha, double B1, double R)
{
    double way = s->C * sqrt(s->n) / alpha + s->K * tsri_masked_B(s, alpha, B1);
    return square(2 * s->eta * s->tau * way / R) * 2 * s->n * s->K / s->delta;
}

/* ---- Theorem 3 ---------------------------------------------------------------------------- */

void tsri_masked_order3(double term[TSRI_WIDTH3_TERMS], const tsri_masked *s)
{
    double k2 = s->kappa * s->kappa, l2 = s->lambda * s->lambda, times = s->K / s->delta;
    term[0] = times * pow(s->n, 4) / (k2 * s->xi * s->theta * l2 * l2);
    term[1] = times * s->n * s->K * s->K * tsri_masked_floor3(s) / (k2 * s->theta * l2);
    term[2] = times * s->K * s->K * s->p;
}

double tsri_masked_width3(const tsri_masked *s)
{
    return tsri_masked_base(s, tsri_masked_rate3(s), tsri_masked_floor3(s), tsri_masked_radius3(s));
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

double tsri_masked_order4(const tsri_masked *s)
{
    double n2 = s->n * s->n, l2 = s->lambda * s->lambda;
    double most = larger(n2 * larger(n2, s->d), s->p * s->K * s->K);
    return s->tau * s->tau * s->K * most / (s->kappa * s->kappa * l2 * l2 * s->delta);
}

double tsri_masked_width4(const tsri_masked *s)
{
    return tsri_masked_base(s, tsri_masked_rate4(s), tsri_masked_floor4(s), tsri_masked_radius4(s));
}

double tsri_masked_rate4(const tsri_masked *s)
{
    return (1 - pow(1 - s->eta * s->lambda / 2, s->tau)) / 2;
}

/* (p-1)^2 kappa^2 n^3 d tau / (lambda_0 m) */
static double spread4(const tsri_masked *s)
{
    return s->tau * square((s->p - 1) * s->kappa) * pow(s->n, 3) * s->d / (s->lambda * s->m);
}

double tsri_masked_gain4(const tsri_masked *s)
{
    return 64 * s->eta * spread4(s);
}

double tsri_masked_floor4(const tsri_masked *s)
{
    return 256 * spread4(s) / s->lambda;
}

/* ---- Corollaries -------------------------------------------------------------------------- */

double tsri_masked_corollary_order(tsri_masked_corollary which, const tsri_masked *s)
{
    double chance = which == TSRI_COROLLARY_DROPOUT ? s->xi * s->xi : s->xi * s->theta;
    return pow(s->n, 5) * s->K / (chance * pow(s->lambda, 4) * s->delta);
}

double tsri_masked_corollary_floor(tsri_masked_corollary which, const tsri_masked *s)
{
    double off = 1 - s->xi, few = off * off / (s->n * s->K);
    if (which == TSRI_COROLLARY_DROPOUT)
        return off;
    if (which == TSRI_COROLLARY_MULTISAMPLE)
        return few + (s->theta - s->xi * s->xi) / s->p;
    double less = (s->tau - 1) / s->tau;
    return few + (s->theta - s->xi) / s->p + less * less * s->theta * s->theta * off;
}

/* ---- Lemmas ------------------------------------------------------------------------------- */

double tsri_masked_flips(const tsri_masked *s, double R)
{
    return 4 * s->m * R / s->kappa;
}

double tsri_masked_length(const tsri_masked *s, double R)
{
    return s->kappa * sqrt(2 * s->m * s->d) - sqrt(s->m) * R;
}

double tsri_masked_squares(const tsri_masked *s, double R)
{
    return 2 * s->m * s->kappa * s->kappa - s->m * R * R;
}

double tsri_masked_variance(const tsri_masked *s)
{
    return 4 * s->xi * (1 - s->xi) * s->n * s->kappa * s->kappa;
}
