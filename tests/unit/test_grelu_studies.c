/* Table 2 and Figures 2 to 5 of the GReLU paper on tiny grids: that the numbers a claim is decided
 * from are what they should be, that trends which hold at these sizes are found to hold, and that
 * those which do not are found not to. */
#include "testing.h"

#include "base/alloc.h"
#include "reproduce/grelu_cifar.h"
#include "reproduce/grelu_fig2.h"
#include "reproduce/grelu_sgemm.h"
#include "scratch.h"

#include <math.h>

/* ---- Bundles ------------------------------------------------------------------------------- */

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-12 * fabs(b);
}

static void curves_folded(void **state)
{
    (void)state;
    tsri_bundle b, c;
    assert_ok(tsri_bundle_init(&b, 4, 5, 2));
    memcpy(b.one, (double[]){8, 4, 6, 2, 2, 1, 1, 8}, 8 * sizeof *b.one);
    tsri_bundle_fold(&b);
    assert_true(b.epoch[0] == 5 && b.epoch[3] == 20);
    assert_true(near(b.mean[0], 4) && b.low[0] == 2 && b.high[0] == 8);
    assert_true(tsri_bundle_end(&b, 0) == 2 && tsri_bundle_end(&b, 1) == 8);
    assert_true(near(tsri_bundle_ends(&b).value, 4));
    assert_true(near(tsri_bundle_rises(&b, 0), 1.0 / 3) && near(tsri_bundle_rises(&b, 1), 1.0 / 3));
    assert_true(near(tsri_bundle_amplitude(&b, 0), 0.5 / 3)); /* 4 to 6 */
    assert_true(near(tsri_bundle_amplitude(&b, 1), 7.0 / 3)); /* 1 to 8 */
    assert_true(near(tsri_bundle_mean(&b, tsri_bundle_amplitude).value, 1.25));
    /* half of it, seed by seed: exactly two times, without any doubt */
    assert_ok(tsri_bundle_init(&c, 4, 5, 2));
    for (int i = 0; i < 8; i++)
        c.one[i] = b.one[i] / 2;
    tsri_bundle_fold(&c);
    tsri_estimate ratio = tsri_bundle_ratio(&b, &c);
    assert_true(near(ratio.value, 2) && near(ratio.low, 2) && near(ratio.high, 2));
    assert_true(near(tsri_bundle_ratio_of(&b, &c, 1), 2));
    /* a seed that diverged is left out of the mean, counted, and leaves no ratio */
    b.one[7] = INFINITY;
    tsri_bundle_fold(&b);
    assert_int_equal(b.diverged, 1);
    assert_true(near(b.mean[0], 8) && b.high[0] == 8 && near(b.mean[3], 2));
    assert_true(isinf(tsri_bundle_ends(&b).value));
    assert_true(isnan(tsri_bundle_ratio(&b, &c).value));
    assert_true(near(tsri_bundle_ratio_of(&b, &c, 0), 2) && isnan(tsri_bundle_ratio_of(&b, &c, 1)));
    tsri_bundle_fini(&b);
    tsri_bundle_fini(&c);
}

static void the_rate_in_units_of_the_kernel(void **state)
{
    (void)state;
    tsri_twins t = {.inputs = 3072, .outputs = 10, .batch = 1};
    /* the paper's 1e-4 at width 10,000, depth 6 */
    assert_true(near(tsri_twins_rate(&t, 1.953125, 10000, 6), 1e-4));
    t.batch = 100;
    assert_true(near(tsri_twins_rate(&t, 1.953125, 10000, 6), 1e-6));
}

/* ---- Studies ------------------------------------------------------------------------------- */

static tsr_status tiny_table2(tsri_study *s)
{
    static const tsri_table2_sizes z = {
        .twins = {"{name: glyphs, n: 48, test_n: 4}", 48, 784, 10, 12, 60, 4, 4},
        .layers = {6, 7, 4},
        .width = {64, 64, 96}};
    return tsri_grelu_table2(s, &z);
}

