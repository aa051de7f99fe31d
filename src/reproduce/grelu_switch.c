/* grelu_switch.c - Figures 3b and 3c of the GReLU paper: a gated net that becomes its ReLU net
 * (Theorem 2) after half of the epochs, beside a ReLU net.
 *
 * Theorem 2 needs n <= m, which the paper's own experiment (50,000 images, 10,000 units) does not
 * have, and says nothing of images that RandAugment makes new. So n is kept well below m here,
 * both nets are trained on augmented images and judged on those of the training and the test set as
 * they are, and a second picture shows what becomes of the conversion as n grows towards m and
 * beyond, where only the nearest ReLU net is left.
 */
#include "reproduce/grelu_switch_runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef tsri_switch_change change;

/* ---- Pictures -------------------------------------------------------------------------------- */

static void draw_halves(tsri_study *s, const tsri_switch_runs *h, const tsri_switch_sizes *z)
{
    static const char *const names[TSRI_TWINS] = {"ReLU", "GReLU, then ReLU"};
    static const char *const titles[TSRI_SWITCH_SETS] = {"3b: training set", "3c: test set"};
    int64_t half = z->twins.epochs / 2;
    double x[2] = {(double)half, (double)half};
    tsri_chart c;
    char text[160];
    (void)snprintf(text, sizeof text, "Figure 3b, c: error on %s, trained %s augmentation",
                   tsri_study_data_name(s, "CIFAR-10"), z->augment ? "with" : "without");
    tsri_chart_begin(&c, text);
    for (int set = 0; set < TSRI_SWITCH_SETS; set++) {
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

/* The geometric mean of such a ratio over the seeds of width w, with its interval. */
static tsri_estimate mean_ratio(const tsri_switch_runs *h, int64_t w, double (*of)(const change *))
{
    double value[TSRI_SEEDS_MOST];
    int64_t n = h->seeds < TSRI_SEEDS_MOST ? h->seeds : TSRI_SEEDS_MOST;
    for (int64_t k = 0; k < n; k++)
        value[k] = log(of(&h->change[w * h->seeds + k]));
    tsri_estimate e = tsri_mean_of(value, n);
    return (tsri_estimate){exp(e.value), exp(e.low), exp(e.high)};
}

/* Width number w: the figure's own, then the crowded ones. */
static int64_t width_of(const tsri_switch_sizes *z, int64_t w)
{
    return w ? z->crowd[w - 1] : z->width;
}

static void draw_crowding(tsri_study *s, const tsri_switch_runs *h, const tsri_switch_sizes *z)
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
                double one = line[i].of(&h->change[w * h->seeds + k]);
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

static void crowding_table(tsri_study *s, const tsri_switch_runs *h, const tsri_switch_sizes *z)
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

/* Judges a part of a claim by the conversions of all seeds at width w. */
static void judge_change(tsri_study *s, const char *id, const char *part, const tsri_switch_runs *h,
                         int64_t w, double (*of)(const change *))
{
    double value[TSRI_SEEDS_MOST];
    int64_t n = h->seeds < TSRI_SEEDS_MOST ? h->seeds : TSRI_SEEDS_MOST;
    for (int64_t k = 0; k < n; k++)
        value[k] = of(&h->change[w * h->seeds + k]);
    tsri_study_judge(s, id, part, value, n);
}

/* The paper's drop is one of 50,000 images at 10,000 units, where no ReLU net is equal. */
static void judge_crowded(tsri_study *s, const tsri_switch_runs *h, const tsri_switch_sizes *z)
{
    char part[80];
    (void)snprintf(part, sizeof part, "%lld images, %lld units", (long long)z->twins.n,
                   (long long)width_of(z, z->crowds));
    if (z->crowds > 0 && width_of(z, z->crowds) < z->twins.n)
        judge_change(s, "grelu/fig3/crowded", part, h, z->crowds, ratio_test);
}

static void judge_halves(tsri_study *s, const tsri_switch_runs *h, const tsri_switch_sizes *z)
{
    judge_change(s, "grelu/fig3/continuous", NULL, h, 0, jump);
    judge_change(s, "grelu/fig3/drop", NULL, h, 0, ratio_test);
    judge_change(s, "grelu/fig3/norm", NULL, h, 0, ratio_norm);
    tsri_bundle_judge_ratio(s, "grelu/fig3/train", NULL, &h->bundle[TSRI_TWIN_GRELU][TSRI_ON_TRAIN],
                            &h->bundle[TSRI_TWIN_RELU][TSRI_ON_TRAIN]);
    tsri_bundle_judge_ratio(s, "grelu/fig3/test", NULL, &h->bundle[TSRI_TWIN_GRELU][TSRI_ON_TEST],
                            &h->bundle[TSRI_TWIN_RELU][TSRI_ON_TEST]);
    judge_crowded(s, h, z);
}

/* data: {...} with RandAugment added, in the caller's memory: two operations of magnitude 9, the
 * defaults of its authors and of torchvision. The GReLU paper names it and gives no numbers. */
static void with_augmentation(tsri_twins *t, char *data, size_t size, bool augment)
{
    if (!augment)
        return;
    (void)snprintf(data, size, "%.*s, randaugment: 2, magnitude: 9}", (int)strlen(t->data) - 1,
                   t->data);
    t->data = data;
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
    tsri_switch_runs h = {.seeds = z->twins.seeds};
    char data[300];
    with_augmentation(&own.twins, data, sizeof data, z->augment);
    tell_settings(s, z);
    TSR_TRY(tsri_switch_train(&h, s, z));
    draw_halves(s, &h, z);
    draw_crowding(s, &h, z);
    crowding_table(s, &h, z);
    judge_halves(s, &h, z);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_switch_runs_fini(&h);
    return st;
}
