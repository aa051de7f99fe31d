/* grelu.c - a convergence theory towards practical over-parameterized networks (Noy, Xu, Aflalo,
 * Zelnik-Manor, Jin): Figure 2.
 *
 * Nets are trained by whole batches with a constant rate, as in section 6; the paper's 1e-4 is
 * stable only where n, m and the data allow it, so the rate is a / (n L m^2 / (d_x d_y)): the trace
 * of the kernel at the start is about n L m^2 / (d_x d_y) times a small number, and a rate above 2
 * over its largest eigenvalue diverges.
 */
#include "reproduce/reproductions.h"

#include "base/alloc.h"
#include "net/plan.h"
#include "reproduce/grelu_cifar.h"
#include "reproduce/grelu_fig2.h"
#include "reproduce/grelu_sgemm.h"
#include "scheme/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void run_text(char *text, size_t size, const tsri_descent *t)
{
    double rate = t->a * (double)t->inputs /
                  ((double)t->n * (double)t->layers * (double)t->width * (double)t->width);
    (void)snprintf(text, size,
                   "data: %s\nmodel: {name: %s, width: %lld, layers: %lld}\nskip: on\n"
                   "optim: {name: gd, lr: %.6g, momentum: 0}\nrounds: %lld\n",
                   t->data, t->model, (long long)t->width, (long long)t->layers, rate,
                   (long long)t->rounds);
}

enum { JUDGED = 512 }; /* samples of the test set whose patterns are compared */

/* What is looked at after every round. */
typedef struct probe {
    double *loss;    /* [rounds] 1/2 the sum of squares before the round */
    double *change;  /* [rounds] |g_t - g_(t-1)|, or NULL; NaN in the first */
    double *hamming; /* [rounds] part of the ReLUs that changed on the test set, or NULL */
    float *before;   /* the gradient of the round before */
    uint64_t *bits;  /* the pattern of the round before */
    int64_t words, units;
} probe;

static double gradient_change(probe *p, const tsri_run *run)
{
    const float *g = run->store.g;
    double sum = 0;
    for (int64_t i = 0; i < run->net->trained; i++)
        sum += ((double)g[i] - (double)p->before[i]) * ((double)g[i] - (double)p->before[i]);
    memcpy(p->before, g, (size_t)run->net->trained * sizeof *g);
    return sqrt(sum);
}

/* The gates that the plan's ReLUs left behind, compared with those of the last time. */
static double pattern_change(probe *p, const tsri_plan *plan)
{
    int64_t at = 0, flips = 0, all = 0;
    for (int64_t k = 0; k < tsri_plan_ops(plan); k++) {
        const tsri_gates *g = tsri_plan_op(plan, k, NULL)->gates;
        for (int64_t i = 0; g && i < g->n * g->words; i++, at++) {
            flips += __builtin_popcountll(p->bits[at] ^ g->word[i]);
            p->bits[at] = g->word[i];
        }
        all += g ? g->n * g->units : 0;
    }
    return all > 0 ? (double)flips / (double)all : 0;
}

static tsr_status look(probe *p, tsri_run *run, tsri_plan *judge, const float *x, int64_t t)
{
    tsr_status st = TSR_OK;
    if (p->change) {
        double change = gradient_change(p, run);
        p->change[t] = t > 0 ? change : (double)NAN;
    }
    if (p->hamming) {
        TSR_TRY(tsri_plan_forward(judge, x));
        double change = pattern_change(p, judge);
        p->hamming[t] = t > 0 ? change : (double)NAN;
    }
done:
    return st;
}

static tsr_status rounds(probe *p, tsri_run *run, tsri_plan *judge, const float *x)
{
    tsr_status st = TSR_OK;
    for (int64_t t = 0; t < run->rounds; t++) {
        double before = run->recent.sum;
        TSR_TRY(run->scheme->round(run));
        run->round++;
        p->loss[t] = run->recent.sum - before;
        TSR_CHECK(isfinite(p->loss[t]), TSR_DIVERGED, "the loss is no longer finite in round %lld",
                  (long long)t + 1);
        TSR_TRY(look(p, run, judge, x, t));
    }
done:
    return st;
}

