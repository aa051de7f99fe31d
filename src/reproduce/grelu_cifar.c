/* grelu_cifar.c - Table 2 and Figure 3a of the GReLU paper: ReLU and GReLU nets of three shapes on
 * CIFAR-10, at one rate.
 *
 * The paper's shapes, 10,000 and 15,000 wide, are a GPU's job. At other widths the same rate means
 * something else, so every shape keeps the paper's a (grelu_nets.h), and widths their ratio.
 */
#include "reproduce/grelu_cifar.h"

#include "base/alloc.h"
#include "io/config.h"
#include "reproduce/cells.h"
#include "theory/ntk.h"

#include <math.h>
#include <stdio.h>

/* What the paper prints; it knows neither seeds nor epochs. */
typedef struct printed {
    int64_t layers, width;
    double error[TSRI_TWINS];
} printed;

static const printed table2[TSRI_TABLE2_ROWS] = {
    {6, 10000, {0.48, 0.02}}, {7, 10000, {0.27, 0.01}}, {4, 15000, {0.75, 0.03}}};

#define PAPER_RATE 1e-4

enum { CIFAR_INPUTS = 3072, CIFAR_CLASSES = 10 };

/* a of the paper's rate for a shape of its table. */
static double paper_a(const printed *p)
{
    return PAPER_RATE * (double)p->layers * (double)p->width * (double)p->width /
           (CIFAR_INPUTS * CIFAR_CLASSES);
}

/* Everything measured. */
typedef struct shapes {
    tsri_bundle bundle[TSRI_TABLE2_ROWS][TSRI_TWINS];
    double condition[TSRI_TABLE2_ROWS][TSRI_TWINS]; /* of the kernel at the start; 0 = not known */
} shapes;

static void shapes_fini(shapes *m)
{
    for (int i = 0; i < TSRI_TABLE2_ROWS; i++)
        for (int net = 0; net < TSRI_TWINS; net++)
            tsri_bundle_fini(&m->bundle[i][net]);
}

static void shape_run_file(char *yaml, size_t size, const tsri_table2_sizes *z, int i, int net)
{
    tsri_twins_run_file(yaml, size, &z->twins, net, z->width[i], z->layers[i],
                        tsri_twins_rate(&z->twins, paper_a(&table2[i]), z->width[i], z->layers[i]));
}

/* The study's work up to `to` is this. */
static tsr_status train_shape(shapes *m, tsri_study *s, const tsri_table2_sizes *z, int i,
                              double to)
{
    tsr_status st = TSR_OK;
    tsri_sweep sweep = {0};
    char yaml[500], name[64];
    const char *const grid[] = {"model.name=relu_twin,grelu"};
    tsri_sweep_options o = tsri_twins_options(&z->twins, grid, 1);
    shape_run_file(yaml, sizeof yaml, z, i, TSRI_TWIN_RELU);
    (void)snprintf(name, sizeof name, "depth-%lld-width-%lld", (long long)z->layers[i],
                   (long long)z->width[i]);
    TSR_TRY(tsri_study_sweep(s, &sweep, name, yaml, &o, to * i / TSRI_TABLE2_ROWS,
                             to * (i + 1) / TSRI_TABLE2_ROWS));
    for (int net = 0; net < TSRI_TWINS; net++)
        TSR_TRY(tsri_bundle_take(&m->bundle[i][net], &z->twins, &sweep, net));
done:
    tsri_sweep_fini(&sweep);
    return st;
}

static tsr_status train_all(shapes *m, tsri_study *s, const tsri_table2_sizes *z, double to)
{
    tsr_status st = TSR_OK;
    *m = (shapes){0};
    for (int i = 0; i < TSRI_TABLE2_ROWS; i++)
        TSR_TRY(train_shape(m, s, z, i, to));
done:
    return st;
}

