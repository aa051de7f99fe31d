/* report_sweep.c - the page of a sweep: the best cell and how sure it is, the cells as a map of
 * colours (sweep_map.c), the curves of the best ones, all of them in a table. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "report/sweep_view.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_CURVES = 6,   /* colours that are told apart */
    MOST_POINTS = 400, /* of a curve on the page; all are in the file */
    MOST_ROWS = 500
};

/* ---- Facts and the best --------------------------------------------------------------------- */

static void facts(const tsri_sweep_view *v)
{
    const tsri_sweep *s = v->sweep;
    char text[80], number[TSRI_NUMBER_TEXT];
    tsri_markup_add(&v->page->html, "<dl class=\"facts\">\n");
    if (v->ranking[0].count > 0 && !tsri_sweep_incomparable(s)) {
        (void)snprintf(text, sizeof text, "%s%s",
                       tsri_sweep_written(number, v, tsri_sweep_judged(v, &v->ranking[0])),
                       tsri_sweep_unit(v));
        tsri_page_fact(v->page, v->accuracy ? "best test accuracy" : "lowest loss", text);
    }
    (void)snprintf(text, sizeof text, "%lld x %lld", (long long)s->cells, (long long)s->seeds);
    tsri_page_fact(v->page, "cells x seeds", text);
    (void)snprintf(text, sizeof text, "%lld of %lld", (long long)s->done, (long long)s->runs);
    tsri_page_fact(v->page, "runs done", text);
    (void)snprintf(text, sizeof text, "%lld", (long long)s->diverged);
    tsri_page_fact(v->page, "diverged", text);
    if (s->refused > 0) {
        (void)snprintf(text, sizeof text, "%lld", (long long)s->refused);
        tsri_page_fact(v->page, "refused", text);
    }
    tsri_markup_add(&v->page->html, "</dl>\n");
}

/* May the lead of the best be chance? Twice the standard error of the difference decides. */
static void say_lead(const tsri_sweep_view *v)
{
    const tsri_cell_sum *a = &v->ranking[0], *b = &v->ranking[1];
    char number[TSRI_NUMBER_TEXT];
    if (v->sweep->cells < 2 || b->count == 0)
        return;
    double lead = fabs(tsri_sweep_judged(v, a) - tsri_sweep_judged(v, b));
    double error = sqrt(tsri_sweep_deviation(v, a) * tsri_sweep_deviation(v, a) / (double)a->count +
                        tsri_sweep_deviation(v, b) * tsri_sweep_deviation(v, b) / (double)b->count);
    tsri_sweep_written(number, v, lead);
    if (isnan(error))
        tsri_page_say(v->page,
                      "The next best cell is %s%s behind. With one seed nobody can tell whether "
                      "that is chance: --seeds 3 or more would.",
                      number, v->accuracy ? " points" : "");
    else
        tsri_page_say(v->page, "The next best cell is %s%s behind, which %s.", number,
                      v->accuracy ? " points" : "",
                      lead > 2 * error ? "is more than twice the standard error of the difference"
                                       : "may be chance: it is less than twice the standard error");
}

/* The command that trains the best cell; quotes where the shell would read a value otherwise. */
static void say_command(const tsri_sweep_view *v)
{
    const tsri_sweep *s = v->sweep;
    tsri_markup_add(&v->page->html, "<pre>tessera train ");
    tsri_markup_text(&v->page->html, v->page->folder);
    tsri_markup_add(&v->page->html, "/run.yaml --out runs/best");
    for (int64_t g = 0; g < s->options.grids; g++) {
        const char *value = s->grid[g].value[tsri_sweep_value(s, v->ranking[0].cell, g)];
        bool plain = value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789._/+-")] == '\0';
        tsri_markup_add(&v->page->html, " --set %s", plain ? "" : "'");
        tsri_markup_text(&v->page->html, s->grid[g].key);
        tsri_markup_add(&v->page->html, "=");
        tsri_markup_text(&v->page->html, value);
        tsri_markup_add(&v->page->html, "%s", plain ? "" : "'");
    }
    tsri_markup_add(&v->page->html, "</pre>\n");
}

