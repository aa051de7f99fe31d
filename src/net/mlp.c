/* mlp.c - a multilayer perceptron: linear, [batch norm], ReLU, ..., linear.
 *
 * Names are those of a torch.nn.Sequential called `layers`, every module counted, so that
 *
 *     class Net(nn.Module):
 *         def __init__(self):
 *             self.layers = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
 *
 * loads our file as it is. Weights start as N(0, 2/inputs) (He et al. 2015), the last layer as
 * N(0, 1/inputs).
 */
#include "net/models.h"

#include <stdio.h>

static const char *module_name(char name[TSRI_NAME], int *number)
{
    (void)snprintf(name, TSRI_NAME, "layers.%d", (*number)++);
    return name;
}

static tsr_status build(tsri_net *net, const tsr_config *config, const void *of)
{
    tsr_status st = TSR_OK;
    (void)of;
    const int64_t *hidden;
    int64_t depth = tsri_config_ints(config, "model.hidden", &hidden);
    bool bias = tsri_config_bool(config, "model.bias");
    bool norm = tsri_config_text(config, "model.norm")[0] == 'b';
    char name[TSRI_NAME];
    int value = 0, number = 0, axis;
    for (int64_t l = 0; l < depth; l++) {
        TSR_TRY(tsri_net_axis(net, &axis, hidden[l], true, "hidden.%lld", (long long)l));
        TSR_TRY(tsri_net_linear(net, &value, value, axis, bias, 2.0, module_name(name, &number)));
        if (norm)
            TSR_TRY(tsri_net_norm(net, &value, value, module_name(name, &number)));
        TSR_TRY(tsri_net_relu(net, &value, value, module_name(name, &number)));
    }
    TSR_TRY(tsri_net_axis(net, &axis, net->outputs, false, "output"));
    TSR_TRY(tsri_net_linear(net, &value, value, axis, bias, 1.0, module_name(name, &number)));
done:
    return st;
}

const tsri_model tsri_model_mlp = {
    .name = "mlp",
    .help = "fully connected layers with ReLU, any depth",
    .keys = "hidden bias norm widths",
    .build = build,
};
