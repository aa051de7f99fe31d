/* deeprelu.c - Zou, Cao, Zhou, Gu, "Stochastic Gradient Descent Optimizes Over-parameterized Deep
 * ReLU Networks": its theorems, for there are no figures.
 *
 * Theorems 4.1 and 4.5 bound the iterations K that a loss needs to reach epsilon by a power of
 * 1/epsilon (hinge none, squared hinge a logarithm, exponential 1, logistic 1 for GD and 2 for
 * SGD), and the width by poly(n, 1/phi) e^O(L). Both are measured: the power as the slope of log
 * K(epsilon), the width as the smallest one that reaches zero training error.
 */
#include "reproduce/reproductions.h"

#include "base/alloc.h"
#include "data/points.h"
#include "scheme/run.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Losses -----------------------------------------------------------------------------------
 */

/* A loss and the powers of 1/epsilon that are proven (0 also stands for a logarithm). */
typedef struct proven {
    const char *loss;
    double gd, sgd;
} proven;

static const proven table[] = {
    {"hinge", 0, 0}, {"squared_hinge", 0, 0}, {"exponential", 1, 1}, {"logistic", 1, 2}};
enum { LOSSES = sizeof table / sizeof *table, GRID = 12 };

/* What one run showed: the training loss so far the least, and K(epsilon). */
typedef struct descent {
    int64_t n;
    double *round, *loss; /* [n] */
    double accuracy;      /* at the end, on the training set */
    tsri_estimate power;  /* of K(epsilon) ~ epsilon^-power over the last decades */
} descent;

static void descent_fini(descent *d)
{
    tsri_free(d->round);
    tsri_free(d->loss);
}

/* log K against log 1/epsilon, epsilon falling from a third of the first loss to the last. */
static tsri_estimate power_of(const descent *d)
{
    double x[GRID], y[GRID], first = d->loss[0] / 3, last = d->loss[d->n - 1];
    int64_t points = 0;
    last = fmax(last, first * 1e-4); /* hinges end at exactly 0 */
    for (int64_t k = 0; k < GRID; k++) {
        double epsilon = first * pow(last / first, (double)k / (GRID - 1));
        int64_t i = 0;
        while (i < d->n && d->loss[i] > epsilon * (1 + 1e-12))
            i++;
        if (i == d->n)
            break;
        x[points] = -log(epsilon);
        y[points++] = log(d->round[i]);
    }
    int64_t from = points / 2; /* the tail is what the power is about */
    return tsri_slope_of(NULL, x + from, y + from, points - from);
}

static tsr_status descend(descent *d, tsri_study *s, const char *loss, bool sgd)
{
    tsr_status st = TSR_OK;
    tsri_curves c = {0};
    tsr_result r;
    char yaml[700], name[64];
    int64_t width = s->quick ? 256 : 1024, n = s->quick ? 60 : 200;
    (void)snprintf(yaml, sizeof yaml,
                   "data: {name: sphere, n: %lld, test_n: 10, dim: 10, phi: 0.1}\n"
                   "model: {name: relu_deep, layers: 3, width: %lld}\nloss: %s\n"
                   "optim: {name: %s, lr: %g, momentum: 0, keep: best}\nbatch: %lld\n"
                   "rounds: %lld\neval: {every: %g}\ncheckpoint: {every: 0}\n",
                   (long long)n, (long long)width, loss, sgd ? "sgd" : "gd",
                   (sgd ? 1.0 : 4.0) / (double)width, (long long)(n / 6),
                   (long long)(s->quick ? (sgd ? 1800 : 600) : (sgd ? 12000 : 3000)),
                   sgd ? 1.0 / 3 : 2.0);
    (void)snprintf(name, sizeof name, "%s-%s", loss, sgd ? "sgd" : "gd");
    TSR_TRY(tsri_study_train(s, &r, &c, name, yaml, 0));
    const double *round = tsri_curves_get(&c, "round"), *value = tsri_curves_get(&c, "train_loss");
    const double *accuracy = tsri_curves_get(&c, "train_accuracy");
    TSR_CHECK(c.n > 1 && round && value && accuracy, TSR_FAILURE, "%s: the run has no metrics",
              name);
    d->n = c.n;
    TSR_TRY(tsri_alloc(&d->round, c.n, sizeof *d->round));
    TSR_TRY(tsri_alloc(&d->loss, c.n, sizeof *d->loss));
    for (int64_t i = 0; i < c.n; i++) {
        d->round[i] = round[i];
        d->loss[i] = i > 0 ? fmin(d->loss[i - 1], value[i]) : value[i];
        d->accuracy = fmax(d->accuracy, accuracy[i]);
    }
    d->power = power_of(d);
done:
    tsri_curves_fini(&c);
    return st;
}

