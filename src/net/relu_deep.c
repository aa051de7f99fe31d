/* relu_deep.c - the deep ReLU classifier of Zou, Cao, Zhou and Gu ("Stochastic Gradient Descent
 * Optimizes Over-parameterized Deep ReLU Networks", section 3):
 *
 *     f(x) = v^T relu(W_L^T ... relu(W_1^T x)),      column j of W_l ~ N(0, (2/m_l) I),
 *
 * v fixed, half of it +1 and half -1, no bias. The variance is that of the layer's *own* width m_l,
 * so that |x_l| stays near |x|. W_l^T is `layers.N.weight`, as in an nn.Sequential of Linear and
 * ReLU modules, v is `v`.
 *
 * Departure: with several outputs (classes, one against the rest) all share the hidden layers and
 * each has a v of its own, its signs in an order of its own: the same order would make all outputs
 * the same function for ever.
 */
#include "net/models.h"

#include <stdio.h>

/* Widths m_1 .. m_L: model.layers times model.width, or as model.hidden lists them. */
static int64_t width_of(const tsr_config *config, int64_t l)
{
    const int64_t *hidden;
    if (tsri_config_int(config, "model.layers") > 0)
        return tsri_config_int(config, "model.width");
    (void)tsri_config_ints(config, "model.hidden", &hidden);
    return hidden[l];
}

static tsr_status check_widths(const tsr_config *config, int64_t depth)
{
    tsr_status st = TSR_OK;
    bool uniform = tsri_config_int(config, "model.layers") > 0;
    const char *place = tsri_config_place(config, uniform ? "model.width" : "model.hidden");
    TSR_CHECK(depth > 0, TSR_USAGE, "%s: relu_deep has at least one hidden layer", place);
    TSR_CHECK(width_of(config, depth - 1) % 2 == 0, TSR_USAGE,
              "%s: half of v is +1 and half is -1: the last hidden layer has an even number of "
              "units, not %lld",
              place, (long long)width_of(config, depth - 1));
done:
    return st;
}

static tsr_status build(tsri_net *net, const tsr_config *config, const void *of)
{
    tsr_status st = TSR_OK;
    (void)of;
    const int64_t *hidden;
    int64_t layers = tsri_config_int(config, "model.layers");
    int64_t depth = layers > 0 ? layers : tsri_config_ints(config, "model.hidden", &hidden);
    char name[TSRI_NAME];
    int x = 0, axis;
    TSR_TRY(check_widths(config, depth));
    for (int64_t l = 0; l < depth; l++) {
        int64_t inputs = tsri_shape_count(net->value[x].shape), m = width_of(config, l);
        double gain = 2 * (double)inputs / (double)m; /* N(0, gain / inputs) */
        TSR_TRY(tsri_net_axis(net, &axis, m, true, "hidden.%lld", (long long)l));
        (void)snprintf(name, sizeof name, "layers.%lld", (long long)(2 * l));
        TSR_TRY(tsri_net_linear(net, &x, x, axis, false, gain, name));
        (void)snprintf(name, sizeof name, "layers.%lld", (long long)(2 * l + 1));
        TSR_TRY(tsri_net_relu(net, &x, x, name));
    }
    TSR_TRY(tsri_net_axis(net, &axis, net->outputs, false, "output"));
    TSR_TRY(tsri_net_fixed(net, &x, x, axis, 1.0, "output"));
    net->param[net->params - 1].init = TSRI_INIT_HALVES;
    tsri_rename_last(net, "v");
    tsri_output_vector(net);
done:
    return st;
}

const tsri_model tsri_model_relu_deep = {
    .name = "relu_deep",
    .help = "deep ReLU classifier, the last layer fixed at +-1 (deep ReLU paper)",
    .keys = "hidden width layers widths",
    .build = build,
    .normalize = "unit",
    .loss = &tsri_loss_logistic,
    .separate = true,   /* Assumption 3.6 */
    .keeps_best = true, /* Theorem 4.5 */
    .paper = "deep-relu-sgd",
};
