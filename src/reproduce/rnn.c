/* rnn.c - Allen-Zhu, Li, Song, "On the Convergence Rate of Training Recurrent Neural Networks": its
 * theorems, for there are no figures.
 *
 *     convergence   Theorem 1: the loss falls exponentially; its rate against delta, n and m
 *     length        section 4: norms along sequences of up to 200 positions grow as a power of the
 *                   length, not exponentially; the linear network beside it does (rnn_length.c)
 *     memorise      random targets at every position learned by GD and SGD; speakers told apart
 */
#include "reproduce/reproductions.h"
#include "reproduce/rnn_length.h"

#include "base/alloc.h"
#include "data/points.h"
#include "scheme/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- A straight line of log(loss)
 * ---------------------------------------------------------------- */

/* The rate of loss ~ e^(-rate round), and how straight that is. Below `floor` times the first loss
 * the line ends: there f32 rounds. */
typedef struct line {
    double rate, r2, reached; /* reached: last over first loss */
} line;

static line line_of(const double *round, const double *loss, int64_t n, double floor)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, count = 0;
    line out = {NAN, NAN, 1};
    for (int64_t i = 0; i < n && loss[i] > 0; i++) {
        double x = round[i], y = log(loss[i]);
        out.reached = loss[i] / loss[0];
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        syy += y * y;
        count++;
        if (out.reached < floor)
            break;
    }
    double vx = count * sxx - sx * sx, vy = count * syy - sy * sy, vxy = count * sxy - sx * sy;
    if (vx > 0 && vy > 0) {
        out.rate = -vxy / vx;
        out.r2 = vxy * vxy / (vx * vy);
    }
    return out;
}

/* ---- Convergence ------------------------------------------------------------------------------
 */

typedef struct setting {
    int64_t n, m, dim;
} setting;

/* A run of gradient descent with step size c/m; delta is the least distance of two first positions.
 */
static tsr_status converge(line *out, double *delta, tsri_study *s, const setting *k)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_run run = {.lock = -1};
    tsr_run_options o = tsr_run_options_default();
    double *round = NULL, *loss = NULL;
    float *first = NULL;
    int64_t rounds = s->quick ? 300 : 1500, a, b;
    char yaml[500];
    (void)snprintf(yaml, sizeof yaml,
                   "data: {name: sequences, n: %lld, test_n: 1, dim: %lld, length: 6, targets: 1, "
                   "phi: 0.001}\nmodel: {name: rnn, width: %lld}\n"
                   "optim: {name: gd, lr: %g, momentum: 0}\nrounds: %lld\n",
                   (long long)k->n, (long long)k->dim, (long long)k->m, 0.05 / (double)k->m,
                   (long long)rounds);
    TSR_TRY(tsri_study_config(&config, s, yaml, 0));
    TSR_TRY(tsri_run_init(&run, config, &o));
    TSR_TRY(run.scheme->setup(&run));
    TSR_TRY(tsri_alloc(&round, rounds, sizeof *round));
    TSR_TRY(tsri_alloc(&loss, rounds, sizeof *loss));
    TSR_TRY(tsri_alloc(&first, k->n * k->dim, sizeof *first));
    for (int64_t i = 0; i < k->n; i++)
        memcpy(first + i * k->dim, run.data->train.numbers + i * run.data->dim,
               (size_t)k->dim * sizeof *first);
    *delta = tsri_least_distance(first, k->n, k->dim, &a, &b);
    for (; run.round < rounds; run.round++) {
        run.recent = (tsri_mean){0};
        TSR_TRY(run.scheme->round(&run));
        round[run.round] = (double)run.round;
        loss[run.round] = run.recent.sum;
    }
    *out = line_of(round + rounds / 10, loss + rounds / 10, rounds - rounds / 10, 1e-8);
done:
    tsri_free(round);
    tsri_free(loss);
    tsri_free(first);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
    return st;
}

enum { SERIES = 3, POINTS = 4 };

