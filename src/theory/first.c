/* first.c - the weights that a run began with. */
#include "theory/first.h"

#include "model/whole.h"
#include "net/grelu.h"

tsr_status tsri_first_weights(tsri_store *first, const tsri_run_view *view)
{
    tsr_status st = TSR_OK;
    tsri_tensors *file = NULL;
    TSR_TRY(tsri_store_init(first, view->net, view->device.backend, false));
    TSR_TRY(tsri_store_fill(first, view->settings->seed));
    const char *relu = tsri_config_text(view->settings->config, "model.from_relu");
    if (relu && view->position->converted < 0)
        TSR_TRY(tsri_grelu_from_relu(first, relu));
    if (relu && view->position->converted >= 0) { /* a ReLU net by now, as that file's is */
        TSR_TRY(tsri_tensors_read(&file, relu));
        TSR_TRY(tsri_store_load(first, file, "", relu));
        tsri_tensors_destroy(file);
        file = NULL;
    }
    if (view->settings->options.init) {
        TSR_TRY(tsri_tensors_read(&file, view->settings->options.init));
        TSR_TRY(tsri_whole_load(first, file, view->settings->options.init));
    }
done:
    tsri_tensors_destroy(file);
    return st;
}
