/* grelu_fig2.c - Figures 2b and 2c of the GReLU paper: gradients and patterns along a run, looked
 * at after every epoch (grelu_watch.h). Steps of 2b are on all samples, since it compares
 * consecutive gradients. */
#include "reproduce/grelu_fig2.h"

#include "base/alloc.h"
#include "reproduce/grelu_sgemm.h"
#include "reproduce/grelu_watch.h"
#include "reproduce/cost_estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Both figures ---------------------------------------------------------------------------- */

/* Gradients (or patterns) of one net over the seeds; the first round has nothing before it. */
static tsr_status watch_seeds(tsri_bundle *b, tsri_study *s, const tsri_watch_sizes *z, int net,
                              bool patterns, double from, double to)
{
    tsr_status st = TSR_OK;
    int64_t count = z->twins.epochs, seeds = z->twins.seeds;
    double *seen = NULL;
    TSR_TRY(tsri_bundle_init(b, count - 1, 1, seeds));
    TSR_TRY(tsri_alloc(&seen, count, sizeof *seen));
    for (int64_t k = 0; k < seeds; k++) {
        tsri_watched p = {.patterns = patterns, .seen = seen, .epochs = count};
        tsri_study_say(s, from + (to - from) * (double)k / (double)seeds,
                       "%s, width %lld, seed %lld", tsri_twin_name[net], (long long)z->width,
                       (long long)k + 1);
        TSR_TRY(tsri_watch_seed(&p, s, z, net, k));
        if (p.lasted < count && !isnan(seen[count - 1]))
            tsri_study_note(s, "%s, seed %lld diverged in epoch %lld of %lld.", tsri_twin_name[net],
                            (long long)k + 1, (long long)p.lasted + 1, (long long)count);
        memcpy(b->one + k * b->points, seen + 1, (size_t)b->points * sizeof *seen);
    }
    tsri_bundle_fold(b);
done:
    tsri_free(seen);
    return st;
}

/* ---- What a seed shows ----------------------------------------------------------------------- */

/* The mean of seed k's logarithms from one part of the run to another: a few wild rounds of an
 * irregular curve do not decide it. */
static double mean_log(const tsri_bundle *b, int64_t k, double from, double to)
{
    int64_t i = (int64_t)(from * (double)b->points), end = (int64_t)(to * (double)b->points);
    double sum = 0, count = (double)(end - i);
    for (; i < end; i++)
        sum += log(b->one[k * b->points + i]);
    return sum / count;
}

/* NaN where the run diverged. */
static double factor(double ln)
{
    return isfinite(ln) ? exp(ln) : (double)NAN;
}

static double whole(const tsri_bundle *b, int64_t k)
{
    return factor(mean_log(b, k, 0, 1));
}

/* The three factors from a quarter of the run to the next: the least, or the largest, of them. */
static double quarters(const tsri_bundle *b, int64_t k, bool least)
{
    double found = least ? INFINITY : -INFINITY;
    for (int i = 1; i < 4; i++) {
        double step =
            mean_log(b, k, i / 4.0, (i + 1) / 4.0) - mean_log(b, k, (i - 1) / 4.0, i / 4.0);
        if (!isfinite(step))
            return (double)NAN;
        found = least ? fmin(found, step) : fmax(found, step);
    }
    return exp(found);
}

static double least_quarter(const tsri_bundle *b, int64_t k)
{
    return quarters(b, k, true);
}

static double largest_quarter(const tsri_bundle *b, int64_t k)
{
    return quarters(b, k, false);
}

/* The mean of seed k from one part of the run to another; NaN where it diverged. A part of the
 * activations may be 0, which has no logarithm. */
static double mean_of(const tsri_bundle *b, int64_t k, double from, double to)
{
    int64_t i = (int64_t)(from * (double)b->points), end = (int64_t)(to * (double)b->points);
    double sum = 0, count = (double)(end - i);
    for (; i < end; i++)
        sum += b->one[k * b->points + i];
    return isfinite(sum) ? sum / count : (double)NAN;
}

static double mean_part(const tsri_bundle *b, int64_t k)
{
    return mean_of(b, k, 0, 1);
}

static double second_half(const tsri_bundle *b, int64_t k)
{
    return mean_of(b, k, 0.5, 1) / mean_of(b, k, 0, 0.5);
}

/* The part of the points at which the curve turns: up after a fall, or down after a rise. */
static double turns(const tsri_bundle *b, int64_t k)
{
    const double *y = b->one + k * b->points;
    int64_t count = 0;
    if (!isfinite(tsri_bundle_end(b, k)))
        return (double)NAN;
    for (int64_t i = 2; i < b->points; i++)
        count += (y[i] - y[i - 1]) * (y[i - 1] - y[i - 2]) < 0;
    return (double)count / (double)(b->points - 2);
}

