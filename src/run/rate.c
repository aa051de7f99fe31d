/* rate.c - the rate of a round: the schedule's, halved from every round on to which the run went
 * back after it had diverged (train/rollback.h). */
#include "run/run.h"

#include <math.h>
#include <string.h>

bool tsri_rolls_back(const tsri_run *run)
{
    return strcmp(tsri_config_text(run->settings.config, "on_divergence"), "rollback") == 0;
}

int64_t tsri_halvings(const tsri_run *run, int64_t round)
{
    int64_t halvings = 0;
    for (int64_t i = 0; i < run->position.rollbacks; i++)
        halvings += run->position.rollback[i].to <= round;
    return halvings;
}

double tsri_run_rate(const tsri_run *run, int64_t round)
{
    return ldexp(tsri_schedule_rate(&run->settings.schedule, round, run->settings.rounds),
                 -(int)tsri_halvings(run, round));
}