static tsr_status watch(probe *p, tsri_study *s, const tsri_descent *t, int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_run run = {0};
    tsri_plan *judge = NULL;
    float *x = NULL;
    char text[400];
    tsr_run_options o = tsr_run_options_default();
    run_text(text, sizeof text, t);
    TSR_TRY(tsri_study_config(&config, s, text, repeat));
    TSR_TRY(tsri_run_init(&run, config, &o));
    TSR_TRY(run.scheme->setup(&run));
    if (p->change)
        TSR_TRY(tsri_alloc(&p->before, run.net->trained, sizeof *p->before));
    if (p->hamming) {
        int64_t n = run.data->test.n < JUDGED ? run.data->test.n : JUDGED;
        TSR_TRY(tsri_alloc(&x, n * run.data->dim, sizeof *x));
        for (int64_t i = 0; i < n; i++)
            tsri_sample(x + i * run.data->dim, run.data, &run.data->test, i);
        TSR_TRY(tsri_plan_create(&judge, &run.store, run.backend, run.pool, n, false));
        TSR_TRY(
            tsri_alloc(&p->bits, n * ((t->width + 63) / 64) * (t->layers + 1), sizeof *p->bits));
    }
    TSR_TRY(rounds(p, &run, judge, x));
done:
    TSRI_FREE(p->before);
    TSRI_FREE(p->bits);
    tsri_free(x);
    tsri_plan_destroy(judge);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
    return st;
}

/* ---- Figure 2a: width and convergence ------------------------------------------------------- */

enum { WIDTHS = 3, MODELS = 2 };

static const char *const models[MODELS] = {"relu_twin", "grelu"};

/* The paper's way: of the theory's width the worst of all repetitions, of the others the best. */
static void fold(double *curve, const double *one, int64_t n, bool first, bool worst)
{
    for (int64_t i = 0; i < n; i++)
        if (first || (worst ? one[i] > curve[i] : one[i] < curve[i]))
            curve[i] = one[i];
}

static tsr_status fig2a(tsri_study *s)
{
    tsr_status st = TSR_OK;
    int64_t n = s->quick ? 16 : 100, d = s->quick ? 32 : 200, L = 4,
            seeds = tsri_study_seeds(s, s->quick ? 2 : 5);
    int64_t count = s->quick ? 300 : 3000;
    double theory = (double)(n * n * L);
    int64_t width[WIDTHS] = {n * L, (int64_t)pow(theory, 0.85), n * n * L};
    double *one = NULL, *curve = NULL, end[MODELS][WIDTHS];
    char data[96], name[64];
    tsri_chart c;
    tsri_chart_begin(&c, "Figure 2a: half the sum of squares against rounds");
    TSR_TRY(tsri_alloc(&one, count, sizeof *one));
    TSR_TRY(tsri_alloc(&curve, count, sizeof *curve));
    (void)snprintf(data, sizeof data, "{name: ackley, n: %lld, test_n: 4, dim: %lld}", (long long)n,
                   (long long)d);
    tsri_chart_panel(&c, &(tsri_panel){.x_label = "round", .y_label = "loss", .y_log = true});
    for (int w = 0; w < WIDTHS; w++)
        for (int k = 0; k < MODELS; k++) {
            tsri_descent t = {models[k], data, n, d, width[w], L, count, 8};
            for (int64_t r = 0; r < seeds; r++) {
                probe p = {.loss = one};
                tsri_study_say(s, (double)(w * MODELS + k) / (WIDTHS * MODELS), "%s, width %lld",
                               models[k], (long long)width[w]);
                TSR_TRY(watch(&p, s, &t, r));
                fold(curve, one, count, r == 0, w == WIDTHS - 1);
            }
            end[k][w] = curve[count - 1] / curve[0];
            (void)snprintf(name, sizeof name, "%s, m = %lld", k ? "GReLU" : "ReLU",
                           (long long)width[w]);
            tsri_chart_series(
                &c, &(tsri_series){
                        .name = name, .n = count, .y = curve, .colour = w + 1, .dashed = k == 1});
        }
    tsri_study_chart(s, "fig2a", &c);
    tsri_study_note(s,
                    "n = %lld, d = %lld, L = %lld, widths nL, (n^2 L)^0.85 and n^2 L = %lld (the "
                    "paper: n = 100, d = 200, m up to 40,000); %lld seeds, the worst of them at "
                    "n^2 L, the best of them else.",
                    (long long)n, (long long)d, (long long)L, (long long)width[WIDTHS - 1],
                    (long long)seeds);
    tsri_study_note(s, "The synthetic target's index d - d' is ambiguous in the paper; "
                       "data/ackley.c says how it is read.");
    tsri_study_claim(s, end[0][WIDTHS - 1] < 1e-3 && end[1][WIDTHS - 1] < 1e-3,
                     "At the theory's width n^2 L all runs of both nets converge to zero error.",
                     "loss at the end over loss at the start: ReLU %.1e, GReLU %.1e",
                     end[0][WIDTHS - 1], end[1][WIDTHS - 1]);
    tsri_study_claim(s,
                     end[0][0] > 1e-3 && end[0][1] > 1e-3 && end[1][0] > 1e-3 && end[1][1] > 1e-3,
                     "No run below that width converges.",
                     "ReLU %.1e and %.1e, GReLU %.1e and %.1e at widths %lld and %lld", end[0][0],
                     end[0][1], end[1][0], end[1][1], (long long)width[0], (long long)width[1]);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_free(one);
    tsri_free(curve);
    tsri_chart_fini(&c);
    return st;
}

