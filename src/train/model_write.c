/* model_write.c - the finished model of a run, with all that its file says about the run. */
#include "io/json.h"
#include "model/model.h"
#include "train/convert_run.h"
#include "train/model_write.h"
#include "train/rollback.h"

static tsr_status write_classes(tsri_json *w, const tsr_data *d)
{
    tsri_json_open(w, '[');
    for (int64_t i = 0; d->class_name && i < d->classes; i++)
        tsri_json_text(w, d->class_name[i]);
    tsri_json_close(w, ']');
    return tsri_json_end(w);
}

tsr_status tsri_run_put(tsri_sink *to, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_json scaling = {0}, classes = {0}, schema = {0};
    tsri_text rollbacks = {0};
    tsr_config *config = NULL;
    tsri_opened host = {0};
    TSR_TRY(tsri_store_open(&host, &run->store, TSRI_OPEN_WEIGHTS));
    tsri_scaling_write(&scaling, &run->data->scaling);
    TSR_TRY(tsri_json_end(&scaling));
    TSR_TRY(write_classes(&classes, run->data));
    tsri_data_schema_write(&schema, &run->data->schema);
    TSR_TRY(tsri_json_end(&schema));
    TSR_TRY(tsri_convert_run_file(&config, run));
    TSR_TRY(tsri_rollback_write(&rollbacks, &run->position));
    tsri_model_parts parts = {.net = run->net,
                              .w = host.w,
                              .config = config,
                              .scaling = scaling.text.data,
                              .classes = classes.text.data,
                              .schema = schema.text.data,
                              .ticket = run->ticket,
                              .forced = run->forced.length > 0 ? run->forced.data : NULL,
                              .rollbacks = rollbacks.data};
    TSR_TRY(tsri_model_put(to, &parts));
done:
    tsri_store_close(&host);
    tsri_text_fini(&rollbacks);
    tsri_json_fini(&scaling);
    tsri_json_fini(&classes);
    tsri_json_fini(&schema);
    tsr_config_destroy(config);
    return st;
}

tsr_status tsri_model_write(const tsri_run *run, const char *path)
{
    return tsri_run_put(&(tsri_sink){.path = path}, run);
}
