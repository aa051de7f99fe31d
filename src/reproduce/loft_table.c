/* loft_table.c - Table 1 of the LoFT paper at its own size, cell by cell. See loft_table.h.
 *
 * The paper gives networks, data, epochs and ratios. Batch, rate, schedule and augmentation are
 * ours, chosen once before the first run. */
#include "reproduce/loft_table.h"

#include "base/alloc.h"
#include "io/config.h"
#include "reproduce/loft.h"
#include "ticket/pipeline.h"

#include <math.h>
#include <stdio.h>

#define NO ((double)NAN)

enum { EPOCHS = 20, TUNING = 90, BATCH = 128, LOCAL_STEPS = 25 };

const double tsri_table1_ratio[TSRI_TABLE1_RATIOS] = {0.8, 0.5, 0.3};

const tsri_table1_method tsri_table1_methods[TSRI_TABLE1_METHODS] = {
    {"loft-4", "LoFT-4", "loft", 4},
    {"loft-2", "LoFT-2", "loft", 2},
    {"gpipe", "GPipe", "dense", 1},
    {"local_sgd-4", "local SGD-4", "local_sgd", 4},
    {"local_sgd-2", "local SGD-2", "local_sgd", 2},
};

/* The paper's third network of CIFAR-10 is called ResNet-34 in the table and WideResNet-34 in the
 * text. Its traffic is that of a ResNet-34 of width 64 to the byte, so that is what it was. */
const tsri_table1_network tsri_table1_networks[TSRI_TABLE1_NETWORKS] = {
    {"preresnet18",
     "PreActResNet-18",
     94.36,
     {{93.97, 94.13, NO},
      {93.97, 94.11, NO},
      {94.41, 94.55, NO},
      {94.52, 94.81, NO},
      {94.37, 94.41, NO}},
     {64.57, 40.02, NO, 110.80, 55.40}},
    {"preresnet34",
     "PreActResNet-34",
     93.51,
     {{93.89, 94.02, NO},
      {93.25, 93.43, NO},
      {93.93, 94.38, NO},
      {94.64, 94.82, NO},
      {94.77, 95.13, NO}},
     {90.17, 65.36, NO, 211.86, 105.93}},
    {"resnet34",
     "ResNet-34",
     93.22,
     {{93.41, 93.60, NO},
      {93.38, 93.41, NO},
      {93.69, 93.81, NO},
      {94.69, 94.61, NO},
      {94.49, 94.74, NO}},
     {90.17, 65.36, NO, 211.86, 105.93}},
};

/* ---- Which cells ----------------------------------------------------------------------------- */

static int64_t seeds_of(const tsri_study *s)
{
    return tsri_study_seeds_to(s, TSRI_SEEDS_LEAST, TSRI_SEEDS_MOST);
}

enum { PER_SEED = 1 + TSRI_TABLE1_METHODS * TSRI_TABLE1_RATIOS };

/* Cell i of all: the networks one after the other, of each the first seed first; of a seed the
 * dense network, then each method with all its ratios. */
static tsri_table1_cell cell_at(int64_t i, int64_t seeds)
{
    int64_t in_seed = i % PER_SEED - 1;
    return (tsri_table1_cell){.network = (int)(i / (PER_SEED * seeds)),
                              .seed = i / PER_SEED % seeds,
                              .method = in_seed < 0 ? -1 : (int)(in_seed / TSRI_TABLE1_RATIOS),
                              .ratio = in_seed < 0 ? 0 : (int)(in_seed % TSRI_TABLE1_RATIOS)};
}

/* The row of a cell: the run that it pretrains with. */
static void row_name(char name[TSRI_CELL_NAME], const tsri_study *s, const tsri_table1_cell *c)
{
    (void)snprintf(name, TSRI_CELL_NAME, "%s-%s-seed%llu", tsri_table1_networks[c->network].name,
                   c->method < 0 ? "dense" : tsri_table1_methods[c->method].name,
                   (unsigned long long)s->seed + (unsigned long long)c->seed);
}

static void cell_name(char name[TSRI_CELL_NAME], const tsri_study *s, const tsri_table1_cell *c)
{
    if (c->method < 0) {
        row_name(name, s, c);
        return;
    }
    (void)snprintf(name, TSRI_CELL_NAME, "%s-%s-prune%.0f-seed%llu",
                   tsri_table1_networks[c->network].name, tsri_table1_methods[c->method].name,
                   100 * tsri_table1_ratio[c->ratio],
                   (unsigned long long)s->seed + (unsigned long long)c->seed);
}

