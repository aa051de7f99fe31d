/* loft_rankings.c - Figures 1 and 4 of the LoFT paper: when does the ranking of filters settle?
 *
 * Figure 1: the filter distance between every two epochs of ordinary training. The paper sees quick
 * change first and "a solid blue block at the lower right corner" in the end.
 *
 * Figure 4: the filter distance of each epoch to the last one, LoFT beside the baseline. The paper:
 * LoFT "quickly and monotonically decreases" it, and "can decrease it faster than the baseline" on
 * ImageNet.
 *
 * Distances are those of the run itself (run/score_log.h), relative to that of a reversed ranking
 * where layers of different widths are averaged.
 */
#include "reproduce/loft.h"

#include "base/alloc.h"
#include "io/file.h"
#include "ticket/compare.h"

#include <math.h>
#include <stdio.h>

/* How far the ranking before any training is from that of the finished network, the reference: the
 * mean over the layers in units of a reversal. */
static tsr_status from_start(double *distance, const char *folder, uint64_t seed)
{
    tsr_status st = TSR_OK;
    tsr_model *last = NULL, *first = NULL;
    tsri_comparison c = {0};
    char *path = NULL;
    TSR_TRY(tsri_path_join(&path, folder, "model.safetensors"));
    TSR_TRY(tsr_model_read(&last, path));
    TSR_TRY(tsr_model_read(&first, path));
    TSR_TRY(tsri_store_fill(&first->store, seed));
    TSR_TRY(tsri_compare(&c, last, first, NULL, TSRI_SCORE_L2, NULL, 0));
    *distance = c.mean;
done:
    tsri_comparison_fini(&c);
    tsr_model_destroy(first);
    tsr_model_destroy(last);
    tsri_free(path);
    return st;
}

/* The rankings of a run that is done; *start (or NULL): see from_start. */
static tsr_status read_run(tsri_rankings *r, double *start, const char *folder, uint64_t seed)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_rankings_read(r, folder));
    if (start)
        TSR_TRY(from_start(start, folder, seed));
done:
    return st;
}

/* A cell is one run with what both figures read of it. */
static tsr_status make_rankings(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                                const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsr_result result = tsr_result_default();
    tsri_rankings r = {0};
    double start;
    TSR_TRY(tsri_study_run(&result, config, folder, NULL));
    TSR_TRY(read_run(&r, &start, folder, s->seed + (uint64_t)ask->repeat));
    tsri_cell_put(to, "accuracy", result.accuracy);
    tsri_cell_put(to, "start", start);
    tsri_rankings_put(to, &r);
done:
    tsri_rankings_fini(&r);
    return st;
}

/* *r is empty where nobody made the cell yet. */
static tsr_status ask_rankings(tsri_rankings *r, double *start, tsri_study *s, const char *name,
                               const char *yaml, int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsri_study_cell c = {0};
    bool there = false;
    tsri_cell_ask ask = {.name = name, .yaml = yaml, .repeat = repeat, .make = make_rankings};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    if (!there)
        goto done;
    TSR_TRY(tsri_rankings_take(r, &c));
    if (start)
        *start = tsri_cell_value(&c, "start");
done:
    tsri_cell_fini(&c);
    return st;
}

/* *start (or NULL): see from_start. */
static tsr_status pretrain(tsri_rankings *r, double *start, tsri_study *s,
                           const tsri_loft_sizes *size, const char *scheme, int64_t repeat)
{
    tsr_status st = TSR_OK;
    char yaml[TSRI_LOFT_YAML], name[64];
    tsr_result result = tsr_result_default();
    tsri_text folder = {0};
    long long seed = (long long)s->seed + (long long)repeat;
    tsri_loft_yaml(yaml, size, scheme);
    if (s->book) {
        (void)snprintf(name, sizeof name, "%s-seed%lld", scheme, seed);
        return ask_rankings(r, start, s, name, yaml, repeat);
    }
    (void)snprintf(name, sizeof name, "runs/%s-%lld", scheme, seed);
    TSR_TRY(tsri_study_train(s, &result, NULL, name, yaml, repeat));
    TSR_TRY(tsri_text_add(&folder, "%s/%s", s->folder, name));
    TSR_TRY(read_run(r, start, folder.data, (uint64_t)seed));
done:
    tsri_text_fini(&folder);
    return st;
}