static tsr_status tiny_fig5(tsri_study *s)
{
    static const tsri_rates_sizes z = {
        .twins = {"{name: ackley, n: 96, test_n: 4, dim: 14}", 96, 14, 1, 24, 60, 1, 4},
        .width = 64,
        .layers = 10,
        .rates = 2,
        .a = {4, 8}};
    return tsri_grelu_fig5(s, &z);
}

#define FIG4                                                                                       \
    {                                                                                              \
        "{name: ackley, n: 48, test_n: 4, dim: 14}", 48, 14, 1, 12, 40, 2, 4                       \
    }

static tsr_status tiny_fig4(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_rates_sizes rates = {
        .twins = FIG4, .width = 32, .layers = 6, .rates = 3, .a = {0.2, 2, 4}};
    tsri_shapes_sizes shapes = {
        .twins = FIG4, .widths = 2, .depths = 2, .width = {24, 48}, .layers = {1, 4}, .a = 8};
    TSR_TRY(tsri_grelu_fig4ab(s, &rates));
    TSR_TRY(tsri_grelu_fig4c(s, &shapes));
done:
    return st;
}

/* The last rate is above what any net survives. */
static tsr_status too_fast(tsri_study *s)
{
    static const tsri_rates_sizes z = {
        .twins = FIG4, .width = 32, .layers = 6, .rates = 2, .a = {0.2, 1000}};
    return tsri_grelu_fig4ab(s, &z);
}

/* 24 images, 144 and 60 units, and 20: fewer than images. */
static tsr_status tiny_fig3(tsri_study *s)
{
    tsr_status st = TSR_OK;
    static const tsri_table2_sizes rows = {
        .twins = {"{name: glyphs, n: 48, test_n: 4}", 48, 784, 10, 12, 20, 2, 3},
        .layers = {6, 7, 4},
        .width = {64, 64, 96}};
    static const tsri_switch_sizes z = {
        .twins = {"{name: glyphs, n: 24, test_n: 40}", 24, 784, 10, 12, 20, 2, 3},
        .width = 144,
        .layers = 2,
        .test_n = 40,
        .augment = true,
        .a = 0.3,
        .crowds = 2,
        .crowd = {60, 20}};
    TSR_TRY(tsri_grelu_fig3a(s, &rows));
    TSR_TRY(tsri_grelu_fig3bc(s, &z));
done:
    return st;
}

static tsr_status tiny_fig2(tsri_study *s)
{
    tsr_status st = TSR_OK;
    static const tsri_watch_sizes z = {
        .twins = {"{name: ackley, n: 64, test_n: 40, dim: 14}", 64, 14, 1, 64, 60, 1, 4},
        .width = 64,
        .layers = 10,
        .a = 8};
    TSR_TRY(tsri_grelu_fig2b(s, &z));
    TSR_TRY(tsri_grelu_fig2c(s, &z));
done:
    return st;
}

static const tsri_twins tiny = {
    "{name: ackley, n: 8, limit: 8, test_n: 2, dim: 6}", 8, 6, 1, 8, 40, 1, 3};

/* Widths 32, 109 and n^2 L = 256. */
static tsr_status tiny_fig2a(tsri_study *s)
{
    tsri_widths_sizes z = {
        .twins = tiny, .layers = 4, .widths = 3, .width = {32, 109, 256}, .a = 4};
    z.twins.epochs = 160;
    return tsri_grelu_fig2a(s, &z);
}

/* Nothing survives this rate: it used to end the figures. */
static tsr_status diverging(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_widths_sizes widths = {
        .twins = tiny, .layers = 4, .widths = 2, .width = {32, 64}, .a = 1e4};
    tsri_watch_sizes watched = {.twins = tiny, .width = 32, .layers = 4, .a = 1e4};
    TSR_TRY(tsri_grelu_fig2a(s, &widths));
    TSR_TRY(tsri_grelu_fig2b(s, &watched));
    TSR_TRY(tsri_grelu_fig2c(s, &watched));
done:
    return st;
}

