/* rnn_convergence.c - Allen-Zhu, Li, Song, Theorem 1: the loss of gradient descent falls
 * exponentially. How straight the line of its logarithm is, and its rate against delta, n and m. */
#include "reproduce/rnn.h"

#include "base/alloc.h"
#include "base/stop.h"
#include "data/points.h"
#include "io/config.h"
#include "reproduce/cells.h"
#include "run/run.h"
#include "scheme/scheme.h"
#include "train/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct setting {
    int64_t n, m, dim;
} setting;

/* A run of gradient descent with step size c/m; delta is the least distance of two first
 * positions. */
static tsr_status converge(tsri_rnn_line *out, double *delta, const setting *k, tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsr_run_options o = tsr_run_options_default();
    double *round = NULL, *loss = NULL;
    float *first = NULL;
    int64_t rounds = tsri_config_int(config, "rounds"), a, b;
    TSR_TRY(tsri_run_init(&run, config, &o));
    TSR_TRY(run.settings.scheme->setup(&run));
    TSR_TRY(tsri_alloc(&round, rounds, sizeof *round));
    TSR_TRY(tsri_alloc(&loss, rounds, sizeof *loss));
    TSR_TRY(tsri_alloc(&first, k->n * k->dim, sizeof *first));
    for (int64_t i = 0; i < k->n; i++)
        memcpy(first + i * k->dim, run.data->train.numbers + i * run.data->dim,
               (size_t)k->dim * sizeof *first);
    *delta = tsri_least_distance(first, k->n, k->dim, &a, &b);
    for (; run.position.round < rounds; run.position.round++) {
        TSR_TRY(tsri_stop_heed());
        run.position.recent = (tsri_mean){0};
        TSR_TRY(run.settings.scheme->round(&run));
        round[run.position.round] = (double)run.position.round;
        loss[run.position.round] = run.position.recent.sum;
    }
    *out = tsri_rnn_line_of(round + rounds / 10, loss + rounds / 10, rounds - rounds / 10, 1e-8);
done:
    tsri_free(round);
    tsri_free(loss);
    tsri_free(first);
    tsri_run_fini(&run);
    return st;
}

static void converge_file(char *yaml, size_t size, const tsri_study *s, const setting *k,
                          int64_t repeat)
{
    (void)snprintf(yaml, size,
                   "data: {name: sequences, n: %lld, test_n: 1, dim: %lld, length: 6, targets: 1, "
                   "phi: 0.001, seed: %lld}\nmodel: {name: rnn, width: %lld}\n"
                   "optim: {name: gd, lr: %g, momentum: 0}\nrounds: %d\n",
                   (long long)k->n, (long long)k->dim, (long long)(s->seed + (uint64_t)repeat),
                   (long long)k->m, 0.05 / (double)k->m, s->quick ? 300 : 1500);
}

static tsr_status make_line(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                            const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsri_rnn_line found = {0};
    double delta = 0;
    (void)s;
    (void)folder;
    TSR_TRY(converge(&found, &delta, ask->what, config));
    tsri_cell_put(to, "rate", found.rate);
    tsri_cell_put(to, "r2", found.r2);
    tsri_cell_put(to, "reached", found.reached);
    tsri_cell_put(to, "falling", found.falling);
    tsri_cell_put(to, "delta", delta);
done:
    return st;
}

static tsr_status ask_line(tsri_rnn_line *out, double *delta, tsri_study *s, const setting *k,
                           const char *yaml, int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsri_study_cell c = {0};
    bool there = false;
    char name[TSRI_CELL_NAME];
    (void)snprintf(name, sizeof name, "n%lld-m%lld-d%lld-seed%lld", (long long)k->n,
                   (long long)k->m, (long long)k->dim, (long long)s->seed + (long long)repeat);
    tsri_cell_ask ask = {
        .name = name, .yaml = yaml, .repeat = repeat, .make = make_line, .what = k};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    *out = (tsri_rnn_line){tsri_cell_value(&c, "rate"), tsri_cell_value(&c, "r2"),
                           tsri_cell_value(&c, "reached"), tsri_cell_value(&c, "falling") > 0};
    *delta = tsri_cell_value(&c, "delta");
done:
    tsri_cell_fini(&c);
    return st;
}

