/* deeprelu_losses.c - Zou, Cao, Zhou, Gu, Theorems 4.1 and 4.5: iterations against epsilon.
 *
 * The theorems bound the iterations K that a loss needs to reach epsilon by a power of 1/epsilon:
 * hinge none, squared hinge a logarithm, exponential 1, logistic 1 for GD and 2 for SGD. The power
 * is measured as the slope of log K(epsilon), of the last iterate for GD and of the best one for
 * SGD, as the theorems promise.
 */
#include "reproduce/deeprelu.h"

#include "base/alloc.h"
#include "reproduce/cells.h"
#include "reproduce/iterations.h"

#include <math.h>
#include <stdio.h>

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

/* Corollaries 4.4 and 4.7 promise the zero for K large enough: a run that ended with errors while
 * its loss still fell refutes nothing. */
static double wrong_of(const descent *one)
{
    return one->wrong > 0 && tsri_iterations_falling(&one->way) ? (double)NAN : one->wrong;
}

/* One loss and method: its claim, its part of the corollary, its row. */
static void judge_loss(tsri_study *s, tsri_table *t, const descents *d, int k, int method)
{
    double power[SEEDS_MOST], steeper[SEEDS_MOST], wrong[SEEDS_MOST], zero[SEEDS_MOST],
        last[SEEDS_MOST];
    char id[80], text[TSRI_ESTIMATE_TEXT], width[40], part[80];
    (void)snprintf(width, sizeof width, "m = %lld", (long long)d->width);
    (void)snprintf(part, sizeof part, s->paper ? "%s, %s" : "%s", loss_name[k], width);
    for (int64_t r = 0; r < d->seeds; r++) {
        const descent *one = &d->of[method][k][r];
        power[r] = steeper[r] = wrong[r] = zero[r] = last[r] = (double)NAN;
        if (one->way.n == 0) /* a cell that nobody made yet */
            continue;
        power[r] = tsri_iterations_power(&one->way);
        steeper[r] = tsri_iterations_steepening(&one->way);
        wrong[r] = one->wrong;
        zero[r] = wrong_of(one);
        last[r] = one->way.promised[one->way.n - 1];
    }
    (void)snprintf(id, sizeof id, "deeprelu/losses/%s-%s", method_name[method], loss_name[k]);
    tsri_study_judge(s, id, s->paper ? width : NULL, k == SQUARED_HINGE ? steeper : power,
                     d->seeds);
    tsri_study_judge(s, method == GD ? "deeprelu/losses/zero-gd" : "deeprelu/losses/zero-sgd", part,
                     zero, d->seeds);
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
    d->seeds = tsri_study_seeds_to(s, TSRI_SEEDS_LEAST, SEEDS_MOST);
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

tsr_status tsri_deeprelu_losses(tsri_study *s)
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
