/* models.c - every model the program knows, one row each. */
#include "net/models.h"

#include <assert.h>
#include <string.h>

const tsri_model tsri_models[] = {
    {"mlp", "fully connected layers with ReLU, any depth", "hidden bias norm widths",
     tsri_build_mlp, NULL, NULL, 0},
    {"shallow", "one hidden layer, the second fixed at +-1/sqrt(m) (masked neurons)",
     "width kappa widths", tsri_build_shallow, NULL, NULL, 0},
    {"relu_deep", "deep ReLU classifier, the last layer fixed at +-1 (deep ReLU paper)",
     "hidden width layers widths", tsri_build_relu_deep, NULL, NULL, 0},
    {"rnn", "recurrent network (Elman) with ReLU, any number of layers (RNN paper)",
     "width layers train read first widths", tsri_build_rnn, NULL, NULL, 0},
    {"grelu", "deep network with fixed gates, first and last layer fixed (GReLU)",
     "width layers gate_rank from_relu", tsri_build_grelu, NULL, NULL, 0},
    {"relu_twin", "grelu with ReLUs in place of the gates, the same weights at first",
     "width layers", tsri_build_relu_twin, NULL, NULL, 0},
    {"preresnet18", "residual network with pre-activation, 18 layers", "width stem bias widths",
     tsri_build_preresnet18, "conv1", "linear", 0},
    {"preresnet34", "residual network with pre-activation, 34 layers", "width stem bias widths",
     tsri_build_preresnet34, "conv1", "linear", 0},
    {"resnet18", "residual network, 18 layers, as in torchvision", "width stem bias widths",
     tsri_build_resnet18, "conv1", "fc", 0},
    {"resnet34", "residual network, 34 layers, as in torchvision", "width stem bias widths",
     tsri_build_resnet34, "conv1", "fc", 0},
    {"resnet50", "residual network of bottlenecks, 50 layers, as in torchvision",
     "width stem bias widths", tsri_build_resnet50, "conv1", "fc", 0},
    {"resnet101", "residual network of bottlenecks, 101 layers, as in torchvision",
     "width stem bias widths", tsri_build_resnet101, "conv1", "fc", 0},
    {"resnet152", "residual network of bottlenecks, 152 layers, as in torchvision",
     "width stem bias widths", tsri_build_resnet152, "conv1", "fc", 0},
    {"wide_resnet50_2", "resnet50 with twice the inner filters, as in torchvision",
     "width stem bias widths", tsri_build_wide_resnet50_2, "conv1", "fc", 0},
    {"wide_resnet101_2", "resnet101 with twice the inner filters, as in torchvision",
     "width stem bias widths", tsri_build_wide_resnet101_2, "conv1", "fc", 0},
    {"wideresnet", "wide residual network, depth 6n+4, any factor", "depth factor bias widths",
     tsri_build_wideresnet, NULL, NULL, 0},
    {"vgg11", "plain convolutional network with batch norm", "width bias widths", tsri_build_vgg11,
     "features.0", "classifier", 0},
    {"vgg11_bn", "VGG with batch norm, 11 layers, for 224x224 pixels, as in torchvision",
     "width bias widths", tsri_build_vgg11_bn, "features.0", "classifier.6", 224},
    {"vgg13_bn", "VGG with batch norm, 13 layers, for 224x224 pixels, as in torchvision",
     "width bias widths", tsri_build_vgg13_bn, "features.0", "classifier.6", 224},
    {"vgg16_bn", "VGG with batch norm, 16 layers, for 224x224 pixels, as in torchvision",
     "width bias widths", tsri_build_vgg16_bn, "features.0", "classifier.6", 224},
    {"vgg19_bn", "VGG with batch norm, 19 layers, for 224x224 pixels, as in torchvision",
     "width bias widths", tsri_build_vgg19_bn, "features.0", "classifier.6", 224},
    {"cnn1", "one hidden convolution, the second layer fixed", "width filter kappa widths",
     tsri_build_cnn1, NULL, NULL, 0},
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
