/* rnn.c - Elman networks with ReLU (Allen-Zhu, Li, Song, "On the Convergence Rate of Training
 * Recurrent Neural Networks", section 2):
 *
 *     h_l = relu(W h_(l-1) + A x_l),   h_0 = 0,   y_l = B h_l
 *     W, A ~ N(0, 2/m),   B ~ N(0, 1/d),   d outputs at a position, no bias
 *
 * W alone is trained (model.train: w, the paper's) or all three. With model.layers: N the states of
 * one layer are the inputs of the next (section 1.1, "deep RNN"), each with a W and an A of its
 * own. B reads the last layer, at every position or at the end of the sequence (model.read; `auto`
 * has become one of the two by now: run/loss_choice.c).
 *
 * Names are those of nn.RNN(d_x, m, num_layers=N, nonlinearity="relu", bias=False) called `rnn` and
 * nn.Linear(m, d, bias=False) called `out`.
 *
 * Axes: hidden.0, hidden.1, ... each the rows of its layer's A, the rows *and* the columns of its
 * W, the columns of what reads it. In a share W h, and A h of a layer
 * further up, is multiplied by 1/sqrt(xi), which keeps |h_l| at every position; the 1/xi of other
 * layers, B's too, would let it grow by xi^(-l/2).
 */
#include "net/models.h"

#include <stdio.h>

/* The first position that the loss sees, from 0: the paper's sum begins at l = 2. */
static tsr_status first_position(tsri_net *net, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    int64_t first = tsri_config_int(config, "model.first");
    const tsri_loss_kind *loss = tsri_loss_named(tsri_config_text(config, "loss"));
    if (first == 0)
        first = loss && loss->squares ? 2 : 1;
    TSR_CHECK(first <= net->input.h, TSR_USAGE,
              "%s: the loss begins at position %lld, but the longest sequence has %lld: use longer "
              "ones, or model.first: 1",
              tsri_config_place(config, "model.first"), (long long)first, (long long)net->input.h);
    net->first = first - 1;
done:
    return st;
}

static tsr_status build_layer(tsri_net *net, int *x, const tsr_config *config, int64_t l)
{
    tsr_status st = TSR_OK;
    int64_t m = tsri_config_int(config, "model.width");
    bool all = tsri_config_is(config, "model.train", "all");
    char name[TSRI_NAME];
    int axis;
    TSR_TRY(tsri_net_axis(net, &axis, m, true, "hidden.%lld", (long long)l));
    (void)snprintf(name, sizeof name, "rnn.weight_ih_l%lld", (long long)l);
    TSR_TRY(tsri_net_each(net, x, *x, axis, 2.0 / (double)m, all, name));
    (void)snprintf(name, sizeof name, "rnn.weight_hh_l%lld", (long long)l);
    TSR_TRY(tsri_net_recurrent(net, x, *x, 2.0 / (double)m, name));
done:
    return st;
}

static tsr_status build(tsri_net *net, const tsr_config *config, const void *of)
{
    tsr_status st = TSR_OK;
    (void)of;
    int64_t layers = tsri_config_int(config, "model.layers"), T = net->input.h;
    bool all = tsri_config_is(config, "model.train", "all");
    bool every = tsri_config_is(config, "model.read", "every");
    int x = 0, output;
    TSR_CHECK(net->input.w == 1 && (!every || net->outputs % T == 0), TSR_USAGE,
              "%s: rnn reads sequences of up to %lld positions%s: %lld outputs do not go with them",
              net->place, (long long)T, every ? " and answers at each" : "",
              (long long)net->outputs);
    if (every)
        TSR_TRY(first_position(net, config));
    for (int64_t l = 0; l < (layers > 0 ? layers : 1); l++)
        TSR_TRY(build_layer(net, &x, config, l));
    int64_t d = every ? net->outputs / T : net->outputs;
    TSR_TRY(tsri_net_axis(net, &output, d, false, "output"));
    if (!every)
        TSR_TRY(tsri_net_last(net, &x, x, "last"));
    TSR_TRY(tsri_net_each(net, &x, x, output, 1.0 / (double)d, all, "out.weight"));
    if (every)
        TSR_TRY(tsri_net_turn(net, &x, x, "turn"));
done:
    return st;
}

const tsri_model tsri_model_rnn = {
    .name = "rnn",
    .help = "recurrent network (Elman) with ReLU, any number of layers (RNN paper)",
    .keys = "width layers train read first widths",
    .build = build,
    .sequences = true,
    .normalize = "unit",
    .target_loss = &tsri_loss_half_squares,
    .paper = "relu-rnn",
};
