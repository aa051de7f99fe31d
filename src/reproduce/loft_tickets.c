/* loft_tickets.c - Figure 5 of the LoFT paper: is a ticket better the later it is drawn, and are
 * LoFT's better than the baseline's?
 *
 * A ticket is drawn from the checkpoints of several epochs of one pretraining (half of the filters,
 * by their l2 norm), fine-tuned for the same number of epochs, and judged on the test set. The
 * paper draws every 5 of 20 epochs on CIFAR-100 and fine-tunes for 90.
 */
#include "reproduce/loft.h"

#include "base/alloc.h"
#include "io/file.h"
#include "scheme/run.h"
#include "ticket/finetune.h"
#include "ticket/prune.h"

#include <math.h>
#include <stdio.h>

enum { DRAWS = 4 };

/* One ticket on its way: which run it is drawn from, after which round, and where it goes. */
typedef struct draw {
    char run[200]; /* folder of the pretraining, in the study's */
    int64_t round;
    double epoch;
    char ticket[240]; /* its own folder, likewise */
    int64_t tuning;   /* epochs */
    double rate;
} draw;

static tsr_status in_folder(tsri_text *path, const tsri_study *s, const char *a, const char *b)
{
    path->length = 0;
    return tsri_text_add(path, "%s/%s%s", s->folder, a, b);
}

/* The pretrained network as it was after a round: the final file with the checkpoint's weights. */
static tsr_status model_after(tsr_model **out, const tsri_study *s, const draw *d)
{
    tsr_status st = TSR_OK;
    tsri_text path = {0};
    tsri_tensors *file = NULL;
    char name[80];
    TSR_TRY(in_folder(&path, s, d->run, "/model.safetensors"));
    TSR_TRY(tsr_model_read(out, path.data));
    (void)snprintf(name, sizeof name, "/" TSRI_CHECKPOINT_NAME, d->round);
    TSR_TRY(in_folder(&path, s, d->run, name));
    TSR_TRY(tsri_tensors_read(&file, path.data));
    TSR_TRY(tsri_store_load(&(*out)->store, file, "model.", path.data));
done:
    tsri_tensors_destroy(file);
    tsri_text_fini(&path);
    return st;
}

static tsr_status prune_to(const char *path, const tsri_study *s, const draw *d)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    tsri_prune how = {.ratio = 0.5, .criterion = TSRI_SCORE_L2, .round_to = 1};
    TSR_TRY(model_after(&model, s, d));
    TSR_TRY(tsri_ticket_write(path, model, &how));
done:
    tsr_model_destroy(model);
    return st;
}

static tsr_status tune(tsr_result *result, const char *ticket, const char *folder, const draw *d)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    char *begun = NULL;
    tsr_run_options o = tsr_run_options_default();
    TSR_TRY(tsr_model_read(&model, ticket));
    TSR_TRY(tsri_finetune_config(tsr_model_config(model), d->tuning, d->rate));
    TSR_TRY(tsr_config_set(tsr_model_config(model), "distance.every=0"));
    TSR_TRY(tsri_path_join(&begun, folder, "run.yaml"));
    o.folder = folder;
    o.init = ticket;
    o.resume = tsri_file_exists(begun);
    TSR_TRY(tsr_train(result, tsr_model_config(model), &o));
done:
    tsri_free(begun);
    tsr_model_destroy(model);
    return st;
}

/* *accuracy of the fine-tuned ticket. */
static tsr_status draw_ticket(double *accuracy, const tsri_study *s, const draw *d)
{
    tsr_status st = TSR_OK;
    tsri_text folder = {0}, ticket = {0}, tuned = {0};
    tsr_result result;
    TSR_TRY(in_folder(&folder, s, d->ticket, ""));
    TSR_TRY(in_folder(&ticket, s, d->ticket, "/ticket.safetensors"));
    TSR_TRY(in_folder(&tuned, s, d->ticket, "/tuned"));
    TSR_TRY(tsri_make_folder(folder.data));
    if (!tsri_file_exists(ticket.data))
        TSR_TRY(prune_to(ticket.data, s, d));
    TSR_TRY(tune(&result, ticket.data, tuned.data, d));
    *accuracy = result.accuracy;
done:
    tsri_text_fini(&folder);
    tsri_text_fini(&ticket);
    tsri_text_fini(&tuned);
    return st;
}

/* ---- One scheme --------------------------------------------------------------------------------
 */

typedef struct outcome {
    const char *scheme;
    int64_t seeds;
    double epoch[DRAWS];
    double *accuracy; /* [DRAWS, seeds], percent */
    double mean[DRAWS], low[DRAWS], high[DRAWS];
} outcome;

/* Fills `d` for the k-th of DRAWS evenly spaced epochs, from the evaluations of the run. */
static void place_draw(draw *d, const tsri_curves *c, int64_t k)
{
    const double *round = tsri_curves_get(c, "round"), *epoch = tsri_curves_get(c, "epoch");
    int64_t at = (k + 1) * c->n / DRAWS - 1;
    d->round = (int64_t)round[at];
    d->epoch = epoch[at];
}

