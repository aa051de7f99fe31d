/* ref.c - the reference backend in float: plain C, the oracle of every test. */
#include "backend/backend.h"

#include <math.h>

typedef float real;

#include "linear.inc"
#include "norm.inc"
#include "relu.inc"
#include "loss.inc"
#include "update.inc"

static const tsri_kernel *const kernels[] = {&linear, &norm, &relu, NULL};

const tsri_backend tsri_backend_ref = {.name = "ref",
                                       .real_bytes = sizeof(real),
                                       .kernels = kernels,
                                       .loss = ref_loss,
                                       .update = ref_update};
