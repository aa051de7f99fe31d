/* compare.c - several runs side by side: read, brought to the same accuracies, drawn. */
#include "report/compare.h"

#include "base/alloc.h"
#include "base/log.h"
#include "io/file.h"
#include "report/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Reading ------------------------------------------------------------------------------- */

static tsr_status read_columns(tsri_rival *r)
{
    tsr_status st = TSR_OK;
    int64_t n = r->lines.n;
    const double *part = tsri_curves_get(&r->lines, "test_accuracy");
    const double *bytes = tsri_curves_get(&r->lines, "bytes_total");
    const double *test = tsri_curves_get(&r->lines, "test_loss");
    const double *train = tsri_curves_get(&r->lines, "loss");
    TSR_TRY(tsri_curves_seconds(&r->seconds, &r->lines));
    TSR_TRY(tsri_alloc(&r->percent, n, sizeof *r->percent));
    TSR_TRY(tsri_alloc(&r->loss, n, sizeof *r->loss));
    TSR_TRY(tsri_alloc(&r->bytes, n, sizeof *r->bytes));
    for (int64_t i = 0; i < n; i++) {
        r->percent[i] = part ? 100 * part[i] : (double)NAN;
        r->loss[i] = test ? test[i] : train ? train[i] : (double)NAN;
        r->bytes[i] = bytes ? bytes[i] : 0;
    }
done:
    return st;
}

const char *const tsri_part_names[TSRI_PARTS] = {"compute", "send", "wait"};

/* Adds up the seconds of a line of times, of all ranks but the coordinator. */
static tsr_status add_times(void *context, const tsri_json_value *line)
{
    double *seconds = context, value;
    const tsri_json_value *ranks = tsri_json_get(line, "ranks");
    for (int64_t i = 1; tsri_json_is_array(ranks) && i < tsri_json_length(ranks); i++)
        for (int k = 0; k < TSRI_PARTS; k++)
            if (tsri_json_as_real(tsri_json_get(tsri_json_at(ranks, i), tsri_part_names[k]),
                                  &value))
                seconds[k] += value;
    return TSR_OK;
}

static tsr_status read_parts(tsri_rival *r, const char *path)
{
    tsr_status st = TSR_OK;
    double seconds[TSRI_PARTS] = {0}, sum = 0;
    TSR_TRY(tsri_lines_each(path, "times", add_times, seconds));
    for (int k = 0; k < TSRI_PARTS; k++)
        sum += seconds[k];
    for (int k = 0; k < TSRI_PARTS; k++)
        r->part[k] = sum > 0 ? 100 * seconds[k] / sum : (double)NAN;
done:
    return st;
}

/* Metrics are enough: without a run file that can be read, the page lacks the run's settings. */
static tsr_status read_settings(tsr_config **out, const char *file)
{
    tsr_status st = tsr_config_read(out, file);
    if (st == TSR_OK || st == TSR_RESOURCES)
        return st;
    *out = NULL;
    TSRI_WARN("%s: compared without its settings", tsr_last_error());
    return TSR_OK;
}

static tsr_status read_rival(tsri_rival *r, const char *folder)
{
    tsr_status st = TSR_OK;
    char *path = NULL, *file = NULL;
    TSR_TRY(tsri_path_join(&path, folder, "metrics.jsonl"));
    TSR_CHECK(tsri_file_exists(path), TSR_USAGE,
              "%s holds no run: there is no metrics.jsonl in it (tessera train writes one)",
              tsri_quote(folder));
    TSR_TRY(tsri_last_name(&r->name, folder));
    TSR_TRY(tsri_path_join(&file, folder, "run.yaml"));
    if (tsri_file_exists(file))
        TSR_TRY(read_settings(&r->config, file));
    TSR_TRY(tsri_curves_read(&r->lines, path, NULL));
    TSR_TRY(read_columns(r));
    TSR_TRY(read_parts(r, path));
done:
    tsri_free(path);
    tsri_free(file);
    return st;
}

static bool is_called_alike(const tsri_compare *c, int64_t i)
{
    for (int64_t k = 0; k < c->count; k++)
        if (k != i && strcmp(c->run[k].name, c->run[i].name) == 0)
            return true;
    return false;
}

/* a/run and b/run are not both called run: those that would be are called as their folders were given. */
static tsr_status tell_apart(tsri_compare *c, const char *const *folder)
{
    tsr_status st = TSR_OK;
    bool *alike = NULL;
    TSR_TRY(tsri_alloc(&alike, c->count, sizeof *alike));
    for (int64_t i = 0; i < c->count; i++)
        alike[i] = is_called_alike(c, i);
    for (int64_t i = 0; i < c->count; i++) {
        if (!alike[i])
            continue;
        size_t n = strlen(folder[i]);
        while (n > 1 && folder[i][n - 1] == '/')
            n--;
        TSRI_FREE(c->run[i].name);
        TSR_TRY(tsri_strndup(&c->run[i].name, folder[i], n));
    }
done:
    tsri_free(alike);
    return st;
}

tsr_status tsri_compare_read(tsri_compare *c, const char *const *folder, int64_t count)
{
    tsr_status st = TSR_OK;
    *c = (tsri_compare){0};
    TSR_TRY(tsri_alloc(&c->run, count, sizeof *c->run));
    c->count = count;
    for (int64_t i = 0; i < count; i++)
        TSR_TRY(read_rival(&c->run[i], folder[i]));
    TSR_TRY(tell_apart(c, folder));
done:
    if (st != TSR_OK)
        tsri_compare_fini(c);
    return st;
}

