/* masked.c - On the convergence of shallow neural network training with randomly masked neurons
 * (Liao, Kyrillidis 2021): the three panels of Figure 2.
 *
 * 100 rows of Communities and Crime, a network of 4000 hidden units, K = 200 rounds, a constant
 * step. The paper gives neither the step nor the number of local steps of 2b: we take a step below
 * 2 / lambda_max of the whole network (lambda_max is about 35 on such rows, so 0.02) and five local
 * steps.
 *
 * Errors are the paper's: ||y - f_m||^2, the mean over the shares, after drawing and during local
 * steps;
 * ||y - u||^2 of the whole network, with its factor xi, after putting back.
 */
#include "reproduce/reproductions.h"

#include "base/alloc.h"
#include "base/number.h"
#include "io/file.h"
#include "scheme/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TAU = 5 };

typedef struct sizes {
    int64_t width, rounds, seeds;
} sizes;

/* Quick: dozens of runs of a map can be smaller than the few of 2a, whose jumps drown in noise when
 * the network is narrow. */
static sizes sizes_of(const tsri_study *s)
{
    return s->quick ? (sizes){strcmp(s->row->name, "masked/fig2a") == 0 ? 1000 : 500, 40,
                              tsri_study_seeds(s, 3)}
                    : (sizes){4000, 200, tsri_study_seeds(s, 5)};
}

/* The run file of all three panels; `scheme` is the inside of its section. */
static void write_run_file(char *yaml, size_t room, const tsri_study *s, double kappa,
                           const char *scheme)
{
    sizes z = sizes_of(s);
    (void)snprintf(yaml, room,
                   "data: {%slimit: 100}\n"
                   "model: {name: shallow, width: %lld, kappa: %g}\n"
                   "optim: {name: gd, lr: 0.02, momentum: 0}\n"
                   "scheme: {name: masked, %s}\n"
                   "rounds: %lld\neval: {every: 0}\ncheckpoint: {every: 0}\n",
                   s->data ? "" : "name: communities-crime, ", (long long)z.width, kappa, scheme,
                   (long long)z.rounds);
}

static void tell_sizes(tsri_study *s, double kappa)
{
    sizes z = sizes_of(s);
    tsri_study_note(
        s,
        "%s, 100 rows of norm 1, %lld hidden units, kappa = %g, K = %lld, step 0.02, %lld "
        "seeds%s.",
        s->data ? "The data given" : "Communities and Crime", (long long)z.width, kappa,
        (long long)z.rounds, (long long)z.seeds,
        s->quick ? " (quick: the paper has 4000 units and K = 200)" : "");
    tsri_study_note(s,
                    "The paper gives no step: this one is below 2 / lambda_max, about 0.06 here.");
}

/* ---- 2a: what happens within rounds ------------------------------------------------------- */

/* Moments of a round: after drawing, after each local step, after putting back. */
enum { PUT = TAU + 1, MOMENTS };

typedef struct dynamics {
    int64_t rounds, seeds;
    double *error; /* [seeds][rounds][MOMENTS] */
} dynamics;

static double *moment(const dynamics *d, int64_t seed, int64_t round, int64_t m)
{
    return &d->error[(seed * d->rounds + round) * MOMENTS + m];
}

/* The losses of one event into the moments from `first`, `each` of them in a round. */
static tsr_status read_event(dynamics *d, int64_t seed, const char *metrics, const char *event,
                             int64_t first, int64_t each, double factor)
{
    tsr_status st = TSR_OK;
    tsri_curves c = {0};
    TSR_TRY(tsri_curves_read(&c, metrics, event));
    const double *loss = tsri_curves_get(&c, "loss");
    TSR_CHECK(loss && c.n == d->rounds * each, TSR_FAILURE, "%s: %lld lines of %s, not %lld",
              metrics, (long long)c.n, event, (long long)(d->rounds * each));
    for (int64_t i = 0; i < c.n; i++)
        *moment(d, seed, i / each, first + i % each) = factor * loss[i];
done:
    tsri_curves_fini(&c);
    return st;
}

