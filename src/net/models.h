/* models.h - the rows of the models, each at the end of its family's file, and what builders
 * share. */
#ifndef TSRI_MODELS_H
#define TSRI_MODELS_H

#include "net/net.h"

#define X(name) extern const tsri_model tsri_model_##name;
TSRI_MODEL_NAMES(X)
#undef X

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
