/* deeprelu_width.c - Zou, Cao, Zhou, Gu, Corollary 4.4: the width that is enough.
 *
 * The corollary asks for a width of poly(n, 1/phi) e^O(L). Measured is the smallest one at which
 * gradient descent reaches zero training error on random labels, against n, phi and L.
 */
#include "reproduce/deeprelu.h"

#include "base/stop.h"
#include "data/points.h"
#include "reproduce/cells.h"
#include "run/evaluate.h"
#include "run/run.h"
#include "scheme/scheme.h"
#include "train/describe.h"

#include <math.h>
#include <stdio.h>

typedef struct task {
    int64_t n, dim, layers;
} task;

static void width_file(char *yaml, size_t size, const tsri_study *s, const task *k, int64_t width,
                       int64_t repeat)
{
    (void)snprintf(
        yaml, size,
        "data: {name: random-labels, n: %lld, test_n: 1, dim: %lld, classes: 2, seed: %lld}\n"
        "model: {name: relu_deep, layers: %lld, width: %lld}\nloss: logistic\n"
        "optim: {name: gd, lr: %g, momentum: 0}\nrounds: %d\n",
        (long long)k->n, (long long)k->dim, (long long)(s->seed + (uint64_t)repeat),
        (long long)k->layers, (long long)width, 4.0 / (double)width, s->quick ? 2000 : 10000);
}

/* Does gradient descent reach zero training error on random labels at this width? And their phi. */
static tsr_status reaches(bool *zero, double *phi, tsri_study *s, const task *k, int64_t width,
                          int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_run run = {.process.lock = -1};
    tsr_run_options o = tsr_run_options_default();
    tsr_result r = {0};
    char yaml[500];
    int64_t a, b;
    width_file(yaml, sizeof yaml, s, k, width, repeat);
    TSR_TRY(tsri_study_config(&config, s, yaml, repeat));
    TSR_TRY(tsri_run_init(&run, config, &o));
    TSR_TRY(run.settings.scheme->setup(&run));
    *zero = false;
    *phi = tsri_least_distance(run.data->train.numbers, run.data->train.n, run.data->dim, &a, &b);
    while (run.position.round < run.settings.rounds && !*zero) {
        TSR_TRY(tsri_stop_heed());
        TSR_TRY(run.settings.scheme->round(&run));
        if (++run.position.round % 50 != 0)
            continue;
        TSR_TRY(tsri_evaluate(&r, &run.store, run.device, run.data, &run.data->train,
                              run.settings.loss));
        *zero = r.accuracy >= 1;
        if (!isfinite(r.loss))
            break;
    }
done:
    tsri_run_fini(&run);
    tsr_config_destroy(config);
    return st;
}

/* Widths 2, 4, 6, 8, 12, 16, 24, ...: even, about two to a factor of two. */
static int64_t width_at(int i)
{
    return i == 0 ? 2 : i % 2 ? (int64_t)4 << (i - 1) / 2 : (int64_t)6 << (i - 2) / 2;
}

enum { REPEATS_MOST = 16 };

static int64_t widest(const tsri_study *s)
{
    return s->paper ? 65536 : s->quick ? 512 : 4096;
}

/* log2 of the smallest of them; where none was wide enough the one above them, and `narrow` says
 * so. */
static tsr_status smallest_of(double *found, bool *narrow, double *phi, tsri_study *s,
                              const task *k, int64_t repeat)
{
    tsr_status st = TSR_OK;
    bool zero = false;
    int i = 0;
    while (width_at(i) <= widest(s) && !zero) {
        TSR_TRY(reaches(&zero, phi, s, k, width_at(i++), repeat));
    }
    *found = log2((double)width_at(zero ? i - 1 : i));
    *narrow = !zero;
done:
    return st;
}

/* A cell is one repetition: all widths up to the first that is enough. */
static tsr_status make_smallest(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                                const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    double found = 0, phi = 0;
    bool narrow = false;
    (void)config;
    (void)folder;
    TSR_TRY(smallest_of(&found, &narrow, &phi, s, ask->what, ask->repeat));
    tsri_cell_put(to, "log2_width", found);
    tsri_cell_put(to, "too_narrow", narrow);
    tsri_cell_put(to, "phi", phi);
done:
    return st;
}

