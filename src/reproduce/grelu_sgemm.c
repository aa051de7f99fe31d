/* grelu_sgemm.c - Figures 4a, 4b and 5 of the GReLU paper: rates on SGEMM. (4c is grelu_shapes.c.)
 *
 * The paper names no rates. Ours are given as a (grelu_nets.h), from one that is clearly slow to the
 * largest at which no seed of either net diverges at once: above it there is nothing to compare.
 */
#include "reproduce/grelu_sgemm.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The file has 18 columns: 14 settings of a kernel, which are the inputs, and four times of it,
 * whose mean is the target. The paper has d = 18. */
enum { SGEMM_INPUTS = 14 };

const char *tsri_sgemm_title(char text[TSRI_TITLE], const tsri_study *s, const char *what)
{
    (void)snprintf(text, TSRI_TITLE, "%s, %s", what, tsri_study_data_name(s, "SGEMM"));
    return text;
}

void tsri_sgemm_target(tsri_study *s)
{
    if (!s->data)
        tsri_study_setting(s, "target", "run time", "logarithm of the mean of four run times");
}

/* ---- Rates ----------------------------------------------------------------------------------- */

typedef struct rates {
    tsri_bundle bundle[TSRI_TWINS][TSRI_RATES_MOST];
} rates;

static void rates_fini(rates *m)
{
    for (int net = 0; net < TSRI_TWINS; net++)
        for (int i = 0; i < TSRI_RATES_MOST; i++)
            tsri_bundle_fini(&m->bundle[net][i]);
}

static double rate_of(const tsri_rates_sizes *z, int64_t i)
{
    return tsri_twins_rate(&z->twins, z->a[i], z->width, z->layers);
}

static tsr_status train_rates(rates *m, tsri_study *s, const tsri_rates_sizes *z, int net,
                              double from, double to)
{
    tsr_status st = TSR_OK;
    tsri_sweep sweep = {0};
    tsri_text grid = {0};
    char yaml[500];
    tsri_twins_run_file(yaml, sizeof yaml, &z->twins, net, z->width, z->layers, rate_of(z, 0));
    for (int64_t i = 0; i < z->rates; i++)
        TSR_TRY(tsri_text_add(&grid, "%s%.6g", i ? "," : "optim.lr=", rate_of(z, i)));
    const char *const grids[] = {grid.data};
    tsri_sweep_options o = tsri_twins_options(&z->twins, grids, 1);
    TSR_TRY(tsri_study_sweep(s, &sweep, tsri_twin_model[net], yaml, &o, from, to));
    for (int64_t i = 0; i < z->rates; i++)
        TSR_TRY(tsri_bundle_take(&m->bundle[net][i], &z->twins, &sweep, i));
done:
    tsri_sweep_fini(&sweep);
    tsri_text_fini(&grid);
    return st;
}

/* Section 9. */
static void tell_settings(tsri_study *s, const tsri_rates_sizes *z)
{
    static const tsri_twins_paper paper = {
        .data = "SGEMM",
        .n = "241600",
        .inputs = "18",
        .width = "4096",
        .layers = "10",
        .batch = "not given, the largest that fit",
        .epochs = "not given",
        .rate = "several, not given",
        .seeds = "not given",
    };
    char width[40], layers[40], rate[100] = "a =";
    (void)snprintf(width, sizeof width, "%lld", (long long)z->width);
    (void)snprintf(layers, sizeof layers, "%lld", (long long)z->layers);
    for (int64_t i = 0; i < z->rates; i++) {
        size_t used = strlen(rate);
        (void)snprintf(rate + used, sizeof rate - used, "%s %g", i > 0 ? "," : "", z->a[i]);
    }
    tsri_twins_settings(s, &z->twins, &paper, "SGEMM", width, layers, rate);
    tsri_sgemm_target(s);
    tsri_study_note(s, "Rates as a = eta batch L m^2 / (d_x d_y). Bands are from the least to the "
                       "most of the seeds.");
}