static tsr_status kept(tsri_study *s)
{
    tsri_watch_sizes z = {.twins = tiny, .width = 32, .layers = 4, .a = 4};
    z.twins.seeds = 2;
    return tsri_grelu_fig2c(s, &z);
}

static tsr_status too_large(tsri_study *s)
{
    tsri_watch_sizes z = {.twins = tiny, .width = 1 << 28, .layers = 4, .a = 1};
    return tsri_grelu_fig2b(s, &z);
}

static const tsri_reproduction rows[] = {
    {"test/table2", "Table 2", .make = tiny_table2},
    {"test/fig4", "Figure 4", .make = tiny_fig4},
    {"test/fig5", "Figure 5", .make = tiny_fig5},
    {"test/fast", "Figure 4, diverging", .make = too_fast},
    {"test/fig3", "Figure 3", .make = tiny_fig3},
    {"test/fig2", "Figure 2", .make = tiny_fig2},
    {"test/fig2a", "Figure 2a", .make = tiny_fig2a},
    {"test/gone", "Figure 2, diverging", .make = diverging},
    {"test/large", "too large", .make = too_large},
    {"test/kept", "Figure 2c", .make = kept},
};

/* The verdict on a claim ("fig4/slow" of this paper). */
static tsri_finding verdict(const tsri_study *s, const char *id)
{
    for (int64_t i = 0; i < s->claims; i++)
        if (strcmp(s->claim[i].criterion->id + strlen("grelu/"), id) == 0)
            return tsri_claim_verdict(&s->claim[i]);
    fail_msg("nothing was judged of %s", id);
    return TSRI_FINDING_UNDECIDED;
}

static bool holds(const tsri_study *s, const char *id)
{
    return verdict(s, id) == TSRI_FINDING_HOLDS;
}

static void make(tsri_study *s, int row)
{
    tsri_study_options o = tsri_study_options_default();
    o.folder = scratch_path(rows[row].name + 5);
    o.threads = 1; /* networks this small gain nothing from a second, and their bits neither */
    assert_ok(tsri_reproduce(s, &rows[row], &o));
    for (int64_t i = 0; i < s->claims; i++) { /* seen when the test fails */
        tsri_text found = {0};
        assert_ok(tsri_claim_found(&found, &s->claim[i]));
        print_message("%s: %s: %s\n", s->claim[i].criterion->id,
                      tsri_finding_name[tsri_claim_verdict(&s->claim[i])], found.data);
        tsri_text_fini(&found);
    }
}

/* The first n points of a series of a chart's CSV: panel,series,x,y. */
static void read_series(const char *file, const char *name, double *x, double *y, int n)
{
    char line[300];
    int count = 0;
    FILE *f = fopen(scratch_path(file), "r");
    assert_non_null(f);
    while (count < n && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, name);
        if (at && sscanf(at + strlen(name), ",%lf,%lf", &x[count], &y[count]) == 2)
            count++;
    }
    assert_int_equal(fclose(f), 0);
    assert_int_equal(count, n);
}

static void gates_end_lower(void **state)
{
    (void)state;
    tsri_study s;
    make(&s, 0);
    assert_int_equal(s.claims, 3);
    assert_true(holds(&s, "table2/zero") && holds(&s, "table2/apart"));
    assert_true(tsri_file_exists(scratch_path("table2/table2.svg")));
    assert_true(tsri_file_exists(scratch_path("table2/table2-table.csv")));
    tsri_study_fini(&s);
}

