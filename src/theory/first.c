/* first.c - the weights that a run began with. */
#include "theory/first.h"

tsr_status tsri_first_weights(tsri_store *first, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_tensors *file = NULL;
    TSR_TRY(tsri_store_init(first, run->net, run->backend->real_bytes, false));
    tsri_store_fill(first, run->seed);
    if (run->options.init) {
        TSR_TRY(tsri_tensors_read(&file, run->options.init));
        TSR_TRY(tsri_store_load(first, file, "", run->options.init));
    }
done:
    tsri_tensors_destroy(file);
    return st;
}