/* ---- Figures 2b and 2c: gradients and patterns along a run ----------------------------------- */

/* Gradients (or patterns) of one net over the seeds; the first round has nothing before it. */
static tsr_status watch_seeds(tsri_bundle *b, tsri_study *s, const tsri_descent *t, int64_t seeds,
                              bool patterns, double from, double to)
{
    tsr_status st = TSR_OK;
    double *loss = NULL, *seen = NULL;
    TSR_TRY(tsri_bundle_init(b, t->rounds - 1, 1, seeds));
    TSR_TRY(tsri_alloc(&loss, t->rounds, sizeof *loss));
    TSR_TRY(tsri_alloc(&seen, t->rounds, sizeof *seen));
    for (int64_t k = 0; k < seeds; k++) {
        probe p = {
            .loss = loss, .change = patterns ? NULL : seen, .hamming = patterns ? seen : NULL};
        tsri_study_say(s, from + (to - from) * (double)k / (double)seeds,
                       "%s, width %lld, seed %lld", t->model, (long long)t->width,
                       (long long)k + 1);
        TSR_TRY(watch(&p, s, t, k));
        memcpy(b->one + k * b->points, seen + 1, (size_t)b->points * sizeof *seen);
    }
    tsri_bundle_fold(b);
done:
    tsri_free(loss);
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

static void tell_sgemm(tsri_study *s, const tsri_descent *t, int64_t seeds)
{
    tsri_study_note(
        s,
        "%lld samples, width %lld, depth %lld, %lld whole-batch rounds, each an epoch, at "
        "a = %g (grelu_nets.h); %lld seeds, bands from the least to the most of them.",
        (long long)t->n, (long long)t->width, (long long)t->layers, (long long)t->rounds, t->a,
        (long long)seeds);
}

static void judge_gradients(tsri_study *s, const tsri_bundle b[MODELS])
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
    tsri_estimate rough[MODELS] = {tsri_bundle_mean(&b[0], tsri_bundle_rises),
                                   tsri_bundle_mean(&b[1], tsri_bundle_rises)};
    tsri_study_claim(
        s, tsri_surely_above(rough[0], isnan(rough[1].high) ? rough[1].value : rough[1].high),
        "They are highly irregular; the GReLU network's are not.",
        "they rise in a part of %s of the rounds, GReLU's in %s",
        tsri_estimate_text(text[0], rough[0]), tsri_estimate_text(text[1], rough[1]));
}