static void rates_and_shapes(void **state)
{
    (void)state;
    tsri_study s;
    make(&s, 1);
    assert_int_equal(s.claims, 8);
    assert_true(holds(&s, "fig4/lower") && holds(&s, "fig4/gains") && holds(&s, "fig4/zero"));
    assert_int_equal(verdict(&s, "fig4/slow"),
                     TSRI_FINDING_UNDECIDED); /* 1.25, from 0.85 to 1.85 */
    assert_int_equal(verdict(&s, "fig4/monotone"), TSRI_FINDING_FAILS); /* a = 2: neither rises */
    assert_true(holds(&s, "fig4/deeper") && holds(&s, "fig4/wider"));
    assert_int_equal(verdict(&s, "fig4/narrower"),
                     TSRI_FINDING_UNDECIDED); /* four seeds do not tell */
    assert_true(tsri_file_exists(scratch_path("fig4/fig4ab.svg")));
    assert_true(tsri_file_exists(scratch_path("fig4/fig4c.csv")));
    tsri_study_fini(&s);
}

static void relus_oscillate(void **state)
{
    (void)state;
    tsri_study s;
    make(&s, 2);
    assert_int_equal(s.claims, 2);
    assert_int_equal(verdict(&s, "fig5/oscillates"),
                     TSRI_FINDING_UNDECIDED); /* at a = 8, not at 4 */
    assert_true(holds(&s, "fig5/higher"));
    assert_true(tsri_file_exists(scratch_path("fig5/fig5.svg")));
    tsri_study_fini(&s);
}

/* Nothing that the paper says of larger rates is found in a net that is gone. */
static void what_diverged_proves_nothing(void **state)
{
    (void)state;
    tsri_study s;
    make(&s, 3);
    assert_int_equal(verdict(&s, "fig4/lower"), TSRI_FINDING_UNDECIDED);
    assert_int_equal(verdict(&s, "fig4/monotone"), TSRI_FINDING_UNDECIDED);
    assert_int_equal(verdict(&s, "fig4/gains"), TSRI_FINDING_UNDECIDED);
    tsri_study_fini(&s);
}

static void a_switch_within_a_run(void **state)
{
    (void)state;
    tsri_study s;
    make(&s, 4);
    assert_int_equal(s.claims, 7);
    assert_true(holds(&s, "fig3/rates") && holds(&s, "fig3/continuous"));
    assert_int_equal(verdict(&s, "fig3/drop"),
                     TSRI_FINDING_UNDECIDED); /* 0.911, from 0.84 to 0.98 */
    assert_true(holds(&s, "fig3/norm") && holds(&s, "fig3/train") && holds(&s, "fig3/test"));
    assert_false(holds(&s, "fig3/crowded"));
    assert_true(tsri_file_exists(scratch_path("fig3/fig3a.svg")));
    assert_true(tsri_file_exists(scratch_path("fig3/fig3bc.svg")));
    /* samples that crowd the units make the weights of least norm large */
    double x[3], y[3];
    read_series("fig3/fig3-crowding.csv", "norm of the weights", x, y, 3);
    assert_true(near(x[0], 24.0 / 144) && near(x[2], 1.2));
    assert_true(y[0] < 1 && y[1] > 1);
    read_series("fig3/fig3-crowding.csv", "training error", x, y, 3);
    assert_true(fabs(y[1] - 1) < 1e-5 && fabs(y[2] - 1) > 1e-4); /* equal below n = m only */
    tsri_study_fini(&s);
}

static void gradients_and_patterns(void **state)
{
    (void)state;
    tsri_study s;
    make(&s, 5);
    assert_int_equal(s.claims, 7);
    assert_true(holds(&s, "fig2b/smaller") && holds(&s, "fig2b/decrease"));
    assert_true(holds(&s, "fig2b/irregular"));
    /* sixty rounds are too few for what grows later */
    assert_false(holds(&s, "fig2b/increase") || holds(&s, "fig2c/part"));
    assert_true(tsri_file_exists(scratch_path("fig2/fig2b.svg")));
    assert_true(tsri_file_exists(scratch_path("fig2/fig2c.csv")));
    tsri_study_fini(&s);
}

