/* models.c - every model the program knows, one row each. */
#include "net/models.h"

const tsri_model tsri_models[] = {
    {"mlp", "fully connected layers with ReLU, any depth", tsri_build_mlp},
    {"shallow", "one hidden layer, the second fixed at +-1/sqrt(m) (masked neurons)",
     tsri_build_shallow},
    {"relu_deep", "deep ReLU classifier, the last layer fixed at +-1 (deep ReLU paper)",
     tsri_build_relu_deep},
    {"rnn", "recurrent network (Elman) with ReLU, any number of layers (RNN paper)",
     tsri_build_rnn},
    {"grelu", "deep network with fixed gates, first and last layer fixed (GReLU)",
     tsri_build_grelu},
    {"relu_twin", "grelu with ReLUs in place of the gates, the same weights at first",
     tsri_build_relu_twin},
    {"preresnet18", "residual network with pre-activation, 18 layers", tsri_build_preresnet18},
    {"preresnet34", "residual network with pre-activation, 34 layers", tsri_build_preresnet34},
    {"resnet18", "residual network, 18 layers, as in torchvision", tsri_build_resnet18},
    {"resnet34", "residual network, 34 layers, as in torchvision", tsri_build_resnet34},
    {"wideresnet", "wide residual network, depth 6n+4, any factor", tsri_build_wideresnet},
    {"vgg11", "plain convolutional network with batch norm", tsri_build_vgg11},
    {"cnn1", "one hidden convolution, the second layer fixed", tsri_build_cnn1},
};

const int64_t tsri_model_count = (int64_t)(sizeof tsri_models / sizeof *tsri_models);
