/* exponential.c - l(z) = e^-z of the margin. It overflows a float at z = -88: below -80 it goes on
 * as its tangent, which is Lipschitz, as Assumption 3.3 of the deep ReLU paper wants a loss to
 * be. */
#include "backend/backend.h"

static double exponential(double z, double *slope)
{
    const double least = -80;
    double e = exp(-(z < least ? least : z));
    *slope = -e;
    return z < least ? e * (1 + least - z) : e;
}

const tsri_loss_kind tsri_loss_exponential = {
    .name = "exponential",
    .help = "of margins: e^-z",
    .position = tsri_margin_position,
    .margin = exponential,
    .steepest = INFINITY,
    .curved = INFINITY,
    .curves_as_falls = true,
    .turn = -INFINITY,
    .before = NAN,
    .after = 1, /* |l'| = l */
    .power = 1,
};
