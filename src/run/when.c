/* when.c - what is due after a round.
 *
 * What happens when depends on the round alone, so that a run that was killed and resumed does the
 * same things at the same rounds as one that was not.
 */
#include "run/when.h"

#include "run/observer.h"

#include <math.h>

int64_t tsri_period(const tsri_settings *s, double every)
{
    int64_t period = (int64_t)llround(every * s->epoch_rounds);
    return every > 0 ? (period > 0 ? period : 1) : 0;
}

bool tsri_due_after(const tsri_settings *s, int64_t round, double every)
{
    int64_t period = tsri_period(s, every);
    return round == s->rounds || (period > 0 && round % period == 0);
}

bool tsri_due(const tsri_settings *s, int64_t round, const char *key)
{
    return tsri_due_after(s, round, tsri_config_real(s->config, key));
}

bool tsri_looked_at(const tsri_run *run, int64_t round)
{
    const tsri_settings *s = &run->settings;
    bool any = run->process.trace || tsri_due(s, round, "eval.every") ||
               tsri_due(s, round, "checkpoint.every") ||
               (run->scores.cut && tsri_due_after(s, round, s->scores_every));
    for (int i = 0; tsri_observers[i]; i++)
        any = any || tsri_observers[i]->active(run);
    return any;
}

int64_t tsri_looks(const tsri_run *run)
{
    enum { MOST = 100000 };
    int64_t rounds = run->settings.rounds < MOST ? run->settings.rounds : MOST, looks = 0;
    for (int64_t r = run->settings.rounds - rounds + 1; r <= run->settings.rounds; r++)
        looks += tsri_looked_at(run, r);
    return rounds < MOST ? looks
                         : (int64_t)((double)looks / (double)rounds * (double)run->settings.rounds);
}
