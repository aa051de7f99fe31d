/* deeprelu.c - Zou, Cao, Zhou, Gu, "Stochastic Gradient Descent Optimizes Over-parameterized Deep
 * ReLU Networks": its theorems, for there are no figures.
 *
 * Theorems 4.1 and 4.5 bound the iterations K that a loss needs to reach epsilon by a power of
 * 1/epsilon (hinge none, squared hinge a logarithm, exponential 1, logistic 1 for GD and 2 for
 * SGD), and the width by poly(n, 1/phi) e^O(L). Both are measured: the power as the slope of log
 * K(epsilon), of the last iterate for GD and the best one for SGD, as the theorems promise; the
 * width as the smallest one that reaches zero training error.
 */
#include "reproduce/reproductions.h"

#include "base/alloc.h"
#include "base/stop.h"
#include "data/points.h"
#include "reproduce/cells.h"
#include "reproduce/iterations.h"
#include "run/evaluate.h"
#include "run/run.h"
#include "scheme/scheme.h"
#include "train/describe.h"

#include <math.h>
#include <stdio.h>

/* ---- Losses --------------------------------------------------------------------------------- */

static const char *const loss_name[] = {"hinge", "squared_hinge", "exponential", "logistic"};
static const char *const method_name[] = {"gd", "sgd"};
enum { LOSSES = sizeof loss_name / sizeof *loss_name, METHODS = 2, SEEDS_MOST = 16 };
enum { GD, SGD };
enum { SQUARED_HINGE = 1 }; /* the one whose K is a logarithm */

/* What one run showed. */
typedef struct descent {
    tsri_iterations way;
    double wrong; /* part of the training samples, at the iterate that is promised */
} descent;

/* All runs of one width. */
typedef struct descents {
    int64_t seeds, width;
    descent of[METHODS][LOSSES][SEEDS_MOST];
} descents;

static void descents_fini(descents *d)
{
    for (int i = 0; d && i < METHODS * LOSSES * SEEDS_MOST; i++)
        tsri_iterations_fini(
            &d->of[i / (LOSSES * SEEDS_MOST)][i / SEEDS_MOST % LOSSES][i % SEEDS_MOST].way);
    tsri_free(d);
}

enum { WIDTHS_MOST = 4 };

/* With --paper several, up to what one device bears; else one. */
static int64_t loss_widths(int64_t width[WIDTHS_MOST], const tsri_study *s)
{
    static const int64_t many[WIDTHS_MOST] = {1024, 4096, 16384, 65536};
    for (int i = 0; i < WIDTHS_MOST; i++)
        width[i] = s->paper ? many[i] : s->quick ? 256 : 1024;
    return s->paper ? WIDTHS_MOST : 1;
}

static int64_t loss_samples(const tsri_study *s)
{
    return s->paper ? 1000 : s->quick ? 60 : 200;
}

/* `keep` chooses which iterate becomes the model; here it makes the run judge the training set. */
static void run_file(char *yaml, size_t size, const tsri_study *s, int k, int method, int64_t width,
                     int64_t repeat)
{
    int64_t n = loss_samples(s);
    bool sgd = method == SGD;
    (void)snprintf(
        yaml, size,
        "data: {name: sphere, n: %lld, test_n: 10, dim: 10, phi: 0.1, seed: %lld}\n"
        "model: {name: relu_deep, layers: 3, width: %lld}\nloss: %s\n"
        "optim: {name: %s, lr: %g, momentum: 0, keep: best}\nbatch: %lld\n"
        "rounds: %lld\neval: {every: %g}\ncheckpoint: {every: 0}\n",
        (long long)n, (long long)(s->seed + (uint64_t)repeat), (long long)width, loss_name[k],
        method_name[method], (sgd ? 1.0 : 4.0) / (double)width, (long long)(n / 6),
        (long long)(s->quick ? (sgd ? 1800 : 600) : (sgd ? 12000 : 3000)), sgd ? 1.0 / 3 : 2.0);
}

