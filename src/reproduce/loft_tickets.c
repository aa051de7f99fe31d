/* loft_tickets.c - Figure 5 of the LoFT paper: is a ticket better the later it is drawn, and are
 * LoFT's better than the baseline's?
 *
 * A ticket is drawn from the checkpoints of several epochs of one pretraining (half of the filters,
 * by their l2 norm), fine-tuned for the same number of epochs, and judged on the test set. The
 * paper draws every 5 of 20 epochs on CIFAR-100 and fine-tunes for 90.
 */
#include "reproduce/loft.h"

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
    TSR_TRY(tsr_model_read(&model, ticket));
    TSR_TRY(tsri_finetune_config(tsr_model_config(model), d->tuning, d->rate));
    TSR_TRY(tsr_config_set(tsr_model_config(model), "distance.every=0"));
    TSR_TRY(tsr_config_set(tsr_model_config(model), "checkpoint.keep=1"));
    TSR_TRY(tsri_study_run(result, tsr_model_config(model), folder, ticket));
done:
    tsr_model_destroy(model);
    return st;
}

/* *result of the fine-tuned ticket. */
static tsr_status draw_ticket(tsr_result *result, const tsri_study *s, const draw *d)
{
    tsr_status st = TSR_OK;
    tsri_text folder = {0}, ticket = {0}, tuned = {0};
    TSR_TRY(in_folder(&folder, s, d->ticket, ""));
    TSR_TRY(in_folder(&ticket, s, d->ticket, "/ticket.safetensors"));
    TSR_TRY(in_folder(&tuned, s, d->ticket, "/tuned"));
    TSR_TRY(tsri_make_folder(folder.data));
    if (!tsri_file_exists(ticket.data))
        TSR_TRY(prune_to(ticket.data, s, d));
    TSR_TRY(tune(result, ticket.data, tuned.data, d));
done:
    tsri_text_fini(&folder);
    tsri_text_fini(&ticket);
    tsri_text_fini(&tuned);
    return st;
}

/* Fine-tuning takes a third of pretraining's epochs, at a fifth of its rate. */
static int tuning_of(const tsri_loft_sizes *z)
{
    return z->epochs < 3 ? 1 : z->epochs / 3;
}

static double rate_of(const tsri_loft_sizes *z)
{
    return z->rate / 5;
}

/* ---- One scheme --------------------------------------------------------------------------------
 */

/* What became of the tickets of DRAWS epochs. */
typedef struct tickets {
    tsri_repeats percent; /* test accuracy after fine-tuning */
    int64_t images;       /* that it was judged on */
} tickets;

/* Fills `d` for the k-th of DRAWS evenly spaced epochs, from the evaluations of the run. */
static void place_draw(draw *d, const tsri_curves *c, int64_t k)
{
    const double *round = tsri_curves_get(c, "round"), *epoch = tsri_curves_get(c, "epoch");
    int64_t at = (k + 1) * c->n / DRAWS - 1;
    d->round = (int64_t)round[at];
    d->epoch = epoch[at];
}

static tsr_status one_seed(tickets *o, tsri_study *s, const tsri_loft_sizes *size,
                           const char *scheme, int64_t repeat, double part)
{
    tsr_status st = TSR_OK;
    char yaml[TSRI_LOFT_YAML];
    tsr_result result;
    tsri_curves curves = {0};
    long long seed = (long long)s->seed + (long long)repeat;
    draw d = {.tuning = tuning_of(size), .rate = rate_of(size)};
    (void)snprintf(d.run, sizeof d.run, "runs/%s-%lld", scheme, seed);
    tsri_loft_yaml(yaml, size, scheme);
    tsri_study_say(s, part, "%s, seed %lld", scheme, seed);
    TSR_TRY(tsri_study_train(s, &result, &curves, d.run, yaml, repeat));
    TSR_CHECK(curves.n >= DRAWS, TSR_FAILURE, "%s has too few evaluations", d.run);
    for (int64_t k = 0; k < DRAWS; k++) {
        place_draw(&d, &curves, k);
        (void)snprintf(d.ticket, sizeof d.ticket, "tickets/%s-%lld-%lld", scheme, seed,
                       (long long)d.round);
        tsri_study_say(s, part, "%s, seed %lld: ticket of epoch %g", scheme, seed, d.epoch);
        TSR_TRY(draw_ticket(&result, s, &d));
        o->percent.x[k] = d.epoch;
        o->percent.value[k * o->percent.seeds + repeat] = 100 * result.accuracy;
        o->images = result.n;
    }
done:
    tsri_curves_fini(&curves);
    return st;
}

