/* ref.c - the reference backend in float: plain C, the oracle of every test. */
#include "backend/backend.h"
#include "backend/bf16.h"

#include <math.h>

typedef float real;

#include "kernels.inc"
#include "loss.inc"
#include "update.inc"
#include "adam.inc"

const tsri_backend tsri_backend_ref = {.name = "ref",
                                       .real_bytes = sizeof(real),
                                       .heap = TSRI_HEAP_HERE,
                                       .can = {.reads_host = true},
                                       .kernels = kernels,
                                       .loss = ref_loss,
                                       .update = ref_update,
                                       .adam = ref_adam,
                                       .vectors = &tsri_vectors_here,
                                       .slices = &tsri_slices_here,
                                       .input = tsri_input_float,
                                       .count = tsri_count_float};