static tsr_status descend(descent *d, tsri_study *s, int k, int method, int64_t width,
                          int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsri_curves c = {0};
    tsr_result r = tsr_result_default();
    char yaml[700], name[64];
    run_file(yaml, sizeof yaml, s, k, method, width, repeat);
    if (s->book)
        (void)snprintf(name, sizeof name, "%s-%s-m%lld-", loss_name[k], method_name[method],
                       (long long)width);
    else
        (void)snprintf(name, sizeof name, "%s-%s-%lld", loss_name[k], method_name[method],
                       (long long)repeat + 1);
    TSR_TRY(tsri_study_train(s, &r, &c, name, yaml, repeat));
    if (tsri_study_lacks(s, &c))
        goto done;
    const double *round = tsri_curves_get(&c, "round"), *value = tsri_curves_get(&c, "train_loss");
    const double *accuracy = tsri_curves_get(&c, "train_accuracy");
    TSR_CHECK(c.n > 1 && round && value && accuracy, TSR_FAILURE, "%s: the run has no metrics",
              name);
    TSR_TRY(tsri_iterations_init(&d->way, round, value, c.n, method == GD));
    double best = 0;
    for (int64_t i = 0; i < c.n; i++)
        best = fmax(best, accuracy[i]);
    d->wrong = 1 - (method == GD ? accuracy[c.n - 1] : best);
done:
    tsri_curves_fini(&c);
    return st;
}

/* The first seed's. */
static void draw_losses(tsri_study *s, const descents *d)
{
    char name[60] = "losses", of[120];
    static const char *const title[METHODS] = {"gradient descent, last iterate",
                                               "SGD, best iterate so far"};
    tsri_chart c;
    (void)snprintf(of, sizeof of, "Training loss, four losses, three hidden layers, first seed");
    if (s->paper) {
        (void)snprintf(name, sizeof name, "losses-m%lld", (long long)d->width);
        (void)snprintf(of, sizeof of, "Training loss, three hidden layers of %lld, first seed",
                       (long long)d->width);
    }
    tsri_chart_begin(&c, of);
    for (int method = 0; method < METHODS; method++) {
        tsri_chart_panel(&c, &(tsri_panel){.title = title[method],
                                           .x_label = "iteration",
                                           .y_label = "L_S",
                                           .x_log = true,
                                           .y_log = true});
        for (int k = 0; k < LOSSES; k++) {
            const tsri_iterations *one = &d->of[method][k][0].way;
            if (one->n == 0) /* a cell that nobody made yet */
                continue;
            tsri_chart_series(&c, &(tsri_series){.name = loss_name[k],
                                                 .n = one->n,
                                                 .x = one->round,
                                                 .y = method == GD ? one->seen : one->promised});
        }
    }
    tsri_study_chart(s, name, &c);
    tsri_chart_fini(&c);
}

/* One loss and method: its claim, its part of the corollary, its row. */
static void judge_loss(tsri_study *s, tsri_table *t, const descents *d, int k, int method)
{
    double power[SEEDS_MOST], steeper[SEEDS_MOST], wrong[SEEDS_MOST], last[SEEDS_MOST];
    char id[80], text[TSRI_ESTIMATE_TEXT], width[40], part[80];
    (void)snprintf(width, sizeof width, "m = %lld", (long long)d->width);
    (void)snprintf(part, sizeof part, s->paper ? "%s, %s" : "%s", loss_name[k], width);
    for (int64_t r = 0; r < d->seeds; r++) {
        const descent *one = &d->of[method][k][r];
        power[r] = steeper[r] = wrong[r] = last[r] = (double)NAN;
        if (one->way.n == 0) /* a cell that nobody made yet */
            continue;
        power[r] = tsri_iterations_power(&one->way);
        steeper[r] = tsri_iterations_steepening(&one->way);
        wrong[r] = one->wrong;
        last[r] = one->way.promised[one->way.n - 1];
    }
    (void)snprintf(id, sizeof id, "deeprelu/losses/%s-%s", method_name[method], loss_name[k]);
    tsri_study_judge(s, id, s->paper ? width : NULL, k == SQUARED_HINGE ? steeper : power,
                     d->seeds);
    tsri_study_judge(s, method == GD ? "deeprelu/losses/zero-gd" : "deeprelu/losses/zero-sgd", part,
                     wrong, d->seeds);
    tsri_table_text(t, part);
    tsri_table_text(t, method == GD ? "GD" : "SGD");
    tsri_table_real(t, 100 * tsri_mean_of(wrong, d->seeds).value, 2);
    tsri_table_format(t, "%.3g", tsri_mean_of(last, d->seeds).value);
    tsri_table_text(t, tsri_estimate_text(text, tsri_mean_of(power, d->seeds)));
}