tsr_status tsri_grelu_fig2b(tsri_study *s, const tsri_descent *sizes, int64_t seeds)
{
    tsr_status st = TSR_OK;
    tsri_bundle b[MODELS] = {0};
    tsri_descent t = *sizes;
    tsri_chart c;
    tsri_chart_begin(&c, "Figure 2b: distance of consecutive gradients, SGEMM");
    tsri_chart_panel(
        &c, &(tsri_panel){.x_label = "round", .y_label = "|g_t - g_(t-1)|", .y_log = true});
    tell_sgemm(s, &t, seeds);
    for (int k = 0; k < MODELS; k++) {
        t.model = models[k];
        TSR_TRY(watch_seeds(&b[k], s, &t, seeds, false, k / 2.0, (k + 1) / 2.0));
        tsri_bundle_draw(&c, &b[k], k ? "GReLU" : "ReLU", 0, false);
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

tsr_status tsri_grelu_fig2c(tsri_study *s, const tsri_descent *sizes, int64_t seeds)
{
    tsr_status st = TSR_OK;
    tsri_bundle b = {0};
    char text[TSRI_ESTIMATE_TEXT];
    tsri_descent t = *sizes;
    tsri_chart c;
    tsri_chart_begin(&c, "Figure 2c: ReLUs that changed since the round before, SGEMM test set");
    tsri_chart_panel(
        &c, &(tsri_panel){.x_label = "round", .y_label = "part of all activations", .y_log = true});
    tell_sgemm(s, &t, seeds);
    TSR_TRY(watch_seeds(&b, s, &t, seeds, true, 0, 1));
    tsri_bundle_draw(&c, &b, "ReLU", 0, false);
    tsri_study_chart(s, "fig2c", &c);
    tsri_estimate part = tsri_bundle_mean(&b, whole), grows = tsri_bundle_mean(&b, second_half);
    tsri_study_claim(s, exp(part.value) > 0.15 && exp(part.value) < 0.35,
                     "20 to 25 % of the activations change every epoch.",
                     "a part of %s; an epoch is one round here", factor_text(text, part));
    tsri_study_claim(s, tsri_surely_above(grows, 0), "The part keeps increasing along the run.",
                     "the second half has %s times the first's", factor_text(text, grows));
    TSR_TRY(tsri_study_end(s));
done:
    tsri_bundle_fini(&b);
    tsri_chart_fini(&c);
    return st;
}

/* The rate is one of Figure 5's, where ReLU nets oscillate: the paper ties 2b to that. */
static tsri_descent sgemm_sizes(const tsri_study *s)
{
    return s->quick
               ? (tsri_descent){"relu_twin", "{name: sgemm, limit: 256}", 256, 14, 128, 10, 300, 8}
               : (tsri_descent){
                     "relu_twin", "{name: sgemm, limit: 8192}", 8192, 14, 2048, 10, 400, 8};
}

static tsr_status fig2b(tsri_study *s)
{
    tsri_descent t = sgemm_sizes(s);
    return tsri_grelu_fig2b(s, &t, tsri_study_seeds(s, 5));
}

static tsr_status fig2c(tsri_study *s)
{
    tsri_descent t = sgemm_sizes(s);
    return tsri_grelu_fig2c(s, &t, tsri_study_seeds(s, 5));
}

const tsri_reproduction tsri_reproduce_grelu[] = {
    {"grelu/fig2a", "loss against rounds at the theory's width and below, ReLU and GReLU", fig2a},
    {"grelu/fig2b", "distance of consecutive gradients on SGEMM, ReLU and GReLU", fig2b},
    {"grelu/fig2c", "ReLU patterns that change from epoch to epoch on SGEMM", fig2c},
    {"grelu/table2", "training error of three shapes on CIFAR-10, ReLU and GReLU",
     tsri_reproduce_grelu_table2},
    {"grelu/fig3", "error along the run on CIFAR-10; a gated net that becomes a ReLU net half-way",
     tsri_reproduce_grelu_fig3},
    {"grelu/fig4", "training error by rate, width and depth on SGEMM, ReLU and GReLU",
     tsri_reproduce_grelu_fig4},
    {"grelu/fig5", "training error at high rates on SGEMM, ReLU and GReLU",
     tsri_reproduce_grelu_fig5},
    {0},
};
