/* rates.c - the steps of a run's rounds: the ends, sums. */
#include "theory/rates.h"

#include "train/rollback.h"

#include <math.h>

double tsri_rate_of(const tsri_run *run, int64_t round)
{
    int64_t last = run->settings.rounds - 1;
    return tsri_run_rate(run, round < last ? round : last);
}

/* One that was halved before the first round (rollback.h) is another constant. */
static bool constant(const tsri_run *run)
{
    return run->settings.schedule.kind == TSRI_CONSTANT && !(run->settings.schedule.warmup > 0) &&
           tsri_halvings(run, 0) == run->position.rollbacks;
}

tsri_rates tsri_rates_of(const tsri_run *run)
{
    double first = tsri_rate_of(run, 0);
    tsri_rates r = {first, first, true};
    for (int64_t t = 1; t < run->settings.rounds && !constant(run); t++) {
        r.least = fmin(r.least, tsri_rate_of(run, t));
        r.most = fmax(r.most, tsri_rate_of(run, t));
    }
    r.constant = r.least >= r.most;
    return r;
}

/* Of eta_t to the power of 1 or 2; the step itself, times their number, where it is constant. */
static double sum_of(const tsri_run *run, int64_t from, int64_t to, int power)
{
    double sum = 0;
    int64_t terms = constant(run) ? (to > from) : to - from;
    for (int64_t i = 0; i < terms; i++) {
        double eta = tsri_rate_of(run, from + i);
        sum += power == 2 ? eta * eta : eta;
    }
    return constant(run) ? sum * (double)(to - from) : sum;
}

double tsri_rates_sum(const tsri_run *run, int64_t from, int64_t to)
{
    return sum_of(run, from, to, 1);
}

double tsri_rates_squares(const tsri_run *run, int64_t from, int64_t to)
{
    return sum_of(run, from, to, 2);
}