static void judge_seeds(tsri_study *s, const char *id, const char *part, const tsri_bundle *b,
                        double (*of)(const tsri_bundle *, int64_t))
{
    double value[TSRI_SEEDS_MOST];
    int64_t seeds = b->seeds < TSRI_SEEDS_MOST ? b->seeds : TSRI_SEEDS_MOST;
    for (int64_t k = 0; k < seeds; k++)
        value[k] = of(b, k);
    tsri_study_judge(s, id, part, value, seeds);
}

/* Section 6.3; that it is of the nets of section 9 is not said. */
static const tsri_twins_paper paper = {
    .data = "SGEMM",
    .n = "241600",
    .inputs = "18",
    .width = "not given",
    .layers = "not given",
    .batch = "not given, the largest that fit",
    .epochs = "not given",
    .rate = "1e-4",
    .seeds = "not given",
};

/* That many runs of each net. */
static tsr_status begin(tsri_study *s, const tsri_watch_sizes *z, const int64_t runs[TSRI_TWINS])
{
    const tsri_twins *t = &z->twins;
    tsri_twins unjudged = *t; /* no error along the run */
    tsri_cost_estimate cost = {0};
    unjudged.every = t->epochs;
    for (int net = 0; net < TSRI_TWINS; net++)
        if (runs[net] > 0)
            tsri_twins_cost(&cost, &unjudged, net, z->width, z->layers, runs[net]);
    char width[40], layers[40], rate[60];
    (void)snprintf(width, sizeof width, "%lld", (long long)z->width);
    (void)snprintf(layers, sizeof layers, "%lld", (long long)z->layers);
    (void)snprintf(rate, sizeof rate, "a = %g", z->a);
    tsri_twins_settings(s, t, &paper, "SGEMM", width, layers, rate);
    tsri_sgemm_target(s);
    tsri_study_note(s, "Rates as a = eta batch L m^2 / (d_x d_y). Bands are from the least to the "
                       "most of the seeds.");
    return tsri_study_tell_cost(s, &cost);
}

/* ---- Figure 2b ------------------------------------------------------------------------------- */

void tsri_grelu_judge_gradients(tsri_study *s, const tsri_bundle b[TSRI_TWINS])
{
    double ratio[TSRI_SEEDS_MOST], smaller[TSRI_SEEDS_MOST];
    const tsri_bundle *relu = &b[TSRI_TWIN_RELU], *grelu = &b[TSRI_TWIN_GRELU];
    int64_t seeds = relu->seeds < TSRI_SEEDS_MOST ? relu->seeds : TSRI_SEEDS_MOST;
    for (int64_t k = 0; k < seeds; k++) {
        ratio[k] = whole(grelu, k) / whole(relu, k);
        int64_t count = 0;
        for (int64_t i = 0; i < relu->points; i++)
            count += grelu->one[k * grelu->points + i] < relu->one[k * relu->points + i];
        smaller[k] = isnan(ratio[k]) ? (double)NAN : (double)count / (double)relu->points;
    }
    tsri_study_judge(s, "grelu/fig2b/smaller", NULL, ratio, seeds);
    tsri_study_judge(s, "grelu/fig2b/smaller-rounds", NULL, smaller, seeds);
    judge_seeds(s, "grelu/fig2b/decrease", NULL, grelu, largest_quarter);
    judge_seeds(s, "grelu/fig2b/increase", NULL, relu, least_quarter);
    tsri_bundle_judge_less(s, "grelu/fig2b/irregular", NULL, relu, grelu, turns);
}

tsr_status tsri_grelu_fig2b(tsri_study *s, const tsri_watch_sizes *z)
{
    tsr_status st = TSR_OK;
    tsri_bundle b[TSRI_TWINS] = {0};
    char title[160];
    tsri_chart c;
    (void)snprintf(title, sizeof title, "Figure 2b: distance of consecutive gradients, %s",
                   tsri_study_data_name(s, "SGEMM"));
    tsri_chart_begin(&c, title);
    tsri_chart_panel(
        &c, &(tsri_panel){.x_label = "round", .y_label = "|g_t - g_(t-1)|", .y_log = true});
    TSR_TRY(begin(s, z, (const int64_t[]){z->twins.seeds, z->twins.seeds}));
    for (int net = 0; net < TSRI_TWINS; net++) {
        TSR_TRY(watch_seeds(&b[net], s, z, net, false, net / 2.0, (net + 1) / 2.0));
        tsri_bundle_draw(&c, &b[net], tsri_twin_name[net], 0, false);
    }
    tsri_study_chart(s, "fig2b", &c);
    tsri_grelu_judge_gradients(s, b);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_bundle_fini(&b[0]);
    tsri_bundle_fini(&b[1]);
    tsri_chart_fini(&c);
    return st;
}

