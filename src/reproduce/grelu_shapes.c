/* grelu_shapes.c - Figure 4c of the GReLU paper: gated nets of several widths and depths, at one
 * rate.
 *
 * Every comparison is between pairs of shapes (deeper and not, wider and not, or with the same L
 * m^2), seed by seed, so that a claim rests on what all pairs say together.
 */
#include "base/text.h"
#include "reproduce/grelu_sgemm.h"

#include <math.h>
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

/* What comparing pairs of shapes found: a sentence, the mean over the pairs of each seed's
 * ln(after / before), and whether all pairs go the same way. */
typedef struct gains {
    tsri_text text;
    double mean[TSRI_SEEDS_MOST];
    int64_t pairs, down;
} gains;

static void add_pair(gains *g, const tsri_bundle *before, const tsri_bundle *after,
                     const char *what)
{
    char number[TSRI_ESTIMATE_TEXT];
    tsri_estimate e = tsri_bundle_ratio(after, before);
    (void)tsri_text_add(&g->text, "%s%s: %s", g->pairs > 0 ? "; " : "", what,
                        tsri_estimate_text(number, e)); /* a claim without it says so */
    for (int64_t k = 0; k < after->seeds && k < TSRI_SEEDS_MOST; k++)
        g->mean[k] += log(tsri_bundle_end(after, k) / tsri_bundle_end(before, k));
    g->pairs++;
    g->down += e.value < 1;
}

/* Holds when the mean over the pairs falls for certain and no pair goes the other way. */
static void judge_gains(tsri_study *s, gains *g, int64_t seeds, const char *paper)
{
    for (int64_t k = 0; k < TSRI_SEEDS_MOST; k++)
        g->mean[k] /= (double)(g->pairs > 0 ? g->pairs : 1);
    tsri_estimate e = tsri_mean_of(g->mean, seeds < TSRI_SEEDS_MOST ? seeds : TSRI_SEEDS_MOST);
    char number[TSRI_ESTIMATE_TEXT];
    (void)tsri_estimate_text(number, (tsri_estimate){exp(e.value), exp(e.low), exp(e.high)});
    tsri_study_claim(s, g->pairs > 0 && tsri_surely_below(e, 0) && g->down == g->pairs, paper,
                     "%s times the error in the mean of %lld pairs (%s)", number,
                     (long long)g->pairs, g->text.data ? g->text.data : "none");
    tsri_text_fini(&g->text);
}

/* Along each width (or depth) from its first value to its last. */
static void judge_growth(tsri_study *s, const grid *m, const tsri_shapes_sizes *z, bool deeper)
{
    gains g = {0};
    int64_t wide = z->widths - 1, deep = z->depths - 1;
    for (int64_t i = 0; i < (deeper ? z->widths : z->depths); i++) {
        char what[64];
        (void)snprintf(what, sizeof what, deeper ? "at m = %lld" : "at L = %lld",
                       (long long)(deeper ? z->width[i] : z->layers[i]));
        if (deeper)
            add_pair(&g, &m->bundle[i][0], &m->bundle[i][deep], what);
        else
            add_pair(&g, &m->bundle[0][i], &m->bundle[wide][i], what);
    }
    judge_gains(s, &g, z->twins.seeds,
                deeper ? "Increased depth improves the results."
                       : "Increased width improves the results.");
}

static int64_t parameters(const tsri_shapes_sizes *z, int64_t w, int64_t k)
{
    return z->layers[k] * z->width[w] * z->width[w];
}

/* Pairs of shapes with the same L m^2. */
static void judge_equal(tsri_study *s, const grid *m, const tsri_shapes_sizes *z)
{
    gains g = {0};
    int64_t shapes = z->widths * z->depths;
    for (int64_t pair = 0; pair < shapes * shapes; pair++) {
        int64_t w = pair % shapes / z->depths, k = pair % z->depths;
        int64_t v = pair / shapes / z->depths, j = pair / shapes % z->depths;
        char what[96];
        if (w >= v || parameters(z, w, k) != parameters(z, v, j))
            continue;
        (void)snprintf(what, sizeof what, "%lld x %lld against %lld x %lld",
                       (long long)z->layers[k], (long long)z->width[w], (long long)z->layers[j],
                       (long long)z->width[v]);
        add_pair(&g, &m->bundle[v][j], &m->bundle[w][k], what);
    }
    judge_gains(s, &g, z->twins.seeds,
                "Deeper and narrower networks perform better for the same number of parameters.");
}

tsr_status tsri_grelu_fig4c(tsri_study *s, const tsri_shapes_sizes *z)
{
    tsr_status st = TSR_OK;
    grid m = {0};
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