static tsr_status one_seed(outcome *o, tsri_study *s, const tsri_loft_sizes *size, int64_t repeat,
                           double part)
{
    tsr_status st = TSR_OK;
    char yaml[TSRI_LOFT_YAML];
    tsr_result result;
    tsri_curves curves = {0};
    long long seed = (long long)s->seed + (long long)repeat;
    draw d = {.tuning = size->epochs / 3, .rate = size->rate / 5};
    (void)snprintf(d.run, sizeof d.run, "runs/%s-%lld", o->scheme, seed);
    tsri_loft_yaml(yaml, size, o->scheme);
    tsri_study_say(s, part, "%s, seed %lld", o->scheme, seed);
    TSR_TRY(tsri_study_train(s, &result, &curves, d.run, yaml, repeat));
    TSR_CHECK(curves.n >= DRAWS, TSR_FAILURE, "%s has too few evaluations", d.run);
    for (int64_t k = 0; k < DRAWS; k++) {
        double accuracy;
        place_draw(&d, &curves, k);
        (void)snprintf(d.ticket, sizeof d.ticket, "tickets/%s-%lld-%lld", o->scheme, seed,
                       (long long)d.round);
        tsri_study_say(s, part, "%s, seed %lld: ticket of epoch %g", o->scheme, seed, d.epoch);
        TSR_TRY(draw_ticket(&accuracy, s, &d));
        o->epoch[k] = d.epoch;
        o->accuracy[k * o->seeds + repeat] = 100 * accuracy;
    }
done:
    tsri_curves_fini(&curves);
    return st;
}

static tsr_status all_seeds(outcome *o, tsri_study *s, const tsri_loft_sizes *size, double part)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&o->accuracy, DRAWS * o->seeds, sizeof *o->accuracy));
    for (int64_t i = 0; i < o->seeds; i++)
        TSR_TRY(one_seed(o, s, size, i, part + 0.5 * (double)i / (double)o->seeds));
    for (int k = 0; k < DRAWS; k++) {
        tsri_estimate e = tsri_mean_of(o->accuracy + k * o->seeds, o->seeds);
        o->mean[k] = e.value;
        o->low[k] = e.low;
        o->high[k] = e.high;
    }
done:
    return st;
}

/* ---- The figure --------------------------------------------------------------------------------
 */

static void add_outcome(tsri_chart *c, const outcome *o, const char *name)
{
    bool band = o->seeds > 1;
    tsri_chart_series(c, &(tsri_series){.name = name,
                                        .n = DRAWS,
                                        .x = o->epoch,
                                        .y = o->mean,
                                        .low = band ? o->low : NULL,
                                        .high = band ? o->high : NULL,
                                        .marks = TSRI_MARKS_BOTH});
}

static void show(tsri_study *s, const outcome *loft, const outcome *base)
{
    tsri_chart c;
    tsri_table t = {0};
    tsri_chart_begin(&c, "Tickets drawn at different epochs of pretraining, fine-tuned");
    tsri_chart_panel(&c, &(tsri_panel){.x_label = "epoch of the ticket",
                                       .y_label = "test accuracy after fine-tuning, %"});
    add_outcome(&c, loft, "LoFT");
    add_outcome(&c, base, "baseline (dense = GPipe)");
    tsri_study_chart(s, "fig5", &c);
    tsri_chart_fini(&c);
    tsri_table_head(&t, "epoch|LoFT, %|baseline, %");
    for (int k = 0; k < DRAWS; k++) {
        tsri_table_number(&t, loft->epoch[k]);
        tsri_table_real(&t, loft->mean[k], 2);
        tsri_table_real(&t, base->mean[k], 2);
    }
    tsri_study_table(s, "fig5-table", "Test accuracy of fine-tuned tickets, half of the filters",
                     &t);
    tsri_table_fini(&t);
}

/* Two networks of the same accuracy differ by less than this, in points, in 95 of 100 test sets. */
static double chance(double percent, const outcome *o, int test_images)
{
    double p = percent / 100;
    return 196 * sqrt(2 * p * (1 - p) / (test_images * (double)o->seeds));
}

static void judge(tsri_study *s, const outcome *loft, const outcome *base, int test_images)
{
    int better = 0;
    double gap = 0;
    for (int k = 0; k < DRAWS; k++) {
        better += loft->mean[k] >= base->mean[k];
        gap += (loft->mean[k] - base->mean[k]) / DRAWS;
    }
    tsri_study_claim(
        s, better == DRAWS,
        "LoFT yields better tickets than the GPipe baseline at every epoch (Figure 5).",
        "at %d of %d epochs, on average by %.2f points; a single difference below %.1f "
        "points may be chance",
        better, DRAWS, gap, chance(base->mean[DRAWS - 1], base, test_images));
    double least = loft->mean[0], most = loft->mean[0];
    for (int k = 1; k < DRAWS; k++) {
        least = fmin(least, loft->mean[k]);
        most = fmax(most, loft->mean[k]);
    }
    tsri_study_claim(s, most - least < 2,
                     "LoFT does not rely on a particular length of pretraining: early tickets are "
                     "as good (section 6).",
                     "the tickets of four epochs lie within %.2f points of each other (below 2 "
                     "counts as the same)",
                     most - least);
}

tsr_status tsri_loft_fig5(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_loft_sizes size = tsri_loft_sizes_of(s);
    int64_t seeds = tsri_study_seeds(s, s->quick ? 1 : 3);
    outcome loft = {.scheme = "loft", .seeds = seeds}, base = {.scheme = "dense", .seeds = seeds};
    tsri_loft_note(s, &size);
    tsri_study_note(s,
                    "Half of the filters go; fine-tuning for %d epochs at rate %g. CIFAR-10, "
                    "where the paper's figure has CIFAR-100. %lld seed%s.",
                    size.epochs / 3, size.rate / 5, (long long)seeds,
                    seeds > 1 ? "s, band: 95 %" : "");
    TSR_TRY(all_seeds(&base, s, &size, 0));
    TSR_TRY(all_seeds(&loft, s, &size, 0.5));
    show(s, &loft, &base);
    judge(s, &loft, &base, size.test_images);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_free(loft.accuracy);
    tsri_free(base.accuracy);
    return st;
}
