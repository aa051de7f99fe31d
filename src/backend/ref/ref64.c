/* ref64.c - the reference backend in double: plain C, for gradients by finite differences. */
#include "backend/backend.h"
#include "backend/bf16.h"

#include <math.h>

typedef double real;

#include "kernels.inc"
#include "loss.inc"
#include "update.inc"
#include "adam.inc"

const tsri_backend tsri_backend_ref64 = {.name = "ref64",
                                         .real_bytes = sizeof(real),
                                         .heap = TSRI_HEAP_HERE,
                                         .can = {.reads_host = true},
                                         .kernels = kernels,
                                         .loss = ref_loss,
                                         .update = ref_update,
                                         .adam = ref_adam,
                                         .input = tsri_input_double,
                                         .count = tsri_count_double};
