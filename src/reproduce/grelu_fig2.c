/* grelu_fig2.c - Figures 2b and 2c of the GReLU paper: gradients and patterns along a run, looked
 * at after every epoch (grelu_watch.h). Steps of 2b are on all samples, since it compares
 * consecutive gradients.
 */
#include "reproduce/grelu_fig2.h"

#include "base/alloc.h"
#include "reproduce/grelu_watch.h"
#include "reproduce/toll.h"

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
        if (p.lasted < count)
            tsri_study_note(s, "%s, seed %lld diverged in epoch %lld of %lld.", tsri_twin_name[net],
                            (long long)k + 1, (long long)p.lasted + 1, (long long)count);
        memcpy(b->one + k * b->points, seen + 1, (size_t)b->points * sizeof *seen);
    }
    tsri_bundle_fold(b);
done:
    tsri_free(seen);
    return st;
}

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

static double whole(const tsri_bundle *b, int64_t k)
{
    return mean_log(b, k, 0, 1);
}

static double last_quarter(const tsri_bundle *b, int64_t k)
{
    return mean_log(b, k, 0.75, 1) - mean_log(b, k, 0, 0.25);
}

static double second_half(const tsri_bundle *b, int64_t k)
{
    return mean_log(b, k, 0.5, 1) - mean_log(b, k, 0, 0.5);
}

static const char *factor_text(char text[TSRI_ESTIMATE_TEXT], tsri_estimate ln)
{
    return tsri_estimate_text(text, (tsri_estimate){exp(ln.value), exp(ln.low), exp(ln.high)});
}

/* So many runs of each net. */
static tsr_status begin(tsri_study *s, const tsri_watch_sizes *z, const int64_t runs[TSRI_TWINS])
{
    const tsri_twins *t = &z->twins;
    tsri_twins unjudged = *t; /* no error along the run */
    tsri_toll toll = {0};
    unjudged.every = t->epochs;
    for (int net = 0; net < TSRI_TWINS; net++)
        if (runs[net] > 0)
            tsri_twins_toll(&toll, &unjudged, net, z->width, z->layers, runs[net]);
    tsri_study_note(s,
                    "%lld samples (the paper: 241,600), width %lld, depth %lld, %lld epochs at a = "
                    "%g (grelu_nets.h); %lld seeds, bands from the least to the most of them.",
                    (long long)t->n, (long long)z->width, (long long)z->layers,
                    (long long)t->epochs, z->a, (long long)t->seeds);
    return tsri_study_toll(s, &toll);
}

/* ---- Figure 2b ------------------------------------------------------------------------------- */

static void judge_gradients(tsri_study *s, const tsri_bundle b[TSRI_TWINS])
{
    char text[2][TSRI_ESTIMATE_TEXT];
    double ratio[TSRI_SEEDS_MOST];
    int64_t seeds = b[0].seeds < TSRI_SEEDS_MOST ? b[0].seeds : TSRI_SEEDS_MOST, smaller = 0;
    for (int64_t k = 0; k < seeds; k++) {
        ratio[k] = whole(&b[1], k) - whole(&b[0], k);
        for (int64_t i = 0; i < b[0].points; i++)
            smaller += b[1].one[k * b[1].points + i] < b[0].one[k * b[0].points + i];
    }
    tsri_estimate mean = tsri_mean_of(ratio, seeds);
    tsri_study_claim(s, tsri_surely_below(mean, 0) && 2 * smaller > seeds * b[0].points,
                     "The gradient differences of the GReLU network are smaller than those of the "
                     "ReLU network (section 6.3).",
                     "%s times them in the mean, smaller in %lld of %lld rounds",
                     factor_text(text[0], mean), (long long)smaller,
                     (long long)(seeds * b[0].points));
    tsri_estimate grelu = tsri_bundle_mean(&b[1], last_quarter),
                  relu = tsri_bundle_mean(&b[0], last_quarter);
    tsri_study_claim(s, tsri_surely_below(grelu, 0), "They gradually decrease along the run.",
                     "the last quarter has %s times the first's", factor_text(text[0], grelu));
    tsri_study_claim(s, tsri_surely_above(relu, 0),
                     "Those of the ReLU network increase along the training.",
                     "the last quarter has %s times the first's", factor_text(text[0], relu));
    tsri_estimate rough[TSRI_TWINS] = {tsri_bundle_mean(&b[0], tsri_bundle_rises),
                                       tsri_bundle_mean(&b[1], tsri_bundle_rises)};
    tsri_study_claim(
        s, tsri_surely_above(rough[0], isnan(rough[1].high) ? rough[1].value : rough[1].high),
        "They are highly irregular; the GReLU network's are not.",
        "they rise in a part of %s of the rounds, GReLU's in %s",
        tsri_estimate_text(text[0], rough[0]), tsri_estimate_text(text[1], rough[1]));
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
    judge_gradients(s, b);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_bundle_fini(&b[0]);
    tsri_bundle_fini(&b[1]);
    tsri_chart_fini(&c);
    return st;
}

/* ---- Figure 2c ------------------------------------------------------------------------------- */

static void judge_patterns(tsri_study *s, const tsri_bundle *b, int64_t batch)
{
    char text[TSRI_ESTIMATE_TEXT], says[160];
    tsri_estimate part = tsri_bundle_mean(b, whole), grows = tsri_bundle_mean(b, second_half);
    (void)snprintf(says, sizeof says,
                   "%lld samples a step: 20 to 25 %% of the activations change every epoch.",
                   (long long)batch);
    tsri_study_claim(s, exp(part.value) > 0.15 && exp(part.value) < 0.35, says,
                     "a part of %s; 0.15 to 0.35 would count", factor_text(text, part));
    (void)snprintf(says, sizeof says,
                   "%lld samples a step: the part keeps increasing along the run.",
                   (long long)batch);
    tsri_study_claim(s, tsri_surely_above(grows, 0), says,
                     "the second half has %s times the first's", factor_text(text, grows));
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
    TSR_TRY(begin(s, &z, (const int64_t[]){2 * z.twins.seeds, 0}));
    for (int steps = 1; steps <= 4; steps += 3) {
        tsri_bundle_fini(&b);
        z.twins.batch = sizes->twins.n >= steps ? sizes->twins.n / steps : 1;
        TSR_TRY(watch_seeds(&b, s, &z, TSRI_TWIN_RELU, true, steps / 8.0, steps / 8.0 + 0.4));
        (void)snprintf(name, sizeof name, "ReLU, %lld samples a step", (long long)z.twins.batch);
        tsri_bundle_draw(&c, &b, name, 0, false);
        judge_patterns(s, &b, z.twins.batch);
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
static tsr_status sizes_of(tsri_watch_sizes *z, const tsri_study *s)
{
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
    tsr_status st = sizes_of(&z, s);
    return st == TSR_OK ? tsri_grelu_fig2b(s, &z) : st;
}

tsr_status tsri_reproduce_grelu_fig2c(tsri_study *s)
{
    tsri_watch_sizes z;
    tsr_status st = sizes_of(&z, s);
    return st == TSR_OK ? tsri_grelu_fig2c(s, &z) : st;
}