static void draw_losses(tsri_study *s, const descent d[2][LOSSES])
{
    tsri_chart c;
    tsri_chart_begin(&c, "Training loss, four losses, three hidden layers");
    for (int sgd = 0; sgd < 2; sgd++) {
        tsri_chart_panel(
            &c, &(tsri_panel){.title = sgd ? "SGD, best iterate so far" : "gradient descent",
                              .x_label = "iteration",
                              .y_label = "L_S",
                              .x_log = true,
                              .y_log = true});
        for (int k = 0; k < LOSSES; k++)
            tsri_chart_series(&c, &(tsri_series){.name = table[k].loss,
                                                 .n = d[sgd][k].n,
                                                 .x = d[sgd][k].round,
                                                 .y = d[sgd][k].loss});
    }
    tsri_study_chart(s, "losses", &c);
    tsri_chart_fini(&c);
}

static void loss_row(tsri_study *s, tsri_table *t, const proven *p, bool sgd, const descent *d)
{
    double bound = sgd ? p->sgd : p->gd;
    assert(d->n > 0 && d->loss); /* descend saw to it */
    tsri_table_text(t, p->loss);
    tsri_table_text(t, sgd ? "SGD" : "GD");
    tsri_table_real(t, 100 * (1 - d->accuracy), 2);
    tsri_table_format(t, "%.3g", d->loss[d->n - 1]);
    tsri_table_real(t, d->power.value, 2);
    if (strcmp(p->loss, "squared_hinge") == 0)
        tsri_table_text(t, "a logarithm");
    else
        tsri_table_real(t, bound, 0);
    char says[200], power[40] = "grow as log(1/epsilon) at most";
    if (strcmp(p->loss, "hinge") == 0)
        (void)snprintf(power, sizeof power, "do not grow with 1/epsilon");
    else if (bound > 0)
        (void)snprintf(power, sizeof power, "grow as epsilon^-%g at most", bound);
    (void)snprintf(says, sizeof says, "%s, %s: iterations %s (Theorem %s).", p->loss,
                   sgd ? "SGD" : "GD", power, sgd ? "4.5" : "4.1");
    /* A logarithm over three decades looks like a power of about a quarter; a tenth is noise. */
    double most = bound > 0 ? bound : strcmp(p->loss, "hinge") == 0 ? 0.1 : 0.5;
    tsri_study_claim(s, d->power.value <= most, says, "epsilon^-%.2f over the last half of the way",
                     fabs(d->power.value) < 0.005 ? 0 : d->power.value);
}

static tsr_status losses(tsri_study *s)
{
    tsr_status st = TSR_OK;
    descent d[2][LOSSES] = {0};
    tsri_table t = {0};
    int64_t zero = 0;
    tsri_table_head(&t, "loss|method|training error, %|last L_S|power of 1/epsilon|proven");
    for (int sgd = 0; sgd < 2; sgd++)
        for (int k = 0; k < LOSSES; k++) {
            tsri_study_say(s, (sgd * LOSSES + k) / (2.0 * LOSSES), "%s by %s", table[k].loss,
                           sgd ? "SGD" : "gradient descent");
            TSR_TRY(descend(&d[sgd][k], s, table[k].loss, sgd));
            loss_row(s, &t, &table[k], sgd, &d[sgd][k]);
            zero += d[sgd][k].accuracy >= 1;
        }
    tsri_study_claim(s, zero == 2 * LOSSES,
                     "Zero training error is reached (Corollaries 4.4, 4.7).", "in %lld of %d runs",
                     (long long)zero, 2 * LOSSES);
    draw_losses(s, (const descent(*)[LOSSES])d);
    tsri_study_table(s, "losses-table", "Iterations against epsilon", &t);
    tsri_study_note(
        s,
        "Points of the sphere in ten dimensions, width %d, step 4/m (GD) and 1/m (SGD); "
        "the power is the slope of log K(epsilon) over the last half of the way down.",
        s->quick ? 256 : 1024);
    TSR_TRY(tsri_study_end(s));
done:
    for (int k = 0; k < 2 * LOSSES; k++)
        descent_fini(&d[k / LOSSES][k % LOSSES]);
    tsri_table_fini(&t);
    return st;
}

