/* grelu_nets.c - gated nets and their ReLU twins trained side by side. */
#include "reproduce/grelu_nets.h"

#include "base/alloc.h"
#include "data/reader.h"
#include "run/run.h"
#include "train/describe.h"

#include <math.h>
#include <stdio.h>

const char *const tsri_twin_model[TSRI_TWINS] = {"relu_twin", "grelu"};
const char *const tsri_twin_name[TSRI_TWINS] = {"ReLU", "GReLU"};

double tsri_twins_rate(const tsri_twins *t, double a, int64_t width, int64_t layers)
{
    double kernel =
        (double)layers * (double)width * (double)width / (double)(t->inputs * t->outputs);
    return a / kernel / (double)t->batch;
}

void tsri_twins_run_file(char *yaml, size_t size, const tsri_twins *t, int net, int64_t width,
                         int64_t layers, double rate)
{
    (void)snprintf(yaml, size,
                   "data: %s\nmodel: {name: %s, width: %lld, layers: %lld}\nloss: half_squares\n"
                   "optim: {name: %s, lr: %.6g, momentum: 0}\nbatch: %lld\nepochs: %lld\n"
                   "checkpoint: {every: %.6g, keep: 1}\n",
                   t->data, tsri_twin_model[net], (long long)width, (long long)layers,
                   t->batch < t->n ? "sgd" : "gd", rate, (long long)t->batch, (long long)t->epochs,
                   (double)t->epochs / 10);
}

/* The run file is a small one: only its data count. */
static bool suits_randaugment(const tsr_data *data)
{
    return data->of_bytes && data->height > 1 && (data->channels == 1 || data->channels == 3);
}

tsr_status tsri_twins_settle(tsri_twins *t, const tsri_study *s, tsri_twins_data *more)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_run run = {.process.lock = -1};
    tsr_run_options o = tsr_run_options_default();
    char yaml[600];
    if (!s->data || (s->paper && tsri_is_folder(s->data))) /* a folder holds the paper's own */
        return TSR_OK;
    tsri_twins_run_file(yaml, sizeof yaml,
                        &(tsri_twins){.data = t->data, .n = 1, .batch = 1, .epochs = 1}, 0, 8, 1,
                        1);
    TSR_TRY(tsri_study_config(&config, s, yaml, 0));
    TSR_TRY(tsri_run_describe(&run, config, &o, NULL));
    t->batch = t->batch < t->n ? t->batch : run.data->train.n; /* all stays all */
    t->batch = t->batch < run.data->train.n ? t->batch : run.data->train.n;
    t->n = run.data->train.n;
    t->inputs = run.data->dim;
    t->outputs = run.net->outputs;
    if (more)
        *more = (tsri_twins_data){run.data->test.n, suits_randaugment(run.data)};
done:
    tsri_run_fini(&run);
    tsr_config_destroy(config);
    return st;
}

void tsri_twins_settings(tsri_study *s, const tsri_twins *t, const tsri_twins_paper *paper,
                         const char *data, const char *widths, const char *layers, const char *rate)
{
    tsri_study_setting(s, "data", paper->data, "%s", tsri_study_data_name(s, data));
    tsri_study_setting(s, "training samples", paper->n, "%lld", (long long)t->n);
    tsri_study_setting(s, "inputs", paper->inputs, "%lld", (long long)t->inputs);
    tsri_study_setting(s, "width", paper->width, "%s", widths);
    tsri_study_setting(s, "depth", paper->layers, "%s", layers);
    tsri_study_setting(s, "samples a step", paper->batch, "%lld", (long long)t->batch);
    tsri_study_setting(s, "epochs", paper->epochs, "%lld", (long long)t->epochs);
    tsri_study_setting(s, "rate", paper->rate, "%s", rate);
    tsri_study_setting(s, "seeds", paper->seeds, "%lld", (long long)t->seeds);
}

/* A step: forward, backward and the gradient of W, two products with B and one with C. At every
 * point of a curve the whole training set, and its gates with it. */
