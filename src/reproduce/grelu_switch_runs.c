/* grelu_switch_runs.c - training gated nets that are converted half-way, and their twins.
 *
 * Without --paper a run lives in the study's folder and is read from its metrics; with --paper it is
 * a cell (cells.h). Both ways give the same curves and the same change.
 */
#include "reproduce/grelu_switch_runs.h"

#include "base/alloc.h"
#include "convert/convert_model.h"
#include "io/file.h"
#include "reproduce/cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef tsri_switch_change change;

#define UNKNOWN ((change){{NAN, NAN}, {NAN, NAN}, {NAN, NAN}})

/* Of each set: its loss in the metrics and in cells. */
static const char *const loss_name[TSRI_SWITCH_SETS] = {"train_loss", "test_loss"};

void tsri_switch_runs_fini(tsri_switch_runs *runs)
{
    for (int net = 0; net < TSRI_TWINS; net++)
        for (int set = 0; set < TSRI_SWITCH_SETS; set++)
            tsri_bundle_fini(&runs->bundle[net][set]);
    tsri_free(runs->change);
}

static double number(const tsri_json_value *line, const char *object, const char *key)
{
    double value = NAN;
    const tsri_json_value *in = object ? tsri_json_get(line, object) : line;
    (void)tsri_json_as_real(tsri_json_get(in, key), &value);
    return value;
}

static tsr_status read_change(void *context, const tsri_json_value *line)
{
    change *c = context;
    *c = (change){{number(line, "train", "loss_before"), number(line, "train", "loss_after")},
                  {number(line, "test", "loss_before"), number(line, "test", "loss_after")},
                  {number(line, NULL, "norm_before"), number(line, NULL, "norm_after")}};
    return TSR_OK;
}

static int64_t samples_of(const tsri_switch_sizes *z, int set)
{
    return set == TSRI_ON_TRAIN ? z->twins.n : z->test_n;
}

/* The curves of seed k, as errors of a sample: infinity from where the run diverged. */
static void keep_curves(tsri_switch_runs *h, const tsri_switch_sizes *z, const tsri_curves *c,
                        int net, int64_t k)
{
    for (int set = 0; set < TSRI_SWITCH_SETS; set++) {
        tsri_bundle *b = &h->bundle[net][set];
        double n = (double)samples_of(z, set);
        const double *y = tsri_curves_get(c, loss_name[set]);
        for (int64_t i = 0; i < b->points; i++)
            b->one[k * b->points + i] = y && i < c->n ? y[i] / n : (double)INFINITY;
    }
}

static void run_file(char *yaml, size_t size, const tsri_switch_sizes *z, int net, int64_t width,
                     int64_t epochs, int64_t convert_at)
{
    tsri_twins t = z->twins;
    t.epochs = epochs;
    tsri_twins_run_file(yaml, size, &t, net, width, z->layers,
                        tsri_twins_rate(&t, z->a, width, z->layers));
    size_t used = strlen(yaml);
    (void)snprintf(yaml + used, size - used,
                   "eval: {every: %lld}\nstop: {metric: loss, below: 0}\nconvert_at: %lld\n",
                   (long long)t.every, (long long)convert_at);
}

static void put_change(tsri_study_cell *to, const change *c)
{
    tsri_cell_put_series(to, "change.train", c->train, 2);
    tsri_cell_put_series(to, "change.test", c->test, 2);
    tsri_cell_put_series(to, "change.norm", c->norm, 2);
}

static change take_change(const tsri_study_cell *from)
{
    change c = UNKNOWN;
    tsri_cell_copy(c.train, 2, from, "change.train");
    tsri_cell_copy(c.test, 2, from, "change.test");
    tsri_cell_copy(c.norm, 2, from, "change.norm");
    return c;
}