static tsr_status line_of_run(tsri_rnn_line *out, double *delta, tsri_study *s, const setting *k,
                              int64_t repeat)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char yaml[500];
    converge_file(yaml, sizeof yaml, s, k, repeat);
    if (s->book)
        return ask_line(out, delta, s, k, yaml, repeat);
    TSR_TRY(tsri_study_config(&config, s, yaml, repeat));
    TSR_TRY(converge(out, delta, k, config));
done:
    tsr_config_destroy(config);
    return st;
}

enum { SERIES = 3, POINTS = 4 };
enum { BY_DELTA, BY_N, BY_M };

/* Everything measured: delta, n or m, and the line of every seed. */
typedef struct rates {
    int64_t seeds;
    double x[SERIES][POINTS][TSRI_RNN_SEEDS];
    tsri_rnn_line found[SERIES][POINTS][TSRI_RNN_SEEDS];
} rates;

static const setting usual[SERIES][POINTS] = {
    {{8, 256, 3}, {8, 256, 5}, {8, 256, 10}, {8, 256, 30}},
    {{4, 256, 20}, {8, 256, 20}, {16, 256, 20}, {32, 256, 20}},
    {{8, 64, 20}, {8, 128, 20}, {8, 256, 20}, {8, 512, 20}}};
/* --paper. Every cell has a name of its own: where two series would have the same setting, the
 * second has one input more. */
static const setting large[SERIES][POINTS] = {
    {{8, 2048, 3}, {8, 2048, 5}, {8, 2048, 10}, {8, 2048, 30}},
    {{4, 2048, 20}, {8, 2048, 20}, {16, 2048, 20}, {32, 2048, 20}},
    {{8, 1024, 20}, {8, 2048, 21}, {8, 4096, 20}, {8, 8192, 20}}};

static const setting *setting_at(const tsri_study *s, int a, int p)
{
    return s->paper ? &large[a][p] : &usual[a][p];
}

static const char *const letter[SERIES] = {"delta", "n", "m"};

static tsr_status measure_rates(rates *m, tsri_study *s)
{
    tsr_status st = TSR_OK;
    for (int i = 0; i < SERIES * POINTS; i++) {
        int a = i / POINTS, p = i % POINTS;
        const setting *k = setting_at(s, a, p);
        for (int64_t r = 0; r < m->seeds; r++) {
            double delta = 0;
            tsri_study_say(s, (i + (double)r / (double)m->seeds) / (SERIES * POINTS),
                           "n %lld, m %lld, seed %lld", (long long)k->n, (long long)k->m,
                           (long long)r + 1);
            TSR_TRY(line_of_run(&m->found[a][p][r], &delta, s, k, r));
            m->x[a][p][r] = a == BY_DELTA ? delta : a == BY_N ? (double)k->n : (double)k->m;
        }
    }
done:
    return st;
}

/* ln of T, one over the rate. */
static double ln_time(const rates *m, int a, int p, int64_t seed)
{
    return -log(m->found[a][p][seed].rate);
}

/* The power of delta, n or m that T goes with, of one seed. */
static double power_of(const rates *m, int a, int64_t seed)
{
    double x[POINTS], y[POINTS];
    for (int p = 0; p < POINTS; p++) {
        x[p] = log(m->x[a][p][seed]);
        y[p] = ln_time(m, a, p, seed);
    }
    return tsri_slope_of(NULL, x, y, POINTS).value;
}

/* How much larger the power of n is over the last doubling than over the first. */
static double steepens(const rates *m, int64_t seed)
{
    return (ln_time(m, BY_N, POINTS - 1, seed) - ln_time(m, BY_N, POINTS - 2, seed) -
            (ln_time(m, BY_N, 1, seed) - ln_time(m, BY_N, 0, seed))) /
           log(2);
}

