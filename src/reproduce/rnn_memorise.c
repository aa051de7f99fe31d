/* rnn_memorise.c - Allen-Zhu, Li, Song, Theorems 1 and 2: random targets at every position, learned
 * by GD and by SGD. Beside them a task with an answer: speakers told apart (Japanese Vowels). */
#include "reproduce/rnn.h"

#include "reproduce/cells.h"

#include <math.h>
#include <stdio.h>

static int64_t memory_width(const tsri_study *s)
{
    return s->paper ? 8192 : s->quick ? 512 : 2048;
}

static int positions(const tsri_study *s)
{
    return s->paper ? 500 : 10;
}

/* One seed of one method: its line, and its curve in the chart (named when it is the first). */
static tsr_status memorise_seed(tsri_rnn_line *found, tsri_study *s, tsri_chart *c, bool sgd,
                                int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsri_curves curves = {0};
    tsr_result r = tsr_result_default();
    char yaml[500], name[40];
    int64_t m = memory_width(s);
    (void)snprintf(
        yaml, sizeof yaml,
        "data: {name: sequences, n: 20, test_n: 1, dim: 40, length: %d, targets: 1, phi: 0.5, "
        "seed: %lld}\nmodel: {name: rnn, width: %lld}\n"
        "optim: {name: %s, lr: %g, momentum: 0}\nbatch: 1\nepochs: %d\n"
        "eval: {every: 5}\ncheckpoint: {every: 0}\n",
        positions(s), (long long)(s->seed + (uint64_t)repeat), (long long)m, sgd ? "sgd" : "gd",
        (sgd ? 0.2 : 0.05) / (double)m, sgd ? (s->quick ? 400 : 600) : (s->quick ? 3000 : 4000));
    (void)snprintf(name, sizeof name, "%s-%lld", sgd ? "sgd" : "gd", (long long)repeat + 1);
    TSR_TRY(tsri_study_train(s, &r, &curves, name, yaml, repeat));
    *found = (tsri_rnn_line){NAN, NAN, NAN, false};
    if (tsri_study_lacks(s, &curves))
        goto done;
    const double *epoch = tsri_curves_get(&curves, "epoch");
    const double *loss = tsri_curves_get(&curves, "loss");
    TSR_CHECK(epoch && loss, TSR_FAILURE, "%s: the run has no losses", name);
    *found = tsri_rnn_line_of(epoch, loss, curves.n, 1e-9);
    tsri_chart_series(c, &(tsri_series){.name = repeat > 0 ? NULL
                                                : sgd      ? "SGD, one sequence a step"
                                                           : "GD",
                                        .n = curves.n,
                                        .x = epoch,
                                        .y = loss,
                                        .colour = sgd ? 2 : 1});
done:
    tsri_curves_fini(&curves);
    return st;
}

/* Theorems 1 and 2 promise the error for T large enough: a run that ended above the bound on its
 * way down refutes nothing, and is not measured to its end. */
static double reached_of(const tsri_rnn_line *found, const char *id)
{
    bool above = !(found->reached < tsri_criteria_find(id)->high);
    return above && found->falling ? (double)NAN : found->reached;
}

static int64_t memorise_seeds(const tsri_study *s)
{
    return tsri_study_seeds_to(s, TSRI_SEEDS_LEAST, TSRI_RNN_SEEDS);
}

static tsr_status memorise_random(tsri_study *s, tsri_chart *c, tsri_table *t)
{
    tsr_status st = TSR_OK;
    int64_t seeds = memorise_seeds(s);
    char title[80];
    (void)snprintf(title, sizeof title, "random targets at each of %d positions, n = 20",
                   positions(s));
    tsri_chart_panel(c, &(tsri_panel){.title = title,
                                      .x_label = "passes over the sequences",
                                      .y_label = "loss of an iteration",
                                      .y_log = true});
    for (int sgd = 0; sgd < 2; sgd++) {
        const char *id = sgd ? "rnn/memorise/sgd-reached" : "rnn/memorise/gd-reached";
        double last[TSRI_RNN_SEEDS], reached[TSRI_RNN_SEEDS], r2[TSRI_RNN_SEEDS], rate = 0;
        for (int64_t k = 0; k < seeds; k++) {
            tsri_rnn_line found = {0};
            tsri_study_say(s, 0.4 * (sgd + (double)k / (double)seeds),
                           "random targets by %s, seed %lld", sgd ? "SGD" : "gradient descent",
                           (long long)k + 1);
            TSR_TRY(memorise_seed(&found, s, c, sgd == 1, k));
            last[k] = found.reached;
            reached[k] = reached_of(&found, id);
            r2[k] = found.r2;
            rate += found.rate / (double)seeds;
        }
        tsri_study_judge(s, id, NULL, reached, seeds);
        tsri_study_judge(s, sgd ? "rnn/memorise/sgd-linear" : "rnn/memorise/gd-linear", NULL, r2,
                         seeds);
        tsri_table_text(t, sgd ? "SGD" : "GD");
        tsri_table_format(t, "%.3g", tsri_mean_of(last, seeds).value);
        tsri_table_format(t, "%.3g", rate);
        tsri_table_real(t, tsri_mean_of(r2, seeds).value, 3);
    }
done:
    return st;
}