/* ---- Figure 2, its failures and its runs that are kept --------------------------------------- */

static void widths_converge(void **state)
{
    (void)state;
    tsri_study s;
    make(&s, 6);
    assert_int_equal(s.claims, 2);
    assert_true(holds(&s, "fig2a/theory"));
    assert_int_equal(verdict(&s, "fig2a/below"), TSRI_FINDING_FAILS); /* they converge, too */
    double x[3], y[3];
    read_series("fig2a/fig2a.csv", "\"GReLU, m = 256\"", x, y, 3);
    assert_true(x[0] == 0 && y[0] > y[1] && y[1] > y[2]);
    tsri_study_fini(&s);
}

static bool says(const tsri_study *s, const char *words)
{
    for (int64_t i = 0; i < s->notes; i++)
        if (strstr(s->note[i], words))
            return true;
    return false;
}

static void what_diverges_is_shown(void **state)
{
    (void)state;
    tsri_study s;
    char *svg = NULL;
    int64_t n = 0;
    make(&s, 7);
    for (int64_t i = 0; i < s.claims; i++) { /* what is gone shows nothing but that */
        const char *id = s.claim[i].criterion->id;
        tsri_finding expected = strcmp(id, "grelu/fig2a/below") == 0    ? TSRI_FINDING_HOLDS
                                : strcmp(id, "grelu/fig2a/theory") == 0 ? TSRI_FINDING_FAILS
                                                                        : TSRI_FINDING_UNDECIDED;
        assert_int_equal(tsri_claim_verdict(&s.claim[i]), expected);
    }
    assert_true(says(&s, "diverged in epoch"));
    assert_ok(tsri_file_read(&svg, &n, scratch_path("gone/fig2b.svg"), 1 << 24));
    assert_non_null(strstr(svg, "ReLU (3 of 3 diverged)"));
    tsri_free(svg);
    tsri_study_fini(&s);
    make(&s, 7); /* going on with runs that had diverged, they do so again */
    assert_int_equal(verdict(&s, "fig2a/theory"), TSRI_FINDING_FAILS);
    assert_true(says(&s, "diverged in epoch"));
    tsri_study_fini(&s);
}

/* Called again it reads what it made: the numbers of a file that was changed come out. A file of
 * another run is not taken. */
static void finished_runs_are_read(void **state)
{
    (void)state;
    tsri_study s;
    char *text = NULL;
    int64_t n = 0;
    const char *path = "kept/patterns-relu_twin-batch-8-1.json";
    double x[2], first[2], second[2];
    make(&s, 9);
    tsri_study_fini(&s);
    read_series("kept/fig2c.csv", "\"ReLU, 8 samples a step\"", x, first, 2);
    assert_ok(tsri_file_read(&text, &n, scratch_path(path), 1 << 24));
    char *seen = strstr(text, "[null,0.");
    assert_non_null(seen);
    seen[8] = seen[8] == '9' ? '8' : '9';
    assert_ok(tsri_file_write_text(scratch_path(path), text));
    make(&s, 9);
    tsri_study_fini(&s);
    read_series("kept/fig2c.csv", "\"ReLU, 8 samples a step\"", x, second, 2);
    assert_true(second[0] != first[0] && second[1] == first[1]);
    char *run = strstr(text, "width: 32");
    assert_non_null(run);
    run[8] = '5';
    assert_ok(tsri_file_write_text(scratch_path(path), text));
    make(&s, 9);
    tsri_study_fini(&s);
    read_series("kept/fig2c.csv", "\"ReLU, 8 samples a step\"", x, second, 2);
    assert_true(second[0] == first[0]);
    tsri_free(text);
}

