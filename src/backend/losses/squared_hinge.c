/* squared_hinge.c - l(z) = max(0, 1 - z)^2 of the margin. */
#include "backend/backend.h"

static double squared_hinge(double z, double *slope)
{
    double short_of = z < 1 ? 1 - z : 0;
    *slope = -2 * short_of;
    return short_of * short_of;
}

const tsri_loss_kind tsri_loss_squared_hinge = {
    .name = "squared_hinge",
    .help = "of margins: max(0, 1 - z)^2",
    .position = tsri_margin_position,
    .margin = squared_hinge,
    .steepest = INFINITY,
    .curved = 2,
    .turn = -INFINITY,
    .before = NAN,
    .after = 2, /* |l'| = 2 l^(1/2) */
    .power = 0.5,
};