static tsr_status ask_smallest(double *found, bool *narrow, double *phi, tsri_study *s,
                               const task *k, int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsri_study_cell c = {0};
    bool there = false;
    char yaml[500], name[TSRI_CELL_NAME];
    width_file(yaml, sizeof yaml, s, k, widest(s), repeat);
    (void)snprintf(name, sizeof name, "n%lld-d%lld-L%lld-seed%lld", (long long)k->n,
                   (long long)k->dim, (long long)k->layers, (long long)s->seed + (long long)repeat);
    double n = (double)k->n; /* as if a width of n were needed, and the tried ones before it */
    tsri_cell_ask ask = {.name = name,
                         .yaml = yaml,
                         .repeat = repeat,
                         .make = make_smallest,
                         .what = k,
                         .flops =
                             12 * 1e4 * n * n * (n * (double)(k->layers - 1) + (double)k->dim)};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    *found = tsri_cell_value(&c, "log2_width");
    *narrow = tsri_cell_value(&c, "too_narrow") > 0;
    *phi = tsri_cell_value(&c, "phi");
done:
    tsri_cell_fini(&c);
    return st;
}

static tsr_status smallest(double found[REPEATS_MOST], bool narrow[REPEATS_MOST], double *phi,
                           tsri_study *s, const task *k, int64_t repeats)
{
    tsr_status st = TSR_OK;
    double sum = 0;
    for (int64_t r = 0; r < repeats; r++) {
        double apart = 0;
        TSR_TRY(s->book ? ask_smallest(&found[r], &narrow[r], &apart, s, k, r)
                        : smallest_of(&found[r], &narrow[r], &apart, s, k, r));
        sum += apart;
    }
    *phi = sum / (double)repeats;
done:
    return st;
}

enum { SERIES = 3, POINTS = 4 };

typedef struct widths {
    double x[SERIES][POINTS], y[SERIES][POINTS], low[SERIES][POINTS], high[SERIES][POINTS];
    double log2_of[SERIES][POINTS][REPEATS_MOST];
    bool narrow[SERIES][POINTS][REPEATS_MOST]; /* no width was enough: log2_of is too small */
    int64_t repeats, too_narrow;
} widths;

static const char *const letter[SERIES] = {"n", "phi", "L"};

static tsr_status find_widths(widths *w, tsri_table *t, tsri_study *s)
{
    tsr_status st = TSR_OK;
    static const task tasks[2][SERIES][POINTS] = {
        {{{10, 10, 2}, {20, 10, 2}, {40, 10, 2}, {80, 10, 2}},
         {{30, 3, 2}, {30, 5, 2}, {30, 10, 2}, {30, 20, 2}},
         {{30, 10, 1}, {30, 10, 2}, {30, 10, 3}, {30, 10, 4}}},
        {{{125, 20, 2}, {250, 20, 2}, {500, 20, 2}, {1000, 20, 2}}, /* --paper */
         {{300, 5, 2}, {300, 10, 2}, {300, 20, 2}, {300, 40, 2}},
         {{300, 21, 1}, {300, 21, 2}, {300, 21, 3}, {300, 21, 4}}}}; /* names differ by d */
    tsri_table_head(t, "n|phi|L|width (2 to the mean of log2)|low|high");
    for (int i = 0; i < SERIES * POINTS; i++) {
        int a = i / POINTS, p = i % POINTS;
        const task *k = &tasks[s->paper][a][p];
        tsri_estimate e;
        double phi;
        tsri_study_say(s, i / (double)(SERIES * POINTS), "n %lld, L %lld, d %lld", (long long)k->n,
                       (long long)k->layers, (long long)k->dim);
        TSR_TRY(smallest(w->log2_of[a][p], w->narrow[a][p], &phi, s, k, w->repeats));
        for (int64_t r = 0; r < w->repeats; r++)
            w->too_narrow += w->narrow[a][p][r];
        e = tsri_mean_of(w->log2_of[a][p], w->repeats);
        w->x[a][p] = a == 0 ? (double)k->n : a == 1 ? phi : (double)k->layers;
        w->y[a][p] = exp2(e.value);
        w->low[a][p] = isnan(e.low) ? w->y[a][p] : exp2(e.low);
        w->high[a][p] = isnan(e.high) ? w->y[a][p] : exp2(e.high);
        tsri_table_format(t, "%lld", (long long)k->n);
        tsri_table_real(t, phi, 3);
        tsri_table_format(t, "%lld", (long long)k->layers);
        tsri_table_real(t, w->y[a][p], 1);
        tsri_table_real(t, w->low[a][p], 1);
        tsri_table_real(t, w->high[a][p], 1);
    }
done:
    return st;
}

static void draw_widths(tsri_study *s, const widths *w)
{
    tsri_chart c;
    tsri_chart_begin(&c, "Smallest width with zero training error, random labels");
    for (int a = 0; a < SERIES; a++) {
        char title[40];
        (void)snprintf(title, sizeof title, "against %s", letter[a]);
        tsri_chart_panel(&c, &(tsri_panel){.title = title,
                                           .x_label = letter[a],
                                           .y_label = "width",
                                           .x_log = a < 2,
                                           .y_log = true});
        tsri_chart_series(&c, &(tsri_series){.n = POINTS,
                                             .x = w->x[a],
                                             .y = w->y[a],
                                             .low = w->low[a],
                                             .high = w->high[a],
                                             .marks = TSRI_MARKS_BOTH});
    }
    tsri_study_chart(s, "width", &c);
    tsri_chart_fini(&c);
}

