/* models.c - every model the program knows, one row each. */
#include "net/models.h"

const tsri_model tsri_models[] = {
    {"mlp", "fully connected layers with ReLU, any depth", tsri_build_mlp},
};

const int64_t tsri_model_count = (int64_t)(sizeof tsri_models / sizeof *tsri_models);
