/* fall.c - a curve of losses, its fall and its floor.
 *
 * The floor is the median of the last quarter of the losses, the fall what lies above twice that;
 * the rate is fitted to the fall, as a straight line through the logarithms.
 */
#include "theory/fall.h"

#include "base/alloc.h"
#include "base/estimate.h"

#include <math.h>
#include <string.h>

/* The losses so far; the floor is the median of the last quarter of them, the fall what lies above
 * twice that. */
typedef struct curve {
    double *round, *loss, *work;
    int64_t count, falling;
    tsri_estimate floor;
} curve;

static void curve_fini(curve *v)
{
    tsri_free(v->round);
    tsri_free(v->loss);
    tsri_free(v->work);
}

static tsr_status curve_init(curve *v, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    *v = (curve){0};
    TSR_TRY(tsri_alloc(&v->round, past->count, sizeof(double)));
    TSR_TRY(tsri_alloc(&v->loss, past->count, sizeof(double)));
    TSR_TRY(tsri_alloc(&v->work, past->count, sizeof(double)));
    for (int64_t i = 0; i < past->count; i++) {
        double loss = tsri_past_real(past, i, "loss");
        if (loss > 0) {
            v->round[v->count] = (double)past->at[i].round;
            v->loss[v->count++] = loss;
        }
    }
    int64_t tail = (v->count + 3) / 4;
    memcpy(v->work, v->loss + v->count - tail, (size_t)tail * sizeof(double));
    double level = tail > 0 ? tsri_median_of(v->work, tail) : 0;
    while (v->falling < v->count && v->loss[v->falling] > 2 * level)
        v->falling++;
    if (v->falling < 3)
        v->falling = v->count;
    v->floor = tsri_mean_of(v->loss + v->count - tail, tail);
done:
    return st;
}

static double rate_in(const tsri_promise *p, int64_t round)
{
    double rate = p->rate(p->context, tsri_rate_of(p->run, round));
    return rate > 1 ? 1 : rate;
}

/* ln of the product of (1 - rate) over these rounds. */
static double log_left(const tsri_promise *p, int64_t from, int64_t to)
{
    double sum = 0;
    if (to > from && tsri_rates_of(p->run).constant)
        return (double)(to - from) * log1p(-rate_in(p, from));
    for (int64_t t = from; t < to; t++)
        sum += log1p(-rate_in(p, t));
    return sum;
}

/* The rate of the rounds of the fall, in the mean of their logarithms. */
static double rate_of_fall(const tsri_promise *p, const curve *v)
{
    if (v->falling < 2)
        return rate_in(p, 0);
    int64_t from = (int64_t)v->round[0], to = (int64_t)v->round[v->falling - 1];
    return -expm1(log_left(p, from, to) / (double)(to - from));
}

void tsri_certify_rate(tsri_certificate *c, const tsri_promise *p, const char *formula)
{
    const char *of = tsri_rates_of(p->run).constant ? "per round" : "of this round";
    tsri_certify(c, p->where, TSRI_MEASURED, rate_in(p, c->round > 0 ? c->round - 1 : 0), 0,
                 "proven rate %s, %s", of, formula);
}

tsr_status tsri_certify_fall(tsri_certificate *c, const tsri_past *past, const tsri_promise *p)
{
    tsr_status st = TSR_OK;
    curve v;
    TSR_TRY(curve_init(&v, past));
    double left = exp(log_left(p, 0, c->round));
    bool constant = tsri_rates_of(p->run).constant;
    for (int64_t i = 0; i < v.count; i++)
        v.work[i] = log(v.loss[i]);
    tsri_estimate slope = tsri_slope_of(NULL, v.round, v.work, v.falling);
    bool fitted = v.falling >= 3;
    tsri_certify(c, p->where, TSRI_AT_LEAST, fitted ? -expm1(slope.value) : (double)NAN,
                 rate_of_fall(p, &v), "measured rate per round, fitted to the fall of %s", p->loss);
    if (fitted)
        tsri_certify_interval(c, -expm1(slope.high), -expm1(slope.low), 0.95);
    tsri_certify(c, p->where, TSRI_AT_MOST, v.count > 1 ? v.loss[v.count - 1] : (double)NAN,
                 left * p->first + p->floor,
                 constant ? "%s: (1 - rate)^k %s + floor"
                          : "%s: product of (1 - rate) of all rounds, times %s, + floor",
                 p->loss, p->what);
    tsri_certify(c, p->where, TSRI_MEASURED, v.count > 3 ? v.floor.value : (double)NAN, 0,
                 "mean of %s over the last quarter (the floor, when the fall is over)", p->loss);
    if (v.count > 7)
        tsri_certify_interval(c, v.floor.low, v.floor.high, 0.95);
done:
    curve_fini(&v);
    return st;
}