static tsr_status best(const tsri_sweep_view *v)
{
    tsr_status st = TSR_OK;
    tsri_text cell = {0};
    const tsri_cell_sum *b = &v->ranking[0];
    char number[TSRI_NUMBER_TEXT], spread[TSRI_NUMBER_TEXT], seeds[120] = "";
    tsri_section_open(v->page, "The best cell");
    if (b->count == 0) {
        tsri_page_say(v->page, v->sweep->done > 0 ? "No run has finished." : "No run is done yet.");
        goto done;
    }
    if (tsri_sweep_incomparable(v->sweep)) {
        tsri_page_say(v->page, "Not told: results cannot be compared when %s differs.",
                      tsri_sweep_incomparable(v->sweep));
        goto done;
    }
    TSR_TRY(tsri_sweep_cell_text(&cell, v->sweep, b->cell, ""));
    if (b->count > 1)
        (void)snprintf(
            seeds, sizeof seeds, ", the mean of %lld seeds with a standard deviation of %s",
            (long long)b->count, tsri_sweep_written(spread, v, tsri_sweep_deviation(v, b)));
    tsri_page_say(v->page, "%s: %s %s%s%s.", cell.data, tsri_sweep_judged_name(v),
                  tsri_sweep_written(number, v, tsri_sweep_judged(v, b)), tsri_sweep_unit(v),
                  seeds);
    say_lead(v);
    say_command(v);
done:
    tsri_section_close(v->page);
    tsri_text_fini(&cell);
    return st;
}

/* ---- Parallel coordinates and filters -------------------------------------------------------- */

static tsr_status add_cell(tsri_sweep_view *v, const tsri_cell_sum *c)
{
    tsr_status st = TSR_OK;
    const tsri_sweep *s = v->sweep;
    const char *value[TSRI_CHOICE_KEYS] = {0};
    char number[TSRI_NUMBER_TEXT], result[80];
    tsri_text name = {0};
    for (int64_t g = 0, k = 0; g < s->options.grids && k < TSRI_CHOICE_KEYS; g++)
        if (s->grid[g].count > 1)
            value[k++] = s->grid[g].value[tsri_sweep_value(s, c->cell, g)];
    if (c->count > 0)
        (void)snprintf(result, sizeof result, "%s%s",
                       tsri_sweep_written(number, v, tsri_sweep_judged(v, c)), tsri_sweep_unit(v));
    else
        (void)snprintf(result, sizeof result, "%s", tsri_sweep_fate(c));
    TSR_TRY(tsri_sweep_cell_text(&name, s, c->cell, ""));
    TSR_TRY(tsri_choices_add(&v->choices, name.data, value, result,
                             c->count > 0 ? tsri_sweep_place(v, tsri_sweep_judged(v, c))
                                          : (double)NAN));
done:
    tsri_text_fini(&name);
    return st;
}

static tsr_status make_choices(tsri_sweep_view *v)
{
    tsr_status st = TSR_OK;
    const tsri_sweep *s = v->sweep;
    for (int64_t g = 0; g < s->options.grids; g++)
        if (s->grid[g].count > 1)
            TSR_TRY(tsri_choices_key(&v->choices, s->grid[g].key));
    for (int64_t cell = 0; cell < s->cells; cell++) {
        tsri_cell_sum c = tsri_sweep_sum(s, cell);
        TSR_TRY(add_cell(v, &c));
    }
done:
    return st;
}

static void choices(const tsri_sweep_view *v)
{
    char low[TSRI_NUMBER_TEXT + 4], high[TSRI_NUMBER_TEXT + 4], number[TSRI_NUMBER_TEXT];
    if (v->choices.keys == 0 || v->ranking[0].count == 0)
        return;
    tsri_section_open(v->page, "Which values matter");
    (void)snprintf(low, sizeof low, "%s%s", tsri_sweep_written(number, v, v->worst),
                   tsri_sweep_unit(v));
    (void)snprintf(high, sizeof high, "%s%s", tsri_sweep_written(number, v, v->best),
                   tsri_sweep_unit(v));
    tsri_choices_filters(v->page, &v->choices);
    tsri_choices_parallel(v->page, &v->choices, tsri_sweep_judged_name(v), low, high);
    tsri_section_close(v->page);
}

