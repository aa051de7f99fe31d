/* masked_rounds.c - Figure 2a of the masked-neurons paper: what happens to the error within rounds.
 *
 * Three kinds of event: drawing shares, local steps, putting together. The drop at putting together
 * is "consistent with our proof in Theorem 4", so masks are categorical, as they are there. Every
 * round of every seed is looked at; the picture shows the first ones, as the paper's does.
 */
#include "reproduce/masked.h"

#include "base/alloc.h"
#include "io/config.h"
#include "reproduce/cells.h"

#include <math.h>
#include <stdio.h>

enum { TAU = TSRI_MASKED_TAU };

/* Moments of a round: after drawing, after each local step, after putting back. */
enum { PUT = TAU + 1, MOMENTS = TSRI_MASKED_MOMENTS };

typedef struct dynamics {
    int64_t rounds, seeds;
    double *error; /* [seeds][rounds][MOMENTS] */
} dynamics;

static double *moment(const dynamics *d, int64_t seed, int64_t round, int64_t m)
{
    return &d->error[(seed * d->rounds + round) * MOMENTS + m];
}

/* The losses of one event into the moments from `first`, `each` of them in a round. */
static tsr_status read_event(dynamics *d, int64_t seed, const char *metrics, const char *event,
                             int64_t first, int64_t each, double factor)
{
    tsr_status st = TSR_OK;
    tsri_curves c = {0};
    TSR_TRY(tsri_curves_read(&c, metrics, event));
    const double *loss = tsri_curves_get(&c, "loss");
    TSR_CHECK(loss && c.n == d->rounds * each, TSR_FAILURE, "%s: %lld lines of %s, not %lld",
              metrics, (long long)c.n, event, (long long)(d->rounds * each));
    for (int64_t i = 0; i < c.n; i++)
        *moment(d, seed, i / each, first + i % each) = factor * loss[i];
done:
    tsri_curves_fini(&c);
    return st;
}

/* What the run in that folder wrote down of its rounds. */
static tsr_status read_rounds(dynamics *d, int64_t seed, const char *folder)
{
    tsr_status st = TSR_OK;
    tsri_text metrics = {0};
    TSR_TRY(tsri_text_add(&metrics, "%s/metrics.jsonl", folder));
    TSR_TRY(read_event(d, seed, metrics.data, "draw", 0, 1, 2)); /* a share's loss has a half */
    TSR_TRY(read_event(d, seed, metrics.data, "step", 1, TAU, 2));
    TSR_TRY(read_event(d, seed, metrics.data, "put", PUT, 1, 1));
done:
    tsri_text_fini(&metrics);
    return st;
}

/* A cell is the errors of one run, moment after moment. */
static tsr_status make_rounds(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                              const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsr_result r = tsr_result_default();
    dynamics d = {.rounds = tsri_config_int(config, "rounds"), .seeds = 1};
    (void)s;
    (void)ask;
    TSR_TRY(tsri_alloc(&d.error, d.rounds * MOMENTS, sizeof *d.error));
    TSR_TRY(tsri_study_run(&r, config, folder, NULL));
    TSR_TRY(read_rounds(&d, 0, folder));
    tsri_cell_put_series(to, "error", d.error, d.rounds * MOMENTS);
done:
    tsri_free(d.error);
    return st;
}

static tsr_status ask_rounds(dynamics *d, tsri_study *s, const char *yaml, const char *name,
                             int64_t seed)
{
    tsr_status st = TSR_OK;
    tsri_study_cell c = {0};
    bool there = false;
    char cell[TSRI_CELL_NAME];
    (void)snprintf(cell, sizeof cell, "%s-seed%lld", name, (long long)s->seed + (long long)seed);
    tsri_cell_ask ask = {.name = cell, .yaml = yaml, .repeat = seed, .make = make_rounds};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    tsri_cell_copy(moment(d, seed, 0, 0), d->rounds * MOMENTS, &c, "error");
done:
    tsri_cell_fini(&c);
    return st;
}

