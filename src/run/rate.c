/* rate.c - the rate of a round: the schedule's, halved from every round on to which the run went
 * back after it had diverged (train/rollback.h). */
#include "run/rate.h"

#include <math.h>

bool tsri_rolls_back(const tsri_settings *s)
{
    return tsri_config_is(s->config, "on_divergence", "rollback");
}

int64_t tsri_halvings(const tsri_run_position *p, int64_t round)
{
    int64_t halvings = 0;
    for (int64_t i = 0; i < p->rollbacks; i++)
        halvings += p->rollback[i].to <= round;
    return halvings;
}

double tsri_run_rate(const tsri_settings *s, const tsri_run_position *p, int64_t round)
{
    return ldexp(tsri_schedule_rate(&s->schedule, round, s->rounds), -(int)tsri_halvings(p, round));
}

/* A net that was converted on the way (convert_run.h) began with a state of zeros. */
int64_t tsri_run_steps(const tsri_settings *s, const tsri_run_position *p)
{
    return (p->round - (p->converted > 0 ? p->converted : 0)) * s->local_steps;
}