/* ---- Curves --------------------------------------------------------------------------------- */

/* The mean of a cell's curves at their k-th point, of the runs that have one. */
static double curve_at(const tsri_sweep *s, int64_t cell, int64_t k)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < s->seeds; i++) {
        const tsri_outcome *o = &s->outcome[cell * s->seeds + i];
        if (k >= o->curve_count || o->diverged || o->refused)
            continue;
        sum += o->curve[k];
        count++;
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}

static tsr_status add_curve(tsri_chart *chart, const tsri_sweep_view *v, const tsri_cell_sum *c)
{
    tsr_status st = TSR_OK;
    const tsri_sweep *s = v->sweep;
    tsri_text name = {0};
    double *x = NULL, *y = NULL;
    int64_t points = 0, n = 0;
    for (int64_t i = 0; i < s->seeds; i++) {
        int64_t count = s->outcome[c->cell * s->seeds + i].curve_count;
        points = count > points ? count : points;
    }
    int64_t stride = 1 + (points - 1) / MOST_POINTS;
    TSR_TRY(tsri_alloc(&x, MOST_POINTS + 2, sizeof *x));
    TSR_TRY(tsri_alloc(&y, MOST_POINTS + 2, sizeof *y));
    for (int64_t k = 0; k < points; k += stride, n++) {
        x[n] = (double)((k + 1) * (s->options.curve_every > 1 ? s->options.curve_every : 1));
        y[n] = curve_at(s, c->cell, k);
    }
    TSR_TRY(tsri_sweep_cell_text(&name, s, c->cell, ""));
    tsri_chart_series(chart, &(tsri_series){.name = name.data, .n = n, .x = x, .y = y});
done:
    tsri_free(x);
    tsri_free(y);
    tsri_text_fini(&name);
    return st;
}

static tsr_status curves(const tsri_sweep_view *v)
{
    tsr_status st = TSR_OK;
    tsri_chart chart = {0};
    tsri_section_open(v->page, "Curves");
    if (!v->sweep->options.curves || v->ranking[0].count == 0) {
        tsri_page_say(v->page,
                      "None were kept: 'tessera sweep --curves' keeps the loss of the whole "
                      "network on the training set after every round.");
        goto done;
    }
    tsri_chart_begin(&chart, NULL);
    chart.width = 940;
    chart.height = 420;
    tsri_chart_panel(&chart,
                     &(tsri_panel){.x_label = "round", .y_label = "training loss", .y_log = true});
    for (int64_t i = 0; i < v->sweep->cells && i < MOST_CURVES && v->ranking[i].count > 0; i++)
        TSR_TRY(add_curve(&chart, v, &v->ranking[i]));
    tsri_page_chart(v->page, &chart,
                    v->sweep->seeds > 1 ? "The best cells, each the mean of its seeds."
                                        : "The best cells.");
done:
    tsri_section_close(v->page);
    tsri_chart_fini(&chart);
    return st;
}

/* ---- The table ------------------------------------------------------------------------------ */

/* Nothing stands where there is no number. */
static void number(tsri_table *t, int digits, double value)
{
    if (isnan(value))
        tsri_table_format(t, "%s", "");
    else
        tsri_table_format(t, "%#.*g", digits, value);
}

/* A single seed has no deviation, and no column for it. */
static const char *deviation_head(const tsri_sweep_view *v)
{
    return v->sweep->seeds > 1 ? "±|" : "";
}

