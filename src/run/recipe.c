/* recipe.c - what follows from the settings for a step: optimiser, loss, batches. */
#include "run/recipe.h"

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
    return (tsri_loader_options){.batch = s->batch,
                                 .seed = s->seed,
                                 .worker = worker,
                                 .shard = s->shard ? worker : 0,
                                 .shards = s->shard ? s->workers : 1,
                                 .shuffle = !s->gd,
                                 .replacement = s->independent,
                                 .prefetch = tsri_config_bool(s->config, "data.prefetch"),
                                 .augment = tsri_augment_from(s->config)};
}

bool tsri_run_changes_samples(const tsri_settings *s)
{
    tsri_augment a = tsri_augment_from(s->config);
    return tsri_augments(&a);
}

bool tsri_run_draws_there(const tsri_settings *s, const tsri_backend *backend)
{
    tsri_augment a = tsri_augment_from(s->config);
    return backend->draw && tsri_augment_moves_only(&a);
}
