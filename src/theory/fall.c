/* fall.c - a curve of losses, its fall and its floor.
 *
 * The floor is the median of the last quarter of the losses, the fall what lies above twice that;
 * the rate is fitted to the fall, as a straight line through the logarithms.
 */
#include "theory/fall.h"

#include "base/alloc.h"
#include "base/estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The losses so far; the floor is the median of the last quarter of them, the fall what lies above
 * twice that, and above 0. */
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

/* How many losses there are before the first that is not above `level`. */
static int64_t leading(const curve *v, double level)
{
    int64_t i = 0;
    while (i < v->count && v->loss[i] > level)
        i++;
    return i;
}

static tsr_status curve_init(curve *v, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    int64_t rounds = past->round + 1;
    *v = (curve){0};
    TSR_TRY(tsri_alloc(&v->round, rounds, sizeof(double)));
    TSR_TRY(tsri_alloc(&v->loss, rounds, sizeof(double)));
    TSR_TRY(tsri_alloc(&v->work, rounds, sizeof(double)));
    for (int64_t i = 0; i < rounds; i++) {
        double loss = tsri_past_at(past, i, "loss");
        if (loss >= 0) { /* somebody looked */
            v->round[v->count] = (double)i;
            v->loss[v->count++] = loss;
        }
    }
    int64_t tail = (v->count + 3) / 4;
    memcpy(v->work, v->loss + v->count - tail, (size_t)tail * sizeof(double));
    double level = tail > 0 ? tsri_median_of(v->work, tail) : 0;
    v->falling = leading(v, 2 * level);
    if (v->falling < 3)
        v->falling = leading(v, 0);
    v->floor = tsri_mean_of(v->loss + v->count - tail, tail);
done:
    return st;
}

static double rate_in(const tsri_promise *p, int64_t round)
{
    double rate = p->rate(p->context, tsri_rate_of(p->settings, p->position, round));
    return rate > 1 ? 1 : rate;
}

/* ln of the product of (1 - rate) over these rounds. */
static double log_left(const tsri_promise *p, int64_t from, int64_t to)
{
    double sum = 0;
    if (to > from && tsri_rates_of(p->settings, p->position).constant)
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
    const char *of =
        tsri_rates_of(p->settings, p->position).constant ? "per round" : "of this round";
    tsri_certify_number(c, p->of, rate_in(p, c->round > 0 ? c->round - 1 : 0), "proven rate %s, %s",
                        of, formula);
}

/* The rounds, and what else the theorem quantifies over. */
static tsri_seen seen_of(const tsri_past *past, const tsri_promise *p)
{
    tsri_seen rounds = tsri_past_seen(past, "loss");
    return p->also.what ? tsri_saw_both(rounds, p->also) : rounds;
}

static double blur_of(const tsri_promise *p)
{
    return p->blur > 0 ? p->blur : TSRI_LOSS_BLUR;
}

/* The fitted rate is of the rounds seen; what a rate of a round promises it promises of each. */
static void fitted_row(tsri_certificate *c, const tsri_past *past, const tsri_promise *p, curve *v)
{
    for (int64_t i = 0; i < v->falling; i++)
        v->work[i] = log(v->loss[i]);
    tsri_estimate slope = tsri_slope_of(NULL, v->round, v->work, v->falling);
    bool fitted = v->falling >= 3;
    tsri_condition claim = {.of = p->of,
                            .where = p->where,
                            .sense = TSRI_AT_LEAST,
                            .measured = fitted ? -expm1(slope.value) : (double)NAN,
                            .required = rate_of_fall(p, v),
                            .seen = seen_of(past, p),
                            .blur = blur_of(p),
                            .trivial = {"a rate of 0", 0}};
    if (fitted)
        claim.interval = (tsri_interval){-expm1(slope.high), -expm1(slope.low), 0.95};
    tsri_certify(c, &claim, "measured rate per round, fitted to the fall of %s", p->loss);
}

typedef struct worst {
    double loss, bound;
    int64_t round;
} worst;

