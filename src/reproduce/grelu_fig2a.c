/* grelu_fig2a.c - Figure 2a of the GReLU paper: nets of several widths, whole batches at a constant
 * rate, as in section 6.1.
 *
 * The paper gives no rate for this figure and concedes that narrower nets may converge at smaller
 * ones. Here every width gets the rate that is the same a for it (grelu_nets.h): one above 2 over
 * the kernel's largest eigenvalue diverges. A run that does is counted and left out of the best,
 * and is the worst there can be.
 */
#include "reproduce/grelu_fig2.h"

#include "base/alloc.h"
#include "reproduce/cost_estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the seeds of one width and net gave together. */
typedef struct fate {
    double *curve; /* [rounds] half the sum of squares; infinite where it is a diverged run's */
    double end[TSRI_SEEDS_MOST]; /* of each seed's curve, over its beginning */
    int64_t diverged;            /* seeds */
} fate;

typedef struct fates {
    fate of[TSRI_WIDTHS_MOST][TSRI_TWINS];
} fates;

static void fates_fini(fates *f)
{
    for (int i = 0; i < TSRI_WIDTHS_MOST * TSRI_TWINS; i++)
        tsri_free(f->of[i / TSRI_TWINS][i % TSRI_TWINS].curve);
}

/* Checkpoints ten times in a run: at the paper's sizes one takes hours. */
static void run_file(char *yaml, size_t size, const tsri_widths_sizes *z, int64_t w, int net)
{
    const tsri_twins *t = &z->twins;
    tsri_twins_run_file(yaml, size, t, net, z->width[w], z->layers,
                        tsri_twins_rate(t, z->a, z->width[w], z->layers));
    size_t used = strlen(yaml);
    (void)snprintf(yaml + used, size - used, "skip: on\neval: {every: 1}\n");
}

/* The loss before every round, of one seed. */
static tsr_status descend(double *loss, bool *diverged, tsri_study *s, const tsri_widths_sizes *z,
                          int64_t w, int net, int64_t k)
{
    tsr_status st = TSR_OK;
    tsr_result result = tsr_result_default();
    tsri_curves curves = {0};
    char yaml[600], name[80];
    run_file(yaml, sizeof yaml, z, w, net);
    (void)snprintf(name, sizeof name, "%s-width-%lld-%lld", tsri_twin_model[net],
                   (long long)z->width[w], (long long)k + 1);
    st = tsri_study_train(s, &result, &curves, name, yaml, k);
    *diverged = st == TSR_DIVERGED;
    if (!*diverged)
        TSR_TRY(st);
    st = TSR_OK;
    const double *y = tsri_curves_get(&curves, "loss");
    for (int64_t i = 0; i < z->twins.epochs; i++)
        loss[i] = tsri_study_lacks(s, &curves)      ? (double)NAN
                  : !*diverged && y && i < curves.n ? y[i]
                                                    : (double)INFINITY;
done:
    tsri_curves_fini(&curves);
    return st;
}

/* The paper's way: of the theory's width the worst of all repetitions, of the others the best. */
static void fold(double *curve, const double *one, int64_t n, bool first, bool worst)
{
    for (int64_t i = 0; i < n; i++)
        if (first || isnan(curve[i]) || (worst ? one[i] > curve[i] : one[i] < curve[i]))
            curve[i] = one[i];
}

static tsr_status train_width(fate *f, double *one, tsri_study *s, const tsri_widths_sizes *z,
                              int64_t w, int net)
{
    tsr_status st = TSR_OK;
    int64_t rounds = z->twins.epochs;
    TSR_TRY(tsri_alloc(&f->curve, rounds, sizeof *f->curve));
    for (int64_t k = 0; k < z->twins.seeds; k++) {
        bool diverged;
        tsri_study_say(s, (double)(w * TSRI_TWINS + net) / (double)(z->widths * TSRI_TWINS),
                       "%s, width %lld, seed %lld", tsri_twin_name[net], (long long)z->width[w],
                       (long long)k + 1);
        TSR_TRY(descend(one, &diverged, s, z, w, net, k));
        f->diverged += diverged;
        fold(f->curve, one, rounds, k == 0, w == z->widths - 1);
        if (k < TSRI_SEEDS_MOST)
            f->end[k] = diverged ? (double)INFINITY : one[rounds - 1] / one[0];
    }
done:
    return st;
}

static tsr_status train_all(fates *f, tsri_study *s, const tsri_widths_sizes *z)
{
    tsr_status st = TSR_OK;
    double *one = NULL;
    TSR_TRY(tsri_alloc(&one, z->twins.epochs, sizeof *one));
    for (int64_t w = 0; w < z->widths; w++)
        for (int net = 0; net < TSRI_TWINS; net++)
            TSR_TRY(train_width(&f->of[w][net], one, s, z, w, net));
done:
    tsri_free(one);
    return st;
}

