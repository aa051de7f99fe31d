/* optimiser.c - a rule at work on a store. */
#include "optim/optimiser.h"

tsr_status tsri_optimiser_init(tsri_optimiser *o, const tsri_optim *rule, tsri_store *store,
                               tsri_device device)
{
    *o = (tsri_optimiser){.rule = *rule, .store = store, .device = device};
    return tsri_shown_init(&o->dials, device.backend->heap, sizeof(tsri_dials));
}

void tsri_optimiser_fini(tsri_optimiser *o)
{
    if (o->device.backend)
        tsri_shown_fini(&o->dials, o->device.backend->heap);
    *o = (tsri_optimiser){0};
}

tsr_status tsri_optimiser_set(tsri_optimiser *o, double rate, int64_t seen)
{
    tsri_dials dials = tsri_optim_dials(&o->rule, rate, seen);
    return tsri_shown_set(&o->dials, o->device.backend->heap, &dials, sizeof dials, sizeof dials);
}

tsr_status tsri_optimiser_step_part(tsri_optimiser *o, int64_t low, int64_t high)
{
    const tsri_store *store = o->store;
    int64_t from = low * store->real_bytes;
    tsri_update u = {.count = high - low,
                     .w = tsri_mem_at(store->w, from),
                     .v = tsri_mem_at(store->v, from),
                     .dw = tsri_mem_at(store->g, from),
                     .dials = o->dials.mem,
                     .momentum = o->rule.momentum,
                     .decay = o->rule.decay,
                     .nesterov = o->rule.nesterov};
    tsri_adam a = {.count = u.count,
                   .w = u.w,
                   .v = u.v,
                   .s = tsri_mem_at(store->s, from),
                   .dw = u.dw,
                   .dials = o->dials.mem};
    return o->rule.adam ? tsri_device_adam(o->device, &a) : tsri_device_update(o->device, &u);
}

tsr_status tsri_optimiser_step(tsri_optimiser *o)
{
    tsr_status st = TSR_OK;
    int64_t trained = o->store->net->trained;
    if (o->rule.clip > 0)
        TSR_TRY(tsri_device_clip(o->device, o->store->g, trained, o->rule.clip));
    TSR_TRY(tsri_optimiser_step_part(o, 0, trained));
done:
    return st;
}
