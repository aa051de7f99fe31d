/* grelu_switch.c - Figures 3b and 3c of the GReLU paper: a gated net that becomes its ReLU net
 * (Theorem 2) after half of the epochs, beside a ReLU net.
 *
 * Theorem 2 needs n <= m, which the paper's own experiment (50,000 images, 10,000 units) does not
 * have, and says nothing of images that RandAugment makes new. So n is kept well below m here,
 * both nets are trained on augmented images and judged on those of the training and the test set as
 * they are, and a second picture shows what becomes of the conversion as n grows towards m and
 * beyond, where only the nearest ReLU net is left.
 */
#include "reproduce/grelu_cifar.h"

#include "base/alloc.h"
#include "convert/convert_model.h"
#include "io/file.h"
#include "reproduce/cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One conversion: before and after it. Losses are sums over the set, as the run judges. */
typedef struct change {
    double train[2], test[2], norm[2];
} change;

enum { ON_TRAIN, ON_TEST, SETS };

typedef struct halves {
    tsri_bundle bundle[TSRI_TWINS][SETS];
    int64_t seeds;
    change *made; /* [1 + crowds][seeds], the first of the figure's own width */
} halves;

static void halves_fini(halves *h)
{
    for (int net = 0; net < TSRI_TWINS; net++)
        for (int set = 0; set < SETS; set++)
            tsri_bundle_fini(&h->bundle[net][set]);
    tsri_free(h->made);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

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

/* After the end of a run that diverged stands infinity. */
static void keep_curves(halves *h, const tsri_switch_sizes *z, const tsri_curves *c, int net,
                        int64_t k)
{
    static const char *const column[SETS] = {"train_loss", "test_loss"};
    const int64_t size[SETS] = {z->twins.n, z->test_n};
    for (int set = 0; set < SETS; set++) {
        tsri_bundle *b = &h->bundle[net][set];
        const double *y = tsri_curves_get(c, column[set]);
        for (int64_t i = 0; i < b->points; i++)
            b->one[k * b->points + i] = y && i < c->n ? y[i] / (double)size[set] : (double)INFINITY;
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

/* data: {...} with RandAugment as its authors' and torchvision's defaults have it, two operations of
 * magnitude 9, in memory of the caller's: the GReLU paper names it and gives no numbers. */
static void with_augmentation(tsri_twins *t, char *data, size_t size, bool augment)
{
    if (!augment)
        return;
    (void)snprintf(data, size, "%.*s, randaugment: 2, magnitude: 9}", (int)strlen(t->data) - 1,
                   t->data);
    t->data = data;
}

#define UNKNOWN ((change){{NAN, NAN}, {NAN, NAN}, {NAN, NAN}})

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
    if (tsri_curves_get(&curves, "train_loss"))
        tsri_cell_put_series(to, "train_loss", tsri_curves_get(&curves, "train_loss"), curves.n);
    if (tsri_curves_get(&curves, "test_loss"))
        tsri_cell_put_series(to, "test_loss", tsri_curves_get(&curves, "test_loss"), curves.n);
done:
    tsri_text_fini(&metrics);
    tsri_curves_fini(&curves);
    return st;
}

static tsr_status ask_half(halves *h, tsri_study *s, const tsri_switch_sizes *z, const char *yaml,
                           int net, int64_t k)
{
    tsr_status st = TSR_OK;
    static const char *const column[SETS] = {"train_loss", "test_loss"};
    const int64_t size[SETS] = {z->twins.n, z->test_n};
    tsri_study_cell c = {0};
    bool there = false;
    char name[TSRI_CELL_NAME];
    (void)snprintf(name, sizeof name, "switch-%s-seed%lld", tsri_twin_model[net],
                   (long long)s->seed + (long long)k);
    tsri_cell_ask ask = {.name = name, .yaml = yaml, .repeat = k, .make = make_half};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    for (int set = 0; set < SETS; set++) {
        tsri_bundle *b = &h->bundle[net][set];
        double *one = b->one + k * b->points;
        tsri_cell_copy(one, b->points, &c, column[set]);
        for (int64_t i = 0; i < b->points; i++)
            one[i] = there && isnan(one[i]) ? (double)INFINITY : one[i] / (double)size[set];
    }
    if (net == TSRI_TWIN_GRELU)
        h->made[k] = take_change(&c);
done:
    tsri_cell_fini(&c);
    return st;
}

/* A run of the figure; its evaluations come from `stop`, which never is reached. */
static tsr_status train_half(halves *h, tsri_study *s, const tsri_switch_sizes *z, int net,
                             int64_t k)
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
        TSR_TRY(tsri_lines_each(metrics.data, "converted", read_change, &h->made[k]));
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
    TSR_TRY(tsri_convert_model(&c, to.data, model, true, true));
    *out = (change){{c.train.loss[0], c.train.loss[1]},
                    {c.test.loss[0], c.test.loss[1]},
                    {c.how.norm_before, c.how.norm_after}};
done:
    tsr_model_destroy(model);
    tsri_text_fini(&from);
    tsri_text_fini(&to);
    return st;
}

/* Trains in that folder and converts; a run that diverged has nothing to convert: a gap. */
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

static tsr_status train_all(halves *h, tsri_study *s, const tsri_switch_sizes *z)
{
    tsr_status st = TSR_OK;
    int64_t points = z->twins.epochs / z->twins.every, done = 0,
            all = (TSRI_TWINS + z->crowds) * h->seeds;
    TSR_TRY(tsri_alloc(&h->made, (1 + z->crowds) * h->seeds, sizeof *h->made));
    for (int i = 0; i < TSRI_TWINS * SETS; i++)
        TSR_TRY(tsri_bundle_init(&h->bundle[i / SETS][i % SETS], points, z->twins.every, h->seeds));
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
            TSR_TRY(convert_crowded(&h->made[(1 + w) * h->seeds + k], s, z, z->crowd[w], k));
        }
    }
    for (int i = 0; i < TSRI_TWINS * SETS; i++)
        tsri_bundle_fold(&h->bundle[i / SETS][i % SETS]);