/* The round whose loss is largest beside its bound, (1 - rate)^k first + floor. A round whose bound
 * is not below the first loss counts only when nothing else does, or when even that is missed. */
static worst worst_round(const tsri_past *past, const tsri_promise *p, const curve *v)
{
    worst w = {NAN, NAN, 0};
    double log_power = 0, most = -INFINITY, first = tsri_past_at(past, 0, "loss");
    bool informative = false;
    int64_t from = 0;
    for (int64_t i = 0; i < v->count; i++) {
        int64_t round = (int64_t)v->round[i];
        log_power += log_left(p, from, round);
        from = round;
        double bound = exp(log_power) * p->first + p->floor,
               ratio = v->loss[i] > 0 ? v->loss[i] / bound : 0;
        bool informs = bound < first || ratio > 1;
        if (round == 0 || isnan(bound) || (informative && !informs) ||
            (informative == informs && !(ratio > most)))
            continue;
        informative = informs;
        most = ratio;
        w = (worst){v->loss[i], bound, round};
    }
    return w;
}

static tsri_interval interval_at(const tsri_past *past, int64_t round)
{
    double low = tsri_past_at(past, round, "loss_low"),
           high = tsri_past_at(past, round, "loss_high");
    bool exact = round == 0 || isnan(low);
    return (tsri_interval){low, high, exact ? 0 : 0.95};
}

static void bound_row(tsri_certificate *c, const tsri_past *past, const tsri_promise *p,
                      const curve *v)
{
    tsri_promise known = *p;
    known.floor = p->hidden ? 0 : p->floor;
    worst w = worst_round(past, &known, v);
    /* What is not seen to be below without the hidden floor, may be with it. */
    bool unsure = p->hidden && !(w.loss < w.bound * (1 - blur_of(p)));
    tsri_condition claim = {.of = p->of,
                            .where = p->where,
                            .sense = TSRI_AT_MOST,
                            .measured = w.loss,
                            .required = unsure ? (double)NAN : w.bound,
                            .seen = seen_of(past, p),
                            .interval = interval_at(past, w.round),
                            .blur = blur_of(p) * w.bound,
                            .trivial = {"the first loss", tsri_past_at(past, 0, "loss")},
                            .worst = &w.round};
    tsri_certify(c, &claim,
                 tsri_rates_of(p->settings, p->position).constant
                     ? "%s: (1 - rate)^k %s + %s"
                     : "%s: product of (1 - rate) of the rounds, times %s, + %s",
                 p->loss, p->what, p->hidden ? "O(floor)" : "floor");
}

/* The least constant of a hidden floor with which every round so far keeps its bound. */
static double needed(const tsri_promise *p, const curve *v)
{
    double log_power = 0, most = v->count > 1 ? 0 : (double)NAN;
    for (int64_t i = 1; i < v->count; i++) {
        log_power += log_left(p, (int64_t)v->round[i - 1], (int64_t)v->round[i]);
        most = fmax(most, (v->loss[i] - exp(log_power) * p->first) / p->floor);
    }
    return isnan(log_power) || isnan(p->floor) ? (double)NAN : most;
}

tsr_status tsri_certify_fall(tsri_certificate *c, const tsri_past *past, const tsri_promise *p)
{
    tsr_status st = TSR_OK;
    curve v;
    TSR_TRY(curve_init(&v, past));
    fitted_row(c, past, p, &v);
    bound_row(c, past, p, &v);
    if (p->hidden)
        tsri_certify_number(c, p->of, needed(p, &v),
                            "constant of the floor's O with which %s keeps its bound so far",
                            p->loss);
    tsri_condition floor = {.of = p->of,
                            .where = p->where,
                            .sense = TSRI_MEASURED,
                            .measured = v.count > 3 ? v.floor.value : (double)NAN};
    if (v.count > 7)
        floor.interval = (tsri_interval){v.floor.low, v.floor.high, 0.95};
    tsri_certify(c, &floor, "mean of %s over the last quarter (the floor, when the fall is over)",
                 p->loss);
done:
    curve_fini(&v);
    return st;
}
