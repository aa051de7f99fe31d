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
#include "reproduce/grelu_sgemm.h"
#include "scheme/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct setting {
    const char *model; /* "grelu" or "relu_twin" */
    const char *data;  /* of the run file */
    int64_t n, inputs, width, layers, rounds;
    double a; /* of the rate */
} setting;

static void run_text(char *text, size_t size, const setting *t)
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

static tsr_status watch(probe *p, tsri_study *s, const setting *t, int64_t repeat)
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
            setting t = {models[k], data, n, d, width[w], L, count, 8};
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

/* ---- Figures 2b and 2c: gradients and patterns along a run ------------------------------------
 */

enum { SGEMM_INPUTS = 14 };

static setting sgemm_setting(const tsri_study *s, const char *model, char data[96])
{
    int64_t n = s->quick ? 512 : 8192;
    (void)snprintf(data, 96, "{name: sgemm, limit: %lld}", (long long)n); /* in --data, if given */
    return (setting){model, data, n, SGEMM_INPUTS, s->quick ? 256 : 2048, 4, s->quick ? 60 : 400,
                     1};
}

static double mean_of(const double *x, int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t i = from; i < to; i++)
        sum += x[i] / (double)(to - from);
    return sum;
}

static tsr_status fig2b(tsri_study *s)
{
    tsr_status st = TSR_OK;
    double *loss = NULL, *change[MODELS] = {NULL, NULL};
    char data[96];
    setting t = sgemm_setting(s, models[0], data);
    tsri_chart c;
    tsri_chart_begin(&c, "Figure 2b: distance of consecutive gradients, SGEMM");
    tsri_chart_panel(
        &c, &(tsri_panel){.x_label = "round", .y_label = "|g_t - g_(t-1)|", .y_log = true});
    TSR_TRY(tsri_alloc(&loss, t.rounds, sizeof *loss));
    for (int k = 0; k < MODELS; k++) {
        TSR_TRY(tsri_alloc(&change[k], t.rounds, sizeof *change[k]));
        probe p = {.loss = loss, .change = change[k]};
        t.model = models[k];
        tsri_study_say(s, k / 2.0, "%s, width %lld", models[k], (long long)t.width);
        TSR_TRY(watch(&p, s, &t, 0));
        tsri_chart_series(
            &c, &(tsri_series){.name = k ? "GReLU" : "ReLU", .n = t.rounds, .y = change[k]});
    }
    tsri_study_chart(s, "fig2b", &c);
    int64_t R = t.rounds, part = R / 4;
    double relu = mean_of(change[0], 1, R), grelu = mean_of(change[1], 1, R);
    tsri_study_note(s,
                    "%lld samples, width %lld, 4 hidden layers, %lld whole-batch rounds; every "
                    "round counts as an epoch.",
                    (long long)t.n, (long long)t.width, (long long)R);
    int64_t smaller = 0;
    for (int64_t r = 1; r < R; r++)
        smaller += change[1][r] < change[0][r];
    tsri_study_claim(s, grelu < relu && 2 * smaller > R - 1,
                     "The gradient differences of the GReLU network are smaller than those of the "
                     "ReLU network (section 6.3).",
                     "mean %.3g against %.3g, smaller in %lld of %lld rounds", grelu, relu,
                     (long long)smaller, (long long)R - 1);
    tsri_study_claim(s, mean_of(change[1], R - part, R) < mean_of(change[1], 1, 1 + part),
                     "They gradually decrease along the run.",
                     "first quarter %.3g, last quarter %.3g", mean_of(change[1], 1, 1 + part),
                     mean_of(change[1], R - part, R));
    tsri_study_claim(s, mean_of(change[0], R - part, R) > mean_of(change[0], 1, 1 + part),
                     "Those of the ReLU network increase along the training.",
                     "first quarter %.3g, last quarter %.3g", mean_of(change[0], 1, 1 + part),
                     mean_of(change[0], R - part, R));
    TSR_TRY(tsri_study_end(s));
done:
    tsri_free(loss);
    tsri_free(change[0]);
    tsri_free(change[1]);
    tsri_chart_fini(&c);
    return st;
}

static tsr_status fig2c(tsri_study *s)
{
    tsr_status st = TSR_OK;
    double *loss = NULL, *hamming = NULL;
    char data[96];
    setting t = sgemm_setting(s, "relu_twin", data);
    tsri_chart c;
    tsri_chart_begin(&c, "Figure 2c: ReLUs that changed since the round before, SGEMM test set");
    tsri_chart_panel(&c, &(tsri_panel){.x_label = "round", .y_label = "part of all activations"});
    TSR_TRY(tsri_alloc(&loss, t.rounds, sizeof *loss));
    TSR_TRY(tsri_alloc(&hamming, t.rounds, sizeof *hamming));
    probe p = {.loss = loss, .hamming = hamming};
    tsri_study_say(s, 0.1, "relu_twin, width %lld", (long long)t.width);
    TSR_TRY(watch(&p, s, &t, 0));
    tsri_chart_series(&c, &(tsri_series){.name = "ReLU", .n = t.rounds, .y = hamming});
    tsri_study_chart(s, "fig2c", &c);
    double all = mean_of(hamming, 1, t.rounds);
    int64_t half = t.rounds / 2;
    tsri_study_note(s,
                    "%lld training samples, width %lld, 4 hidden layers, whole batches: a round is "
                    "an epoch, and a small one beside the paper's.",
                    (long long)t.n, (long long)t.width);
    tsri_study_claim(s, all > 0.15 && all < 0.35,
                     "20 to 25 % of the activations change every epoch.", "%.2g %% on average",
                     100 * all);
    tsri_study_claim(s, mean_of(hamming, half, t.rounds) > mean_of(hamming, 1, half),
                     "The part keeps increasing along the run.",
                     "first half %.2g %%, second half %.2g %%", 100 * mean_of(hamming, 1, half),
                     100 * mean_of(hamming, half, t.rounds));
    TSR_TRY(tsri_study_end(s));
done:
    tsri_free(loss);
    tsri_free(hamming);
    tsri_chart_fini(&c);
    return st;
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