/* The power of x, or with `exponential` the factor of e per unit of x, that the width grows
 * with. */
static tsri_estimate growth(const widths *w, int a, bool exponential)
{
    double x[POINTS], y[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i] = exponential ? w->x[a][i] : log(w->x[a][i]);
        y[i] = log(w->y[a][i]);
    }
    return tsri_slope_of(NULL, x, y, POINTS);
}

/* By how much the same slope is larger at the end than at the beginning, of each repetition: a
 * power (or an exponential) has one slope, what grows faster has a rising one. (phi grows along the
 * points: what is faster than a power of 1/phi falls more steeply at first.) Not known where a
 * width was not. */
static void judge_steepening(tsri_study *s, const char *id, const widths *w, int a,
                             bool exponential)
{
    double change[REPEATS_MOST], x[POINTS];
    for (int i = 0; i < POINTS; i++)
        x[i] = exponential ? w->x[a][i] : log(w->x[a][i]);
    for (int64_t r = 0; r < w->repeats; r++) {
        double y[POINTS];
        for (int i = 0; i < POINTS; i++)
            y[i] = w->narrow[a][i][r] ? (double)NAN : log(2) * w->log2_of[a][i][r];
        change[r] = (y[POINTS - 1] - y[POINTS - 2]) / (x[POINTS - 1] - x[POINTS - 2]) -
                    (y[1] - y[0]) / (x[1] - x[0]);
    }
    tsri_study_judge(s, id, NULL, change, w->repeats);
}

/* The theorem's powers, 44 and 24, cannot be told from others over such ranges (a factor of 8 in n
 * would be one of 10^40 in the width); that it is a power, and an exponential in L, can: neither
 * gets steeper. */
static void judge_widths(tsri_study *s, const widths *w)
{
    char text[SERIES][TSRI_ESTIMATE_TEXT];
    for (int a = 0; a < SERIES; a++)
        (void)tsri_estimate_text(text[a], growth(w, a, a == 2));
    judge_steepening(s, "deeprelu/width/n", w, 0, false);
    judge_steepening(s, "deeprelu/width/phi", w, 1, false);
    judge_steepening(s, "deeprelu/width/layers", w, 2, true);
    tsri_study_note(
        s,
        "Lines through the means: the power of n is %s, that of phi %s, the exponent of "
        "a layer %s (intervals over the four points).",
        text[0], text[1], text[2]);
    tsri_study_note(s, "The proof's own powers, n^44 and phi^-24, are not judged: over a factor of "
                       "8 in n the first would be one of 10^40 in the width, so no measurement of "
                       "this size can be above it.");
}

/* The corollary is of any data; the widths that are enough are measured. */
static void tell_widths(tsri_study *s, const widths *w)
{
    tsri_study_setting(
        s, "data", "any of Assumptions 3.3 to 3.7", "random labels on the sphere, %s",
        s->paper ? "n = 125 to 1000, 5 to 40 dimensions" : "n = 10 to 80, 3 to 20 dimensions");
    tsri_study_setting(s, "step", "poly(1/n, phi) e^-O(L) / M", "4/m");
    tsri_study_setting(s, "iterations", "poly(n, 1/phi) e^O(L)", "at most %d",
                       s->quick ? 2000 : 10000);
    tsri_study_setting(s, "loss", "any of section 3", "logistic");
    tsri_study_setting(s, "seeds", "with high probability", "%lld", (long long)w->repeats);
}

tsr_status tsri_deeprelu_width(tsri_study *s)
{
    tsr_status st = TSR_OK;
    int64_t usual = s->paper ? TSRI_SEEDS_LEAST : s->quick ? 8 : 10;
    widths w = {.repeats = tsri_study_seeds_to(s, usual, REPEATS_MOST)};
    tsri_table t = {0};
    tell_widths(s, &w);
    TSR_TRY(find_widths(&w, &t, s));
    judge_widths(s, &w);
    draw_widths(s, &w);
    tsri_study_table(s, "width-table", "Smallest width with zero training error", &t);
    tsri_study_note(s,
                    "Widths tried are 2, 4, 6, 8, 12, 16, ...; phi is the mean of what was drawn, "
                    "varied by the dimension. Intervals of widths are over the repetitions.");
    if (w.too_narrow > 0)
        tsri_study_note(
            s, "In %lld cases no width up to %d was enough: drawn as the next one, not judged.",
            (long long)w.too_narrow, (int)widest(s));
    TSR_TRY(tsri_study_end(s));
done:
    tsri_table_fini(&t);
    return st;
}
