/* run.c - what is asked of a run as a whole: the plan of a step, a look at its weights. */
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

tsr_status tsri_run_see(tsri_run *run)
{
    tsri_run_unsee(run);
    return tsri_store_open(&run->seen, &run->store, TSRI_OPEN_WEIGHTS);
}

void tsri_run_unsee(tsri_run *run)
{
    tsri_store_close(&run->seen);
}
