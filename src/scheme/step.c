/* step.c - one step of the optimiser: what `optim:` says, applied to a gradient that is there.
 * Every scheme's step goes through here. */
#include "scheme/run.h"

#include <string.h>

void tsri_choose_optimiser(tsri_run *run)
{
    const tsr_config *c = run->config;
    const char *name = tsri_config_text(c, "optim.name");
    run->schedule = tsri_schedule_from(c);
    run->decoupled = strcmp(name, "adamw") == 0;
    run->adam = run->decoupled || strcmp(name, "adam") == 0;
    run->momentum = tsri_config_real(c, run->adam ? "optim.beta1" : "optim.momentum");
    run->decay = tsri_config_real(c, "optim.weight_decay");
    run->nesterov = !run->adam && tsri_config_bool(c, "optim.nesterov");
    run->beta2 = tsri_config_real(c, "optim.beta2");
    run->epsilon = tsri_config_real(c, "optim.epsilon");
}

/* A net that was converted on the way (convert_run.h) began with a state of zeros. */
int64_t tsri_run_steps(const tsri_run *run)
{
    return (run->round - (run->converted > 0 ? run->converted : 0)) * run->local_steps;
}

tsr_status tsri_run_update_part(const tsri_run *run, tsri_store *store, tsri_pool *pool,
                                int64_t low, int64_t high, int64_t steps)
{
    double rate = tsri_schedule_rate(&run->schedule, run->round, run->rounds);
    tsri_update u = {.count = high - low,
                     .w = (float *)store->w + low,
                     .v = (float *)store->v + low,
                     .dw = (float *)store->g + low,
                     .rate = rate,
                     .momentum = run->momentum,
                     .decay = run->decay,
                     .nesterov = run->nesterov};
    if (!run->adam)
        return run->backend->update(&u, pool);
    tsri_adam a = {.count = u.count,
                   .w = u.w,
                   .v = u.v,
                   .s = (float *)store->s + low,
                   .dw = u.dw,
                   .rate = rate,
                   .beta1 = run->momentum,
                   .beta2 = run->beta2,
                   .epsilon = run->epsilon,
                   .decay = run->decay,
                   .decoupled = run->decoupled,
                   .step = steps + 1};
    return run->backend->adam(&a, pool);
}

tsr_status tsri_run_update(const tsri_run *run, tsri_store *store, tsri_pool *pool, int64_t steps)
{
    return tsri_run_update_part(run, store, pool, 0, store->net->trained, steps);
}
