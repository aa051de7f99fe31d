/* run.c - what a round may ask of its run: the plan of a step, batches, a look at the weights. */
#include "run/run.h"

#include <string.h>

const char *tsri_convert_kind(const tsri_run *run)
{
    const tsri_model *gated = tsri_model_of(run->settings.config);
    return run->settings.convert_round < 0 ? NULL
           : run->position.converted < 0   ? gated->name
                                           : gated->twin;
}

tsr_status tsri_run_plan(tsri_plan **out, tsri_run *run)
{
    tsr_status st = tsri_plan_create(out, &run->store, run->device, run->settings.batch, true);
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", tsri_config_place(run->settings.config, "batch"));
    return st;
}

tsri_loader_options tsri_run_loader(const tsri_run *run, int64_t worker)
{
    const char *augment = tsri_config_text(run->settings.config, "data.augment");
    return (tsri_loader_options){
        .batch = run->settings.batch,
        .seed = run->settings.seed,
        .worker = worker,
        .shard = run->settings.shard ? worker : 0,
        .shards = run->settings.shard ? run->settings.workers : 1,
        .shuffle = !run->settings.gd,
        .replacement = run->settings.independent,
        .prefetch = tsri_config_bool(run->settings.config, "data.prefetch"),
        .flip = strstr(augment, "flip") != NULL,
        .crop = strstr(augment, "crop") ? tsri_config_int(run->settings.config, "data.pad") : 0};
}

tsr_status tsri_run_see(tsri_run *run)
{
    tsri_run_unsee(run);
    return tsri_store_open(&run->seen, &run->store, TSRI_OPEN_WEIGHTS);
}

void tsri_run_unsee(tsri_run *run)
{
    tsri_store_close(&run->seen);
}
