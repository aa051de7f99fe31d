/* mse.c - the mean over samples and outputs of (x - target)^2, labels one-hot. */
#include "backend/backend.h"

static double position(const tsri_position *p)
{
    double sum = 0, k = (double)p->k;
    for (int64_t o = 0; o < p->k; o++) {
        double d = tsri_error_at(p, o);
        sum += d * d;
        tsri_slope_put(p, o, d * (2.0 * p->scale) / k);
    }
    return sum / k;
}

const tsri_loss_kind tsri_loss_mse = {
    .name = "mse",
    .help = "mean over samples and outputs of squared errors",
    .position = position,
};