static void cost_is_told_first(void **state)
{
    (void)state;
    tsri_study s;
    tsri_study_options o = tsri_study_options_default();
    o.folder = scratch_path("large");
    assert_fails(tsri_reproduce(&s, &rows[8], &o), TSR_RESOURCES, "--quick");
    tsri_study_fini(&s);
    tsri_cost_estimate t = {0};
    tsri_twins_cost(&t, &tiny, TSRI_TWIN_RELU, 32, 4, 3);
    /* 40 epochs of 8 samples: 3 L m^2 + d m + 2 m a step, L m^2 + d m + m at each of 40 points */
    double step = 3 * 4 * 1024 + 6 * 32 + 2 * 32, judged = 4 * 1024 + 6 * 32 + 32;
    assert_true(t.runs == 3 && near(t.products, 3 * 40 * 8 * (step + judged)));
    assert_true(t.bytes > 4 * 3 * 4 * 1024);
    tsri_twins_cost(&t, &tiny, TSRI_TWIN_GRELU, 32, 4, 3); /* the same shape */
    tsri_twins_cost(&t, &tiny, TSRI_TWIN_RELU, 64, 2, 1);
    tsri_twins_cost(&t, &tiny, TSRI_TWIN_RELU, 6, 2, 1); /* the beginning of another */
    assert_string_equal(t.sizes, "4 x 32, 2 x 64, 2 x 6");
    tsri_twins longer = tiny;
    longer.epochs = 80;
    tsri_twins_cost(&t, &longer, TSRI_TWIN_RELU, 64, 2, 1);
    assert_string_equal(t.sizes, "4 x 32, 2 x 64, 2 x 6 (8 samples, 40 epochs); 2 x 64");
    assert_string_equal(t.data, "8 samples, 80 epochs");
    make(&s, 6);
    assert_true(says(&s, "Cost, estimated before it began: 18 runs"));
    tsri_study_fini(&s);
}

/* --data: the rate and the counts are those of the data that are there. */
static void other_data(void **state)
{
    (void)state;
    tsri_study s;
    char *text = NULL;
    int64_t n = 0;
    FILE *f = fopen(scratch_path("other.csv"), "w");
    assert_non_null(f);
    for (int i = 0; i < 60; i++)
        (void)fprintf(f, "%g,%g,%g,%g\n", sin(i), cos(3.0 * i), sin(7.0 * i),
                      cos(i) * sin(2.0 * i));
    assert_int_equal(fclose(f), 0);
    tsri_study_options o = tsri_study_options_default();
    o.folder = scratch_path("other");
    o.data = scratch_path("other.csv");
    o.quick = true;
    o.seeds = 1;
    assert_ok(tsri_reproduce(&s, tsri_reproduction_find("grelu/fig2c"), &o));
    for (int64_t i = 0; i < s.settings; i++) /* four fifths, in place of the row's 256 */
        if (strcmp(s.setting[i].what, "training samples") == 0)
            assert_string_equal(s.setting[i].here, "48");
    assert_int_equal(verdict(&s, "fig2c/part"), TSRI_FINDING_UNDECIDED); /* one seed */
    tsri_study_fini(&s);
    assert_ok(tsri_file_read(&text, &n, scratch_path("other/patterns-relu_twin-batch-48-1.json"),
                             1 << 20));
    double rate = 0; /* a d_x d_y / (n L m^2), d_x = 3 */
    const char *lr = strstr(text, "lr: ");
    assert_true(lr && sscanf(lr, "lr: %lf", &rate) == 1);
    assert_true(fabs(rate / (8.0 * 3 / (48.0 * 10 * 128 * 128)) - 1) < 1e-5);
    tsri_free(text);
}

/* ---- Memory runs out ------------------------------------------------------------------------- */

/* Every figure and the table with nets as small as they can be. */
#define SMALLEST                                                                                   \
    {                                                                                              \
        "{name: glyphs, n: 6, test_n: 4, prefetch: false}", 6, 784, 10, 3, 2, 1, 1                 \
    }