done:
    return st;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static void draw_halves(tsri_study *s, const halves *h, const tsri_switch_sizes *z)
{
    static const char *const names[TSRI_TWINS] = {"ReLU", "GReLU, then ReLU"};
    static const char *const titles[SETS] = {"3b: training set", "3c: test set"};
    int64_t half = z->twins.epochs / 2;
    double x[2] = {(double)half, (double)half};
    tsri_chart c;
    char text[160];
    (void)snprintf(text, sizeof text, "Figure 3b, c: error on %s, trained %s augmentation",
                   tsri_study_data_name(s, "CIFAR-10"), z->augment ? "with" : "without");
    tsri_chart_begin(&c, text);
    for (int set = 0; set < SETS; set++) {
        double y[2] = {INFINITY, 0};
        tsri_chart_panel(&c, &(tsri_panel){.title = titles[set],
                                           .x_label = "epoch",
                                           .y_label = "squared error of a sample"});
        for (int net = 0; net < TSRI_TWINS; net++) {
            const tsri_bundle *b = &h->bundle[net][set];
            tsri_bundle_draw(&c, b, names[net], net + 1, false);
            for (int64_t i = 0; i < b->points; i++) {
                y[0] = fmin(y[0], b->low[i]);
                y[1] = fmax(y[1], b->high[i]);
            }
        }
        tsri_chart_series(
            &c, &(tsri_series){
                    .name = "the switch", .n = 2, .x = x, .y = y, .colour = 3, .dashed = true});
    }
    tsri_study_chart(s, "fig3bc", &c);
    tsri_chart_fini(&c);
}

/* After over before, of one seed. */
static double ratio_train(const change *c)
{
    return c->train[1] / c->train[0];
}