/* ---- Figure 1 ------------------------------------------------------------------------------- */

/* Mean distance, over layers, between the different epochs of from .. to - 1. */
static double mean_within(const tsri_rankings *r, int64_t from, int64_t to)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t layer = 0; layer < r->layers; layer++)
        for (int64_t i = from; i < to; i++)
            for (int64_t k = from; k < to; k++)
                if (i != k) {
                    sum += tsri_rankings_at(r, layer, i, k) / r->reversed[layer];
                    count++;
                }
    return sum / (double)count;
}

static double mean_to_next(const tsri_rankings *r, int64_t from, int64_t to)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t layer = 0; layer < r->layers; layer++)
        for (int64_t i = from; i + 1 < to; i++) {
            sum += tsri_rankings_at(r, layer, i, i + 1) / r->reversed[layer];
            count++;
        }
    return sum / (double)count;
}

static void draw_maps(tsri_study *s, const tsri_rankings *r)
{
    tsri_chart c;
    tsri_chart_begin(&c, "Filter distance between epochs (dark: the same ranking)");
    for (int64_t i = 0; i < r->layers; i++) {
        tsri_chart_panel(
            &c,
            &(tsri_panel){.title = r->name[i], .x_label = "epoch", .y_label = "epoch (reference)"});
        tsri_chart_map(&c, &(tsri_map){.rows = r->epochs,
                                       .columns = r->epochs,
                                       .value = r->distance + i * r->epochs * r->epochs,
                                       .x = r->epoch,
                                       .y = r->epoch,
                                       .label = "filter distance"});
    }
    tsri_study_chart(s, "fig1", &c);
    tsri_chart_fini(&c);
}

/* The largest distance of any two epochs, the mean over the layers. */
static double largest(const tsri_rankings *r)
{
    double most = 0;
    for (int64_t i = 0; i < r->epochs; i++)
        for (int64_t k = 0; k < r->epochs; k++) {
            double sum = 0;
            for (int64_t layer = 0; layer < r->layers; layer++)
                sum += tsri_rankings_at(r, layer, i, k) / r->reversed[layer];
            most = fmax(most, sum / (double)r->layers);
        }
    return most;
}

void tsri_loft_judge_maps(tsri_study *s, const tsri_rankings *r, int64_t seeds)
{
    double early[TSRI_LOFT_SEEDS], block[TSRI_LOFT_SEEDS];
    for (int64_t k = 0; k < seeds; k++) {
        int64_t n = r[k].epochs, part = n >= 8 ? n / 4 : 2;
        early[k] = block[k] = (double)NAN; /* a cell that nobody made yet */
        if (n == 0)
            continue;
        early[k] = mean_to_next(&r[k], n - part - 1, n) / mean_to_next(&r[k], 0, part + 1);
        block[k] = mean_within(&r[k], n - part, n) / largest(&r[k]);
    }
    tsri_study_judge(s, "loft/fig1/early", NULL, early, seeds);
    tsri_study_judge(s, "loft/fig1/block", NULL, block, seeds);
    tsri_study_note(s, "The learning rate falls to 0 here, which by itself stops rankings from "
                       "changing; the paper does not give its schedule.");
}

static const tsri_loft_paper fig1_paper = {.network = "WideResNet-18",
                                           .data = "ImageNet",
                                           .images = "all",
                                           .test_images = "not given",
                                           .epochs = "more than 60"};

