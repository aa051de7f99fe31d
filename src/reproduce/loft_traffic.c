/* loft_traffic.c - Table 1 of the LoFT paper: the traffic of GPipe, local SGD and LoFT.
 *
 * Traffic is counted where it happens, in a round that is really trained; the images are drawn
 * glyphs, for bytes do not depend on what is in them. The paper's total is that of 20 epochs of
 * CIFAR-10 (50,000 images, batch 128, 25 local steps a round).
 */
#include "reproduce/loft.h"

#include "run/run.h"
#include "scheme/scheme.h"
#include "train/describe.h"

#include <stdio.h>

/* ---- Table 1, the column Comm. -------------------------------------------------------------- */

enum { SEEDS_MOST = 16 };

enum { IMAGES = 50000, EPOCHS = 20, BATCH = 128, LOCAL_STEPS = 25, GPIPE_BATCH = 8 };

/* Weights are sent once a round, whatever its batch. */
enum { SMALL_BATCH = 2 };

/* The paper does not say where GPipe cut: these are cuts at which its figures come out. */
typedef struct printed {
    const char *model;
    int workers;
    double gpipe, local_sgd, loft; /* gigabytes, CIFAR-10 */
    const char *cuts;
} printed;

static const printed table1[] = {
    {"preresnet18", 2, 131.88, 55.40, 40.02, "layer3.1"},
    {"preresnet18", 4, 659.42, 110.80, 64.57, "layer2.0, layer2.1, layer3.1"},
    {"preresnet34", 2, 131.88, 105.93, 65.36, "layer3.5"},
    {"preresnet34", 4, 461.60, 211.86, 90.17, "layer2.3, layer3.5, layer4.0"},
};

static tsr_status bytes_of(double *bytes, tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_run run;
    tsr_run_options o = tsr_run_options_default();
    TSR_TRY(tsri_run_init(&run, config, &o));
    TSR_TRY(run.settings.scheme->setup(&run));
    TSR_TRY(run.settings.scheme->round(&run));
    *bytes = (double)run.position.bytes_total;
done:
    tsri_run_fini(&run);
    return st;
}

/* Bytes that the scheme, called `scheme` and with these other keys, sends in one round of steps on
 * `batch` images, counted while it is trained. */
static tsr_status round_bytes(double *bytes, tsri_study *s, const printed *p, const char *scheme,
                              const char *keys, int batch, int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char yaml[600];
    (void)snprintf(yaml, sizeof yaml,
                   "data: {name: glyphs, channels: 3, n: 32, test_n: 4}\n"
                   "model: {name: %s, width: 64}\n"
                   "scheme: {name: %s, workers: %d, %s}\n"
                   "rounds: 1\nbatch: %d\n",
                   p->model, scheme, p->workers, keys, batch);
    TSR_TRY(tsri_study_config(&config, s, yaml, repeat));
    TSR_TRY(bytes_of(bytes, config));
done:
    tsr_config_destroy(config);
    return st;
}

typedef struct traffic {
    double gpipe, local_sgd, loft; /* gigabytes in 20 epochs */
} traffic;

/* Of seed `repeat`; *t holds what the first one counted for all. */
static tsr_status count_traffic(traffic *t, tsri_study *s, const printed *p, int64_t repeat)
{
    tsr_status st = TSR_OK;
    static const char shares[] = "momentum: reset";
    char cuts[100];
    double gpipe, local_sgd, loft, rounds = (double)IMAGES * EPOCHS / BATCH / LOCAL_STEPS;
    if (repeat == 0) { /* activations and whole networks have no seed in their size */
        (void)snprintf(cuts, sizeof cuts, "cuts: \"%s\"", p->cuts);
        TSR_TRY(round_bytes(&gpipe, s, p, "gpipe", cuts, GPIPE_BATCH, repeat));
        TSR_TRY(round_bytes(&local_sgd, s, p, "local_sgd", shares, SMALL_BATCH, repeat));
        t->gpipe = gpipe / GPIPE_BATCH * IMAGES * EPOCHS / 1e9;
        t->local_sgd = local_sgd * rounds / 1e9;
    }
    TSR_TRY(round_bytes(&loft, s, p, "loft", shares, SMALL_BATCH, repeat));
    t->loft = loft * rounds / 1e9;
done:
    return st;
}

static void traffic_row(tsri_table *t, const printed *p, const char *scheme, double paper,
                        double here, double loft)
{
    tsri_table_text(t, p->model);
    tsri_table_format(t, "%d", p->workers);
    tsri_table_text(t, scheme);
    tsri_table_real(t, paper, 2);
    tsri_table_real(t, here, 2);
    tsri_table_real(t, 100 * (here / paper - 1), 1);
    tsri_table_real(t, paper / p->loft, 2);
    tsri_table_real(t, here / loft, 2);
}

static void traffic_rows(tsri_table *t, const printed *p, const traffic *here)
{
    traffic_row(t, p, "GPipe", p->gpipe, here->gpipe, here->loft);
    traffic_row(t, p, "local SGD", p->local_sgd, here->local_sgd, here->loft);
    traffic_row(t, p, "LoFT", p->loft, here->loft, here->loft);
}