static tsr_status watch(dynamics *d, tsri_study *s, const char *yaml, const char *name,
                        int64_t seed)
{
    tsr_status st = TSR_OK;
    tsri_text folder = {0};
    tsr_result r = tsr_result_default();
    char run[96];
    if (s->book)
        return ask_rounds(d, s, yaml, name, seed);
    (void)snprintf(run, sizeof run, "%s-%lld", name, (long long)seed + 1);
    TSR_TRY(tsri_study_train(s, &r, NULL, run, yaml, seed));
    TSR_TRY(tsri_text_add(&folder, "%s/%s", s->folder, run));
    TSR_TRY(read_rounds(d, seed, folder.data));
done:
    tsri_text_fini(&folder);
    return st;
}

/* ---- What a seed shows ----------------------------------------------------------------------- */

/* ln(error at moment b / error at moment a), b `later` rounds later than a. */
static double change(const dynamics *d, int64_t seed, int64_t round, int64_t a, int64_t b,
                     int64_t later)
{
    return log(*moment(d, seed, round + later, b) / *moment(d, seed, round, a));
}

/* An event from moment a to moment b: its mean change of ln error over all rounds, and the parts of
 * the rounds in which it rises and falls. All NaN when an error is. */
typedef struct event {
    double change, rises, falls;
} event;

static event event_of(const dynamics *d, int64_t seed, int64_t a, int64_t b, int64_t later)
{
    event e = {0};
    double n = (double)(d->rounds - later);
    for (int64_t k = 0; k < d->rounds - later; k++) {
        double x = change(d, seed, k, a, b, later);
        e.change += x / n;
        e.rises += x > 0;
        e.falls += x < 0;
    }
    return isnan(e.change) ? (event){NAN, NAN, NAN} : (event){e.change, e.rises / n, e.falls / n};
}

/* All local steps one by one: the part that rises, and the sum of rises over the sum of falls. */
static void local_steps(double *part, double *climb, const dynamics *d, int64_t seed)
{
    double up = 0, down = 0, count = 0;
    for (int64_t k = 0; k < d->rounds; k++)
        for (int64_t t = 0; t < TAU; t++) {
            double x = change(d, seed, k, t, t + 1, 0);
            up += x > 0 ? x : 0;
            down += x < 0 ? -x : isnan(x) ? x : 0;
            count += x > 0;
        }
    bool known = isfinite(up + down);
    *part = known ? count / (double)(d->rounds * TAU) : (double)NAN;
    *climb = !known ? (double)NAN : down > 0 ? up / down : (double)INFINITY;
}

void tsri_masked_judge_rounds(tsri_study *s, const char *part, const double *error, int64_t rounds,
                              int64_t seeds)
{
    enum { CLAIMS = 8 };
    static const char *const id[CLAIMS] = {
        "masked/fig2a/resampling",  "masked/fig2a/resampling-rounds",  "masked/fig2a/local",
        "masked/fig2a/local-steps", "masked/fig2a/local-climb",        "masked/fig2a/aggregation",
        "masked/fig2a/sudden",      "masked/fig2a/aggregation-rounds",
    };
    double value[CLAIMS][TSRI_SEEDS_MOST];
    const dynamics d = {.rounds = rounds, .seeds = seeds, .error = (double *)error};
    seeds = seeds < TSRI_SEEDS_MOST ? seeds : TSRI_SEEDS_MOST;
    for (int64_t i = 0; i < seeds; i++) {
        event draw = event_of(&d, i, PUT, 0, 1), local = event_of(&d, i, 0, TAU, 0),
              put = event_of(&d, i, TAU, PUT, 0);
        value[0][i] = exp(draw.change);
        value[1][i] = draw.rises;
        value[2][i] = exp(local.change);
        local_steps(&value[3][i], &value[4][i], &d, i);
        value[5][i] = exp(put.change);
        value[6][i] = local.change < 0 ? put.change / (local.change / TAU) : (double)NAN;
        value[7][i] = put.falls;
    }
    for (int i = 0; i < CLAIMS; i++)
        tsri_study_judge(s, id[i], part, value[i], seeds);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* Mean and deviation over the seeds of ln error, moment after moment of the first rounds: a
 * panel. */
static tsr_status draw_dynamics(tsri_chart *c, const dynamics *d, const char *title, int64_t rounds)
{
    tsr_status st = TSR_OK;
    int64_t n = rounds * MOMENTS;
    double *x = NULL;
    TSR_TRY(tsri_alloc(&x, 8 * n, sizeof *x));
    double *y = x + n, *low = y + n, *high = low + n, *up = high + n, *down = up + n;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0, squares = 0, count = (double)d->seeds;
        for (int64_t k = 0; k < d->seeds; k++) {
            double e = log(*moment(d, k, i / MOMENTS, i % MOMENTS));
            if (isnan(e)) { /* a cell that nobody made yet */
                count--;
                continue;
            }
            sum += e;
            squares += e * e;
        }
        double mean = sum / count, variance = fmax(squares / count - mean * mean, 0);
        x[i] = (double)i / MOMENTS;
        y[i] = exp(mean);
        low[i] = exp(mean - sqrt(variance));
        high[i] = exp(mean + sqrt(variance));
        up[i] = i % MOMENTS == 0 ? y[i] : (double)NAN;
        down[i] = i % MOMENTS == PUT ? y[i] : (double)NAN;
    }
    tsri_chart_panel(
        c, &(tsri_panel){.title = title, .x_label = "round", .y_label = "error", .y_log = true});
    tsri_chart_series(c, &(tsri_series){.name = "mean and deviation over seeds",
                                        .n = n,
                                        .x = x,
                                        .y = y,
                                        .low = low,
                                        .high = high});
    tsri_chart_series(
        c, &(tsri_series){
               .name = "shares just drawn", .n = n, .x = x, .y = up, .marks = TSRI_MARKS_POINTS});
    tsri_chart_series(
        c,
        &(tsri_series){
            .name = "shares put together", .n = n, .x = x, .y = down, .marks = TSRI_MARKS_POINTS});
done:
    tsri_free(x);
    return st;
}

