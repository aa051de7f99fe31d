/* models.c - every model the program knows, one row each. */
#include "net/models.h"

#include <assert.h>
#include <string.h>

const tsri_model tsri_models[] = {
    {"mlp", "fully connected layers with ReLU, any depth", "hidden bias norm widths",
     tsri_build_mlp, NULL, NULL},
    {"shallow", "one hidden layer, the second fixed at +-1/sqrt(m) (masked neurons)",
     "width kappa widths", tsri_build_shallow, NULL, NULL},
    {"relu_deep", "deep ReLU classifier, the last layer fixed at +-1 (deep ReLU paper)",
     "hidden width layers widths", tsri_build_relu_deep, NULL, NULL},
    {"rnn", "recurrent network (Elman) with ReLU, any number of layers (RNN paper)",
     "width layers train read first widths", tsri_build_rnn, NULL, NULL},
    {"grelu", "deep network with fixed gates, first and last layer fixed (GReLU)",
     "width layers gate_rank from_relu", tsri_build_grelu, NULL, NULL},
    {"relu_twin", "grelu with ReLUs in place of the gates, the same weights at first",
     "width layers", tsri_build_relu_twin, NULL, NULL},
    {"preresnet18", "residual network with pre-activation, 18 layers", "width stem bias widths",
     tsri_build_preresnet18, "conv1", "linear"},
    {"preresnet34", "residual network with pre-activation, 34 layers", "width stem bias widths",
     tsri_build_preresnet34, "conv1", "linear"},
    {"resnet18", "residual network, 18 layers, as in torchvision", "width stem bias widths",
     tsri_build_resnet18, "conv1", "fc"},
    {"resnet34", "residual network, 34 layers, as in torchvision", "width stem bias widths",
     tsri_build_resnet34, "conv1", "fc"},
    {"wideresnet", "wide residual network, depth 6n+4, any factor", "depth factor bias widths",
     tsri_build_wideresnet, NULL, NULL},
    {"vgg11", "plain convolutional network with batch norm", "width bias widths", tsri_build_vgg11,
     "features.0", "classifier"},
    {"cnn1", "one hidden convolution, the second layer fixed", "width filter kappa widths",
     tsri_build_cnn1, NULL, NULL},
};

const int64_t tsri_model_count = (int64_t)(sizeof tsri_models / sizeof *tsri_models);

const tsri_model *tsri_model_of(const tsr_config *config)
{
    const char *name = tsri_config_text(config, "model.name");
    int64_t i = 0;
    while (i < tsri_model_count && strcmp(tsri_models[i].name, name) != 0)
        i++;
    assert(i < tsri_model_count); /* the schema's choices are the table's names; a test compares */
    return &tsri_models[i];
}