static void draw(tsri_study *s, const fates *f, const tsri_widths_sizes *z)
{
    tsri_chart c;
    char title[160], name[80];
    (void)snprintf(title, sizeof title, "Figure 2a: training loss by width, %s",
                   tsri_study_data_name(s, "the synthetic target"));
    tsri_chart_begin(&c, title);
    tsri_chart_panel(&c, &(tsri_panel){.x_label = "round",
                                       .y_label = "half the sum of squared errors",
                                       .y_log = true});
    for (int64_t w = 0; w < z->widths; w++)
        for (int net = 0; net < TSRI_TWINS; net++) {
            const fate *one = &f->of[w][net];
            int used = snprintf(name, sizeof name, "%s, m = %lld", tsri_twin_name[net],
                                (long long)z->width[w]);
            if (one->diverged > 0)
                (void)snprintf(name + used, sizeof name - (size_t)used, " (%lld of %lld diverged)",
                               (long long)one->diverged, (long long)z->twins.seeds);
            for (int64_t i = 0; i < z->twins.epochs; i++) /* a gap */
                one->curve[i] = isfinite(one->curve[i]) ? one->curve[i] : (double)NAN;
            tsri_chart_series(&c, &(tsri_series){.name = name,
                                                 .n = z->twins.epochs,
                                                 .y = one->curve,
                                                 .colour = (int)w + 1,
                                                 .dashed = net == TSRI_TWIN_GRELU});
        }
    tsri_study_chart(s, "fig2a", &c);
    tsri_chart_fini(&c);
}

static void judge(tsri_study *s, const fates *f, const tsri_widths_sizes *z)
{
    int64_t seeds = z->twins.seeds < TSRI_SEEDS_MOST ? z->twins.seeds : TSRI_SEEDS_MOST;
    for (int64_t w = 0; w < z->widths; w++)
        for (int net = 0; net < TSRI_TWINS; net++) {
            char part[80];
            (void)snprintf(part, sizeof part, "%s, width %lld", tsri_twin_name[net],
                           (long long)z->width[w]);
            tsri_study_judge(s, w == z->widths - 1 ? "grelu/fig2a/theory" : "grelu/fig2a/below",
                             part, f->of[w][net].end, seeds);
        }
}

static void tell_settings(tsri_study *s, const tsri_widths_sizes *z)
{
    static const tsri_twins_paper paper = {
        .data = "the synthetic target",
        .n = "100",
        .inputs = "200",
        .width = "nL = 400, (n^2 L)^p, n^2 L = 40000",
        .layers = "4",
        .batch = "100",
        .epochs = "not given",
        .rate = "not given",
        .seeds = "5",
    };
    char width[100] = "", layers[40], rate[60];
    for (int64_t w = 0; w < z->widths; w++) {
        size_t used = strlen(width);
        (void)snprintf(width + used, sizeof width - used, "%s%s%lld", w > 0 ? ", " : "",
                       w == z->widths - 1 ? "n^2 L = " : "", (long long)z->width[w]);
    }
    (void)snprintf(layers, sizeof layers, "%lld", (long long)z->layers);
    (void)snprintf(rate, sizeof rate, "a = %g at every width", z->a);
    tsri_twins_settings(s, &z->twins, &paper, "the synthetic target", width, layers, rate);
    tsri_study_note(s, "The curve of n^2 L is the worst of the seeds, the others are the best, as "
                       "in the paper; every seed is judged.");
    if (!s->data)
        tsri_study_note(s, "The synthetic target's index d - d' is ambiguous in the paper; "
                           "data/ackley.c says how it is read.");
}

tsr_status tsri_grelu_fig2a(tsri_study *s, const tsri_widths_sizes *z)
{
    tsr_status st = TSR_OK;
    fates f = {0};
    tsri_cost_estimate cost = {0};
    const tsri_twins *t = &z->twins;
    tsri_twins unjudged = *t; /* the losses of the steps are all that is looked at */
    unjudged.every = t->epochs;
    for (int64_t w = 0; w < z->widths; w++)
        for (int net = 0; net < TSRI_TWINS; net++)
            tsri_twins_cost(&cost, &unjudged, net, z->width[w], z->layers, t->seeds);
    tell_settings(s, z);
    TSR_TRY(tsri_study_tell_cost(s, &cost));
    TSR_TRY(train_all(&f, s, z));
    draw(s, &f, z);
    judge(s, &f, z);
    TSR_TRY(tsri_study_end(s));
done:
    fates_fini(&f);
    return st;
}

tsr_status tsri_reproduce_grelu_fig2a(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_widths_sizes z = {
        .twins = {.data = s->quick ? "{name: ackley, n: 16, limit: 16, test_n: 4, dim: 32}"
                                   : "{name: ackley, n: 100, limit: 100, test_n: 4, dim: 200}",
                  .n = s->quick ? 16 : 100,
                  .inputs = s->quick ? 32 : 200,
                  .outputs = 1,
                  .batch = s->quick ? 16 : 100,
                  .epochs = s->quick ? 300 : 3000,
                  .every = 1,
                  .seeds = tsri_study_seeds(s, s->quick ? TSRI_SEEDS_LEAST : 5)},
        .layers = 4,
        .widths = 3,
        .a = 8};
    TSR_TRY(tsri_twins_settle(&z.twins, s, NULL));
    int64_t n = z.twins.n, theory = n * n * z.layers;
    z.width[0] = n * z.layers;
    z.width[1] = (int64_t)pow((double)theory, 0.85);
    z.width[2] = theory;
    TSR_TRY(tsri_grelu_fig2a(s, &z));
done:
    return st;
}