static tsr_status train_both(rates *m, tsri_study *s, const tsri_rates_sizes *z, double to)
{
    tsr_status st = TSR_OK;
    *m = (rates){0};
    tell_settings(s, z);
    for (int net = 0; net < TSRI_TWINS; net++)
        TSR_TRY(train_rates(m, s, z, net, to * net / TSRI_TWINS, to * (net + 1) / TSRI_TWINS));
done:
    return st;
}

/* Of runs that diverged there is none. */
static void percent(tsri_table *t, const char *format, double part)
{
    char text[32] = "-";
    if (!isnan(part))
        (void)snprintf(text, sizeof text, format, 100 * part);
    tsri_table_text(t, text);
}

static void rate_row(tsri_table *t, const rates *m, const tsri_rates_sizes *z, int64_t i)
{
    char text[TSRI_ESTIMATE_TEXT];
    tsri_table_format(t, "%g", z->a[i]);
    tsri_table_format(t, "%.3g", rate_of(z, i));
    for (int net = 0; net < TSRI_TWINS; net++) {
        const tsri_bundle *b = &m->bundle[net][i];
        tsri_table_format(t, "%s", tsri_estimate_text(text, tsri_bundle_ends(b)));
        percent(t, "%.1f", tsri_bundle_mean(b, tsri_bundle_rises).value);
        percent(t, "%.2g", tsri_bundle_mean(b, tsri_bundle_amplitude).value);
        tsri_table_format(t, "%lld", (long long)b->diverged);
    }
    tsri_table_format(t, "%s",
                      tsri_estimate_text(text, tsri_bundle_ratio(&m->bundle[TSRI_TWIN_GRELU][i],
                                                                 &m->bundle[TSRI_TWIN_RELU][i])));
}

static void rates_table(tsri_study *s, const rates *m, const tsri_rates_sizes *z, const char *name)
{
    tsri_table t = {0};
    tsri_table_head(&t,
                    "a|eta|ReLU, error|rises, %|mean rise, %|diverged|GReLU, error|rises, %|mean "
                    "rise, %|diverged|GReLU over ReLU");
    for (int64_t i = 0; i < z->rates; i++)
        rate_row(&t, m, z, i);
    tsri_study_table(s, name, "Squared error at the end, by rate", &t);
    tsri_table_fini(&t);
}

/* ---- Figures 4a and 4b ----------------------------------------------------------------------- */

/* From the least to the most of all curves, so that panels can be compared. */
static tsri_panel common_range(const rates *m)
{
    tsri_panel p = {.x_label = "epoch",
                    .y_label = "squared error of a sample",
                    .y_log = true,
                    .y_low = INFINITY};
    for (int k = 0; k < TSRI_TWINS * TSRI_RATES_MOST; k++) {
        const tsri_bundle *b = &m->bundle[k / TSRI_RATES_MOST][k % TSRI_RATES_MOST];
        for (int64_t i = 0; i < b->points; i++) {
            p.y_low = fmin(p.y_low, b->low[i]); /* passes NaN over */
            p.y_high = fmax(p.y_high, b->high[i]);
        }
    }
    return p;
}

static void draw_rates(tsri_study *s, const rates *m, const tsri_rates_sizes *z)
{
    tsri_chart c;
    tsri_panel panel = common_range(m);
    char text[TSRI_TITLE];
    tsri_chart_begin(&c, tsri_sgemm_title(text, s, "Figure 4a, b: training error by rate"));
    for (int net = TSRI_TWINS - 1; net >= 0; net--) {
        panel.title = tsri_twin_name[net];
        tsri_chart_panel(&c, &panel);
        for (int64_t i = 0; i < z->rates; i++) {
            char name[40];
            (void)snprintf(name, sizeof name, "rate a = %g", z->a[i]);
            tsri_bundle_draw(&c, &m->bundle[net][i], name, 0, false);
        }
    }
    tsri_study_chart(s, "fig4ab", &c);
    tsri_chart_fini(&c);
}

static const char *rate_text(char text[40], const tsri_rates_sizes *z, int64_t i)
{
    (void)snprintf(text, 40, "a = %g", z->a[i]);
    return text;
}

