/* recipe.c - how training goes by the settings: its optimiser, its aim, its batches. */
#include "run/recipe.h"

#include <string.h>

void tsri_choose_optimiser(tsri_settings *s)
{
    const tsr_config *c = s->config;
    s->schedule = tsri_schedule_from(c);
    s->optim = tsri_optim_from(c);
    s->ema = tsri_config_real(c, "optim.ema");
}

tsri_aim tsri_run_aim(const tsri_settings *s)
{
    return (tsri_aim){.kind = s->loss, .smoothing = s->smoothing, .weight = s->class_weight};
}

tsri_loader_options tsri_run_loader(const tsri_settings *s, int64_t worker)
{
    const char *augment = tsri_config_text(s->config, "data.augment");
    return (tsri_loader_options){
        .batch = s->batch,
        .seed = s->seed,
        .worker = worker,
        .shard = s->shard ? worker : 0,
        .shards = s->shard ? s->workers : 1,
        .shuffle = !s->gd,
        .replacement = s->independent,
        .prefetch = tsri_config_bool(s->config, "data.prefetch"),
        .flip = strstr(augment, "flip") != NULL,
        .crop = strstr(augment, "crop") ? tsri_config_int(s->config, "data.pad") : 0};
}