static void tell_sizes(tsri_study *s, const tsri_table2_sizes *z)
{
    static const tsri_twins_paper paper = {
        .data = "CIFAR-10",
        .n = "50000",
        .inputs = "3072",
        .width = "10000, 10000 and 15000",
        .layers = "6, 7 and 4",
        .batch = "not given, the largest that fit",
        .epochs = "not given",
        .rate = "1e-4",
        .seeds = "not given",
    };
    char width[80], layers[80], rate[100];
    (void)snprintf(width, sizeof width, "%lld, %lld and %lld", (long long)z->width[0],
                   (long long)z->width[1], (long long)z->width[2]);
    (void)snprintf(layers, sizeof layers, "%lld, %lld and %lld", (long long)z->layers[0],
                   (long long)z->layers[1], (long long)z->layers[2]);
    (void)snprintf(rate, sizeof rate, "the same a = %.3g, %.3g and %.3g", paper_a(&table2[0]),
                   paper_a(&table2[1]), paper_a(&table2[2]));
    tsri_twins_settings(s, &z->twins, &paper, "CIFAR-10", width, layers, rate);
    tsri_study_note(
        s, "The rate 1e-4 for the mean over a batch, in units of the kernel: eta = a d_x d_y / "
           "(L m^2). Errors are squared errors of a sample, summed over the ten outputs: a net "
           "that answers 0 has 1. Bands and brackets are over the seeds.");
}

/* ---- Table 2 --------------------------------------------------------------------------------- */

/* Largest over smallest eigenvalue of the first output's kernel, first seed. */
static tsr_status condition_of(double *out, tsr_config *config, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_ntk k = {0};
    tsri_ntk_options o = tsri_ntk_options_default();
    o.kind = TSRI_NTK_EXACT;
    o.n = n < 1000 ? n : 1000;
    o.output = 0;
    o.spectrum = true;
    o.stops = true;
    TSR_TRY(tsri_ntk_of_run(&k, config, &o));
    *out = k.smallest.value > 0 ? k.largest.value / k.smallest.value : (double)INFINITY;
done:
    tsri_ntk_fini(&k);
    return st;
}

static tsr_status make_condition(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                                 const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    double condition = 0;
    int64_t limit = tsri_config_int(config, "data.n"); /* of data that --set put in their place */
    const tsri_table2_sizes *z = ask->what;
    (void)s;
    (void)folder;
    TSR_TRY(condition_of(&condition, config, limit > 0 ? limit : z->twins.n));
    tsri_cell_put(to, "condition", condition);
done:
    return st;
}

/* Of a cell: about two products of every pair of 1,000 samples with each layer. */
static tsr_status ask_condition(double *out, tsri_study *s, const tsri_table2_sizes *z,
                                const char *yaml, int i, int net)
{
    tsr_status st = TSR_OK;
    tsri_study_cell c = {0};
    bool there = false;
    char name[TSRI_CELL_NAME];
    (void)snprintf(name, sizeof name, "kernel-depth-%lld-width-%lld-%s", (long long)z->layers[i],
                   (long long)z->width[i], tsri_twin_model[net]);
    double m = (double)z->width[i];
    tsri_cell_ask ask = {.name = name,
                         .yaml = yaml,
                         .make = make_condition,
                         .what = z,
                         .flops = (double)z->layers[i] * (4e3 * m * m + 4e6 * m)};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    *out = tsri_cell_value(&c, "condition");
done:
    tsri_cell_fini(&c);
    return st;
}

static tsr_status condition(double *out, tsri_study *s, const tsri_table2_sizes *z, int i, int net)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char yaml[500];
    shape_run_file(yaml, sizeof yaml, z, i, net);
    if (s->book)
        return ask_condition(out, s, z, yaml, i, net);
    TSR_TRY(tsri_study_config(&config, s, yaml, 0));
    TSR_TRY(condition_of(out, config, z->twins.n));
done:
    tsr_config_destroy(config);
    return st;
}

static void table_row(tsri_table *t, const shapes *m, const tsri_table2_sizes *z, int i)
{
    char text[TSRI_ESTIMATE_TEXT];
    char shape[64];
    (void)snprintf(shape, sizeof shape, "depth %lld, width %lld", (long long)table2[i].layers,
                   (long long)table2[i].width);
    tsri_table_text(t, shape);
    (void)snprintf(shape, sizeof shape, "depth %lld, width %lld", (long long)z->layers[i],
                   (long long)z->width[i]);
    tsri_table_text(t, shape);
    for (int net = 0; net < TSRI_TWINS; net++) {
        tsri_table_real(t, table2[i].error[net], 2);
        tsri_table_format(t, "%s", tsri_estimate_text(text, tsri_bundle_ends(&m->bundle[i][net])));
    }
    tsri_table_format(
        t, "%s", tsri_estimate_text(text, tsri_bundle_ratio(&m->bundle[i][0], &m->bundle[i][1])));
    for (int net = 0; net < TSRI_TWINS; net++)
        tsri_table_format(t, "%.3g", m->condition[i][net]);
}