void tsri_twins_cost(tsri_cost_estimate *cost, const tsri_twins *t, int net, int64_t width,
                     int64_t layers, int64_t runs)
{
    double n = (double)t->n, m = (double)width, L = (double)layers, d = (double)t->inputs,
           k = (double)t->outputs, points = (double)t->epochs / (double)t->every;
    double nets = net == TSRI_TWIN_GRELU ? 2 : 1; /* W; and Psi */
    double step = 3 * L * m * m + d * m + 2 * k * m;
    double judged = nets * L * m * m + d * m + k * m;
    /* W with gradient and momentum, Psi, C and B; data; bits; L + 8 layers' values of a batch, as
     * was measured (the plan lends gradients the memory of values). */
    double numbers = (2 + nets) * L * m * m + (d + k) * m + (double)t->batch * m * (L + 8);
    char shape[48], data[60];
    (void)snprintf(shape, sizeof shape, "%lld x %lld", (long long)layers, (long long)width);
    (void)snprintf(data, sizeof data, "%lld samples, %lld epochs", (long long)t->n,
                   (long long)t->epochs);
    tsri_cost_estimate_net(cost, shape, data);
    tsri_cost_estimate_add(cost, runs, (double)t->epochs * n * step + points * n * judged,
                           4 * (numbers + n * d) + n * m * L / 8);
}

tsri_sweep_options tsri_twins_options(const tsri_twins *t, const char *const *grid, int64_t grids)
{
    return (tsri_sweep_options){.grid = grid,
                                .grids = grids,
                                .seeds = t->seeds,
                                .curves = true,
                                .curve_every = t->every * (t->n / t->batch)};
}

/* ---- Bundles --------------------------------------------------------------------------------- */

tsr_status tsri_bundle_init(tsri_bundle *b, int64_t points, int64_t every, int64_t seeds)
{
    tsr_status st = TSR_OK;
    *b = (tsri_bundle){.points = points, .seeds = seeds};
    TSR_TRY(tsri_alloc(&b->epoch, 4 * points, sizeof *b->epoch));
    TSR_TRY(tsri_alloc(&b->one, seeds * points, sizeof *b->one));
    b->mean = b->epoch + points;
    b->low = b->mean + points;
    b->high = b->low + points;
    for (int64_t i = 0; i < points; i++)
        b->epoch[i] = (double)((i + 1) * every);
done:
    return st;
}

static bool diverged(const tsri_bundle *b, int64_t k)
{
    return !isfinite(tsri_bundle_end(b, k));
}

/* A cell that nobody made yet. */
static bool missing(const tsri_bundle *b, int64_t k)
{
    return isnan(tsri_bundle_end(b, k));
}

void tsri_bundle_fold(tsri_bundle *b)
{
    int64_t absent = 0;
    b->diverged = 0;
    for (int64_t k = 0; k < b->seeds; k++) {
        absent += missing(b, k);
        b->diverged += diverged(b, k) && !missing(b, k);
    }
    double count = (double)(b->seeds - b->diverged - absent);
    for (int64_t i = 0; i < b->points; i++) {
        double sum = 0, low = INFINITY, high = 0;
        for (int64_t k = 0; k < b->seeds; k++) {
            double value = b->one[k * b->points + i];
            if (diverged(b, k))
                continue;
            sum += log(value);
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        b->mean[i] = count > 0 ? exp(sum / count) : (double)NAN;
        b->low[i] = count > 0 ? low : (double)NAN;
        b->high[i] = count > 0 ? high : (double)NAN;
    }
}

tsr_status tsri_bundle_take(tsri_bundle *b, const tsri_twins *t, const tsri_sweep *sweep,
                            int64_t cell)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_bundle_init(b, t->epochs / t->every, t->every, sweep->seeds));
    for (int64_t k = 0; k < b->seeds; k++) {
        const tsri_outcome *o = &sweep->outcome[cell * sweep->seeds + k];
        for (int64_t i = 0; i < b->points; i++)
            b->one[k * b->points + i] = !o->done ? (double)NAN
                                        : !o->diverged && i < o->curve_count
                                            ? o->curve[i] / (double)t->n
                                            : (double)INFINITY;
    }
    tsri_bundle_fold(b);
done:
    return st;
}

void tsri_bundle_fini(tsri_bundle *b)
{
    tsri_free(b->epoch);
    tsri_free(b->one);
    *b = (tsri_bundle){0};
}