/* ---- The run of a cell ------------------------------------------------------------------------ */

static tsr_status all_epochs(tsr_config *config)
{
    char text[40];
    (void)snprintf(
        text, sizeof text, "epochs=%lld",
        (long long)(tsri_config_int(config, "epochs") + tsri_config_int(config, "ticket.epochs")));
    return tsr_config_set(config, text);
}

/* The run file of its pretraining, which says how its tickets are fine-tuned, too. */
static tsr_status config_of(tsr_config **out, const tsri_study *s, const tsri_cell_ask *ask)
{
    const tsri_table1_cell *c = ask->what;
    tsr_status st = TSR_OK;
    char yaml[900], scheme[100] = "name: dense";
    const tsri_table1_method *m = c->method < 0 ? NULL : &tsri_table1_methods[c->method];
    if (m && m->workers > 1)
        (void)snprintf(scheme, sizeof scheme, "name: %s, workers: %d, local_steps: %d", m->scheme,
                       m->workers, LOCAL_STEPS);
    (void)snprintf(yaml, sizeof yaml,
                   "data: {name: cifar10, augment: crop-flip}\n"
                   "model: {name: %s}\n"
                   "optim: {lr: 0.1, momentum: 0.9, nesterov: true, weight_decay: 5.0e-4, "
                   "schedule: cosine}\n"
                   "scheme: {%s}\n"
                   "epochs: %d\nbatch: %d\n"
                   "ticket: {ratios: [0.3, 0.5, 0.8], epochs: %d, lr: 0.1, seconds: 1}\n"
                   "eval: {every: 10}\n"
                   "checkpoint: {every: 10, keep: 1}\n",
                   tsri_table1_networks[c->network].name, scheme, EPOCHS, BATCH, TUNING);
    TSR_TRY(tsri_study_config(out, s, yaml, c->seed));
    if (!m)
        TSR_TRY(all_epochs(*out));
done:
    return st;
}

static void put_row(tsri_study_cell *to, const tsri_ticket_row *whole,
                    const tsri_ticket_row *ticket)
{
    tsri_cell_put(to, "accuracy", ticket->accuracy);
    tsri_cell_put(to, "accuracy_before", ticket->before);
    tsri_cell_put(to, "accuracy_pretrained", whole->accuracy);
    tsri_cell_put(to, "loss", ticket->loss);
    tsri_cell_put(to, "traffic", (double)whole->traffic);
    tsri_cell_put(to, "params", (double)ticket->params);
    tsri_cell_put(to, "flops", (double)ticket->flops);
    tsri_cell_put(to, "seconds_pretraining", whole->seconds);
    tsri_cell_put(to, "seconds_tuning", ticket->seconds);
}

static tsr_status make_ticket(tsri_study_cell *to, tsr_config *config, const char *folder,
                              double ratio)
{
    tsr_status st = TSR_OK;
    tsri_tickets t = {0};
    tsr_run_options o = tsr_run_options_default();
    o.folder = folder;
    o.resume = true;
    TSR_TRY(tsri_tickets_one(&t, config, &o, NULL, ratio));
    put_row(to, &t.row[0], &t.row[t.rows - 1]);
done:
    tsri_tickets_fini(&t);
    return st;
}

static tsr_status make_dense(tsri_study_cell *to, tsr_config *config, const char *folder)
{
    tsr_status st = TSR_OK;
    tsr_result r = tsr_result_default();
    TSR_TRY(tsri_study_run(&r, config, folder, NULL));
    tsri_cell_put(to, "accuracy", r.accuracy);
    tsri_cell_put(to, "loss", r.loss);
done:
    return st;
}

static tsr_status make_cell(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                            const char *folder, const tsri_cell_ask *ask)
{
    const tsri_table1_cell *c = ask->what;
    (void)s;
    return c->method < 0 ? make_dense(to, config, folder)
                         : make_ticket(to, config, folder, tsri_table1_ratio[c->ratio]);
}

/* ---- All of it -------------------------------------------------------------------------------- */

