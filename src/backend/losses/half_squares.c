/* half_squares.c - half the sum over samples and outputs of (x - target)^2, labels one-hot: the
 * papers' loss. A sum, not a mean, and so is its gradient, x - target. The whole network is judged
 * by the sum of squares without the half (the masked-neurons paper's L_k). */
#include "backend/backend.h"

static double position(const tsri_position *p)
{
    double sum = 0;
    for (int64_t o = 0; o < p->k; o++) {
        double d = tsri_error_at(p, o);
        sum += d * d;
        tsri_slope_put(p, o, d);
    }
    return 0.5 * sum;
}

const tsri_loss_kind tsri_loss_half_squares = {
    .name = "half_squares",
    .help = "half the sum over the batch of squared errors, the whole network judged by their sum "
            "without the half",
    .position = position,
    .sum = true,
    .judged = 2,
    .squares = true,
};