/* The theorems are of any data, width and step that their conditions allow. */
static void tell_losses(tsri_study *s, const descents *d)
{
    tsri_study_setting(s, "data", "any of Assumptions 3.3 to 3.7",
                       "%d points of the sphere in ten dimensions, phi at least 0.1",
                       (int)loss_samples(s));
    tsri_study_setting(s, "width", "poly(n, 1/phi) e^O(L)", "%s",
                       s->paper   ? "1024, 4096, 16384, 65536"
                       : s->quick ? "256"
                                  : "1024");
    tsri_study_setting(s, "step", "poly(1/n, phi) e^-O(L) / M", "4/m (GD), 1/m (SGD)");
    tsri_study_setting(s, "iterations", "poly(n, 1/phi) e^O(L) and a power of 1/epsilon",
                       "%d (GD), %d (SGD)", s->quick ? 600 : 3000, s->quick ? 1800 : 12000);
    tsri_study_setting(s, "seeds", "with high probability", "%lld", (long long)d->seeds);
}

static tsr_status losses_of_width(tsri_study *s, tsri_table *t, int64_t width)
{
    tsr_status st = TSR_OK;
    descents *d = NULL;
    TSR_TRY(tsri_alloc(&d, 1, sizeof *d));
    d->width = width;
    d->seeds = tsri_study_seeds(s, TSRI_SEEDS_LEAST);
    d->seeds = d->seeds < SEEDS_MOST ? d->seeds : SEEDS_MOST;
    tell_losses(s, d);
    for (int method = 0; method < METHODS; method++)
        for (int k = 0; k < LOSSES; k++) {
            tsri_study_say(s, (method * LOSSES + k) / (double)(METHODS * LOSSES), "%s by %s",
                           loss_name[k], method == GD ? "gradient descent" : "SGD");
            for (int64_t r = 0; r < d->seeds; r++)
                TSR_TRY(descend(&d->of[method][k][r], s, k, method, width, r));
            judge_loss(s, t, d, k, method);
        }
    draw_losses(s, d);
done:
    descents_fini(d);
    return st;
}

static tsr_status losses(tsri_study *s)
{
    tsr_status st = TSR_OK;
    int64_t width[WIDTHS_MOST], widths = loss_widths(width, s);
    tsri_table t = {0};
    tsri_table_head(&t, "loss|method|training error, %|last L_S|power of 1/epsilon");
    for (int64_t i = 0; i < widths; i++)
        TSR_TRY(losses_of_width(s, &t, width[i]));
    tsri_study_table(s, "losses-table", "Iterations against epsilon, mean over the seeds", &t);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_table_fini(&t);
    return st;
}

/* ---- Width ---------------------------------------------------------------------------------- */

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
        TSR_CHECK(!tsri_stop_asked(), TSR_INTERRUPTED,
                  "stopped: give the same command again, what is done is kept");
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

/* The power of x, or with `exponential` the factor of e per unit of x, that the width grows with.
 */
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

static tsr_status width(tsri_study *s)
{
    tsr_status st = TSR_OK;
    widths w = {.repeats = tsri_study_seeds(s, s->paper ? TSRI_SEEDS_LEAST : s->quick ? 8 : 10)};
    tsri_table t = {0};
    w.repeats = w.repeats < REPEATS_MOST ? w.repeats : REPEATS_MOST;
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

const tsri_reproduction tsri_reproduce_deeprelu[] = {
    {"deeprelu/losses", "four losses by GD and SGD: iterations against epsilon", .make = losses,
     .paper = losses},
    {"deeprelu/width", "smallest width with zero training error against n, phi and L",
     .make = width, .paper = width},
    {0},
};