static tsr_status watch(dynamics *d, tsri_study *s, const char *yaml, int64_t seed)
{
    tsr_status st = TSR_OK;
    tsri_text metrics = {0};
    char name[32];
    tsr_result r;
    (void)snprintf(name, sizeof name, "run-%lld", (long long)seed + 1);
    TSR_TRY(tsri_study_train(s, &r, NULL, name, yaml, seed));
    TSR_TRY(tsri_text_add(&metrics, "%s/%s/metrics.jsonl", s->folder, name));
    TSR_TRY(read_event(d, seed, metrics.data, "draw", 0, 1, 2)); /* a share's loss has a half */
    TSR_TRY(read_event(d, seed, metrics.data, "step", 1, TAU, 2));
    TSR_TRY(read_event(d, seed, metrics.data, "put", PUT, 1, 1));
done:
    tsri_text_fini(&metrics);
    return st;
}

/* ln(error at moment b / error at moment a), `later` rounds later: its mean over all rounds of each
 * seed, and the part of them in which it has the sign. */
static tsri_estimate change(const dynamics *d, int64_t a, int64_t b, int64_t later, double sign,
                            double *part)
{
    double mean[64];
    int64_t seeds = d->seeds < 64 ? d->seeds : 64, n = d->rounds - later, right = 0;
    for (int64_t i = 0; i < seeds; i++) {
        mean[i] = 0;
        for (int64_t k = 0; k < n; k++) {
            double x = log(*moment(d, i, k + later, b) / *moment(d, i, k, a));
            mean[i] += x / (double)n;
            right += sign * x > 0;
        }
    }
    *part = (double)right / (double)(seeds * n);
    return tsri_mean_of(mean, seeds);
}

static void judge_change(tsri_study *s, const dynamics *d, int64_t a, int64_t b, int64_t later,
                         double sign, const char *paper)
{
    double part;
    tsri_estimate e = change(d, a, b, later, sign, &part);
    tsri_study_claim(
        s, sign > 0 ? tsri_surely_above(e, 0) : tsri_surely_below(e, 0), paper,
        "the error changes by a factor of %.3f on average (95 %% over seeds: %.3f to %.3f), "
        "the right way in %.0f %% of the rounds",
        exp(e.value), exp(e.low), exp(e.high), 100 * part);
}

/* Mean and deviation over the seeds of ln error, moment after moment of the first rounds. */
static tsr_status draw_dynamics(tsri_study *s, const dynamics *d, int64_t rounds)
{
    tsr_status st = TSR_OK;
    int64_t n = rounds * MOMENTS;
    double *x = NULL;
    tsri_chart c = {0};
    TSR_TRY(tsri_alloc(&x, 8 * n, sizeof *x));
    double *y = x + n, *low = y + n, *high = low + n, *up = high + n, *down = up + n;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0, squares = 0, count = (double)d->seeds;
        for (int64_t k = 0; k < d->seeds; k++) {
            double e = log(*moment(d, k, i / MOMENTS, i % MOMENTS));
            sum += e;
            squares += e * e;
        }
        double mean = sum / count, variance = fmax(squares / count - mean * mean, 0);
        x[i] = (double)i / MOMENTS;
        y[i] = exp(mean);
        low[i] = exp(mean - sqrt(variance));
        high[i] = exp(mean + sqrt(variance));
        up[i] = i % MOMENTS == 0 ? y[i] : (double)NAN;
        down[i] = i % MOMENTS == PUT ? y[i] : (double)NAN;
    }
    tsri_chart_begin(&c, "Figure 2a: the error within rounds");
    tsri_chart_panel(&c, &(tsri_panel){.x_label = "round", .y_label = "error", .y_log = true});
    tsri_chart_series(&c, &(tsri_series){.name = "mean and deviation over seeds",
                                         .n = n,
                                         .x = x,
                                         .y = y,
                                         .low = low,
                                         .high = high});
    tsri_chart_series(
        &c, &(tsri_series){
                .name = "shares just drawn", .n = n, .x = x, .y = up, .marks = TSRI_MARKS_POINTS});
    tsri_chart_series(
        &c,
        &(tsri_series){
            .name = "shares put together", .n = n, .x = x, .y = down, .marks = TSRI_MARKS_POINTS});
    tsri_study_chart(s, "fig2a", &c);