void tsri_compare_fini(tsri_compare *c)
{
    for (int64_t i = 0; c->run && i < c->count; i++) {
        tsri_rival *r = &c->run[i];
        tsri_curves_fini(&r->lines);
        tsr_config_destroy(r->config);
        tsri_free(r->name);
        tsri_free(r->percent);
        tsri_free(r->loss);
        tsri_free(r->seconds);
        tsri_free(r->bytes);
    }
    tsri_free(c->run);
    *c = (tsri_compare){0};
}

/* ---- Goals --------------------------------------------------------------------------------- */

int64_t tsri_rival_reached(const tsri_rival *r, double percent)
{
    for (int64_t i = 0; i < r->lines.n; i++)
        if (r->percent[i] >= percent - 1e-9) /* 100 * 0.57 is a little less than 57 */
            return i;
    return -1;
}

double tsri_rival_best(const tsri_rival *r)
{
    double best = (double)NAN;
    for (int64_t i = 0; i < r->lines.n; i++)
        best = fmax(best, r->percent[i]);
    return best;
}

static double last_of(const tsri_rival *r, const double *column)
{
    return column && r->lines.n > 0 ? column[r->lines.n - 1] : (double)NAN;
}

double tsri_rival_rounds(const tsri_rival *r)
{
    return last_of(r, tsri_curves_get(&r->lines, "round"));
}

double tsri_rival_loss(const tsri_rival *r)
{
    return last_of(r, r->loss);
}

tsr_status tsri_compare_goals(tsri_compare *c, const double *percent, int64_t n)
{
    tsr_status st = TSR_OK;
    double best = 0;
    TSR_CHECK(n <= TSRI_GOALS, TSR_USAGE, "at most %d accuracies can be compared", TSRI_GOALS);
    for (int64_t i = 0; i < n; i++) {
        TSR_CHECK(percent[i] > (i > 0 ? percent[i - 1] : 0), TSR_USAGE,
                  "the accuracies to be reached must rise: %g comes after %g", percent[i],
                  i > 0 ? percent[i - 1] : 0.0);
        c->goal[i] = percent[i];
    }
    c->goals = n;
    for (int64_t i = 0; i < c->count; i++)
        best = fmax(best, tsri_rival_best(&c->run[i]));
    for (double goal = 5 * floor(best / 5 + 1e-9); n == 0 && goal > 0 && c->goals < 4; goal -= 5)
        c->goals++;
    for (int64_t i = 0; n == 0 && i < c->goals; i++)
        c->goal[i] = 5 * floor(best / 5 + 1e-9) - 5 * (double)(c->goals - 1 - i);
done:
    return st;
}

/* ---- What is shown ------------------------------------------------------------------------- */

bool tsri_compare_accuracy(const tsri_compare *c)
{
    for (int64_t i = 0; i < c->count; i++)
        if (!isnan(tsri_rival_best(&c->run[i])))
            return true;
    return false;
}

/* Over more than a factor of twenty losses are only seen on a log axis. */
static bool many_sizes(const tsri_compare *c)
{
    double low = (double)INFINITY, high = 0;
    for (int64_t i = 0; i < c->count; i++)
        for (int64_t k = 0; k < c->run[i].lines.n; k++)
            if (c->run[i].loss[k] > 0) {
                low = fmin(low, c->run[i].loss[k]);
                high = fmax(high, c->run[i].loss[k]);
            }
    return high > 20 * low;
}

void tsri_compare_panel(tsri_chart *chart, const tsri_compare *c, bool against_traffic)
{
    double most = 0, size = 1;
    char label[40] = "seconds", title[40];
    bool accuracy = tsri_compare_accuracy(c);
    (void)snprintf(title, sizeof title, "%s against %s", accuracy ? "Accuracy" : "Loss",
                   against_traffic ? "traffic" : "time");
    for (int64_t i = 0; i < c->count; i++)
        for (int64_t k = 0; k < c->run[i].lines.n; k++)
            most = fmax(most, c->run[i].bytes[k]);
    if (against_traffic) {
        const char *unit = tsri_byte_unit(most, &size);
        (void)snprintf(label, sizeof label, "%s between workers", unit);
    }
    tsri_chart_panel(chart, &(tsri_panel){.title = title,
                                          .x_label = label,
                                          .y_label = accuracy ? "test accuracy, %" : "loss",
                                          .x_log = against_traffic,
                                          .y_log = !accuracy && many_sizes(c)});
    for (int64_t i = 0; i < c->count; i++) {
        const tsri_rival *r = &c->run[i];
        double *x = NULL;
        if (chart->st == TSR_OK)
            chart->st = tsri_alloc(&x, r->lines.n, sizeof *x);
        for (int64_t k = 0; x && k < r->lines.n; k++)
            x[k] = against_traffic ? r->bytes[k] / size : r->seconds[k];
        if (x)
            tsri_chart_series(chart, &(tsri_series){.name = r->name,
                                                    .n = r->lines.n,
                                                    .x = x,
                                                    .y = accuracy ? r->percent : r->loss,
                                                    .marks = r->lines.n <= 40 ? TSRI_MARKS_BOTH
                                                                              : TSRI_MARKS_LINE});
        tsri_free(x);
    }
}

bool tsri_compare_traffic(const tsri_compare *c)
{
    for (int64_t i = 0; i < c->count; i++)
        for (int64_t k = 0; k < c->run[i].lines.n; k++)
            if (c->run[i].bytes[k] > 0)
                return true;
    return false;
}

tsr_status tsri_compare_picture(const tsri_compare *c, const char *base)
{
    tsr_status st = TSR_OK;
    tsri_chart chart;
    tsri_chart_begin(&chart, NULL);
    tsri_compare_panel(&chart, c, false);
    if (tsri_compare_traffic(c))
        tsri_compare_panel(&chart, c, true);
    TSR_TRY(tsri_chart_write(&chart, base));
done:
    tsri_chart_fini(&chart);
    return st;
}