/* "Smaller rates" are the lower half of those tried, "larger ones" the upper. */
static void judge_twins(tsri_study *s, const rates *m, const tsri_rates_sizes *z)
{
    const tsri_bundle *relu = m->bundle[TSRI_TWIN_RELU], *grelu = m->bundle[TSRI_TWIN_GRELU];
    char part[40];
    for (int64_t i = 0; i < z->rates; i++) {
        bool slow = i < z->rates / 2;
        (void)rate_text(part, z, i);
        tsri_bundle_judge_ratio(s, slow ? "grelu/fig4/slow" : "grelu/fig4/lower", part, &grelu[i],
                                &relu[i]);
        if (!slow)
            tsri_bundle_judge_less(s, "grelu/fig4/monotone", part, &grelu[i], &relu[i],
                                   tsri_bundle_rises);
    }
}

static void judge_gains(tsri_study *s, const rates *m, const tsri_rates_sizes *z)
{
    const tsri_bundle *grelu = m->bundle[TSRI_TWIN_GRELU];
    for (int64_t i = 1; i < z->rates; i++) {
        char part[100];
        (void)snprintf(part, sizeof part, "a = %g over a = %g", z->a[i], z->a[i - 1]);
        tsri_bundle_judge_ratio(s, "grelu/fig4/gains", part, &grelu[i], &grelu[i - 1]);
    }
}

/* The least end of seed k over the rates; NaN when it diverged at all of them. */
static double least_end(const tsri_bundle *b, int64_t count, int64_t k)
{
    double least = INFINITY;
    for (int64_t i = 0; i < count; i++)
        least = fmin(least, tsri_bundle_end(&b[i], k));
    return isfinite(least) ? least : (double)NAN;
}

static void judge_zero(tsri_study *s, const rates *m, const tsri_rates_sizes *z)
{
    for (int net = 0; net < TSRI_TWINS; net++) {
        double least[TSRI_SEEDS_MOST];
        int64_t seeds = z->twins.seeds < TSRI_SEEDS_MOST ? z->twins.seeds : TSRI_SEEDS_MOST;
        for (int64_t k = 0; k < seeds; k++)
            least[k] = least_end(m->bundle[net], z->rates, k);
        tsri_study_judge(s, "grelu/fig4/zero", tsri_twin_name[net], least, seeds);
    }
}

tsr_status tsri_grelu_fig4ab(tsri_study *s, const tsri_rates_sizes *z)
{
    tsr_status st = TSR_OK;
    rates m;
    TSR_TRY(train_both(&m, s, z, 0.6));
    draw_rates(s, &m, z);
    rates_table(s, &m, z, "fig4ab-table");
    judge_twins(s, &m, z);
    judge_gains(s, &m, z);
    judge_zero(s, &m, z);
    TSR_TRY(tsri_study_end(s));
done:
    rates_fini(&m);
    return st;
}

/* ---- Figure 5 -------------------------------------------------------------------------------- */

static void draw_high(tsri_study *s, const rates *m, const tsri_rates_sizes *z)
{
    tsri_chart c;
    tsri_panel panel = common_range(m);
    char text[TSRI_TITLE];
    tsri_chart_begin(&c, tsri_sgemm_title(text, s, "Figure 5: training error at high rates"));
    for (int64_t i = 0; i < z->rates; i++) {
        char title[40];
        (void)snprintf(title, sizeof title, "rate a = %g", z->a[i]);
        panel.title = title;
        tsri_chart_panel(&c, &panel);
        for (int net = 0; net < TSRI_TWINS; net++)
            tsri_bundle_draw(&c, &m->bundle[net][i], tsri_twin_name[net], net + 1, false);
    }
    tsri_study_chart(s, "fig5", &c);
    tsri_chart_fini(&c);
}

static void judge_high(tsri_study *s, const rates *m, const tsri_rates_sizes *z)
{
    for (int64_t i = 0; i < z->rates; i++) {
        const tsri_bundle *relu = &m->bundle[TSRI_TWIN_RELU][i],
                          *grelu = &m->bundle[TSRI_TWIN_GRELU][i];
        char part[40];
        (void)rate_text(part, z, i);
        tsri_bundle_judge_less(s, "grelu/fig5/oscillates", part, relu, grelu,
                               tsri_bundle_amplitude);
        tsri_bundle_judge_ratio(s, "grelu/fig5/higher", part, relu, grelu);
    }
}