/* One seed: its accuracy, and its curve in the chart. The first curve brings the panel with it. */
static tsr_status vowels_seed(double *accuracy, bool *drawn, tsri_study *s, tsri_chart *c,
                              const char *title, int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsri_curves curves = {0};
    tsr_result r = tsr_result_default();
    char yaml[500], name[40];
    (void)snprintf(yaml, sizeof yaml,
                   "data: {name: japanese-vowels, normalize: standardize}\n"
                   "model: {name: rnn, width: %d, train: all}\n"
                   "loss: cross_entropy\noptim: {lr: 0.005, momentum: 0.9, schedule: cosine}\n"
                   "epochs: %d\nbatch: 30\ncheckpoint: {every: 0}\n",
                   s->quick ? 128 : 512, s->quick ? 30 : 100);
    (void)snprintf(name, sizeof name, "vowels-%lld", (long long)repeat + 1);
    TSR_TRY(tsri_study_train(s, &r, &curves, name, yaml, repeat));
    *accuracy = r.accuracy;
    if (tsri_study_lacks(s, &curves))
        goto done;
    if (!*drawn)
        tsri_chart_panel(
            c, &(tsri_panel){.title = title, .x_label = "epoch", .y_label = "test accuracy"});
    *drawn = true;
    tsri_chart_series(c, &(tsri_series){.n = curves.n,
                                        .x = tsri_curves_get(&curves, "epoch"),
                                        .y = tsri_curves_get(&curves, "test_accuracy"),
                                        .colour = 3});
done:
    tsri_curves_fini(&curves);
    return st;
}

/* Where Japanese Vowels are missing this part is left out, and the page says why. Data that were
 * asked for (--data, --paper) must be there. */
static tsr_status vowels(tsri_study *s, tsri_chart *c)
{
    tsr_status st = TSR_OK;
    int64_t seeds = memorise_seeds(s);
    double accuracy[TSRI_RNN_SEEDS];
    bool drawn = false;
    char title[160];
    (void)snprintf(title, sizeof title, "%s",
                   s->data ? tsri_study_data_name(s, "") : "Japanese Vowels, nine speakers");
    for (int64_t k = 0; k < seeds; k++) {
        tsri_study_say(s, 0.8 + 0.2 * (double)k / (double)seeds, "%s, seed %lld", title,
                       (long long)k + 1);
        st = vowels_seed(&accuracy[k], &drawn, s, c, title, k);
        if (st != TSR_OK && st != TSR_INTERRUPTED && st != TSR_RESOURCES && !s->data && !s->book) {
            tsri_study_leave(s, "rnn/memorise/vowels", NULL, tsr_last_error());
            return TSR_OK;
        }
        TSR_TRY(st);
    }
    tsri_study_judge(s, "rnn/memorise/vowels", NULL, accuracy, seeds);
done:
    return st;
}

static void tell_memorise(tsri_study *s)
{
    tsri_study_setting(s, "data", "any of Assumption 2.1", "20 sequences of %d random targets",
                       positions(s));
    tsri_study_setting(s, "width m", "poly(n, d, L, 1/delta)", "%d", (int)memory_width(s));
    tsri_study_setting(s, "step", "delta poly(n, d, L) / m", "0.05/m (GD), 0.2/m (SGD)");
    tsri_study_setting(s, "f", "on all sequences at W^(T)",
                       "SGD: on those of the steps since the "
                       "last evaluation");
    tsri_study_setting(s, "seeds", "with high probability", "%lld", (long long)memorise_seeds(s));
    tsri_study_note(s, "W alone is trained on random targets, W, A and B on speakers. Lines end at "
                       "1e-9 of the first loss.");
}

tsr_status tsri_rnn_memorise(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_table t = {0};
    tsri_chart c;
    tsri_chart_begin(&c, "What a recurrent ReLU network remembers");
    tsri_table_head(&t, "method|last over first loss|rate per pass|r^2 of log f");
    tell_memorise(s);
    if (!s->data) /* other data are sequences with classes */
        TSR_TRY(memorise_random(s, &c, &t));
    TSR_TRY(vowels(s, &c));
    tsri_study_chart(s, "memorise", &c);
    if (!s->data)
        tsri_study_table(s, "memorise-table", "Random targets, mean over the seeds", &t);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_chart_fini(&c);
    tsri_table_fini(&t);
    return st;
}
