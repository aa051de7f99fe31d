/* step.c - what a step of the run is: its rule, its aim, its number. */
#include "run/run.h"

void tsri_choose_optimiser(tsri_run *run)
{
    const tsr_config *c = run->settings.config;
    run->settings.schedule = tsri_schedule_from(c);
    run->settings.optim = tsri_optim_from(c);
    run->settings.ema = tsri_config_real(c, "optim.ema");
}

/* A net that was converted on the way (convert_run.h) began with a state of zeros. */
int64_t tsri_run_steps(const tsri_run *run)
{
    return (run->position.round - (run->position.converted > 0 ? run->position.converted : 0)) *
           run->settings.local_steps;
}

tsri_aim tsri_run_aim(const tsri_run *run)
{
    return (tsri_aim){.kind = run->settings.loss,
                      .smoothing = run->settings.smoothing,
                      .weight = run->settings.class_weight};
}