/* Bars with whiskers over the seeds, and the paper's. */
static void draw_table(tsri_study *s, const shapes *m)
{
    static const char *const names[] = {"depth 6", "depth 7", "depth 4, wider"};
    tsri_chart c;
    char text[160];
    (void)snprintf(text, sizeof text, "Table 2: squared error of a sample at the end, %s",
                   tsri_study_data_name(s, "CIFAR-10"));
    tsri_chart_begin(&c, text);
    for (int paper = 0; paper < 2; paper++) {
        tsri_chart_panel(&c, &(tsri_panel){.title = paper ? "the paper's" : "here",
                                           .y_label = "squared error of a sample",
                                           .y_log = true,
                                           .y_low = 1e-3,
                                           .y_high = 1.2,
                                           .category = names,
                                           .categories = TSRI_TABLE2_ROWS});
        for (int net = 0; net < TSRI_TWINS; net++) {
            double y[TSRI_TABLE2_ROWS], low[TSRI_TABLE2_ROWS], high[TSRI_TABLE2_ROWS];
            for (int i = 0; i < TSRI_TABLE2_ROWS; i++) {
                const tsri_bundle *b = &m->bundle[i][net];
                y[i] = paper ? table2[i].error[net] : b->mean[b->points - 1];
                low[i] = b->low[b->points - 1];
                high[i] = b->high[b->points - 1];
            }
            tsri_chart_series(&c, &(tsri_series){.name = tsri_twin_name[net],
                                                 .n = TSRI_TABLE2_ROWS,
                                                 .y = y,
                                                 .low = paper ? NULL : low,
                                                 .high = paper ? NULL : high,
                                                 .marks = TSRI_MARKS_BARS});
        }
    }
    tsri_study_chart(s, "table2", &c);
    tsri_chart_fini(&c);
}

static void judge_table(tsri_study *s, const shapes *m, const tsri_table2_sizes *z)
{
    char part[TSRI_TABLE2_ROWS][64];
    for (int i = 0; i < TSRI_TABLE2_ROWS; i++) {
        const tsri_bundle *relu = &m->bundle[i][TSRI_TWIN_RELU],
                          *grelu = &m->bundle[i][TSRI_TWIN_GRELU];
        double end[TSRI_SEEDS_MOST];
        int64_t seeds = grelu->seeds < TSRI_SEEDS_MOST ? grelu->seeds : TSRI_SEEDS_MOST;
        for (int64_t k = 0; k < seeds; k++)
            end[k] = tsri_bundle_end(grelu, k);
        (void)snprintf(part[i], sizeof part[i], "depth %lld, width %lld", (long long)z->layers[i],
                       (long long)z->width[i]);
        tsri_study_judge(s, "grelu/table2/zero", part[i], end, seeds);
        tsri_bundle_judge_ratio(s, "grelu/table2/apart", part[i], relu, grelu);
    }
    char what[160]; /* the rows are of depths 6, 7 and 4 */
    (void)snprintf(what, sizeof what, "%s over %s", part[1], part[0]);
    tsri_bundle_judge_ratio(s, "grelu/table2/depth", what, &m->bundle[1][TSRI_TWIN_RELU],
                            &m->bundle[0][TSRI_TWIN_RELU]);
    (void)snprintf(what, sizeof what, "%s over %s", part[0], part[2]);
    tsri_bundle_judge_ratio(s, "grelu/table2/depth", what, &m->bundle[0][TSRI_TWIN_RELU],
                            &m->bundle[2][TSRI_TWIN_RELU]);
}