static void draw_traffic(tsri_study *s, const printed *p, const traffic *here, int64_t count)
{
    static const char *const names[] = {"-18, 2 workers", "-18, 4 workers", "-34, 2 workers",
                                        "-34, 4 workers"};
    double gpipe[4], local_sgd[4], loft[4], paper[3][4];
    tsri_chart c;
    for (int64_t i = 0; i < count; i++) {
        gpipe[i] = here[i].gpipe;
        local_sgd[i] = here[i].local_sgd;
        loft[i] = here[i].loft;
        paper[0][i] = p[i].gpipe;
        paper[1][i] = p[i].local_sgd;
        paper[2][i] = p[i].loft;
    }
    tsri_chart_begin(&c, "Traffic of 20 epochs of CIFAR-10, PreActResNet");
    for (int k = 0; k < 2; k++) {
        tsri_chart_panel(&c, &(tsri_panel){.title = k ? "the paper's Table 1" : "counted here",
                                           .y_label = "gigabytes",
                                           .category = names,
                                           .categories = count,
                                           .y_high = 700});
        tsri_chart_series(&c, &(tsri_series){.name = "GPipe",
                                             .n = count,
                                             .y = k ? paper[0] : gpipe,
                                             .marks = TSRI_MARKS_BARS});
        tsri_chart_series(&c, &(tsri_series){.name = "local SGD",
                                             .n = count,
                                             .y = k ? paper[1] : local_sgd,
                                             .marks = TSRI_MARKS_BARS});
        tsri_chart_series(&c, &(tsri_series){.name = "LoFT",
                                             .n = count,
                                             .y = k ? paper[2] : loft,
                                             .marks = TSRI_MARKS_BARS});
    }
    tsri_study_chart(s, "traffic", &c);
    tsri_chart_fini(&c);
}

/* Each seed's own bytes: other seeds draw other shares, and cut what is left over otherwise. */
static void judge_traffic(tsri_study *s, const printed *p, const traffic *of, int64_t seeds)
{
    double local_sgd[SEEDS_MOST];
    char part[80];
    (void)snprintf(part, sizeof part, "%s, %d workers (%.2f times)", p->model, p->workers,
                   p->local_sgd / p->loft);
    for (int64_t k = 0; k < seeds; k++)
        local_sgd[k] = of[k].local_sgd / of[k].loft / (p->local_sgd / p->loft);
    tsri_study_judge(s, "loft/table1/local-sgd", part, local_sgd, seeds);
}

/* The table's other half takes days here, and minutes on a GPU. */
static void leave_accuracy(tsri_study *s)
{
    static const char *const claims[] = {"comparable", "dense", "tickets"};
    char id[60];
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        (void)snprintf(id, sizeof id, "loft/table1/%s", claims[i]);
        tsri_study_leave(s, id, NULL, "accuracies are made with --paper, cell by cell");
    }
}

tsr_status tsri_loft_table1(tsri_study *s)
{
    tsr_status st = TSR_OK;
    int64_t count = s->quick ? 2 : 4, seeds = tsri_study_seeds_to(s, TSRI_SEEDS_LEAST, SEEDS_MOST);
    traffic here[4], of[SEEDS_MOST] = {0};
    tsri_table t = {0};
    tsri_table_head(&t, "model|workers|scheme|paper, GB|here, GB|difference, %|paper, times LoFT|"
                        "here, times LoFT");
    tsri_study_setting(s, "networks", "PreActResNet-18 and -34, WideResNet-34",
                       s->quick ? "PreActResNet-18" : "PreActResNet-18 and -34");
    tsri_study_setting(s, "images in the counted round", "CIFAR-10",
                       "drawn glyphs of the same size");
    tsri_study_setting(s, "batch and local steps", "not given", "%d and %d", BATCH, LOCAL_STEPS);
    tsri_study_setting(s, "where GPipe cuts", "not given", "where its printed gigabytes come out");
    for (int64_t i = 0; i < count; i++) {
        tsri_study_say(s, (double)i / (double)count, "%s, %d workers: GPipe, local SGD, LoFT",
                       table1[i].model, table1[i].workers);
        for (int64_t k = 0; k < seeds; k++) {
            of[k] = of[0];
            TSR_TRY(count_traffic(&of[k], s, &table1[i], k));
        }
        here[i] = of[0];
        traffic_rows(&t, &table1[i], &here[i]);
        judge_traffic(s, &table1[i], of, seeds);
    }
    tsri_study_leave(s, "loft/table1/gpipe", NULL,
                     "the paper does not say where GPipe cut, and the cuts here are chosen so that "
                     "its figures come out: shown, not judged");
    leave_accuracy(s);
    draw_traffic(s, table1, here, count);
    tsri_study_table(s, "traffic-table", "Gigabytes in 20 epochs of CIFAR-10", &t);
    tsri_study_note(s,
                    "Bytes of one trained round at width 64, times the rounds of 20 epochs of "
                    "%d images: batch %d, %d local steps.",
                    IMAGES, BATCH, LOCAL_STEPS);
    tsri_study_note(s, "GPipe's cuts (-18: %s; %s) do not balance the work.", table1[0].cuts,
                    table1[1].cuts);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_table_fini(&t);
    return st;
}
