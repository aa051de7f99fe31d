/* models.h - the builders of the models, one file for each family, and what they share. */
#ifndef TSRI_MODELS_H
#define TSRI_MODELS_H

#include "net/net.h"

tsr_status tsri_build_mlp(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_shallow(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_relu_deep(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_rnn(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_grelu(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_relu_twin(tsri_net *net, const tsr_config *config);

tsr_status tsri_build_preresnet18(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_preresnet34(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_wideresnet(tsri_net *net, const tsr_config *config);

tsr_status tsri_build_resnet18(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_resnet34(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_resnet50(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_resnet101(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_resnet152(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_wide_resnet50_2(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_wide_resnet101_2(tsri_net *net, const tsr_config *config);

tsr_status tsri_build_vgg11(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_vgg11_bn(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_vgg13_bn(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_vgg16_bn(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_vgg19_bn(tsri_net *net, const tsr_config *config);
tsr_status tsri_build_cnn1(tsri_net *net, const tsr_config *config);

/* ---- Shared (parts.c) --------------------------------------------------------------------- */

/* "<prefix>.<last>" in `name`, which is returned. */
const char *tsri_module(char name[TSRI_NAME], const char *prefix, const char *last);

/* Does model.stem, or with `auto` the size of the images, ask for ImageNet's stem? */
bool tsri_large_stem(const tsri_net *net, const tsr_config *config);

/* conv1 onto `axis`: 3x3, or 7x7 with stride 2 for large images. */
tsr_status tsri_stem_conv(tsri_net *net, int *x, int axis, bool large);

/* The mean of each channel and a linear layer called `name` onto the outputs: the end of a net. */
tsr_status tsri_classifier(tsri_net *net, int x, const tsr_config *config, const char *name);

/* Gives the parameter that was appended last another name. */
void tsri_rename_last(tsri_net *net, const char *name);

/* The fixed weights of one output, appended last, are a vector [m] and not a matrix [1, m]. */
void tsri_output_vector(tsri_net *net);

#endif