static double ratio_test(const change *c)
{
    return c->test[1] / c->test[0];
}

static double ratio_norm(const change *c)
{
    return c->norm[1] / c->norm[0];
}

/* Its geometric mean over the seeds of width w, with its interval. */
static tsri_estimate mean_ratio(const halves *h, int64_t w, double (*of)(const change *))
{
    double value[TSRI_SEEDS_MOST];
    int64_t n = h->seeds < TSRI_SEEDS_MOST ? h->seeds : TSRI_SEEDS_MOST;
    for (int64_t k = 0; k < n; k++)
        value[k] = log(of(&h->made[w * h->seeds + k]));
    tsri_estimate e = tsri_mean_of(value, n);
    return (tsri_estimate){exp(e.value), exp(e.low), exp(e.high)};
}

/* The figure's own first, then the crowded ones. */
static int64_t width_of(const tsri_switch_sizes *z, int64_t w)
{
    return w ? z->crowd[w - 1] : z->width;
}

static void draw_crowding(tsri_study *s, const halves *h, const tsri_switch_sizes *z)
{
    static const struct {
        const char *name;
        double (*of)(const change *);
    } line[] = {{"training error", ratio_train},
                {"test error", ratio_test},
                {"norm of the weights", ratio_norm}};
    tsri_chart c;
    tsri_chart_begin(&c, "What the conversion does as samples crowd the units");
    tsri_chart_panel(&c, &(tsri_panel){.x_label = "n / m, samples over units",
                                       .y_label = "after over before",
                                       .x_log = true,
                                       .y_log = true});
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        double x[1 + TSRI_CROWDS_MOST], y[1 + TSRI_CROWDS_MOST], low[1 + TSRI_CROWDS_MOST],
            high[1 + TSRI_CROWDS_MOST];
        for (int64_t w = 0; w <= z->crowds; w++) {
            x[w] = (double)z->twins.n / (double)width_of(z, w);
            y[w] = low[w] = high[w] = mean_ratio(h, w, line[i].of).value;
            for (int64_t k = 0; k < h->seeds; k++) {
                double one = line[i].of(&h->made[w * h->seeds + k]);
                low[w] = fmin(low[w], one);
                high[w] = fmax(high[w], one);
            }
        }
        tsri_chart_series(&c, &(tsri_series){.name = line[i].name,
                                             .n = z->crowds + 1,
                                             .x = x,
                                             .y = y,
                                             .low = low,
                                             .high = high,
                                             .marks = TSRI_MARKS_BOTH});
    }
    tsri_study_chart(s, "fig3-crowding", &c);
    tsri_chart_fini(&c);
}

static void crowding_table(tsri_study *s, const halves *h, const tsri_switch_sizes *z)
{
    tsri_table t = {0};
    char text[TSRI_ESTIMATE_TEXT];
    tsri_table_head(&t, "width|n / m|training error|test error|norm of the weights");
    for (int64_t w = 0; w <= z->crowds; w++) {
        tsri_table_format(&t, "%lld", (long long)width_of(z, w));
        tsri_table_format(&t, "%.3g", (double)z->twins.n / (double)width_of(z, w));
        tsri_table_format(&t, "%s", tsri_estimate_text(text, mean_ratio(h, w, ratio_train)));
        tsri_table_format(&t, "%s", tsri_estimate_text(text, mean_ratio(h, w, ratio_test)));
        tsri_table_format(&t, "%s", tsri_estimate_text(text, mean_ratio(h, w, ratio_norm)));
    }
    tsri_study_table(s, "fig3-crowding-table", "The conversion, after over before", &t);
    tsri_table_fini(&t);
}

/* ---- Judgement ------------------------------------------------------------------------------- */

static double jump(const change *c)
{
    return fabs(ratio_train(c) - 1);
}

