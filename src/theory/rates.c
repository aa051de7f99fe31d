/* rates.c - the steps of a run's rounds: the ends, sums. */
#include "theory/rates.h"

#include "run/rate.h"

#include <math.h>

double tsri_rate_of(const tsri_settings *s, const tsri_run_position *p, int64_t round)
{
    int64_t last = s->rounds - 1;
    return tsri_run_rate(s, p, round < last ? round : last);
}

/* One that was halved before the first round (rollback.h) is another constant. */
static bool constant(const tsri_settings *s, const tsri_run_position *p)
{
    return s->schedule.kind == TSRI_CONSTANT && !(s->schedule.warmup > 0) &&
           tsri_halvings(p, 0) == p->rollbacks;
}

tsri_rates tsri_rates_of(const tsri_settings *s, const tsri_run_position *p)
{
    double first = tsri_rate_of(s, p, 0);
    tsri_rates r = {first, first, true};
    for (int64_t t = 1; t < s->rounds && !constant(s, p); t++) {
        r.least = fmin(r.least, tsri_rate_of(s, p, t));
        r.most = fmax(r.most, tsri_rate_of(s, p, t));
    }
    r.constant = r.least >= r.most;
    return r;
}

/* Of eta_t to the power of 1 or 2; the step itself, times their number, where it is constant. */
static double sum_of(const tsri_settings *s, const tsri_run_position *p, int64_t from, int64_t to,
                     int power)
{
    double sum = 0;
    int64_t terms = constant(s, p) ? (to > from) : to - from;
    for (int64_t i = 0; i < terms; i++) {
        double eta = tsri_rate_of(s, p, from + i);
        sum += power == 2 ? eta * eta : eta;
    }
    return constant(s, p) ? sum * (double)(to - from) : sum;
}

double tsri_rates_sum(const tsri_settings *s, const tsri_run_position *p, int64_t from, int64_t to)
{
    return sum_of(s, p, from, to, 1);
}

double tsri_rates_squares(const tsri_settings *s, const tsri_run_position *p, int64_t from,
                          int64_t to)
{
    return sum_of(s, p, from, to, 2);
}