tsr_status tsri_loft_fig1(tsri_study *s, const tsri_loft_sizes *z)
{
    tsr_status st = TSR_OK;
    tsri_rankings r[TSRI_LOFT_SEEDS] = {0};
    int64_t first = 0, seeds = tsri_study_seeds_to(s, TSRI_SEEDS_LEAST, TSRI_LOFT_SEEDS);
    TSR_TRY(tsri_loft_settings(s, z, &fig1_paper));
    tsri_study_setting(s, "seeds", "not given", "%lld, the first one drawn", (long long)seeds);
    for (int64_t k = 0; k < seeds; k++) {
        tsri_study_say(s, (double)k / (double)seeds, "dense training, %d epochs, seed %lld",
                       z->epochs, (long long)s->seed + (long long)k);
        TSR_TRY(pretrain(&r[k], NULL, s, z, "dense", k));
        TSR_CHECK(r[k].epochs >= 4 || (s->book && r[k].epochs == 0), TSR_FAILURE,
                  "%lld epochs are too few to compare early and late ones", (long long)r[k].epochs);
    }
    for (int64_t k = seeds - 1; k >= 0; k--)
        first = r[k].epochs > 0 ? k : first;
    if (r[first].epochs > 0)
        draw_maps(s, &r[first]);
    tsri_loft_judge_maps(s, r, seeds);
    TSR_TRY(tsri_study_end(s));
done:
    for (int k = 0; k < TSRI_LOFT_SEEDS; k++)
        tsri_rankings_fini(&r[k]);
    return st;
}

/* ---- Figure 4 ------------------------------------------------------------------------------- */

/* How far epoch i (0 = before training) is from the last one, which is the reference. */
static double to_last(const tsri_rankings *r, double start, int64_t i)
{
    double sum = 0;
    if (i == 0)
        return start;
    for (int64_t layer = 0; layer < r->layers; layer++)
        sum += tsri_rankings_at(r, layer, r->epochs - 1, i - 1) / r->reversed[layer];
    return sum / (double)r->layers;
}

/* Seeds that nobody made yet are NaN. */
static tsr_status begin_curves(tsri_repeats *w, int64_t n, int64_t seeds)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_repeats_init(w, n, seeds));
    for (int64_t i = 0; i < n * seeds; i++)
        w->value[i] = (double)NAN;
done:
    return st;
}

static tsr_status note_curve(tsri_repeats *w, const tsri_rankings *r, double start, int64_t seeds,
                             int64_t repeat)
{
    tsr_status st = TSR_OK;
    if (!w->memory)
        TSR_TRY(begin_curves(w, r->epochs + 1, seeds));
    TSR_CHECK(r->epochs + 1 == w->n, TSR_FAILURE, "runs of different lengths cannot be compared");
    for (int64_t i = 0; i < w->n; i++) {
        w->x[i] = i > 0 ? r->epoch[i - 1] : 0;
        w->value[i * seeds + repeat] = to_last(r, start, i);
    }
done:
    return st;
}

static tsr_status settle(tsri_repeats *w, tsri_study *s, const tsri_loft_sizes *size,
                         const char *scheme, int64_t seeds)
{
    tsr_status st = TSR_OK;
    double before = scheme[0] == 'l' ? 0.3 : 0; /* LoFT's workers make the longer part */
    for (int64_t k = 0; k < seeds; k++) {
        tsri_rankings r = {0};
        tsri_study_say(s, before + (before > 0 ? 0.7 : 0.3) * (double)k / (double)seeds,
                       "%s, seed %lld", scheme, (long long)s->seed + (long long)k);
        double start = 0;
        st = pretrain(&r, &start, s, size, scheme, k);
        if (st == TSR_OK && r.epochs > 0)
            st = note_curve(w, &r, start, seeds, k);
        tsri_rankings_fini(&r);
        TSR_TRY(st);
    }
    if (!w->memory) /* no cell is there */
        TSR_TRY(begin_curves(w, 1, seeds));
    tsri_repeats_end(w);
done:
    return st;
}

