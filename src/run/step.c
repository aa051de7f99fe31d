/* step.c - what a step of the run is: its rule, its aim, its number. */
#include "run/run.h"

void tsri_choose_optimiser(tsri_run *run)
{
    const tsr_config *c = run->config;
    run->schedule = tsri_schedule_from(c);
    run->optim = tsri_optim_from(c);
    run->ema = tsri_config_real(c, "optim.ema");
}

/* A net that was converted on the way (convert_run.h) began with a state of zeros. */
int64_t tsri_run_steps(const tsri_run *run)
{
    return (run->round - (run->converted > 0 ? run->converted : 0)) * run->local_steps;
}

tsri_aim tsri_run_aim(const tsri_run *run)
{
    return (tsri_aim){.kind = run->loss, .smoothing = run->smoothing, .weight = run->class_weight};
}