done:
    tsri_chart_fini(&c);
    tsri_free(x);
    return st;
}

static tsr_status fig2a(tsri_study *s)
{
    tsr_status st = TSR_OK;
    sizes z = sizes_of(s);
    dynamics d = {.rounds = z.rounds, .seeds = z.seeds};
    char yaml[600];
    write_run_file(yaml, sizeof yaml, s, 1, "workers: 8, local_steps: 5, xi: 0.5, events: step");
    tell_sizes(s, 1);
    tsri_study_note(
        s, "Bernoulli masks, xi = 0.5, p = 8, tau = 5. The paper gives no kappa either: with that "
           "of its corollaries, 0.1, the shares of a round differ so little that putting them "
           "together cannot be seen.");
    TSR_TRY(tsri_alloc(&d.error, d.seeds * d.rounds * MOMENTS, sizeof *d.error));
    for (int64_t i = 0; i < d.seeds; i++) {
        tsri_study_say(s, (double)i / (double)d.seeds, "run %lld of %lld", (long long)i + 1,
                       (long long)d.seeds);
        TSR_TRY(watch(&d, s, yaml, i));
    }
    TSR_TRY(draw_dynamics(s, &d, d.rounds < 18 ? d.rounds : 18)); /* the first 125 moments */
    judge_change(s, &d, PUT, 0, 1, 1, "Drawing new shares makes the error jump up (section 5, 3).");
    judge_change(s, &d, 0, TAU, 0, -1, "Local steps make it fall smoothly (section 5, 1).");
    judge_change(s, &d, TAU, PUT, 0, -1,
                 "Putting the shares together makes it drop (section 5, 2).");
    TSR_TRY(tsri_study_end(s));
done:
    tsri_free(d.error);
    return st;
}

/* ---- 2b and 2c: maps ---------------------------------------------------------------------- */

/* The error of every cell and seed, first key by rows. */
typedef struct map {
    const char *row_name, *column_name;
    int64_t rows, columns, seeds;
    double *row, *column; /* the values of the keys */
    double *error;        /* [rows][columns][seeds] */
    double *early; /* the same after K local steps instead of K rounds; columns are tau; or NULL */
} map;

static void map_fini(map *m)
{
    tsri_free(m->row);
    tsri_free(m->column);
    tsri_free(m->error);
    tsri_free(m->early);
}

static tsr_status values(double **out, const tsri_grid *g)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(out, g->count, sizeof **out));
    for (int64_t i = 0; i < g->count; i++)
        (void)tsri_number_real(&(*out)[i], g->value[i]); /* the grid has checked it */
done:
    return st;
}

/* A run that diverged has no error: NaN, which nothing that is decided from it survives. */
static tsr_status fill(map *m, const tsri_sweep *sweep)
{
    tsr_status st = TSR_OK;
    m->rows = sweep->grid[0].count;
    m->columns = sweep->grid[1].count;
    m->seeds = sweep->seeds;
    TSR_TRY(values(&m->row, &sweep->grid[0]));
    TSR_TRY(values(&m->column, &sweep->grid[1]));
    TSR_TRY(tsri_alloc(&m->error, sweep->runs, sizeof *m->error));
    for (int64_t i = 0; i < sweep->runs; i++)
        m->error[i] = sweep->outcome[i].train_loss;
    if (!sweep->options.curves)
        goto done;
    TSR_TRY(tsri_alloc(&m->early, sweep->runs, sizeof *m->early));
    for (int64_t i = 0; i < sweep->runs; i++) {
        const tsri_outcome *o = &sweep->outcome[i];
        int64_t tau = (int64_t)m->column[i / m->seeds % m->columns];
        int64_t at = tsri_config_int(sweep->config, "rounds") / tau - 1;
        m->early[i] = at < o->curve_count ? o->curve[at] : (double)NAN;
    }
done:
    return st;
}

