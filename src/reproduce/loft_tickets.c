/* loft_tickets.c - Figure 5 of the LoFT paper: is a ticket better the later it is drawn, and are
 * LoFT's better than the baseline's?
 *
 * A ticket is drawn from the checkpoints of several epochs of one pretraining (half of the filters,
 * by their l2 norm), fine-tuned for the same number of epochs, and judged on the test set. The
 * paper draws every 5 of 20 epochs on CIFAR-100 and fine-tunes for 90.
 */
#include "reproduce/loft.h"

#include "base/alloc.h"
#include "io/config.h"
#include "io/file.h"
#include "ticket/finetune.h"
#include "ticket/prune.h"
#include "train/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    TSR_TRY(tsri_ticket_write(NULL, path, model, &how));
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

enum { PAPER_TUNING = 90 };

/* Fine-tuning takes a third of pretraining's epochs, at a fifth of its rate; with --paper the
 * paper's 90, at the rate of pretraining. */
static int tuning_of(const tsri_study *s, const tsri_loft_sizes *z)
{
    return s->paper ? PAPER_TUNING : z->epochs < 3 ? 1 : z->epochs / 3;
}

static double rate_of(const tsri_study *s, const tsri_loft_sizes *z)
{
    return s->paper ? z->rate : z->rate / 5;
}

/* ---- One scheme ----------------------------------------------------------------------------- */

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

/* The k-th ticket of a pretraining, which is continued or read when it was begun. */
static tsr_status one_draw(tsr_result *result, draw *d, tsri_study *s, const tsri_curves *curves,
                           int64_t k, const char *scheme, long long seed)
{
    place_draw(d, curves, k);
    (void)snprintf(d->ticket, sizeof d->ticket, "tickets/%s-%lld-%lld", scheme, seed,
                   (long long)d->round);
    return draw_ticket(result, s, d);
}

/* What a cell is: the ticket of one epoch. All of one pretraining share its folder. */
typedef struct drawn {
    const tsri_loft_sizes *size;
    const char *scheme;
    int64_t k;
} drawn;

static tsr_status make_draw(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                            const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    const drawn *w = ask->what;
    tsr_result result = tsr_result_default();
    tsri_curves curves = {0};
    char *metrics = NULL;
    draw d = {.tuning = tsri_config_int(config, "ticket.epochs"),
              .rate = tsri_config_real(config, "ticket.lr")};
    (void)snprintf(d.run, sizeof d.run, "runs/%s", ask->run);
    TSR_TRY(tsri_study_run(&result, config, folder, NULL));
    tsri_cell_put(to, "accuracy_pretrained", result.accuracy);
    TSR_TRY(tsri_path_join(&metrics, folder, "metrics.jsonl"));
    TSR_TRY(tsri_curves_read(&curves, metrics, NULL));
    TSR_CHECK(curves.n >= DRAWS, TSR_FAILURE, "%s has too few evaluations", d.run);
    TSR_TRY(one_draw(&result, &d, s, &curves, w->k, w->scheme,
                     (long long)s->seed + (long long)ask->repeat));
    tsri_cell_put(to, "accuracy", result.accuracy);
    tsri_cell_put(to, "epoch", d.epoch);
    tsri_cell_put(to, "images", (double)result.n);
done:
    tsri_free(metrics);
    tsri_curves_fini(&curves);
    return st;
}

static tsr_status ask_draw(tickets *o, tsri_study *s, const drawn *w, int64_t repeat)
{
    tsr_status st = TSR_OK;
    char yaml[TSRI_LOFT_YAML + 100], name[64], run[64];
    tsri_study_cell c = {0};
    bool there = false;
    long long seed = (long long)s->seed + (long long)repeat;
    tsri_loft_yaml(yaml, w->size, w->scheme);
    size_t used = strlen(yaml);
    (void)snprintf(yaml + used, sizeof yaml - used, "ticket: {epochs: %d, lr: %g}\n",
                   tuning_of(s, w->size), rate_of(s, w->size));
    (void)snprintf(run, sizeof run, "%s-seed%lld", w->scheme, seed);
    (void)snprintf(name, sizeof name, "%s-epoch%lld-seed%lld", w->scheme,
                   (long long)(w->k + 1) * w->size->epochs / DRAWS, seed);
    tsri_cell_ask ask = {.name = name,
                         .yaml = yaml,
                         .repeat = repeat,
                         .make = make_draw,
                         .run = run,
                         .what = w,
                         .tunes = true};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    o->percent.value[w->k * o->percent.seeds + repeat] = 100 * tsri_cell_value(&c, "accuracy");
    o->percent.x[w->k] = (double)((w->k + 1) * w->size->epochs) / DRAWS;
    o->images = there ? (int64_t)tsri_cell_value(&c, "images") : o->images;
done:
    tsri_cell_fini(&c);
    return st;
}

