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
    run->ema = tsri_config_real(c, "optim.ema");
    run->clip = tsri_config_real(c, "optim.clip");
    run->epsilon = tsri_config_real(c, "optim.epsilon");
}

/* A net that was converted on the way (convert_run.h) began with a state of zeros. */
int64_t tsri_run_steps(const tsri_run *run)
{
    return (run->round - (run->converted > 0 ? run->converted : 0)) * run->local_steps;
}

tsr_status tsri_run_update_part(const tsri_run *run, tsri_store *store, tsri_device device,
                                int64_t low, int64_t high, int64_t steps)
{
    double rate = tsri_run_rate(run, run->round);
    int64_t from = low * store->real_bytes;
    tsri_update u = {.count = high - low,
                     .w = tsri_mem_at(store->w, from),
                     .v = tsri_mem_at(store->v, from),
                     .dw = tsri_mem_at(store->g, from),
                     .rate = rate,
                     .momentum = run->momentum,
                     .decay = run->decay,
                     .nesterov = run->nesterov};
    if (!run->adam)
        return tsri_device_update(device, &u);
    tsri_adam a = {.count = u.count,
                   .w = u.w,
                   .v = u.v,
                   .s = tsri_mem_at(store->s, from),
                   .dw = u.dw,
                   .rate = rate,
                   .beta1 = run->momentum,
                   .beta2 = run->beta2,
                   .epsilon = run->epsilon,
                   .decay = run->decay,
                   .decoupled = run->decoupled,
                   .step = steps + 1};
    return tsri_device_adam(device, &a);
}

tsr_status tsri_run_update(const tsri_run *run, tsri_store *store, tsri_device device,
                           int64_t steps)
{
    tsr_status st = TSR_OK;
    if (run->clip > 0)
        TSR_TRY(tsri_device_clip(device, store->g, store->net->trained, run->clip));
    TSR_TRY(tsri_run_update_part(run, store, device, 0, store->net->trained, steps));
done:
    return st;
}