/* A cell is one run, its two curves, and what its conversion did. */
static tsr_status make_half(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                            const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsr_result result = tsr_result_default();
    tsri_curves curves = {0};
    tsri_text metrics = {0};
    change c = UNKNOWN;
    (void)s;
    (void)ask;
    st = tsri_study_run(&result, config, folder, NULL);
    if (st != TSR_DIVERGED)
        TSR_TRY(st);
    TSR_TRY(tsri_text_add(&metrics, "%s/metrics.jsonl", folder));
    TSR_TRY(tsri_curves_read(&curves, metrics.data, NULL));
    TSR_TRY(tsri_lines_each(metrics.data, "converted", read_change, &c));
    put_change(to, &c);
    for (int set = 0; set < TSRI_SWITCH_SETS; set++) {
        const double *y = tsri_curves_get(&curves, loss_name[set]);
        if (y)
            tsri_cell_put_series(to, loss_name[set], y, curves.n);
    }
done:
    tsri_text_fini(&metrics);
    tsri_curves_fini(&curves);
    return st;
}

static tsr_status ask_half(tsri_switch_runs *h, tsri_study *s, const tsri_switch_sizes *z,
                           const char *yaml, int net, int64_t k)
{
    tsr_status st = TSR_OK;
    tsri_study_cell c = {0};
    bool there = false;
    char name[TSRI_CELL_NAME];
    (void)snprintf(name, sizeof name, "switch-%s-seed%lld", tsri_twin_model[net],
                   (long long)s->seed + (long long)k);
    tsri_cell_ask ask = {.name = name, .yaml = yaml, .repeat = k, .make = make_half};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    for (int set = 0; set < TSRI_SWITCH_SETS; set++) {
        tsri_bundle *b = &h->bundle[net][set];
        double *one = b->one + k * b->points;
        tsri_cell_copy(one, b->points, &c, loss_name[set]);
        for (int64_t i = 0; i < b->points; i++)
            one[i] =
                there && isnan(one[i]) ? (double)INFINITY : one[i] / (double)samples_of(z, set);
    }
    if (net == TSRI_TWIN_GRELU)
        h->change[k] = take_change(&c);
done:
    tsri_cell_fini(&c);
    return st;
}

/* A run of the figure. `stop` is what makes it evaluate the training set; it is never reached. */
static tsr_status train_half(tsri_switch_runs *h, tsri_study *s, const tsri_switch_sizes *z,
                             int net, int64_t k)
{
    tsr_status st = TSR_OK;
    tsr_result result = tsr_result_default();
    tsri_curves curves = {0};
    char yaml[600], name[64];
    tsri_text metrics = {0};
    int64_t half = z->twins.epochs / 2;
    run_file(yaml, sizeof yaml, z, net, z->width, z->twins.epochs,
             net == TSRI_TWIN_GRELU ? half : 0);
    if (s->book)
        return ask_half(h, s, z, yaml, net, k);
    (void)snprintf(name, sizeof name, "%s-%lld", tsri_twin_model[net], (long long)k + 1);
    st = tsri_study_train(s, &result, &curves, name, yaml, k);
    if (st != TSR_DIVERGED)
        TSR_TRY(st);
    keep_curves(h, z, &curves, net, k);
    TSR_TRY(tsri_text_add(&metrics, "%s/%s/metrics.jsonl", s->folder, name));
    if (net == TSRI_TWIN_GRELU)
        TSR_TRY(tsri_lines_each(metrics.data, "converted", read_change, &h->change[k]));
done:
    tsri_text_fini(&metrics);
    tsri_curves_fini(&curves);
    return st;
}

/* The nearest ReLU net of the model in `folder`: equal where it can be. */
static tsr_status convert_there(change *out, const char *folder)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    tsri_converted c;
    tsri_text from = {0}, to = {0};
    TSR_TRY(tsri_text_add(&from, "%s/model.safetensors", folder));
    TSR_TRY(tsri_text_add(&to, "%s/relu.safetensors", folder));
    TSR_TRY(tsr_model_read(&model, from.data));
    TSR_TRY(tsri_convert_model(&c, to.data, model,
                               (tsri_convert_how){.to_relu = true, .least_squares = true}));
    *out = (change){{c.train.loss[0], c.train.loss[1]},
                    {c.test.loss[0], c.test.loss[1]},
                    {c.how.norm_before, c.how.norm_after}};
done:
    tsr_model_destroy(model);
    tsri_text_fini(&from);
    tsri_text_fini(&to);
    return st;
}