static tsr_status convergence(tsri_study *s)
{
    tsr_status st = TSR_OK;
    static const setting sets[SERIES][POINTS] = {
        {{8, 256, 3}, {8, 256, 5}, {8, 256, 10}, {8, 256, 30}},
        {{4, 256, 20}, {8, 256, 20}, {16, 256, 20}, {32, 256, 20}},
        {{8, 64, 20}, {8, 128, 20}, {8, 256, 20}, {8, 512, 20}}};
    static const char *const title[] = {"against delta", "against n", "against m"};
    static const char *const label[] = {"delta", "n", "m"};
    double x[SERIES][POINTS], y[SERIES][POINTS], least = 1;
    tsri_table t = {0};
    tsri_chart c;
    tsri_chart_begin(&c, "Rate of convergence per iteration, gradient descent with step 0.05/m");
    tsri_table_head(&t, "n|m|delta|rate|r^2 of log f");
    for (int a = 0; a < SERIES; a++) {
        for (int i = 0; i < POINTS; i++) {
            line found = {0};
            double delta = 0;
            tsri_study_say(s, (a * POINTS + i) / (double)(SERIES * POINTS), "n %lld, m %lld",
                           (long long)sets[a][i].n, (long long)sets[a][i].m);
            TSR_TRY(converge(&found, &delta, s, &sets[a][i]));
            x[a][i] = a == 0 ? delta : a == 1 ? (double)sets[a][i].n : (double)sets[a][i].m;
            y[a][i] = found.rate;
            least = fmin(least, found.r2);
            tsri_table_format(&t, "%lld", (long long)sets[a][i].n);
            tsri_table_format(&t, "%lld", (long long)sets[a][i].m);
            tsri_table_real(&t, delta, 3);
            tsri_table_format(&t, "%.3g", found.rate);
            tsri_table_real(&t, found.r2, 3);
        }
        tsri_chart_panel(&c, &(tsri_panel){.title = title[a],
                                           .x_label = label[a],
                                           .y_label = "rate",
                                           .x_log = true,
                                           .y_log = true});
        tsri_chart_series(
            &c, &(tsri_series){.n = POINTS, .x = x[a], .y = y[a], .marks = TSRI_MARKS_BOTH});
    }
    tsri_study_claim(s, least > 0.8, "Convergence is linear: log f falls along a line (Theorem 1).",
                     "the least r^2 of a line through log f is %.3f", least);
    tsri_study_claim(s, y[0][POINTS - 1] > y[0][0], "It is faster for sequences further apart.",
                     "rate %.3g at delta %.2f, %.3g at delta %.2f", y[0][0], x[0][0],
                     y[0][POINTS - 1], x[0][POINTS - 1]);
    tsri_study_claim(s, y[1][POINTS - 1] < y[1][0], "It is slower for more sequences.",
                     "rate %.3g at n = 4, %.3g at n = 32", y[1][0], y[1][POINTS - 1]);
    tsri_study_chart(s, "convergence", &c);
    tsri_study_table(s, "convergence-table", "Rate of log f per iteration", &t);
    tsri_study_note(
        s, "Sequences of 6 positions, one target each; the line begins after a tenth of the "
           "iterations and ends at 1e-8. Fewer dimensions make first positions closer: so "
           "delta is varied.");
    TSR_TRY(tsri_study_end(s));
done:
    tsri_chart_fini(&c);
    tsri_table_fini(&t);
    return st;
}

/* ---- Memorise
 * ------------------------------------------------------------------------------------ */

