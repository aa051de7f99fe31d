/* models.h - the builders of the models, one file each. */
#ifndef TSRI_MODELS_H
#define TSRI_MODELS_H

#include "net/net.h"

tsr_status tsri_build_mlp(tsri_net *net, const tsr_config *config);

#endif
