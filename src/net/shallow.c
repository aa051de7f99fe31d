/* shallow.c - the network with one hidden layer of the masked-neurons paper (Liao, Kyrillidis):
 *
 *     a share      f_m(x) = 1/sqrt(m)  sum over r in the share of a_r relu(<w_r, x>)
 *     the whole    u(x)   = xi/sqrt(m) sum over all r           of a_r relu(<w_r, x>)
 *
 * Parameters: w [m, d], trained, starts as N(0, kappa^2); a [m], +-1 with chance 1/2 each, never
 * changed. With k outputs a is [k, m], each output with signs of its own; the paper has one.
 *
 * The factors are the scale of the last layer, not part of a: m is the width of the whole network
 * also in a share, and xi, the chance of a unit to be drawn, belongs to the whole network alone
 * (dense: xi = 1; tsri_net_expect). A model's file has xi in a (model/whole.h).
 *
 * The paper's indicator is 1[<w,x> >= 0], the derivative of our ReLU at 0 is 0: no difference but
 * where the product is exactly 0.
 *
 * Axes: "hidden", which may be cut.
 */
#include "net/models.h"

#include <math.h>

static tsr_status build(tsri_net *net, const tsr_config *config, const void *of)
{
    tsr_status st = TSR_OK;
    (void)of;
    int64_t m = tsri_config_int(config, "model.width"), d = tsri_shape_count(net->input);
    double kappa = tsri_config_real(config, "model.kappa");
    int hidden, output, x = 0;
    TSR_TRY(tsri_net_axis(net, &hidden, m, true, "hidden"));
    TSR_TRY(tsri_net_linear(net, &x, x, hidden, false, kappa * kappa * (double)d, "hidden"));
    tsri_rename_last(net, "w");
    TSR_TRY(tsri_net_relu(net, &x, x, "relu"));
    TSR_TRY(tsri_net_axis(net, &output, net->outputs, false, "output"));
    TSR_TRY(tsri_net_fixed(net, &x, x, output, 1.0, "output"));
    tsri_rename_last(net, "a");
    tsri_output_vector(net);
    tsri_layer *last = &net->layer[net->layers - 1];
    last->scale = last->share_scale = 1.0 / sqrt((double)m);
done:
    return st;
}

const tsri_model tsri_model_shallow = {
    .name = "shallow",
    .help = "one hidden layer, the second fixed at +-1/sqrt(m) (masked neurons)",
    .keys = "width kappa widths",
    .build = build,
    .normalize = "unit",
    .loss = &tsri_loss_half_squares,
    .one_hidden = true,
    .paper = "masked-neurons",
};