/* As the run files have them: --set may have changed some. */
static void rates(tsri_study *s, const tsr_config *c)
{
    tsri_study_setting(s, "rate", "not given", "%g falling to 0 as a cosine; in fine-tuning %g",
                       tsri_config_real(c, "optim.lr"), tsri_config_real(c, "ticket.lr"));
    tsri_study_setting(s, "update", "not given", "SGD, Nesterov momentum %g, weight decay %g",
                       tsri_config_real(c, "optim.momentum"),
                       tsri_config_real(c, "optim.weight_decay"));
    tsri_study_setting(s, "augmentation", "not given", "%s of %lld pixels",
                       tsri_config_text(c, "data.augment"),
                       (long long)tsri_config_int(c, "data.pad"));
    tsri_study_setting(s, "local steps", "not given", "%lld: the printed traffic follows from 25",
                       (long long)tsri_config_int(c, "scheme.local_steps"));
    tsri_study_setting(s, "arithmetic", "not given", "%s, %s", tsri_config_text(c, "backend"),
                       tsri_config_text(c, "precision"));
}

static tsr_status settings(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsr_config *c = NULL;
    tsri_table1_cell first = {0};
    TSR_TRY(config_of(&c, s, &(tsri_cell_ask){.what = &first}));
    long long epochs = tsri_config_int(c, "epochs"), tuning = tsri_config_int(c, "ticket.epochs");
    tsri_study_setting(s, "networks", "PreActResNet-18 and -34, WideResNet-34 (CIFAR-10)",
                       "PreActResNet-18 and -34, ResNet-34, width %lld",
                       (long long)tsri_config_int(c, "model.width"));
    tsri_study_setting(s, "data", "CIFAR-10", "%s", tsri_study_data_name(s, "CIFAR-10"));
    tsri_study_setting(s, "epochs", "20 + 90", "%lld + %lld", epochs, tuning);
    tsri_study_setting(s, "epochs of the dense network", "not given", "%lld", epochs + tuning);
    tsri_study_setting(s, "ratios", "50 and 80 %", "30, 50 and 80 %%");
    tsri_study_setting(s, "seeds", "not given", "%lld when all cells are made",
                       (long long)seeds_of(s));
    tsri_study_setting(s, "batch", "not given", "%lld a worker",
                       (long long)tsri_config_int(c, "batch"));
    rates(s, c);
    tsri_study_setting(s, "GPipe", "2 and 4 workers",
                       "dense pretraining, whose weights are GPipe's for any number of workers");
done:
    tsr_config_destroy(c);
    return st;
}

/* What the cell holds, or NaN. */
static void take(tsri_table1 *t, const tsri_table1_cell *c, const tsri_study_cell *cell, bool there)
{
    double accuracy = 100 * tsri_cell_value(cell, "accuracy");
    t->made += there;
    if (c->method < 0) {
        t->dense[c->network][c->seed] = accuracy;
        return;
    }
    t->accuracy[c->network][c->method][c->ratio][c->seed] = accuracy;
    t->seconds[c->network][c->method][c->ratio][c->seed] =
        tsri_cell_value(cell, "seconds_pretraining") + tsri_cell_value(cell, "seconds_tuning");
    double *traffic = &t->traffic[c->network][c->method][c->seed];
    if (c->ratio == 0)
        *traffic = NO;
    if (there)
        *traffic = tsri_cell_value(cell, "traffic") / 1e9;
}

static tsr_status ask_for(tsri_table1 *t, tsri_study *s, const tsri_table1_cell *c)
{
    tsr_status st = TSR_OK;
    char name[TSRI_CELL_NAME], row[TSRI_CELL_NAME];
    tsri_study_cell cell = {0};
    bool there = false;
    cell_name(name, s, c);
    row_name(row, s, c);
    tsri_cell_ask ask = {.name = name,
                         .config = config_of,
                         .make = make_cell,
                         .run = row,
                         .what = c,
                         .tunes = c->method >= 0};
    TSR_TRY(tsri_study_ask(&cell, &there, s, &ask));
    take(t, c, &cell, there);
done:
    tsri_cell_fini(&cell);
    return st;
}

tsr_status tsri_loft_table1_paper(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_table1 *t = NULL;
    TSR_TRY(settings(s));
    TSR_TRY(tsri_alloc(&t, 1, sizeof *t));
    t->seeds = seeds_of(s);
    for (int64_t i = 0; i < TSRI_TABLE1_NETWORKS * t->seeds * PER_SEED; i++) {
        tsri_table1_cell c = cell_at(i, t->seeds);
        TSR_TRY(ask_for(t, s, &c));
    }
    tsri_table1_show(s, t);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_free(t);
    return st;
}
