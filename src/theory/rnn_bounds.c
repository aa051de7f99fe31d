/* rnn_bounds.c - sizes, steps, iterations and stability of the recurrent paper.
 *
 * Where the paper disagrees with itself:
 *
 * Theorem 2's step is printed as delta / (rho^12 m). Its T = rho^57 / delta^2, the T = rho^15 /
 * (eta delta m) of its proof, and the last line of that proof ("we have used eta <= O(delta /
 * (rho^42 m))") agree on rho^42, which is taken here.
 *
 * "m >= C varrho^C for some C > 1": how large C must be follows from the proofs. Inequality (2) of
 * Theorem 1's asks that rho^11 tau_0^(1/3) m^(1/3) eta rho^6 m^(1/2) be at most rho^30 eta^2 m^2;
 * with eta = delta / (rho^44 m), tau_0 = varrho^50 that is m >= rho^186 varrho^100 / delta^6, and
 * C >= 286 because n L d stands there to the power of 286. Theorem 2's, with rho^42, has rho^174
 * and C >= 274. (E.11) needs less: |N| = rho^42 / delta^2 of (E.13), theta = rho^4 beta_- give
 * rho^258 / delta^10.
 */
#include "theory/rnn_bounds.h"

#include <float.h>
#include <math.h>

/* What no double holds is told as the largest one. */
static double told(double x)
{
    return x > DBL_MAX ? DBL_MAX : x;
}

double tsri_rnn_rho(const tsri_rnn_letters *s)
{
    return s->n * s->L * s->d * log(s->m);
}

double tsri_rnn_varrho(const tsri_rnn_letters *s)
{
    return s->n * s->L * s->d / s->delta * log(s->m / s->epsilon);
}

double tsri_rnn_delta_most(double L, double m)
{
    return 1 / (1e6 * L * L * pow(log(m), 3));
}

double tsri_rnn_power(const tsri_rnn_letters *s)
{
    return s->sgd ? 274 : 286;
}

double tsri_rnn_log_width(const tsri_rnn_letters *s)
{
    double C = tsri_rnn_power(s);
    return told(log10(C) + C * log10(tsri_rnn_varrho(s)));
}

double tsri_rnn_step(const tsri_rnn_letters *s)
{
    return s->delta / (pow(tsri_rnn_rho(s), s->sgd ? 42 : 44) * s->m);
}

double tsri_rnn_rounds(const tsri_rnn_letters *s)
{
    return told(pow(tsri_rnn_rho(s), s->sgd ? 57 : 59) / (s->delta * s->delta) *
                log(1 / s->epsilon));
}

double tsri_rnn_rounds_most(const tsri_rnn_letters *s)
{
    return told(tsri_rnn_rounds(s) * pow(tsri_rnn_varrho(s), 28));
}

double tsri_rnn_rate(const tsri_rnn_letters *s, double eta)
{
    return eta * s->delta * s->m / pow(tsri_rnn_rho(s), 15);
}

double tsri_rnn_radius(const tsri_rnn_letters *s)
{
    return told(pow(tsri_rnn_varrho(s), 50));
}

/* Of x = log m the right side, log C + C log varrho, grows as 4 C log x: from above it falls to
 * where both sides agree. */
tsri_rnn_asked tsri_rnn_ask(const tsri_rnn_letters *s)
{
    double C = tsri_rnn_power(s), sizes = s->n * s->L * s->d, x = 1e6, delta = 0;
    for (int i = 0; i < 200; i++) {
        delta = fmin(s->delta, 1 / (1e6 * s->L * s->L * pow(x, 3)));
        x = log(C) + C * log(sizes / delta * (x - log(s->epsilon)));
    }
    double rho = log10(sizes * x), width = x / log(10);
    return (tsri_rnn_asked){.width = width,
                            .step = log10(delta) - (s->sgd ? 42 : 44) * rho - width,
                            .iterations = (s->sgd ? 57 : 59) * rho - 2 * log10(delta) +
                                          log10(log(1 / s->epsilon))};
}

double tsri_rnn_beta_plus(const tsri_rnn_letters *s)
{
    return s->delta / pow(tsri_rnn_rho(s), 2);
}

double tsri_rnn_beta_minus(const tsri_rnn_letters *s)
{
    return s->delta / pow(tsri_rnn_rho(s), 10);
}

tsri_rnn_stability tsri_rnn_stable(const tsri_rnn_letters *s, double C, double tau)
{
    double tau1 = 5 * C * pow(s->L, 4) * (s->L + 2) * tau, tau5 = 3 * tau1;
    double tau2 = 4 * s->L * tau5 * log(s->m), tau4 = 10 * pow(tau1, 2.0 / 3);
    return (tsri_rnn_stability){.g = (tau1 + tau2) / sqrt(s->m),
                                .flips = tau4 * pow(s->m, 2.0 / 3),
                                .flip_g = tau5 / sqrt(s->m)};
}

double tsri_rnn_c9_form(const tsri_rnn_letters *s, double tau)
{
    return cbrt(tau) * pow(s->L, 6) * log(s->m) * cbrt(s->m);
}

double tsri_rnn_c10_form(const tsri_rnn_letters *s, double N, double tau)
{
    return pow(tsri_rnn_rho(s), 8) * pow(N, 2.0 / 3) * pow(tau, 5.0 / 6) / pow(s->m, 2.0 / 3);
}

double tsri_rnn_c11a_form(const tsri_rnn_letters *s, double N, double tau)
{
    return pow(tsri_rnn_rho(s), 3) * cbrt(tau) * pow(N, 1.0 / 6) / pow(s->m, 1.0 / 6);
}

double tsri_rnn_c11b_form(const tsri_rnn_letters *s, double N, double tau)
{
    return pow(tsri_rnn_rho(s), 12) * pow(N, 5.0 / 6) * pow(tau, 5.0 / 3) / cbrt(s->m);
}

double tsri_rnn_smooth_form(const tsri_rnn_letters *s, double tau, double loss, double size)
{
    return pow(tsri_rnn_rho(s), 11) * cbrt(tau) * cbrt(s->m) * loss * size +
           pow(s->L, 18) * s->n * s->m * size * size;
}