void tsri_bundle_draw(tsri_chart *c, const tsri_bundle *b, const char *name, int colour,
                      bool dashed)
{
    char text[120];
    if (b->diverged > 0)
        (void)snprintf(text, sizeof text, "%s (%lld of %lld diverged)", name,
                       (long long)b->diverged, (long long)b->seeds);
    tsri_chart_series(c, &(tsri_series){.name = b->diverged > 0 ? text : name,
                                        .n = b->points,
                                        .x = b->epoch,
                                        .y = b->mean,
                                        .low = b->low,
                                        .high = b->high,
                                        .colour = colour,
                                        .dashed = dashed});
}

/* ---- What they tell -------------------------------------------------------------------------- */

double tsri_bundle_end(const tsri_bundle *b, int64_t k)
{
    return b->one[(k + 1) * b->points - 1];
}

static double log_end(const tsri_bundle *b, int64_t k)
{
    return log(tsri_bundle_end(b, k));
}

static int64_t looked_at(const tsri_bundle *b)
{
    return b->seeds < TSRI_SEEDS_MOST ? b->seeds : TSRI_SEEDS_MOST;
}

static tsri_estimate exp_of(tsri_estimate e)
{
    return (tsri_estimate){exp(e.value), exp(e.low), exp(e.high)};
}

tsri_estimate tsri_bundle_mean(const tsri_bundle *b, double (*of)(const tsri_bundle *, int64_t))
{
    double value[TSRI_SEEDS_MOST];
    for (int64_t k = 0; k < looked_at(b); k++)
        value[k] = of(b, k);
    return tsri_mean_of(value, looked_at(b));
}

tsri_estimate tsri_bundle_ends(const tsri_bundle *b)
{
    return exp_of(tsri_bundle_mean(b, log_end));
}

tsri_estimate tsri_bundle_ratio(const tsri_bundle *a, const tsri_bundle *b)
{
    double value[TSRI_SEEDS_MOST];
    if (a->diverged + b->diverged > 0)
        return (tsri_estimate){NAN, NAN, NAN};
    for (int64_t k = 0; k < looked_at(a); k++)
        value[k] = log_end(a, k) - log_end(b, k);
    return exp_of(tsri_mean_of(value, looked_at(a)));
}

double tsri_bundle_ratio_of(const tsri_bundle *a, const tsri_bundle *b, int64_t k)
{
    if (diverged(a, k) || diverged(b, k))
        return (double)NAN;
    return tsri_bundle_end(a, k) / tsri_bundle_end(b, k);
}

void tsri_bundle_judge_ratio(tsri_study *s, const char *id, const char *part, const tsri_bundle *a,
                             const tsri_bundle *b)
{
    double value[TSRI_SEEDS_MOST];
    for (int64_t k = 0; k < looked_at(a); k++)
        value[k] = tsri_bundle_ratio_of(a, b, k);
    tsri_study_judge(s, id, part, value, looked_at(a));
}

void tsri_bundle_judge_less(tsri_study *s, const char *id, const char *part, const tsri_bundle *a,
                            const tsri_bundle *b, double (*of)(const tsri_bundle *, int64_t))
{
    double value[TSRI_SEEDS_MOST];
    for (int64_t k = 0; k < looked_at(a); k++)
        value[k] = of(a, k) - of(b, k);
    tsri_study_judge(s, id, part, value, looked_at(a));
}

double tsri_bundle_rises(const tsri_bundle *b, int64_t k)
{
    const double *y = b->one + k * b->points;
    int64_t rises = 0;
    if (!isfinite(tsri_bundle_end(b, k)))
        return (double)NAN;
    for (int64_t i = 1; i < b->points; i++)
        rises += y[i] > y[i - 1];
    return (double)rises / (double)(b->points - 1);
}

double tsri_bundle_amplitude(const tsri_bundle *b, int64_t k)
{
    const double *y = b->one + k * b->points;
    double sum = 0;
    if (!isfinite(tsri_bundle_end(b, k)))
        return (double)NAN;
    for (int64_t i = 1; i < b->points; i++)
        sum += fmax(y[i] / y[i - 1] - 1, 0);
    return sum / (double)(b->points - 1);
}
