/* logistic.c - l(z) = log(1 + e^-z) of the margin. */
#include "backend/backend.h"

static double logistic(double z, double *slope)
{
    double e = exp(-fabs(z)); /* at most 1 on both sides */
    *slope = z > 0 ? -e / (1 + e) : -1 / (1 + e);
    return (z > 0 ? 0 : -z) + log1p(e);
}

const tsri_loss_kind tsri_loss_logistic = {
    .name = "logistic",
    .help = "of margins: log(1 + e^-z)",
    .position = tsri_margin_position,
    .margin = logistic,
    .steepest = 1,
    .curved = 0.25,
    .turn = 0, /* |l'| >= 1/2 below 0; |l'|/l grows from 1/(2 log 2) there */
    .before = 0.5,
    .after = 0.5 / M_LN2,
    .power = 1,
};