tsr_status tsri_grelu_fig5(tsri_study *s, const tsri_rates_sizes *z)
{
    tsr_status st = TSR_OK;
    rates m;
    TSR_TRY(train_both(&m, s, z, 1));
    draw_high(s, &m, z);
    rates_table(s, &m, z, "fig5-table");
    judge_high(s, &m, z);
    TSR_TRY(tsri_study_end(s));
done:
    rates_fini(&m);
    return st;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static tsri_twins twins_of(const tsri_study *s)
{
    if (s->paper) /* all of it, a hundred steps an epoch */
        return (tsri_twins){.data = "{name: sgemm, split: 0}",
                            .n = 241600,
                            .inputs = SGEMM_INPUTS,
                            .outputs = 1,
                            .batch = 2416,
                            .epochs = 100,
                            .every = 1,
                            .seeds = tsri_study_seeds(s, TSRI_SEEDS_LEAST)};
    return s->quick ? (tsri_twins){.data = "{name: sgemm, limit: 256, test_limit: 16}",
                                   .n = 256,
                                   .inputs = SGEMM_INPUTS,
                                   .outputs = 1,
                                   .batch = 64,
                                   .epochs = 240,
                                   .every = 2,
                                   .seeds = tsri_study_seeds(s, 6)}
                    : (tsri_twins){.data = "{name: sgemm, limit: 20480, test_limit: 1000}",
                                   .n = 20480,
                                   .inputs = SGEMM_INPUTS,
                                   .outputs = 1,
                                   .batch = 1024,
                                   .epochs = 200,
                                   .every = 1,
                                   .seeds = tsri_study_seeds(s, 3)};
}

static tsri_rates_sizes rates_of(const tsri_study *s, const tsri_twins *t, bool high)
{
    tsri_rates_sizes z = {
        .twins = *t, .width = s->quick ? 128 : 4096, .layers = 10, .rates = high ? 2 : 4};
    static const double all[] = {1, 4, 8, 16}, fast[] = {8, 16};
    for (int64_t i = 0; i < z.rates; i++)
        z.a[i] = high ? fast[i] : all[i];
    return z;
}

static void rates_cost(tsri_cost_estimate *cost, const tsri_rates_sizes *z)
{
    for (int net = 0; net < TSRI_TWINS; net++)
        tsri_twins_cost(cost, &z->twins, net, z->width, z->layers, z->rates * z->twins.seeds);
}

tsr_status tsri_reproduce_grelu_fig4(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_twins t = twins_of(s);
    tsri_cost_estimate cost = {0};
    TSR_TRY(tsri_twins_settle(&t, s, NULL));
    tsri_rates_sizes rates_z = rates_of(s, &t, false);
    tsri_shapes_sizes shapes_z = {.twins = t, .widths = 3, .depths = 2, .layers = {2, 8}, .a = 8};
    rates_cost(&cost, &rates_z);
    for (int i = 0; i < 3; i++) {
        shapes_z.width[i] = (s->quick ? 64 : 1024) << i;
        for (int k = 0; k < 2; k++)
            tsri_twins_cost(&cost, &t, TSRI_TWIN_GRELU, shapes_z.width[i], shapes_z.layers[k],
                            t.seeds);
    }
    TSR_TRY(tsri_study_tell_cost(s, &cost));
    TSR_TRY(tsri_grelu_fig4ab(s, &rates_z));
    TSR_TRY(tsri_grelu_fig4c(s, &shapes_z));
done:
    return st;
}

tsr_status tsri_reproduce_grelu_fig5(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_twins t = twins_of(s);
    tsri_cost_estimate cost = {0};
    TSR_TRY(tsri_twins_settle(&t, s, NULL));
    tsri_rates_sizes z = rates_of(s, &t, true);
    rates_cost(&cost, &z);
    TSR_TRY(tsri_study_tell_cost(s, &cost));
    TSR_TRY(tsri_grelu_fig5(s, &z));
done:
    return st;
}