static const tsri_widths_sizes small_widths = {
    .twins = SMALLEST, .layers = 1, .widths = 2, .width = {8, 9}, .a = 0.1};
static const tsri_watch_sizes small_watched = {
    .twins = SMALLEST, .width = 8, .layers = 1, .a = 0.1};
static const tsri_table2_sizes small_rows = {
    .twins = SMALLEST, .layers = {1, 2, 1}, .width = {8, 8, 9}};
static const tsri_rates_sizes small_rates = {
    .twins = SMALLEST, .width = 8, .layers = 1, .rates = 1, .a = {0.1}};
static const tsri_shapes_sizes small_shapes = {
    .twins = SMALLEST, .widths = 1, .depths = 2, .width = {8}, .layers = {1, 2}, .a = 0.1};
static const tsri_switch_sizes small_switch = {.twins = SMALLEST,
                                               .width = 24,
                                               .layers = 1,
                                               .test_n = 4,
                                               .augment = true,
                                               .a = 0.1,
                                               .crowds = 1,
                                               .crowd = {5}};

#define SMALL(figure, sizes)                                                                       \
    static tsr_status small_##figure(tsri_study *s)                                                \
    {                                                                                              \
        return tsri_grelu_##figure(s, &(sizes));                                                   \
    }
SMALL(fig2a, small_widths)
SMALL(fig2b, small_watched)
SMALL(fig2c, small_watched)
SMALL(table2, small_rows)
SMALL(fig3bc, small_switch)
SMALL(fig4ab, small_rates)
SMALL(fig4c, small_shapes)

/* The folder stays, so that each time but the first goes on where the last one was: every failure
 * is one of a study that goes on, too. */
static void fail_everywhere(const tsri_reproduction *row)
{
    tsri_study_options o = tsri_study_options_default();
    tsr_status st = TSR_RESOURCES;
    int64_t n = 0;
    o.folder = scratch_path(row->name + 5);
    o.threads = 1;
    for (; st != TSR_OK; n += 1 + n / 2) { /* all of the first, then ever fewer */
        tsri_study s;
        (void)tsri_alloc_fail_after(n, false);
        st = tsri_reproduce(&s, row, &o);
        (void)tsri_alloc_fail_after(-1, false);
        if (st != TSR_OK && st != TSR_RESOURCES)
            fail_msg("%s, allocation %lld: %s", row->name, (long long)n, tsr_last_error());
        tsri_study_fini(&s);
    }
    assert_true(n > 100);
}

static void memory_runs_out(void **state)
{
    (void)state;
    static const tsri_reproduction small[] = {
        {"test/small2a", "Figure 2a", .make = small_fig2a},
        {"test/small2b", "Figure 2b", .make = small_fig2b},
        {"test/small2c", "Figure 2c", .make = small_fig2c},
        {"test/small2", "Table 2", .make = small_table2},
        {"test/small3", "Figure 3bc", .make = small_fig3bc},
        {"test/small4ab", "Figure 4ab", .make = small_fig4ab},
        {"test/small4c", "Figure 4c", .make = small_fig4c},
    };
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        fail_everywhere(&small[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_folded),
        cmocka_unit_test(the_rate_in_units_of_the_kernel),
        cmocka_unit_test(gates_end_lower),
        cmocka_unit_test(rates_and_shapes),
        cmocka_unit_test(relus_oscillate),
        cmocka_unit_test(what_diverged_proves_nothing),
        cmocka_unit_test(a_switch_within_a_run),
        cmocka_unit_test(gradients_and_patterns),
        cmocka_unit_test(widths_converge),
        cmocka_unit_test(what_diverges_is_shown),
        cmocka_unit_test(finished_runs_are_read),
        cmocka_unit_test(cost_is_told_first),
        cmocka_unit_test(other_data),
        cmocka_unit_test(memory_runs_out),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