tsr_status tsri_grelu_table2(tsri_study *s, const tsri_table2_sizes *z)
{
    tsr_status st = TSR_OK;
    shapes m;
    tsri_table t = {0};
    tsri_table_head(&t, "paper|here|ReLU, paper|ReLU, here|GReLU, paper|GReLU, here|ratio, here|"
                        "condition of ReLU's kernel|of GReLU's");
    tell_sizes(s, z);
    TSR_TRY(train_all(&m, s, z, 1));
    for (int i = 0; i < TSRI_TABLE2_ROWS; i++) {
        for (int net = 0; net < TSRI_TWINS; net++)
            TSR_TRY(condition(&m.condition[i][net], s, z, i, net));
        table_row(&t, &m, z, i);
    }
    draw_table(s, &m);
    judge_table(s, &m, z);
    tsri_study_table(s, "table2-table", "Squared error of a sample", &t);
    tsri_study_note(s, "Why: the tangent kernel at the start, largest over smallest eigenvalue "
                       "(first output, first seed, at most 1,000 samples), is in the table's last "
                       "columns. Gates of their own keep samples apart that ReLUs make more alike "
                       "with every layer.");
    TSR_TRY(tsri_study_end(s));
done:
    shapes_fini(&m);
    tsri_table_fini(&t);
    return st;
}

/* ---- Figure 3a ------------------------------------------------------------------------------- */

#define LEVEL 0.5 /* half of what a net has that answers nothing */

/* The first epoch at which seed k is at or below LEVEL; the one after the last when it never is,
 * which favours who is late: a ratio of two of them is then nearer to 1 than it would be. */
static double epoch_of(const tsri_bundle *b, int64_t k)
{
    for (int64_t i = 0; i < b->points; i++)
        if (b->one[k * b->points + i] <= LEVEL)
            return b->epoch[i];
    return b->epoch[b->points - 1] + b->epoch[0];
}

static void judge_progress(tsri_study *s, const shapes *m, const tsri_table2_sizes *z)
{
    for (int i = 0; i < TSRI_TABLE2_ROWS; i++) {
        const tsri_bundle *relu = &m->bundle[i][TSRI_TWIN_RELU],
                          *grelu = &m->bundle[i][TSRI_TWIN_GRELU];
        double ratio[TSRI_SEEDS_MOST];
        int64_t seeds = relu->seeds < TSRI_SEEDS_MOST ? relu->seeds : TSRI_SEEDS_MOST;
        char part[64];
        for (int64_t k = 0; k < seeds; k++) {
            double never = grelu->epoch[grelu->points - 1] + grelu->epoch[0];
            double mine = epoch_of(grelu, k), other = epoch_of(relu, k);
            bool known = !isnan(tsri_bundle_end(grelu, k)) && !isnan(tsri_bundle_end(relu, k));
            ratio[k] = known && (mine < never || other < never) ? mine / other : (double)NAN;
        }
        (void)snprintf(part, sizeof part, "depth %lld, width %lld", (long long)z->layers[i],
                       (long long)z->width[i]);
        tsri_study_judge(s, "grelu/fig3/rates", part, ratio, seeds);
    }
}

