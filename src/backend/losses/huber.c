/* huber.c - the mean over samples and outputs of d^2/2 where |d| <= 1 and of |d| - 1/2 beyond;
 * d = x - target, labels one-hot. */
#include "backend/backend.h"

static double position(const tsri_position *p)
{
    double sum = 0, k = (double)p->k, scale = p->scale / k;
    for (int64_t o = 0; o < p->k; o++) {
        double d = tsri_error_at(p, o);
        bool near = fabs(d) <= 1;
        sum += near ? 0.5 * d * d : fabs(d) - 0.5;
        tsri_slope_put(p, o, (near ? d : copysign(1, d)) * scale);
    }
    return sum / k;
}

const tsri_loss_kind tsri_loss_huber = {
    .name = "huber",
    .help = "mean of squared errors up to 1, of absolute ones beyond",
    .position = position,
};