static double height(const tsri_repeats *w, int64_t seed, int64_t i)
{
    return w->value[i * w->seeds + seed];
}

/* What the two below are told in: the height before training, because a scheme that moves its
 * filters less has less to settle. NaN where nothing moved. */
static double unit_of(const tsri_repeats *w, int64_t seed)
{
    return height(w, seed, 0) > 0 ? height(w, seed, 0) : (double)NAN;
}

/* Area under the curve: how long the ranks stay wrong. */
static double delay(const tsri_repeats *w, int64_t seed)
{
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++)
        sum += height(w, seed, i);
    return sum / (double)w->n / unit_of(w, seed);
}

/* The largest rise from one epoch to the next. */
static double largest_rise(const tsri_repeats *w, int64_t seed)
{
    double most = 0;
    for (int64_t i = 0; i + 1 < w->n; i++)
        most = fmax(most, height(w, seed, i + 1) - height(w, seed, i));
    return most / unit_of(w, seed);
}

static void draw_settling(tsri_study *s, const tsri_repeats *loft, const tsri_repeats *base)
{
    tsri_chart c;
    tsri_chart_begin(&c, "How far the ranking of filters is from that of the last epoch");
    tsri_chart_panel(
        &c, &(tsri_panel){.x_label = "epoch", .y_label = "filter distance (1 = reversed)"});
    tsri_repeats_draw(&c, loft, "LoFT");
    tsri_repeats_draw(&c, base, "baseline (dense = GPipe)");
    tsri_study_chart(s, "fig4", &c);
    tsri_chart_fini(&c);
}

void tsri_loft_judge_settling(tsri_study *s, const tsri_repeats *loft, const tsri_repeats *base)
{
    double rise[TSRI_LOFT_SEEDS], area[TSRI_LOFT_SEEDS], ahead[TSRI_LOFT_SEEDS];
    int64_t seeds = loft->seeds < TSRI_LOFT_SEEDS ? loft->seeds : TSRI_LOFT_SEEDS;
    for (int64_t k = 0; k < seeds; k++) {
        rise[k] = largest_rise(loft, k);
        area[k] = delay(loft, k);
        ahead[k] = area[k] - delay(base, k);
    }
    tsri_study_judge(s, "loft/fig4/monotone", NULL, rise, seeds);
    tsri_study_judge(s, "loft/fig4/quickly", NULL, area, seeds);
    tsri_study_judge(s, "loft/fig4/faster", NULL, ahead, seeds);
    tsri_study_note(
        s,
        "Before training the ranking is %.3f (LoFT) and %.3f (baseline) of a "
        "reversal's distance from the last one, mean over the seeds. A ranking by "
        "chance would be at 0.7 to 0.8 (16 to 512 filters): ours is lower because a filter "
        "keeps something of the place it began with.",
        loft->mean[0], base->mean[0]);
}

static const tsri_loft_paper fig4_paper = {.network = "not given for this figure",
                                           .data = "ImageNet and others",
                                           .images = "all",
                                           .test_images = "not given",
                                           .epochs = "20",
                                           .loft = true};

tsr_status tsri_loft_fig4(tsri_study *s, const tsri_loft_sizes *z)
{
    tsr_status st = TSR_OK;
    tsri_repeats loft = {0}, base = {0};
    int64_t seeds = tsri_study_seeds_to(s, TSRI_SEEDS_LEAST, TSRI_LOFT_SEEDS);
    char said[80];
    tsri_repeats_say(said, seeds);
    TSR_TRY(tsri_loft_settings(s, z, &fig4_paper));
    tsri_study_setting(s, "seeds", "not given", "%s", said);
    TSR_TRY(settle(&base, s, z, "dense", seeds));
    TSR_TRY(settle(&loft, s, z, "loft", seeds));
    draw_settling(s, &loft, &base);
    tsri_loft_judge_settling(s, &loft, &base);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_repeats_fini(&loft);
    tsri_repeats_fini(&base);
    return st;
}