static void judge_rates(tsri_study *s, const rates *m)
{
    double delta[TSRI_RNN_SEEDS], n[TSRI_RNN_SEEDS], width[TSRI_RNN_SEEDS], r2[TSRI_RNN_SEEDS];
    for (int i = 0; i < SERIES * POINTS; i++) {
        int a = i / POINTS, p = i % POINTS;
        char part[80];
        for (int64_t r = 0; r < m->seeds; r++)
            r2[r] = m->found[a][p][r].r2;
        (void)snprintf(part, sizeof part, "n = %lld, m = %lld, d = %lld",
                       (long long)setting_at(s, a, p)->n, (long long)setting_at(s, a, p)->m,
                       (long long)setting_at(s, a, p)->dim);
        tsri_study_judge(s, "rnn/convergence/linear", part, r2, m->seeds);
    }
    for (int64_t r = 0; r < m->seeds; r++) {
        delta[r] = -power_of(m, BY_DELTA, r);
        n[r] = steepens(m, r);
        width[r] = power_of(m, BY_M, r);
    }
    tsri_study_judge(s, "rnn/convergence/delta", NULL, delta, m->seeds);
    tsri_study_judge(s, "rnn/convergence/n", NULL, n, m->seeds);
    tsri_study_judge(s, "rnn/convergence/m", NULL, width, m->seeds);
}

/* Means over the seeds, bands from the least to the most. */
static void show_rates(tsri_study *s, const rates *m)
{
    tsri_chart c;
    tsri_table t = {0};
    tsri_chart_begin(&c, "Rate of convergence per iteration, gradient descent with step 0.05/m");
    tsri_table_head(&t, "n|m|delta|rate|r^2 of log f");
    for (int a = 0; a < SERIES; a++) {
        double x[POINTS] = {0}, y[POINTS], low[POINTS], high[POINTS];
        char title[40];
        for (int p = 0; p < POINTS; p++) {
            double rate[TSRI_RNN_SEEDS], r2 = 0;
            char text[TSRI_ESTIMATE_TEXT];
            low[p] = INFINITY;
            high[p] = 0;
            for (int64_t r = 0; r < m->seeds; r++) {
                rate[r] = m->found[a][p][r].rate;
                r2 += m->found[a][p][r].r2 / (double)m->seeds;
                x[p] += m->x[a][p][r] / (double)m->seeds;
                low[p] = fmin(low[p], rate[r]);
                high[p] = fmax(high[p], rate[r]);
            }
            y[p] = tsri_mean_of(rate, m->seeds).value;
            tsri_table_format(&t, "%lld", (long long)setting_at(s, a, p)->n);
            tsri_table_format(&t, "%lld", (long long)setting_at(s, a, p)->m);
            if (a == BY_DELTA)
                tsri_table_real(&t, x[p], 3);
            else
                tsri_table_text(&t, "-");
            tsri_table_text(&t, tsri_estimate_text(text, tsri_mean_of(rate, m->seeds)));
            tsri_table_real(&t, r2, 3);
        }
        (void)snprintf(title, sizeof title, "against %s", letter[a]);
        tsri_chart_panel(&c, &(tsri_panel){.title = title,
                                           .x_label = letter[a],
                                           .y_label = "rate",
                                           .x_log = true,
                                           .y_log = true});
        tsri_chart_series(
            &c,
            &(tsri_series){
                .n = POINTS, .x = x, .y = y, .low = low, .high = high, .marks = TSRI_MARKS_BOTH});
    }
    tsri_study_chart(s, "convergence", &c);
    tsri_study_table(s, "convergence-table", "Rate of log f per iteration, mean over the seeds",
                     &t);
    tsri_chart_fini(&c);
    tsri_table_fini(&t);
}

tsr_status tsri_rnn_convergence(tsri_study *s)
{
    tsr_status st = TSR_OK;
    rates *m = NULL;
    TSR_TRY(tsri_alloc(&m, 1, sizeof *m));
    m->seeds = tsri_study_seeds_to(s, s->quick || s->paper ? TSRI_SEEDS_LEAST : 5, TSRI_RNN_SEEDS);
    tsri_study_setting(s, "data", "any of Assumption 2.1",
                       "4 to 32 sequences of 6 positions, one target each");
    tsri_study_setting(s, "width m", "poly(n, d, L, 1/delta)", "%s",
                       s->paper ? "1024 to 8192" : "64 to 512");
    tsri_study_setting(s, "step", "delta poly(n, d, L) / m", "0.05/m");
    tsri_study_setting(s, "seeds", "with high probability", "%lld", (long long)m->seeds);
    TSR_TRY(measure_rates(m, s));
    show_rates(s, m);
    judge_rates(s, m);
    tsri_study_note(s, "The line begins after a tenth of the iterations and ends at 1e-8. Fewer "
                       "dimensions make first positions closer: so delta is varied.");
    TSR_TRY(tsri_study_end(s));
done:
    tsri_free(m);
    return st;
}