/* Results come first: a phone shows no more than the first columns. */
static void table_row(tsri_table *t, const tsri_sweep_view *v, const tsri_cell_sum *c)
{
    const tsri_spread *rest[] = {&c->loss, &c->train_loss};
    bool deviations = v->sweep->seeds > 1;
    if (v->accuracy)
        tsri_table_real(t, 100 * c->accuracy.mean, 2);
    if (v->accuracy && deviations)
        tsri_table_real(t, 100 * c->accuracy.deviation, 2);
    for (int64_t g = 0; v->accuracy && g < v->sweep->options.grids; g++)
        tsri_table_text(t, v->sweep->grid[g].value[tsri_sweep_value(v->sweep, c->cell, g)]);
    for (int k = 0; k < 2; k++) {
        number(t, 4, rest[k]->mean);
        if (deviations)
            number(t, 2, rest[k]->deviation);
        for (int64_t g = 0; k == 0 && !v->accuracy && g < v->sweep->options.grids; g++)
            tsri_table_text(t, v->sweep->grid[g].value[tsri_sweep_value(v->sweep, c->cell, g)]);
    }
    tsri_table_format(t, "%lld", (long long)c->diverged);
    if (v->sweep->refused > 0)
        tsri_table_format(t, "%lld", (long long)c->refused);
    bool ran = c->count + c->diverged > 0;
    tsri_table_real(t, ran ? c->seconds : (double)NAN,
                    c->seconds < 1    ? 3
                    : c->seconds < 10 ? 2
                                      : 1);
}

static void mark_row(tsri_markup *m, const void *context, int64_t row)
{
    const tsri_sweep_view *v = context;
    tsri_choices_mark(m, &v->choices, v->ranking[row].cell);
}

static tsr_status table(const tsri_sweep_view *v)
{
    tsr_status st = TSR_OK;
    tsri_table t = {.mark = mark_row, .context = v};
    tsri_text heads = {0};
    int64_t shown = v->sweep->cells < MOST_ROWS ? v->sweep->cells : MOST_ROWS;
    TSR_TRY(tsri_text_add(&heads, "%s|%s", v->accuracy ? "test accuracy, %" : "loss",
                          deviation_head(v)));
    for (int64_t g = 0; g < v->sweep->options.grids; g++)
        TSR_TRY(tsri_text_add(&heads, "%s|", v->sweep->grid[g].key));
    if (v->accuracy)
        TSR_TRY(tsri_text_add(&heads, "loss|%s", deviation_head(v)));
    TSR_TRY(tsri_text_add(&heads, "train loss|%sdiverged|%sseconds", deviation_head(v),
                          v->sweep->refused > 0 ? "refused|" : ""));
    tsri_table_head(&t, heads.data);
    for (int64_t i = 0; i < shown; i++)
        table_row(&t, v, &v->ranking[i]);
    tsri_section_open(v->page, "Table");
    bool parted = v->sweep->diverged + v->sweep->refused > 0;
    tsri_page_say(v->page,
                  "From the best to the worst%s%s. The loss is that of the test set, or of the "
                  "training set where there is none.",
                  parted ? ", cells of which a run diverged or was refused behind the others" : "",
                  v->sweep->seeds > 1 ? "; ± is the standard deviation over the seeds" : "");
    tsri_table_html(&v->page->html, &t);
    if (shown < v->sweep->cells)
        tsri_page_say(v->page, "%lld more cells are in sweep.csv.",
                      (long long)(v->sweep->cells - shown));
    tsri_section_close(v->page);
    st = t.st;
done:
    tsri_table_fini(&t);
    tsri_text_fini(&heads);
    return st;
}

/* ---- The whole ------------------------------------------------------------------------------ */

tsr_status tsri_report_sweep(tsri_page *p)
{
    tsr_status st = TSR_OK;
    tsri_sweep sweep = {0};
    tsri_cell_sum *ranking = NULL;
    char *name = NULL;
    tsri_sweep_view v = {.page = p, .sweep = &sweep};
    TSR_TRY(tsri_sweep_read(&sweep, p->folder));
    TSR_TRY(tsri_sweep_ranking(&ranking, &sweep));
    v.ranking = ranking;
    v.accuracy = tsri_sweep_by_accuracy(&sweep);
    tsri_sweep_find_range(&v);
    tsri_sweep_choose_axes(&v);
    TSR_TRY(make_choices(&v));
    TSR_TRY(tsri_last_name(&name, p->folder));
    TSR_TRY(tsri_page_begin(p, name));
    tsri_report_subtitle(p);
    facts(&v);
    TSR_TRY(best(&v));
    choices(&v);
    tsri_sweep_maps(&v);
    TSR_TRY(curves(&v));
    TSR_TRY(table(&v));
done:
    tsri_choices_fini(&v.choices);
    tsri_free(name);
    tsri_free(ranking);
    tsri_sweep_fini(&sweep);
    return st;
}
