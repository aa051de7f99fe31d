/* cross_entropy.c - the cross entropy of a softmax, PyTorch's:
 *
 *     -log softmax(x)[label],     d/dx = softmax(x) - onehot
 *
 * With smoothing e and weights c of K classes, t_o = c_o (e/K + (1 - e) [o = label]) / mean
 * c[label]:
 *
 *     -sum_o t_o log softmax(x)_o,     d/dx = sum(t) softmax(x) - t
 */
#include "backend/backend.h"

static double hard(const tsri_position *p)
{
    double top = tsri_output_at(p, tsri_largest_output(p)), sum = 0;
    for (int64_t o = 0; o < p->k; o++)
        sum += exp(tsri_output_at(p, o) - top);
    for (int64_t o = 0; p->dx && o < p->k; o++)
        tsri_slope_put(
            p, o, (exp(tsri_output_at(p, o) - top) / sum - (o == p->label ? 1.0 : 0.0)) * p->scale);
    return log(sum) + top - tsri_output_at(p, p->label);
}

/* The same to targets that are spread or weighted. */
static double soft(const tsri_position *p)
{
    const tsri_loss *loss = p->loss;
    double top = tsri_output_at(p, tsri_largest_output(p)), sum = 0, all = 0, value = 0;
    double mean = loss->weight ? *loss->weight_mean : 1;
    for (int64_t o = 0; o < p->k; o++)
        sum += exp(tsri_output_at(p, o) - top);
    for (int pass = 0; pass < 2; pass++) /* first the sum of the targets */
        for (int64_t o = 0; o < p->k; o++) {
            double t = loss->smoothing / (double)p->k + (o == p->label ? 1 - loss->smoothing : 0);
            t *= (loss->weight ? loss->weight[o] : 1) / mean;
            if (pass == 0) {
                all += t;
                value += t * (log(sum) + top - tsri_output_at(p, o));
            } else if (p->dx) {
                tsri_slope_put(p, o, (all * exp(tsri_output_at(p, o) - top) / sum - t) * p->scale);
            }
        }
    return value;
}

static double position(const tsri_position *p)
{
    return p->loss->smoothing > 0 || p->loss->weight ? soft(p) : hard(p);
}

const tsri_loss_kind tsri_loss_cross_entropy = {
    .name = "cross_entropy",
    .help = "mean over samples of -log softmax(x)[label]",
    .position = position,
    .classes = true,
    .softens = true,
};