/* ---- Width ------------------------------------------------------------------------------------
 */

typedef struct task {
    int64_t n, dim, layers;
} task;

/* Does gradient descent reach zero training error on random labels at this width? And their phi. */
static tsr_status reaches(bool *zero, double *phi, tsri_study *s, const task *k, int64_t width,
                          int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_run run = {.lock = -1};
    tsr_run_options o = tsr_run_options_default();
    tsr_result r = {0};
    char yaml[500];
    int64_t a, b;
    (void)snprintf(
        yaml, sizeof yaml,
        "data: {name: random-labels, n: %lld, test_n: 1, dim: %lld, classes: 2, seed: %lld}\n"
        "model: {name: relu_deep, layers: %lld, width: %lld}\nloss: logistic\n"
        "optim: {name: gd, lr: %g, momentum: 0}\nrounds: %d\n",
        (long long)k->n, (long long)k->dim, (long long)(s->seed + (uint64_t)repeat),
        (long long)k->layers, (long long)width, 4.0 / (double)width, s->quick ? 2000 : 10000);
    TSR_TRY(tsri_study_config(&config, s, yaml, repeat));
    TSR_TRY(tsri_run_init(&run, config, &o));
    TSR_TRY(run.scheme->setup(&run));
    *zero = false;
    *phi = tsri_least_distance(run.data->train.numbers, run.data->train.n, run.data->dim, &a, &b);
    while (run.round < run.rounds && !*zero) {
        TSR_TRY(run.scheme->round(&run));
        if (++run.round % 50 != 0)
            continue;
        TSR_TRY(tsri_evaluate(&r, &run.store, run.backend, run.pool, run.data, &run.data->train,
                              run.loss));
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

/* log2 of the smallest of them, in every repetition; where none was wide enough the one above them,
 * and *too_narrow counts it. */
static tsr_status smallest(double found[REPEATS_MOST], double *phi, int64_t *too_narrow,
                           tsri_study *s, const task *k, int64_t repeats)
{
    tsr_status st = TSR_OK;
    double sum = 0;
    for (int64_t r = 0; r < repeats; r++) {
        int64_t most = s->quick ? 512 : 4096;
        bool zero = false;
        double apart = 0;
        int i = 0;
        while (width_at(i) <= most && !zero)
            TSR_TRY(reaches(&zero, &apart, s, k, width_at(i++), r));
        found[r] = log2((double)width_at(zero ? i - 1 : i));
        *too_narrow += !zero;
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
    int64_t repeats, too_narrow;
} widths;

static const char *const letter[SERIES] = {"n", "phi", "L"};

static tsr_status find_widths(widths *w, tsri_table *t, tsri_study *s)
{
    tsr_status st = TSR_OK;
    static const task tasks[SERIES][POINTS] = {
        {{10, 10, 2}, {20, 10, 2}, {40, 10, 2}, {80, 10, 2}},
        {{30, 3, 2}, {30, 5, 2}, {30, 10, 2}, {30, 20, 2}},
        {{30, 10, 1}, {30, 10, 2}, {30, 10, 3}, {30, 10, 4}}};
    tsri_table_head(t, "n|phi|L|width (2 to the mean of log2)|low|high");
    for (int i = 0; i < SERIES * POINTS; i++) {
        int a = i / POINTS, p = i % POINTS;
        const task *k = &tasks[a][p];
        tsri_estimate e;
        double phi;
        tsri_study_say(s, i / (double)(SERIES * POINTS), "n %lld, L %lld, d %lld", (long long)k->n,
                       (long long)k->layers, (long long)k->dim);
        TSR_TRY(smallest(w->log2_of[a][p], &phi, &w->too_narrow, s, k, w->repeats));
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

/* By how much the same slope is larger at the end than at the beginning, over the repetitions: a
 * power (or an exponential) has one slope, what grows faster has a rising one. */
static tsri_estimate steepening(const widths *w, int a, bool exponential)
{
    double change[REPEATS_MOST], x[POINTS];
    for (int i = 0; i < POINTS; i++)
        x[i] = exponential ? w->x[a][i] : log(w->x[a][i]);
    for (int64_t r = 0; r < w->repeats; r++) {
        double y[POINTS];
        for (int i = 0; i < POINTS; i++)
            y[i] = log(2) * w->log2_of[a][i][r];
        change[r] = (y[POINTS - 1] - y[POINTS - 2]) / (x[POINTS - 1] - x[POINTS - 2]) -
                    (y[1] - y[0]) / (x[1] - x[0]);
    }
    return tsri_mean_of(change, w->repeats);
}

/* The theorem's powers, 44 and 24, cannot be told from others over such ranges (a factor of 8 in n
 * would be one of 10^40 in the width); that it is a power, and an exponential in L, can: neither
 * gets steeper. */
static void judge_widths(tsri_study *s, const widths *w)
{
    tsri_estimate n = growth(w, 0, false), phi = growth(w, 1, false), L = growth(w, 2, true);
    tsri_estimate up = steepening(w, 0, false), near = steepening(w, 1, false),
                  deep = steepening(w, 2, true);
    char text[TSRI_ESTIMATE_TEXT];
    tsri_study_claim(s, isfinite(up.value) && !tsri_surely_above(up, 0),
                     "The width that is enough grows no faster than a power of n (Theorem 4.1).",
                     "n^%.2f [%.2f, %.2f]; from the first doubling of n to the last the power "
                     "changes by %s",
                     n.value, n.low, n.high, tsri_estimate_text(text, up));
    /* phi grows along the points: what is faster than a power of 1/phi falls more steeply at first.
     */
    tsri_study_claim(s, isfinite(near.value) && !tsri_surely_above(near, 0),
                     "It grows no faster than a power of 1/phi (Theorem 4.1).",
                     "phi^%.2f [%.2f, %.2f]: points that are nearer to each other need %s; from "
                     "the nearest to the farthest the power changes by %s",
                     phi.value, phi.low, phi.high,
                     phi.high < 0  ? "more"
                     : phi.low > 0 ? "less, in these few dimensions"
                                   : "neither more nor less for certain",
                     tsri_estimate_text(text, near));
    tsri_study_claim(s, isfinite(deep.value) && !tsri_surely_above(deep, 0),
                     "It grows as e^O(L) at most (Theorem 4.1).",
                     "e^(%.2f L) [%.2f, %.2f]: width %.1f at L = 1, %.1f at L = %d; from the first "
                     "layer to the last the exponent of one layer changes by %s",
                     L.value, L.low, L.high, w->y[2][0], w->y[2][POINTS - 1], POINTS,
                     tsri_estimate_text(text, deep));
    tsri_study_note(s, "The proof's own powers, n^44 and phi^-24, are not judged: over a factor of "
                       "8 in n the first would be one of 10^40 in the width, so no measurement of "
                       "this size can be above it.");
}

static tsr_status width(tsri_study *s)
{
    tsr_status st = TSR_OK;
    widths w = {.repeats = tsri_study_seeds(s, s->quick ? 8 : 10)};
    tsri_table t = {0};
    w.repeats = w.repeats < REPEATS_MOST ? w.repeats : REPEATS_MOST;
    TSR_TRY(find_widths(&w, &t, s));
    judge_widths(s, &w);
    draw_widths(s, &w);
    tsri_study_table(s, "width-table", "Smallest width with zero training error", &t);
    tsri_study_note(
        s,
        "Random labels on the sphere, logistic loss, gradient descent with step 4/m, at most "
        "%d iterations, widths 2, 4, 6, 8, 12, 16, ..., %lld repetitions; phi is the mean of what "
        "was drawn, varied by the dimension. Intervals of widths are over the repetitions, those "
        "of "
        "powers over the four points.",
        s->quick ? 2000 : 10000, (long long)w.repeats);
    if (w.too_narrow > 0)
        tsri_study_note(s,
                        "In %lld cases no width up to %d was enough; they count as the next one.",
                        (long long)w.too_narrow, s->quick ? 512 : 4096);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_table_fini(&t);
    return st;
}

const tsri_reproduction tsri_reproduce_deeprelu[] = {
    {"deeprelu/losses", "four losses by GD and SGD: iterations against epsilon", losses},
    {"deeprelu/width", "smallest width with zero training error against n, phi and L", width},
    {0},
};