/* Trains in that folder and converts. A run that diverged has nothing to convert: a gap. */
static tsr_status make_crowded(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                               const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsr_result result = tsr_result_default();
    change c = UNKNOWN;
    (void)s;
    (void)ask;
    st = tsri_study_run(&result, config, folder, NULL);
    if (st != TSR_DIVERGED) {
        TSR_TRY(st);
        TSR_TRY(convert_there(&c, folder));
    }
    put_change(to, &c);
    st = TSR_OK;
done:
    return st;
}

static tsr_status ask_crowded(change *out, tsri_study *s, const char *yaml, int64_t width,
                              int64_t k)
{
    tsr_status st = TSR_OK;
    tsri_study_cell c = {0};
    bool there = false;
    char name[TSRI_CELL_NAME];
    (void)snprintf(name, sizeof name, "crowded-width-%lld-seed%lld", (long long)width,
                   (long long)s->seed + (long long)k);
    tsri_cell_ask ask = {.name = name, .yaml = yaml, .repeat = k, .make = make_crowded};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    *out = take_change(&c);
done:
    tsri_cell_fini(&c);
    return st;
}

/* The first half alone at another width, then the nearest ReLU net. */
static tsr_status convert_crowded(change *out, tsri_study *s, const tsri_switch_sizes *z,
                                  int64_t width, int64_t k)
{
    tsr_status st = TSR_OK;
    tsr_result result = tsr_result_default();
    char yaml[600], name[64];
    tsri_text folder = {0};
    run_file(yaml, sizeof yaml, z, TSRI_TWIN_GRELU, width, z->twins.epochs / 2, 0);
    if (s->book)
        return ask_crowded(out, s, yaml, width, k);
    (void)snprintf(name, sizeof name, "width-%lld-%lld", (long long)width, (long long)k + 1);
    *out = UNKNOWN;
    st = tsri_study_train(s, &result, NULL, name, yaml, k);
    if (st == TSR_DIVERGED)
        return TSR_OK; /* nothing to convert: a gap in the picture */
    TSR_TRY(st);
    TSR_TRY(tsri_text_add(&folder, "%s/%s", s->folder, name));
    TSR_TRY(convert_there(out, folder.data));
done:
    tsri_text_fini(&folder);
    return st;
}

tsr_status tsri_switch_train(tsri_switch_runs *h, tsri_study *s, const tsri_switch_sizes *z)
{
    tsr_status st = TSR_OK;
    int64_t points = z->twins.epochs / z->twins.every, done = 0,
            all = (TSRI_TWINS + z->crowds) * h->seeds;
    TSR_TRY(tsri_alloc(&h->change, (1 + z->crowds) * h->seeds, sizeof *h->change));
    for (int i = 0; i < TSRI_TWINS * TSRI_SWITCH_SETS; i++)
        TSR_TRY(tsri_bundle_init(&h->bundle[i / TSRI_SWITCH_SETS][i % TSRI_SWITCH_SETS], points,
                                 z->twins.every, h->seeds));
    for (int64_t k = 0; k < h->seeds; k++) {
        for (int net = 0; net < TSRI_TWINS; net++) {
            tsri_study_say(s, 0.6 + 0.4 * (double)done++ / (double)all,
                           "%s with a switch, seed %lld", tsri_twin_name[net], (long long)k + 1);
            TSR_TRY(train_half(h, s, z, net, k));
        }
        for (int64_t w = 0; w < z->crowds; w++) {
            tsri_study_say(s, 0.6 + 0.4 * (double)done++ / (double)all,
                           "conversion at width %lld, seed %lld", (long long)z->crowd[w],
                           (long long)k + 1);
            TSR_TRY(convert_crowded(&h->change[(1 + w) * h->seeds + k], s, z, z->crowd[w], k));
        }
    }
    for (int i = 0; i < TSRI_TWINS * TSRI_SWITCH_SETS; i++)
        tsri_bundle_fold(&h->bundle[i / TSRI_SWITCH_SETS][i % TSRI_SWITCH_SETS]);
done:
    return st;
}