/* A part of a claim from what every seed's conversion at width w did. */
static void judge_change(tsri_study *s, const char *id, const char *part, const halves *h,
                         int64_t w, double (*of)(const change *))
{
    double value[TSRI_SEEDS_MOST];
    int64_t n = h->seeds < TSRI_SEEDS_MOST ? h->seeds : TSRI_SEEDS_MOST;
    for (int64_t k = 0; k < n; k++)
        value[k] = of(&h->made[w * h->seeds + k]);
    tsri_study_judge(s, id, part, value, n);
}

/* The paper's drop is one of 50,000 images at 10,000 units, where no ReLU net is equal. */
static void judge_crowded(tsri_study *s, const halves *h, const tsri_switch_sizes *z)
{
    char part[80];
    (void)snprintf(part, sizeof part, "%lld images, %lld units", (long long)z->twins.n,
                   (long long)width_of(z, z->crowds));
    if (z->crowds > 0 && width_of(z, z->crowds) < z->twins.n)
        judge_change(s, "grelu/fig3/crowded", part, h, z->crowds, ratio_test);
}

static void judge_halves(tsri_study *s, const halves *h, const tsri_switch_sizes *z)
{
    judge_change(s, "grelu/fig3/continuous", NULL, h, 0, jump);
    judge_change(s, "grelu/fig3/drop", NULL, h, 0, ratio_test);
    judge_change(s, "grelu/fig3/norm", NULL, h, 0, ratio_norm);
    tsri_bundle_judge_ratio(s, "grelu/fig3/train", NULL, &h->bundle[TSRI_TWIN_GRELU][ON_TRAIN],
                            &h->bundle[TSRI_TWIN_RELU][ON_TRAIN]);
    tsri_bundle_judge_ratio(s, "grelu/fig3/test", NULL, &h->bundle[TSRI_TWIN_GRELU][ON_TEST],
                            &h->bundle[TSRI_TWIN_RELU][ON_TEST]);
    judge_crowded(s, h, z);
}

static void tell_settings(tsri_study *s, const tsri_switch_sizes *z)
{
    tsri_study_setting(s, "3b, c: training samples", "50000", "%lld", (long long)z->twins.n);
    tsri_study_setting(s, "3b, c: test samples", "10000", "%lld", (long long)z->test_n);
    tsri_study_setting(s, "3b, c: augmentation", "RandAugment", "%s",
                       z->augment ? "RandAugment, 2 operations of magnitude 9"
                                  : "none: they are not 8-bit images");
    tsri_study_setting(s, "3b, c: width and depth", "not given", "%lld and %lld",
                       (long long)z->width, (long long)z->layers);
    tsri_study_setting(s, "3b, c: epochs", "80", "%lld", (long long)z->twins.epochs);
    tsri_study_setting(s, "3b, c: the switch", "after epoch 40", "after epoch %lld",
                       (long long)(z->twins.epochs / 2));
    tsri_study_setting(s, "3b, c: rate", "not given", "a = %g", z->a);
    tsri_study_note(s, "3b, c are judged on the samples as they are, not augmented.");
    tsri_study_note(
        s, "Theorem 2 needs n <= m. The paper has 50,000 images; the widths of its Table 2 are "
           "10,000 and 15,000. What the switch does depends on n / m: fig3-crowding shows it; "
           "beyond 1 the ReLU net is the nearest one, not an equal one.");
}

tsr_status tsri_grelu_fig3bc(tsri_study *s, const tsri_switch_sizes *sizes)
{
    tsr_status st = TSR_OK;
    tsri_switch_sizes own = *sizes;
    const tsri_switch_sizes *z = &own;
    halves h = {.seeds = z->twins.seeds};
    char data[300];
    with_augmentation(&own.twins, data, sizeof data, z->augment);
    tell_settings(s, z);
    TSR_TRY(train_all(&h, s, z));
    draw_halves(s, &h, z);
    draw_crowding(s, &h, z);
    crowding_table(s, &h, z);
    judge_halves(s, &h, z);
    TSR_TRY(tsri_study_end(s));
done:
    halves_fini(&h);
    return st;
}