static tsr_status sweep_map(map *m, tsri_study *s, const char *scheme, const char *rows,
                            const char *columns, bool curves)
{
    tsr_status st = TSR_OK;
    tsri_sweep sweep = {0};
    char yaml[600];
    const char *grid[2] = {rows, columns};
    tsri_sweep_options o = {.grid = grid, .grids = 2, .seeds = sizes_of(s).seeds, .curves = curves};
    write_run_file(yaml, sizeof yaml, s, 0.1, scheme);
    TSR_TRY(tsri_study_sweep(s, &sweep, "sweep", yaml, &o, 0, 1));
    TSR_TRY(fill(m, &sweep));
done:
    tsri_sweep_fini(&sweep);
    return st;
}

static const double *cell(const map *m, int64_t row, int64_t column)
{
    return m->error + (row * m->columns + column) * m->seeds;
}

/* The colours of Figure 2, and the same numbers as lines with their intervals. */
static tsr_status draw_map(tsri_study *s, const map *m, const char *name, const char *title)
{
    tsr_status st = TSR_OK;
    tsri_chart c = {0};
    int64_t n = m->rows * m->columns;
    double *value = NULL;
    TSR_TRY(tsri_alloc(&value, 4 * n, sizeof *value));
    double *mean = value + n, *low = mean + n, *high = low + n;
    for (int64_t i = 0; i < n; i++) {
        tsri_estimate e = tsri_mean_of(m->error + i * m->seeds, m->seeds);
        value[i] = log10(e.value);
        mean[i] = e.value;
        low[i] = isnan(e.low) ? e.value : fmax(e.low, e.value / 10);
        high[i] = isnan(e.high) ? e.value : e.high;
    }
    tsri_chart_begin(&c, title);
    tsri_chart_panel(&c, &(tsri_panel){.x_label = m->column_name, .y_label = m->row_name});
    tsri_chart_map(&c, &(tsri_map){.rows = m->rows,
                                   .columns = m->columns,
                                   .value = value,
                                   .x = m->column,
                                   .y = m->row,
                                   .label = "log10 of the error"});
    tsri_chart_panel(&c,
                     &(tsri_panel){.x_label = m->column_name, .y_label = "error", .y_log = true});
    int64_t every = (m->rows + 4) / 5;
    for (int64_t r = 0; r < m->rows; r += every) {
        char series[64];
        (void)snprintf(series, sizeof series, "%s = %g", m->row_name, m->row[r]);
        tsri_chart_series(&c, &(tsri_series){.name = series,
                                             .n = m->columns,
                                             .x = m->column,
                                             .y = mean + r * m->columns,
                                             .low = low + r * m->columns,
                                             .high = high + r * m->columns,
                                             .marks = TSRI_MARKS_BOTH});
    }
    tsri_study_chart(s, name, &c);
done:
    tsri_chart_fini(&c);
    tsri_free(value);
    return st;
}

/* The slope of ln(error) against ln(value) along one line of the map, of one seed. */
static double slope(const map *m, bool along_rows, int64_t line, int64_t seed)
{
    double x[32], y[32];
    int64_t n = along_rows ? m->rows : m->columns;
    n = n < 32 ? n : 32;
    for (int64_t i = 0; i < n; i++) {
        x[i] = log(along_rows ? m->row[i] : m->column[i]);
        y[i] = log(along_rows ? cell(m, i, line)[seed] : cell(m, line, i)[seed]);
    }
    return tsri_slope_of(NULL, x, y, n).value;
}

/* The mean over lines 0 .. last-1 of their slopes, with its interval over the seeds; *right = the
 * lines that, in the mean over the seeds, have the sign. */
static tsri_estimate mean_slope(const map *m, bool along_rows, int64_t last, double sign,
                                int64_t *right)
{
    double mean[64] = {0};
    int64_t seeds = m->seeds < 64 ? m->seeds : 64;
    *right = 0;
    for (int64_t line = 0; line < last; line++) {
        double of_line = 0;
        for (int64_t k = 0; k < seeds; k++) {
            double one = slope(m, along_rows, line, k);
            mean[k] += one / (double)last;
            of_line += one;
        }
        *right += sign * of_line > 0;
    }
    return tsri_mean_of(mean, seeds);
}

