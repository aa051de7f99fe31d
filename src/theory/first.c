/* first.c - the weights that a run began with. */
#include "theory/first.h"

#include "model/whole.h"
#include "net/grelu.h"

tsr_status tsri_first_weights(tsri_store *first, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_tensors *file = NULL;
    TSR_TRY(tsri_store_init(first, run->net, run->device.backend, false));
    TSR_TRY(tsri_store_fill(first, run->settings.seed));
    const char *relu = tsri_config_text(run->settings.config, "model.from_relu");
    if (relu && run->position.converted < 0)
        TSR_TRY(tsri_grelu_from_relu(first, relu));
    if (relu && run->position.converted >= 0) { /* a ReLU net by now, as that file's is */
        TSR_TRY(tsri_tensors_read(&file, relu));
        TSR_TRY(tsri_store_load(first, file, "", relu));
        tsri_tensors_destroy(file);
        file = NULL;
    }
    if (run->settings.options.init) {
        TSR_TRY(tsri_tensors_read(&file, run->settings.options.init));
        TSR_TRY(tsri_whole_load(first, file, run->settings.options.init));
    }
done:
    tsri_tensors_destroy(file);
    return st;
}