tsr_status tsri_grelu_fig3a(tsri_study *s, const tsri_table2_sizes *z)
{
    tsr_status st = TSR_OK;
    shapes m;
    tsri_chart c;
    char text[160];
    (void)snprintf(text, sizeof text, "Figure 3a: training error, %s without augmentation",
                   tsri_study_data_name(s, "CIFAR-10"));
    tsri_chart_begin(&c, text);
    tsri_chart_panel(
        &c,
        &(tsri_panel){.x_label = "epoch", .y_label = "squared error of a sample", .y_log = true});
    tell_sizes(s, z);
    TSR_TRY(train_all(&m, s, z, 0.6));
    for (int i = 0; i < TSRI_TABLE2_ROWS; i++)
        for (int net = 0; net < TSRI_TWINS; net++) {
            char name[64];
            (void)snprintf(name, sizeof name, "%s, L = %lld, m = %lld", tsri_twin_name[net],
                           (long long)z->layers[i], (long long)z->width[i]);
            tsri_bundle_draw(&c, &m.bundle[i][net], name, i + 1, net == TSRI_TWIN_GRELU);
        }
    tsri_study_chart(s, "fig3a", &c);
    judge_progress(s, &m, z);
    TSR_TRY(tsri_study_end(s));
done:
    shapes_fini(&m);
    tsri_chart_fini(&c);
    return st;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static tsri_table2_sizes usual_sizes(const tsri_study *s)
{
    if (s->quick)
        return (tsri_table2_sizes){.twins = {.data = "{name: cifar10, limit: 256, test_limit: 16}",
                                             .n = 256,
                                             .inputs = CIFAR_INPUTS,
                                             .outputs = CIFAR_CLASSES,
                                             .batch = 64,
                                             .epochs = 180,
                                             .every = 3,
                                             .seeds = tsri_study_seeds(s, 3)},
                                   .layers = {6, 7, 4},
                                   .width = {256, 256, 384}};
    return (tsri_table2_sizes){.twins = {.data = "{name: cifar10}",
                                         .n = 50000,
                                         .inputs = CIFAR_INPUTS,
                                         .outputs = CIFAR_CLASSES,
                                         .batch = 500,
                                         .epochs = 80,
                                         .every = 1,
                                         .seeds = tsri_study_seeds(s, 3)},
                               .layers = {6, 7, 4},
                               .width = {10000, 10000, 15000}};
}

static tsr_status sizes_of(tsri_table2_sizes *z, tsri_cost_estimate *cost, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    *z = usual_sizes(s);
    TSR_TRY(tsri_twins_settle(&z->twins, s, NULL));
    for (int i = 0; i < TSRI_TABLE2_ROWS; i++)
        for (int net = 0; net < TSRI_TWINS; net++)
            tsri_twins_cost(cost, &z->twins, net, z->width[i], z->layers[i], z->twins.seeds);
done:
    return st;
}

tsr_status tsri_reproduce_grelu_table2(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_table2_sizes z;
    tsri_cost_estimate cost = {0};
    TSR_TRY(sizes_of(&z, &cost, s));
    TSR_TRY(tsri_study_tell_cost(s, &cost));
    TSR_TRY(tsri_grelu_table2(s, &z));
done:
    return st;
}

static tsri_switch_sizes usual_switch(const tsri_study *s)
{
    if (s->quick)
        return (tsri_switch_sizes){.twins = {.data = "{name: cifar10, limit: 64, test_limit: 256}",
                                             .n = 64,
                                             .inputs = CIFAR_INPUTS,
                                             .outputs = CIFAR_CLASSES,
                                             .batch = 32,
                                             .epochs = 80,
                                             .every = 2,
                                             .seeds = tsri_study_seeds(s, 3)},
                                   .width = 512,
                                   .layers = 3,
                                   .test_n = 256,
                                   .augment = true,
                                   .a = 1,
                                   .crowds = 3,
                                   .crowd = {256, 128, 48}};
    return (tsri_switch_sizes){.twins = {.data = "{name: cifar10, limit: 1250}",
                                         .n = 1250,
                                         .inputs = CIFAR_INPUTS,
                                         .outputs = CIFAR_CLASSES,
                                         .batch = 125,
                                         .epochs = 80,
                                         .every = 1,
                                         .seeds = tsri_study_seeds(s, 3)},
                               .width = 10000,
                               .layers = 6,
                               .test_n = 10000,
                               .augment = true,
                               .a = paper_a(&table2[0]),
                               .crowds = 3,
                               .crowd = {5000, 2500, 1000}};
}

/* Only 8-bit images can be changed by RandAugment. */
static tsr_status switch_of(tsri_switch_sizes *z, tsri_cost_estimate *cost, const tsri_study *s)
{
    tsr_status st = TSR_OK;
    *z = usual_switch(s);
    tsri_twins_data more = {z->test_n, true};
    TSR_TRY(tsri_twins_settle(&z->twins, s, &more));
    z->test_n = more.test_n;
    z->augment = more.images;
    for (int net = 0; net < TSRI_TWINS; net++)
        tsri_twins_cost(cost, &z->twins, net, z->width, z->layers, z->twins.seeds);
    for (int64_t i = 0; i < z->crowds; i++) /* half as long */
        tsri_twins_cost(cost, &z->twins, TSRI_TWIN_GRELU, z->crowd[i], z->layers, z->twins.seeds);
done:
    return st;
}

tsr_status tsri_reproduce_grelu_fig3(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_table2_sizes rows;
    tsri_switch_sizes half;
    tsri_cost_estimate cost = {0};
    TSR_TRY(sizes_of(&rows, &cost, s));
    TSR_TRY(switch_of(&half, &cost, s));
    TSR_TRY(tsri_study_tell_cost(s, &cost));
    TSR_TRY(tsri_grelu_fig3a(s, &rows));
    TSR_TRY(tsri_grelu_fig3bc(s, &half));
done:
    return st;
}