/* With one seed there is still the chance of the test set: 95 of 100 such sets. */
static void test_set_bands(tickets *o)
{
    for (int64_t k = 0; k < o->percent.n; k++) {
        double p = o->percent.mean[k] / 100, half = 196 * sqrt(p * (1 - p) / (double)o->images);
        o->percent.low[k] = o->percent.mean[k] - half;
        o->percent.high[k] = o->percent.mean[k] + half;
    }
}

static tsr_status all_seeds(tickets *o, tsri_study *s, const tsri_loft_sizes *size,
                            const char *scheme, double part)
{
    tsr_status st = TSR_OK;
    int64_t seeds = tsri_study_seeds(s, 1);
    TSR_TRY(tsri_repeats_init(&o->percent, DRAWS, seeds));
    for (int64_t i = 0; i < seeds; i++)
        TSR_TRY(one_seed(o, s, size, scheme, i, part + 0.5 * (double)i / (double)seeds));
    tsri_repeats_end(&o->percent);
    if (seeds == 1)
        test_set_bands(o);
done:
    return st;
}

/* ---- The figure --------------------------------------------------------------------------------
 */

static void show(tsri_study *s, const tsri_repeats *loft, const tsri_repeats *base)
{
    tsri_chart c;
    tsri_table t = {0};
    tsri_chart_begin(&c, "Tickets drawn at different epochs of pretraining, fine-tuned");
    tsri_chart_panel(&c, &(tsri_panel){.x_label = "epoch of the ticket",
                                       .y_label = "test accuracy after fine-tuning, %"});
    tsri_repeats_draw(&c, loft, "LoFT");
    tsri_repeats_draw(&c, base, "baseline (dense = GPipe)");
    tsri_study_chart(s, "fig5", &c);
    tsri_chart_fini(&c);
    tsri_table_head(&t, "epoch|LoFT, %|baseline, %");
    for (int k = 0; k < DRAWS; k++) {
        tsri_table_number(&t, loft->x[k]);
        tsri_table_real(&t, loft->mean[k], 2);
        tsri_table_real(&t, base->mean[k], 2);
    }
    tsri_study_table(s, "fig5-table", "Test accuracy of fine-tuned tickets, half of the filters",
                     &t);
    tsri_table_fini(&t);
}

/* Two networks of the same accuracy differ by less than this, in points, in 95 of 100 test sets. */
static double chance(const tsri_repeats *o, int64_t images)
{
    double p = o->mean[o->n - 1] / 100;
    return 196 * sqrt(2 * p * (1 - p) / ((double)images * (double)o->seeds));
}

void tsri_loft_judge_tickets(tsri_study *s, const tsri_repeats *loft, const tsri_repeats *base,
                             int64_t images)
{
    int64_t better = 0;
    double gap = 0, low = INFINITY, high = -INFINITY;
    for (int64_t k = 0; k < loft->n; k++) {
        double here = loft->mean[k] - base->mean[k];
        better += here >= 0;
        gap += here / (double)loft->n;
        low = fmin(low, here);
        high = fmax(high, here);
    }
    tsri_study_claim(
        s, better == loft->n,
        "LoFT yields better tickets than the GPipe baseline at every epoch (Figure 5).",
        "its ticket is not worse at %lld of %lld epochs; it differs by %+.2f to %+.2f points, "
        "%+.2f on average; a single difference below %.1f points may be chance",
        (long long)better, (long long)loft->n, low, high, gap, chance(base, images));
    double least = loft->mean[0], most = loft->mean[0];
    for (int64_t k = 1; k < loft->n; k++) {
        least = fmin(least, loft->mean[k]);
        most = fmax(most, loft->mean[k]);
    }
    tsri_study_claim(s, most - least < 2,
                     "LoFT does not rely on a particular length of pretraining: early tickets are "
                     "as good (section 6).",
                     "its tickets lie within %.2f points of each other (below 2 "
                     "counts as the same)",
                     most - least);
}

tsr_status tsri_loft_fig5(tsri_study *s, const tsri_loft_sizes *z)
{
    tsr_status st = TSR_OK;
    int64_t seeds = tsri_study_seeds(s, 1);
    tickets loft = {0}, base = {0};
    TSR_TRY(tsri_loft_note(s, z, true));
    char said[80];
    tsri_repeats_say(said, seeds);
    tsri_study_note(
        s,
        "Half of the filters go; fine-tuning for %d epochs at rate %g (the paper: CIFAR-100, "
        "20 epochs, then 90). %s.",
        tuning_of(z), rate_of(z), said);
    TSR_TRY(all_seeds(&base, s, z, "dense", 0));
    TSR_TRY(all_seeds(&loft, s, z, "loft", 0.5));
    show(s, &loft.percent, &base.percent);
    tsri_loft_judge_tickets(s, &loft.percent, &base.percent, base.images);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_repeats_fini(&loft.percent);
    tsri_repeats_fini(&base.percent);
    return st;
}