/* The paper names neither p nor kappa. Both are varied, and a claim has to hold at each of them;
 * the first kappa is that of its corollaries. */
static const struct {
    int p;
    double kappa;
} setting[] = {{4, 0.1}, {8, 0.1}, {4, 1}, {8, 1}};
enum { SETTINGS = sizeof setting / sizeof *setting };

/* One setting: its runs, its panel, its parts of the claims. */
static tsr_status one_setting(tsri_study *s, tsri_chart *c, int i)
{
    tsr_status st = TSR_OK;
    tsri_masked_sizes z = tsri_masked_sizes_of(s);
    dynamics d = {.rounds = z.rounds, .seeds = z.seeds};
    char yaml[600], scheme[100], part[40], folder[60];
    (void)snprintf(scheme, sizeof scheme,
                   "draw: categorical, workers: %d, local_steps: %d, events: step", setting[i].p,
                   TAU);
    (void)snprintf(part, sizeof part, "p = %d, kappa = %g", setting[i].p, setting[i].kappa);
    tsri_masked_run_file(yaml, sizeof yaml, s, setting[i].kappa, scheme);
    TSR_TRY(tsri_alloc(&d.error, d.seeds * d.rounds * MOMENTS, sizeof *d.error));
    for (int64_t k = 0; k < d.seeds; k++) {
        tsri_study_say(s, ((double)i + (double)k / (double)d.seeds) / SETTINGS, "%s, seed %lld",
                       part, (long long)k + 1);
        (void)snprintf(folder, sizeof folder, "p-%d-kappa-%g", setting[i].p, setting[i].kappa);
        TSR_TRY(watch(&d, s, yaml, folder, k));
    }
    TSR_TRY(draw_dynamics(c, &d, part, d.rounds < 18 ? d.rounds : 18)); /* the first 125 moments */
    tsri_masked_judge_rounds(s, part, d.error, d.rounds, d.seeds);
done:
    tsri_free(d.error);
    return st;
}

tsr_status tsri_masked_fig2a(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_chart c;
    tsri_chart_begin(&c, "Figure 2a: the error within rounds, categorical masks");
    tsri_masked_settings(s, "0.1 and 1");
    tsri_study_setting(s, "masks", "not given; Theorem 4 is of categorical ones", "categorical");
    tsri_study_setting(s, "shares p", "not given", "4 and 8");
    tsri_study_setting(s, "local steps", "not given", "%d", TAU);
    for (int i = 0; i < SETTINGS; i++)
        TSR_TRY(one_setting(s, &c, i));
    tsri_study_chart(s, "fig2a", &c);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_chart_fini(&c);
    return st;
}