static tsr_status one_seed(tickets *o, tsri_study *s, const tsri_loft_sizes *size,
                           const char *scheme, int64_t repeat, double part)
{
    tsr_status st = TSR_OK;
    char yaml[TSRI_LOFT_YAML];
    tsr_result result = tsr_result_default();
    tsri_curves curves = {0};
    long long seed = (long long)s->seed + (long long)repeat;
    draw d = {.tuning = tuning_of(s, size), .rate = rate_of(s, size)};
    for (int64_t k = 0; s->book && k < DRAWS; k++)
        TSR_TRY(ask_draw(o, s, &(drawn){size, scheme, k}, repeat));
    if (s->book)
        goto done;
    (void)snprintf(d.run, sizeof d.run, "runs/%s-%lld", scheme, seed);
    tsri_loft_yaml(yaml, size, scheme);
    tsri_study_say(s, part, "%s, seed %lld", scheme, seed);
    TSR_TRY(tsri_study_train(s, &result, &curves, d.run, yaml, repeat));
    TSR_CHECK(curves.n >= DRAWS, TSR_FAILURE, "%s has too few evaluations", d.run);
    for (int64_t k = 0; k < DRAWS; k++) {
        place_draw(&d, &curves, k);
        tsri_study_say(s, part, "%s, seed %lld: ticket of epoch %g", scheme, seed, d.epoch);
        TSR_TRY(one_draw(&result, &d, s, &curves, k, scheme, seed));
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

static int64_t seeds_of(const tsri_study *s)
{
    return tsri_study_seeds_to(s, TSRI_SEEDS_LEAST, TSRI_LOFT_SEEDS);
}

static tsr_status all_seeds(tickets *o, tsri_study *s, const tsri_loft_sizes *size,
                            const char *scheme, double part)
{
    tsr_status st = TSR_OK;
    int64_t seeds = seeds_of(s);
    TSR_TRY(tsri_repeats_init(&o->percent, DRAWS, seeds));
    for (int64_t i = 0; i < seeds; i++)
        TSR_TRY(one_seed(o, s, size, scheme, i, part + 0.5 * (double)i / (double)seeds));
    tsri_repeats_end(&o->percent);
    if (seeds == 1 && o->images > 0)
        test_set_bands(o);
done:
    return st;
}

/* ---- The figure ----------------------------------------------------------------------------- */

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

/* Best less worst ticket of a seed. NaN while one is missing: of one alone the spread is 0. */
static double spread_of(const tsri_repeats *w, int64_t seed)
{
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < w->n; i++) {
        double percent = w->value[i * w->seeds + seed];
        if (isnan(percent))
            return (double)NAN;
        least = fmin(least, percent);
        most = fmax(most, percent);
    }
    return most - least;
}

void tsri_loft_judge_tickets(tsri_study *s, const tsri_repeats *loft, const tsri_repeats *base)
{
    double gap[TSRI_LOFT_SEEDS], spread[TSRI_LOFT_SEEDS];
    int64_t seeds = loft->seeds;
    for (int64_t i = 0; i < loft->n; i++) {
        char part[40];
        for (int64_t k = 0; k < seeds; k++)
            gap[k] = loft->value[i * seeds + k] - base->value[i * seeds + k];
        (void)snprintf(part, sizeof part, "epoch %g", loft->x[i]);
        tsri_study_judge(s, "loft/fig5/better", part, gap, seeds);
    }
    for (int64_t k = 0; k < seeds; k++)
        spread[k] = spread_of(loft, k);
    tsri_study_judge(s, "loft/fig5/length", NULL, spread, seeds);
}

static const tsri_loft_paper fig5_paper = {.network = "not given for this figure",
                                           .data = "CIFAR-100",
                                           .images = "50000",
                                           .test_images = "10000",
                                           .epochs = "20",
                                           .loft = true};

tsr_status tsri_loft_fig5(tsri_study *s, const tsri_loft_sizes *z)
{
    tsr_status st = TSR_OK;
    tickets loft = {0}, base = {0};
    char said[80];
    tsri_repeats_say(said, seeds_of(s));
    TSR_TRY(tsri_loft_settings(s, z, &fig5_paper));
    tsri_study_setting(s, "epochs of fine-tuning", "90", "%d", tuning_of(s, z));
    tsri_study_setting(s, "rate of fine-tuning", "not given", "%g", rate_of(s, z));
    tsri_study_setting(s, "filters pruned", "not given for this figure", "half");
    tsri_study_setting(s, "seeds", "not given", "%s", said);
    TSR_TRY(all_seeds(&base, s, z, "dense", 0));
    TSR_TRY(all_seeds(&loft, s, z, "loft", 0.5));
    show(s, &loft.percent, &base.percent);
    tsri_loft_judge_tickets(s, &loft.percent, &base.percent);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_repeats_fini(&loft.percent);
    tsri_repeats_fini(&base.percent);
    return st;
}