/* ---- Figure 2c ------------------------------------------------------------------------------- */

void tsri_grelu_judge_patterns(tsri_study *s, const tsri_bundle *b, int64_t batch)
{
    char part[60];
    (void)snprintf(part, sizeof part, "%lld samples a step", (long long)batch);
    judge_seeds(s, "grelu/fig2c/part", part, b, mean_part);
    judge_seeds(s, "grelu/fig2c/grows", part, b, second_half);
}

/* The paper does not say how many steps its epochs have: one, and four as in Figure 5. */
tsr_status tsri_grelu_fig2c(tsri_study *s, const tsri_watch_sizes *sizes)
{
    tsr_status st = TSR_OK;
    tsri_bundle b = {0};
    char title[160], name[64];
    tsri_chart c;
    tsri_watch_sizes z = *sizes;
    (void)snprintf(title, sizeof title,
                   "Figure 2c: ReLUs that changed since the epoch before, %s test set",
                   tsri_study_data_name(s, "SGEMM"));
    tsri_chart_begin(&c, title);
    tsri_chart_panel(
        &c, &(tsri_panel){.x_label = "epoch", .y_label = "part of all activations", .y_log = true});
    tsri_study_setting(s, "activations of", "a selected validation set", "512 test samples or all");
    tsri_study_setting(s, "steps an epoch", "not given", "1 and 4");
    TSR_TRY(begin(s, &z, (const int64_t[]){2 * z.twins.seeds, 0}));
    for (int steps = 1; steps <= 4; steps += 3) {
        tsri_bundle_fini(&b);
        z.twins.batch = sizes->twins.n >= steps ? sizes->twins.n / steps : 1;
        TSR_TRY(watch_seeds(&b, s, &z, TSRI_TWIN_RELU, true, steps / 8.0, steps / 8.0 + 0.4));
        (void)snprintf(name, sizeof name, "ReLU, %lld samples a step", (long long)z.twins.batch);
        tsri_bundle_draw(&c, &b, name, 0, false);
        tsri_grelu_judge_patterns(s, &b, z.twins.batch);
    }
    tsri_study_chart(s, "fig2c", &c);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_bundle_fini(&b);
    tsri_chart_fini(&c);
    return st;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* The rate is one of Figure 5's, where ReLU nets oscillate: the paper ties 2b to that. */
static tsr_status sizes_of(tsri_watch_sizes *z, const tsri_study *s, bool patterns)
{
    if (s->paper) { /* all of SGEMM, on the nets of section 9; patterns are of 604 samples kept */
        *z = (tsri_watch_sizes){
            .twins = {.data = patterns ? "{name: sgemm, split: 0.0025}" : "{name: sgemm, split: 0}",
                      .n = patterns ? 240996 : 241600,
                      .inputs = 14,
                      .outputs = 1,
                      .batch = patterns ? 240996 : 241600,
                      .epochs = 400,
                      .every = 1,
                      .seeds = tsri_study_seeds(s, TSRI_SEEDS_LEAST)},
            .width = 4096,
            .layers = 10,
            .a = 8};
        return tsri_twins_settle(&z->twins, s, NULL);
    }
    *z = (tsri_watch_sizes){
        .twins = {.data = s->quick ? "{name: sgemm, limit: 256}" : "{name: sgemm, limit: 8192}",
                  .n = s->quick ? 256 : 8192,
                  .inputs = 14,
                  .outputs = 1,
                  .batch = s->quick ? 256 : 8192,
                  .epochs = s->quick ? 300 : 400,
                  .every = 1,
                  .seeds = tsri_study_seeds(s, 5)},
        .width = s->quick ? 128 : 2048,
        .layers = 10,
        .a = 8};
    return tsri_twins_settle(&z->twins, s, NULL);
}

tsr_status tsri_reproduce_grelu_fig2b(tsri_study *s)
{
    tsri_watch_sizes z;
    tsr_status st = sizes_of(&z, s, false);
    return st == TSR_OK ? tsri_grelu_fig2b(s, &z) : st;
}

tsr_status tsri_reproduce_grelu_fig2c(tsri_study *s)
{
    tsri_watch_sizes z;
    tsr_status st = sizes_of(&z, s, true);
    return st == TSR_OK ? tsri_grelu_fig2c(s, &z) : st;
}
