/* masked_maps.c - Figures 2b and 2c of the masked-neurons paper: maps of the error over two
 * settings of the shares.
 *
 * A map is a sweep; a trend along a row or column is the slope of ln error against the ln of the
 * setting, and every row (or column) is a part of the claim.
 */
#include "reproduce/masked.h"

#include "base/alloc.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>

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
        m->early[i] = at >= 0 && at < o->curve_count ? o->curve[at] : (double)NAN;
    }
done:
    return st;
}

/* What a map is made of. */
typedef struct plan {
    const char *folder;         /* its own part of the study's folder */
    const char *rows, *columns; /* of the grid */
    int64_t seeds;
    bool curves;
    double from, to; /* parts of the study's work */
} plan;

static tsr_status sweep_map(map *m, tsri_study *s, const char *yaml, const plan *p)
{
    tsr_status st = TSR_OK;
    tsri_sweep sweep = {0};
    const char *grid[2] = {p->rows, p->columns};
    tsri_sweep_options o = {.grid = grid, .grids = 2, .seeds = p->seeds, .curves = p->curves};
    TSR_TRY(tsri_study_sweep(s, &sweep, p->folder, yaml, &o, p->from, p->to));
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

/* The power that the error goes with along lines 0 .. last-1 of the map, each a part of a claim. */
static void judge_slopes(tsri_study *s, const map *m, bool along_rows, int64_t last, const char *id)
{
    for (int64_t line = 0; line < last; line++) {
        double power[TSRI_SEEDS_MOST];
        int64_t seeds = m->seeds < TSRI_SEEDS_MOST ? m->seeds : TSRI_SEEDS_MOST;
        char part[80];
        for (int64_t k = 0; k < seeds; k++)
            power[k] = slope(m, along_rows, line, k);
        (void)snprintf(part, sizeof part, "%s = %g", along_rows ? m->column_name : m->row_name,
                       along_rows ? m->column[line] : m->row[line]);
        tsri_study_judge(s, id, part, power, seeds);
    }
}

tsr_status tsri_masked_fig2b(tsri_study *s)
{
    tsr_status st = TSR_OK;
    map m = {.row_name = "p, shares", .column_name = "xi, chance of a unit"};
    tsri_masked_settings(s, "0.1");
    tsri_study_setting(s, "local steps", "a fixed number, not given", "5");
    plan p = {.folder = "sweep",
              .rows = s->quick ? "scheme.workers=1,2,4,8" : "scheme.workers=1:8:1",
              .columns = s->quick ? "scheme.xi=0.2:1:0.2" : "scheme.xi=0.1:1:0.1",
              .seeds = tsri_masked_sizes_of(s).seeds,
              .to = 1};
    char yaml[600];
    tsri_masked_run_file(yaml, sizeof yaml, s, 0.1, "local_steps: 5");
    TSR_TRY(sweep_map(&m, s, yaml, &p));
    TSR_TRY(draw_map(s, &m, "fig2b", "Figure 2b: the error after K rounds, Bernoulli masks"));
    judge_slopes(s, &m, false, m.rows, "masked/fig2b/chance");
    judge_slopes(s, &m, true, m.columns - 1, "masked/fig2b/shares");
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
    double mean[TSRI_SEEDS_MOST] = {0};
    int64_t seeds = m->seeds < TSRI_SEEDS_MOST ? m->seeds : TSRI_SEEDS_MOST;
    map early = *m;
    char text[TSRI_ESTIMATE_TEXT];
    early.error = m->early;
    for (int64_t k = 0; k < seeds; k++)
        for (int64_t line = 0; line < m->rows; line++)
            mean[k] += slope(&early, false, line, k) / (double)m->rows;
    tsri_study_note(s,
                    "K rounds of more local steps are more steps in all. After K steps in all, "
                    "however they are cut into rounds, the error goes as the power %s of tau, mean "
                    "over p.",
                    tsri_estimate_text(text, tsri_mean_of(mean, seeds)));
}

/* Theorem 4's floor grows with tau, its rate too: which of the two is seen after K rounds depends
 * on whether the floor was reached. With ten rows lambda_0 is large enough for that. */
static tsr_status at_the_floor(tsri_study *s)
{
    tsr_status st = TSR_OK;
    map m = {.row_name = "p, shares", .column_name = "tau, local steps"};
    int64_t seeds = tsri_masked_sizes_of(s).seeds;
    plan p = {.folder = "floor",
              .rows = "scheme.workers=2,4,8",
              .columns = "scheme.local_steps=5,20,50",
              .seeds = seeds > 8 ? seeds : 8,
              .from = 0.8,
              .to = 1};
    static const char yaml[] = "data: {name: communities-crime, limit: 10}\n"
                               "model: {name: shallow, width: 100, kappa: 0.1}\n"
                               "optim: {name: gd, lr: 0.5, momentum: 0}\n"
                               "scheme: {name: masked, draw: categorical}\n"
                               "rounds: 200\neval: {every: 0}\ncheckpoint: {every: 0}\n";
    TSR_TRY(sweep_map(&m, s, yaml, &p));
    TSR_TRY(draw_map(s, &m, "fig2c-floor", "At the floor: ten rows, 100 units, step 0.5, K = 200"));
    judge_slopes(s, &m, false, m.rows, "masked/fig2c/floor");
done:
    map_fini(&m);
    return st;
}

tsr_status tsri_masked_fig2c(tsri_study *s)
{
    tsr_status st = TSR_OK;
    map m = {.row_name = "p, shares", .column_name = "tau, local steps"};
    plan p = {.folder = "sweep",
              .rows = s->quick ? "scheme.workers=2,4,8" : "scheme.workers=2:10:2",
              .columns =
                  s->quick ? "scheme.local_steps=1,2,5,10" : "scheme.local_steps=1,2,5,10,20",
              .seeds = tsri_masked_sizes_of(s).seeds,
              .curves = true,
              .to = 0.8};
    char yaml[600];
    tsri_masked_run_file(yaml, sizeof yaml, s, 0.1, "draw: categorical");
    tsri_masked_settings(s, "0.1");
    tsri_study_setting(s, "local steps", "not given", "%s", s->quick ? "1 to 10" : "1 to 20");
    tsri_study_setting(s, "fig2c-floor: rows, units, step, K", "no such panel",
                       "10, 100, 0.5, 200");
    TSR_TRY(sweep_map(&m, s, yaml, &p));
    TSR_TRY(draw_map(s, &m, "fig2c", "Figure 2c: the error after K rounds, categorical masks"));
    judge_slopes(s, &m, true, m.columns, "masked/fig2c/shares");
    judge_slopes(s, &m, false, m.rows, "masked/fig2c/steps");
    tell_equal_steps(s, &m);
    TSR_TRY(at_the_floor(s));
    tsri_study_note(
        s, "Theorem 4 bounds the error by (1 - rate)^K times the first one plus a floor; both the "
           "rate and the floor grow with tau. Which is seen depends on whether K rounds reach the "
           "floor: fig2c-floor shows a setting (ten rows, so a larger lambda_0) in which they do.");
    TSR_TRY(tsri_study_end(s));
done:
    map_fini(&m);
    return st;
}
