/* rnn_bounds.c - steps, iterations and rates of the recurrent paper.
 *
 * Theorem 2's step is printed as delta / (rho^12 m); its T = rho^57 / delta^2 and the T = rho^15 /
 * (eta delta m) of its proof agree only for rho^42, which is taken here.
 */
#include "theory/rnn_bounds.h"

#include <math.h>

double tsri_rnn_rho(const tsri_rnn_letters *s)
{
    return s->n * s->L * s->d * log(s->m);
}

double tsri_rnn_varrho(const tsri_rnn_letters *s)
{
    return s->n * s->L * s->d / s->delta * log(s->m / s->epsilon);
}

double tsri_rnn_step(const tsri_rnn_letters *s)
{
    return s->delta / (pow(tsri_rnn_rho(s), s->sgd ? 42 : 44) * s->m);
}

double tsri_rnn_rounds(const tsri_rnn_letters *s)
{
    return pow(tsri_rnn_rho(s), s->sgd ? 57 : 59) / (s->delta * s->delta) * log(1 / s->epsilon);
}

double tsri_rnn_rate(const tsri_rnn_letters *s, double eta)
{
    return eta * s->delta * s->m / pow(tsri_rnn_rho(s), 15);
}

double tsri_rnn_radius(const tsri_rnn_letters *s)
{
    return pow(tsri_rnn_varrho(s), 50);
}
