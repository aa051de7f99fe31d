/* hinge.c - l(z) = max(0, 1 - z) of the margin. */
#include "backend/backend.h"

static double hinge(double z, double *slope)
{
    *slope = z < 1 ? -1 : 0;
    return z < 1 ? 1 - z : 0;
}

const tsri_loss_kind tsri_loss_hinge = {
    .name = "hinge",
    .help = "of margins: max(0, 1 - z)",
    .position = tsri_margin_position,
    .margin = hinge,
    .steepest = 1,
    .curved = INFINITY,
    .kink = "the slope of the hinge jumps at margin 1",
    .turn = 1,
    .before = 1,
    .after = INFINITY, /* l = 0 from 1 on, so any p > 0 and any alpha_1 will do: */
    .power = 0,        /* p -> 0 asks least */
};
