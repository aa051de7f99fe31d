/* run.c - what belongs to a run as a whole: the plan of a step, its losses, the kind of its
 * network. */
#include "run/run.h"

const char *tsri_convert_kind(const tsri_settings *s, const tsri_run_position *p)
{
    const tsri_model *gated = tsri_model_of(s->config);
    return s->convert_round < 0 ? NULL : p->converted < 0 ? gated->name : gated->twin;
}

tsr_status tsri_run_plan(tsri_plan **out, tsri_run *run)
{
    tsr_status st = tsri_plan_create(out, &run->store, run->device, run->settings.batch, true);
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", tsri_config_place(run->settings.config, "batch"));
    return st;
}

void tsri_run_add_losses(tsri_run *run, const double *loss, int64_t steps)
{
    for (int64_t s = 0; s < steps; s++)
        run->position.recent.sum += loss[s];
    run->position.recent.count += steps;
    run->process.begun.sum += loss[0];
    run->process.begun.count++;
}
