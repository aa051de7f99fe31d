/* cnn1.c - the convolutional network with one hidden layer of the LoFT paper (section 5):
 *
 *     f(x) = <a, relu(W phi(x))> = sum over r, j of a_rj relu(<w_r, x^(j)>)
 *
 * x^(j) is the patch around pixel j, zeros outside the image; w_r, r = 1..m, are the filters, j =
 * 1..p the pixels. The filters start as N(0, kappa^2) and are trained; a_rj = +-1/(p sqrt m) is
 * drawn once and stays (Assumption 2).
 *
 * So it is a convolution without bias (conv1), ReLU, and a linear layer without bias (linear) whose
 * weights are fixed. With several outputs, each has signs of its own; the paper has one. A share
 * drawn unit by unit computes just that with its filters, and the whole is judged with the factor
 * xi, the chance of a filter (appendix B), as in shallow.c.
 *
 * Axes: "filters", which may be cut.
 */
#include "net/models.h"

#include <math.h>

static tsr_status build(tsri_net *net, const tsr_config *config, const void *of)
{
    tsr_status st = TSR_OK;
    (void)of;
    int64_t m = tsri_config_int(config, "model.width");
    int64_t side = tsri_config_int(config, "model.filter"), q = side * side;
    double kappa = tsri_config_real(config, "model.kappa");
    double p = (double)(net->input.h * net->input.w);
    double gain = kappa * kappa * (double)(net->input.c * q); /* N(0, gain / inputs) */
    int filters, output, x = 0;
    TSR_CHECK(side % 2 == 1, TSR_USAGE,
              "%s: model.filter is odd, so that a patch has a pixel in its middle; not %lld",
              tsri_config_place(config, "model.filter"), (long long)side);
    TSR_TRY(tsri_net_axis(net, &filters, m, true, "filters"));
    TSR_TRY(tsri_net_conv(net, &x, x, filters, side, 1, side / 2, false, gain, "conv1"));
    TSR_TRY(tsri_net_relu(net, &x, x, "relu"));
    TSR_TRY(tsri_net_flatten(net, &x, x, "flatten"));
    TSR_TRY(tsri_net_axis(net, &output, net->outputs, false, "output"));
    TSR_TRY(tsri_net_fixed(net, &x, x, output, 1.0 / (p * sqrt((double)m)), "linear"));
    net->layer[net->layers - 1].share_scale = 1; /* xi is the whole's: tsri_net_expect */
done:
    return st;
}

const tsri_model tsri_model_cnn1 = {
    .name = "cnn1",
    .help = "one hidden convolution, the second layer fixed",
    .keys = "width filter kappa widths",
    .build = build,
    .normalize = "patch",
    .one_hidden = true,
    .paper = "loft",
};
