/* first.c - the weights that a run began with. */
#include "theory/first.h"

#include "base/alloc.h"
#include "io/file.h"
#include "model/whole.h"
#include "net/grelu.h"
#include "train/checkpoint.h"

#include <stdio.h>

/* Of a run that began with a model: before the first round its own; later those of its checkpoint of
 * round 0, which it keeps for this, whether that model is still there or not. */
static tsr_status given_weights(tsri_store *first, const tsri_run_view *view)
{
    tsr_status st = TSR_OK;
    tsri_tensors *file = NULL;
    char name[64], *path = NULL;
    if (view->position->round == 0)
        return tsri_store_copy(first, view->store);
    TSR_CHECK(view->settings->options.folder, TSR_FAILURE,
              "the model that the run began with is not kept");
    (void)snprintf(name, sizeof name, TSRI_CHECKPOINT_NAME, (int64_t)0);
    TSR_TRY(tsri_path_join(&path, view->settings->options.folder, name));
    TSR_TRY(tsri_tensors_read(&file, path));
    TSR_TRY(tsri_store_load(first, file, "model.", path));
done:
    tsri_tensors_destroy(file);
    tsri_free(path);
    return st;
}

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
    if (view->given && view->position->converted < 0) {
        TSR_TRY(given_weights(first, view));
    } else if (view->settings->options.init) {
        TSR_TRY(tsri_tensors_read(&file, view->settings->options.init));
        TSR_TRY(tsri_whole_load(first, file, view->settings->options.init));
    }
done:
    tsri_tensors_destroy(file);
    return st;
}
