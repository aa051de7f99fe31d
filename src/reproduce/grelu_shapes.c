/* grelu_shapes.c - Figure 4c of the GReLU paper: gated nets of several widths and depths, at one
 * rate.
 *
 * Every comparison is between pairs of shapes, depth x width (deeper and not, wider and not, or
 * with the same L m^2), seed by seed; each pair is a part of the claim.
 */
#include "base/text.h"
#include "reproduce/grelu_sgemm.h"

#include <stdio.h>

typedef struct grid {
    tsri_bundle bundle[TSRI_SHAPES_MOST][TSRI_SHAPES_MOST]; /* width, depth */
} grid;

static void grid_fini(grid *m)
{
    for (int i = 0; i < TSRI_SHAPES_MOST; i++)
        for (int k = 0; k < TSRI_SHAPES_MOST; k++)
            tsri_bundle_fini(&m->bundle[i][k]);
}

static tsr_status train_shapes(grid *m, tsri_study *s, const tsri_shapes_sizes *z, double from)
{
    tsr_status st = TSR_OK;
    tsri_sweep sweep = {0};
    tsri_text widths = {0}, depths = {0};
    char yaml[500];
    int64_t wide = z->width[z->widths - 1], deep = z->layers[z->depths - 1];
    tsri_twins_run_file(yaml, sizeof yaml, &z->twins, TSRI_TWIN_GRELU, wide, deep,
                        tsri_twins_rate(&z->twins, z->a, wide, deep));
    for (int64_t i = 0; i < z->widths; i++)
        TSR_TRY(tsri_text_add(&widths, "%s%lld", i ? "," : "model.width=", (long long)z->width[i]));
    for (int64_t i = 0; i < z->depths; i++)
        TSR_TRY(
            tsri_text_add(&depths, "%s%lld", i ? "," : "model.layers=", (long long)z->layers[i]));
    const char *const grids[] = {widths.data, depths.data};
    tsri_sweep_options o = tsri_twins_options(&z->twins, grids, 2);
    TSR_TRY(tsri_study_sweep(s, &sweep, "shapes", yaml, &o, from, 1));
    for (int64_t i = 0; i < z->widths; i++)
        for (int64_t k = 0; k < z->depths; k++)
            TSR_TRY(tsri_bundle_take(&m->bundle[i][k], &z->twins, &sweep, i * z->depths + k));
done:
    tsri_sweep_fini(&sweep);
    tsri_text_fini(&widths);
    tsri_text_fini(&depths);
    return st;
}

static void draw_shapes(tsri_study *s, const grid *m, const tsri_shapes_sizes *z)
{
    tsri_chart c;
    char text[TSRI_TITLE];
    tsri_chart_begin(
        &c,
        tsri_sgemm_title(text, s, "Figure 4c: training error of GReLU nets by width and depth"));
    tsri_chart_panel(
        &c,
        &(tsri_panel){.x_label = "epoch", .y_label = "squared error of a sample", .y_log = true});
    for (int64_t i = 0; i < z->widths; i++)
        for (int64_t k = 0; k < z->depths; k++) {
            char name[64];
            (void)snprintf(name, sizeof name, "m = %lld, L = %lld", (long long)z->width[i],
                           (long long)z->layers[k]);
            tsri_bundle_draw(&c, &m->bundle[i][k], name, (int)i + 1, k == 0);
        }
    tsri_study_chart(s, "fig4c", &c);
    tsri_chart_fini(&c);
}

/* Along each width (or depth) from every value to the next. */
static void judge_growth(tsri_study *s, const grid *m, const tsri_shapes_sizes *z, bool deeper)
{
    for (int64_t w = deeper ? 0 : 1; w < z->widths; w++)
        for (int64_t k = deeper ? 1 : 0; k < z->depths; k++) {
            int64_t v = deeper ? w : w - 1, j = deeper ? k - 1 : k;
            char part[96];
            (void)snprintf(part, sizeof part, "%lld x %lld over %lld x %lld",
                           (long long)z->layers[k], (long long)z->width[w], (long long)z->layers[j],
                           (long long)z->width[v]);
            tsri_bundle_judge_ratio(s, deeper ? "grelu/fig4/deeper" : "grelu/fig4/wider", part,
                                    &m->bundle[w][k], &m->bundle[v][j]);
        }
}

static int64_t parameters(const tsri_shapes_sizes *z, int64_t w, int64_t k)
{
    return z->layers[k] * z->width[w] * z->width[w];
}

/* Pairs of shapes with the same L m^2. */
static void judge_equal(tsri_study *s, const grid *m, const tsri_shapes_sizes *z)
{
    int64_t shapes = z->widths * z->depths;
    for (int64_t pair = 0; pair < shapes * shapes; pair++) {
        int64_t w = pair % shapes / z->depths, k = pair % z->depths;
        int64_t v = pair / shapes / z->depths, j = pair / shapes % z->depths;
        char what[96];
        if (w >= v || parameters(z, w, k) != parameters(z, v, j))
            continue;
        (void)snprintf(what, sizeof what, "%lld x %lld over %lld x %lld", (long long)z->layers[k],
                       (long long)z->width[w], (long long)z->layers[j], (long long)z->width[v]);
        tsri_bundle_judge_ratio(s, "grelu/fig4/narrower", what, &m->bundle[w][k], &m->bundle[v][j]);
    }
}

tsr_status tsri_grelu_fig4c(tsri_study *s, const tsri_shapes_sizes *z)
{
    tsr_status st = TSR_OK;
    grid m = {0};
    tsri_study_setting(s, "4c: widths", "several, not given", "%lld to %lld",
                       (long long)z->width[0], (long long)z->width[z->widths - 1]);
    tsri_study_setting(s, "4c: depths", "several, not given", "%lld to %lld",
                       (long long)z->layers[0], (long long)z->layers[z->depths - 1]);
    tsri_study_setting(s, "4c: rate", "one, not given", "a = %g for the largest net", z->a);
    TSR_TRY(train_shapes(&m, s, z, 0.6));
    draw_shapes(s, &m, z);
    judge_growth(s, &m, z, true);
    judge_growth(s, &m, z, false);
    judge_equal(s, &m, z);
    tsri_study_note(s,
                    "4c: one rate for all shapes, a = %g for the largest: a smaller net sees a "
                    "smaller a, in proportion to L m^2, so that nets with equally many parameters "
                    "see the same one.",
                    z->a);
    TSR_TRY(tsri_study_end(s));
done:
    grid_fini(&m);
    return st;
}