static tsr_status memorise_random(tsri_study *s, tsri_chart *c, tsri_table *t)
{
    tsr_status st = TSR_OK;
    tsri_chart_panel(c, &(tsri_panel){.title = "random targets at each of 10 positions, n = 20",
                                      .x_label = "passes over the sequences",
                                      .y_label = "loss of an iteration",
                                      .y_log = true});
    for (int sgd = 0; sgd < 2; sgd++) {
        tsri_curves curves = {0};
        tsr_result r;
        char yaml[500];
        int64_t m = s->quick ? 512 : 2048;
        (void)snprintf(
            yaml, sizeof yaml,
            "data: {name: sequences, n: 20, test_n: 1, dim: 40, length: 10, targets: 1, phi: 0.5}\n"
            "model: {name: rnn, width: %lld}\n"
            "optim: {name: %s, lr: %g, momentum: 0}\nbatch: 1\nepochs: %d\n"
            "eval: {every: 5}\ncheckpoint: {every: 0}\n",
            (long long)m, sgd ? "sgd" : "gd", (sgd ? 0.2 : 0.05) / (double)m,
            sgd ? (s->quick ? 400 : 600) : (s->quick ? 3000 : 4000));
        tsri_study_say(s, 0.3 * sgd, "random targets by %s", sgd ? "SGD" : "gradient descent");
        st = tsri_study_train(s, &r, &curves, sgd ? "sgd" : "gd", yaml, 0);
        const double *epoch = tsri_curves_get(&curves, "epoch");
        const double *loss = tsri_curves_get(&curves, "loss");
        if (st == TSR_OK && epoch && loss) {
            line found = line_of(epoch, loss, curves.n, 1e-9);
            tsri_chart_series(c, &(tsri_series){.name = sgd ? "SGD, one sequence a step" : "GD",
                                                .n = curves.n,
                                                .x = epoch,
                                                .y = loss});
            tsri_table_text(t, sgd ? "SGD" : "GD");
            tsri_table_format(t, "%.3g", found.reached);
            tsri_table_format(t, "%.3g", found.rate);
            tsri_table_real(t, found.r2, 3);
            tsri_study_claim(s, found.reached < 1e-6 && found.r2 > 0.9,
                             sgd ? "SGD memorises at a linear rate (Theorem 2)."
                                 : "GD memorises at a linear rate (Theorem 1).",
                             "the loss fell to %.2g of its first value, r^2 of log f = %.3f",
                             found.reached, found.r2);
        }
        tsri_curves_fini(&curves);
        TSR_TRY(st);
    }
done:
    return st;
}

/* Not being there is no failure: it is said. */
static tsr_status vowels(tsri_study *s, tsri_chart *c)
{
    tsr_status st = TSR_OK;
    tsri_curves curves = {0};
    tsr_result r;
    char yaml[400];
    (void)snprintf(yaml, sizeof yaml,
                   "data: {%snormalize: standardize}\nmodel: {name: rnn, width: %d, train: all}\n"
                   "loss: cross_entropy\noptim: {lr: 0.005, momentum: 0.9, schedule: cosine}\n"
                   "epochs: %d\nbatch: 30\ncheckpoint: {every: 0}\n",
                   s->data ? "" : "name: japanese-vowels, ", s->quick ? 128 : 512,
                   s->quick ? 30 : 100);
    tsri_study_say(s, 0.8, "Japanese Vowels");
    if (tsri_study_train(s, &r, &curves, "vowels", yaml, 0) != TSR_OK) {
        tsri_study_note(s, "Japanese Vowels was not tried: %s", tsr_last_error());
        goto done;
    }
    tsri_chart_panel(c, &(tsri_panel){.title = "Japanese Vowels, nine speakers",
                                      .x_label = "epoch",
                                      .y_label = "test accuracy"});
    tsri_chart_series(c, &(tsri_series){.n = curves.n,
                                        .x = tsri_curves_get(&curves, "epoch"),
                                        .y = tsri_curves_get(&curves, "test_accuracy")});
    tsri_study_claim(s, r.accuracy >= 0.95,
                     "(Ours, not the paper's) it tells 95 % of the speakers' test sequences apart.",
                     "%.2f %% of %lld", 100 * r.accuracy, (long long)r.n);
done:
    tsri_curves_fini(&curves);
    return st;
}

static tsr_status memorise(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_table t = {0};
    tsri_chart c;
    tsri_chart_begin(&c, "What a recurrent ReLU network remembers");
    tsri_table_head(&t, "method|last over first loss|rate per pass|r^2 of log f");
    if (!s->data) /* other data are sequences with classes */
        TSR_TRY(memorise_random(s, &c, &t));
    TSR_TRY(vowels(s, &c));
    tsri_study_chart(s, "memorise", &c);
    if (!s->data)
        tsri_study_table(s, "memorise-table", "Random targets", &t);
    tsri_study_note(
        s, "W alone is trained on random targets (step 0.05/m for GD, 0.2/m for SGD on one "
           "sequence), W, A and B on speakers. Lines end at 1e-9 of the first loss.");
    TSR_TRY(tsri_study_end(s));
done:
    tsri_chart_fini(&c);
    tsri_table_fini(&t);
    return st;
}

const tsri_reproduction tsri_reproduce_rnn[] = {
    {"rnn/convergence", "the linear rate against delta, n and m", convergence},
    {"rnn/length", "norms along 200 positions: polynomial, not exponential", tsri_rnn_length_study},
    {"rnn/memorise", "random targets learned by GD and SGD; Japanese Vowels", memorise},
    {0},
};