/* A claim holds when the mean slope has the sign for certain and no line goes the other way. */
static void judge_slope(tsri_study *s, const map *m, bool along_rows, int64_t last, double sign,
                        const char *paper)
{
    int64_t right;
    tsri_estimate e = mean_slope(m, along_rows, last, sign, &right);
    bool sure = sign > 0 ? tsri_surely_above(e, 0) : tsri_surely_below(e, 0);
    tsri_study_claim(s, sure && right == last, paper,
                     "the error goes as the power %.3f of it (95 %% over seeds: %.3f to %.3f), as "
                     "claimed in %lld of %lld lines",
                     e.value, e.low, e.high, (long long)right, (long long)last);
}

static tsr_status fig2b(tsri_study *s)
{
    tsr_status st = TSR_OK;
    map m = {.row_name = "p, shares", .column_name = "xi, chance of a unit"};
    tell_sizes(s, 0.1);
    tsri_study_note(s, "Bernoulli masks, tau = 5.");
    TSR_TRY(sweep_map(&m, s, "local_steps: 5",
                      s->quick ? "scheme.workers=1,2,4,8" : "scheme.workers=1:8:1",
                      s->quick ? "scheme.xi=0.2:1:0.2" : "scheme.xi=0.1:1:0.1", false));
    TSR_TRY(draw_map(s, &m, "fig2b", "Figure 2b: the error after K rounds, Bernoulli masks"));
    judge_slope(
        s, &m, false, m.rows, -1,
        "With the number of shares fixed, the error falls as their chance grows (Theorem 3).");
    judge_slope(
        s, &m, true, m.columns - 1, -1,
        "With the chance fixed, the error falls as the number of shares grows (Theorem 3).");
    tsri_study_note(s,
                    "At xi = 1 all shares are the whole network: there p changes nothing, and that "
                    "column is left out of the second claim.");
    TSR_TRY(tsri_study_end(s));
done:
    map_fini(&m);
    return st;
}

/* With K rounds, more local steps are also more steps in all: what remains when they are not? */
static void tell_equal_steps(tsri_study *s, const map *m)
{
    int64_t right;
    map early = *m;
    early.error = m->early;
    tsri_estimate e = mean_slope(&early, false, m->rows, 1, &right);
    tsri_study_note(
        s,
        "K rounds of more local steps are more steps in all. After K steps in all, however "
        "they are cut into rounds, the error goes as the power %.3f of tau (95 %% over seeds: "
        "%.3f to %.3f), growing in %lld of %lld lines.",
        e.value, e.low, e.high, (long long)right, (long long)m->rows);
}

static tsr_status fig2c(tsri_study *s)
{
    tsr_status st = TSR_OK;
    map m = {.row_name = "p, shares", .column_name = "tau, local steps"};
    tell_sizes(s, 0.1);
    tsri_study_note(s, "Categorical masks: every unit in exactly one share, xi = 1/p.");
    TSR_TRY(sweep_map(
        &m, s, "draw: categorical", s->quick ? "scheme.workers=2,4,8" : "scheme.workers=2:10:2",
        s->quick ? "scheme.local_steps=1,2,5,10" : "scheme.local_steps=1,2,5,10,20", true));
    TSR_TRY(draw_map(s, &m, "fig2c", "Figure 2c: the error after K rounds, categorical masks"));
    judge_slope(s, &m, true, m.columns, 1,
                "The error grows with the number of shares, which are smaller then (Theorem 4).");
    judge_slope(s, &m, false, m.rows, 1,
                "The error grows with the number of local steps (Theorem 4).");
    tell_equal_steps(s, &m);
    TSR_TRY(tsri_study_end(s));
done:
    map_fini(&m);
    return st;
}

const tsri_reproduction tsri_reproduce_masked[] = {
    {"masked/fig2a", "the error within rounds: drawing, local steps, putting together", fig2a},
    {"masked/fig2b", "the error against chance and number of shares, Bernoulli masks", fig2b},
    {"masked/fig2c", "the error against number of shares and local steps, categorical masks",
     fig2c},
    {0},
};
