/* compare_page.c - the page of several runs: what each took to reach the same accuracy, in which
 * keys they differ, and means over runs that differ only in their seeds. */
#include "report/compare.h"

#include "base/alloc.h"
#include "base/estimate.h"
#include "base/text.h"
#include "io/file.h"
#include "report/choices.h"
#include "report/report_parts.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Keys in which the runs differ ---------------------------------------------------------- */

/* value[count] = the key's value in each run's file, "" without; *differ: not all are the same. */
static tsr_status values_of(char **value, bool *differ, const tsri_compare *c, const char *key)
{
    tsr_status st = TSR_OK;
    *differ = false;
    for (int64_t i = 0; i < c->count; i++) {
        tsri_text text = {0};
        if (c->run[i].config)
            TSR_TRY(tsri_config_write_value(&text, c->run[i].config, key));
        st = tsri_strdup(&value[i], text.data ? text.data : "");
        tsri_text_fini(&text);
        TSR_TRY(st);
        *differ |= strcmp(value[i], value[0]) != 0;
    }
done:
    return st;
}

static void free_values(char **value, int64_t count)
{
    for (int64_t i = 0; value && i < count; i++)
        TSRI_FREE(value[i]);
}

/* Worst to best, of what decides. */
static double place_of(const tsri_compare *c, int64_t i)
{
    bool accuracy = tsri_compare_accuracy(c);
    double low = (double)INFINITY, high = (double)-INFINITY, own = 0;
    for (int64_t k = 0; k < c->count; k++) {
        double value = accuracy ? tsri_rival_best(&c->run[k]) : -tsri_rival_loss(&c->run[k]);
        if (isnan(value)) {
            own = k == i ? (double)NAN : own;
            continue;
        }
        own = k == i ? value : own;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    return isnan(own) ? own : high > low ? (own - low) / (high - low) : 1;
}

typedef struct differing {
    const char *key[TSRI_CHOICE_KEYS];
    char **value[TSRI_CHOICE_KEYS]; /* [count] */
    int64_t keys;
} differing;

static tsr_status find_keys(differing *d, const tsri_compare *c)
{
    tsr_status st = TSR_OK;
    char **value = NULL;
    for (int64_t row = 0; row < tsri_schema_count && d->keys < TSRI_CHOICE_KEYS; row++) {
        bool differ = false;
        if (tsri_schema[row].pace || strcmp(tsri_schema[row].key, "seed") == 0)
            continue;
        if (!value)
            TSR_TRY(tsri_alloc(&value, c->count, sizeof *value));
        TSR_TRY(values_of(value, &differ, c, tsri_schema[row].key));
        if (differ) {
            d->key[d->keys] = tsri_schema[row].key;
            d->value[d->keys++] = value;
            value = NULL;
        } else {
            free_values(value, c->count);
        }
    }
done:
    free_values(value, c->count);
    tsri_free(value);
    return st;
}

static tsr_status make_choices(tsri_choices *choices, const tsri_compare *c)
{
    tsr_status st = TSR_OK;
    differing d = {0};
    TSR_TRY(find_keys(&d, c));
    for (int64_t k = 0; k < d.keys; k++)
        TSR_TRY(tsri_choices_key(choices, d.key[k]));
    for (int64_t i = 0; i < c->count; i++) {
        const char *value[TSRI_CHOICE_KEYS] = {0};
        char result[60];
        for (int64_t k = 0; k < d.keys; k++)
            value[k] = d.value[k][i];
        if (tsri_compare_accuracy(c))
            (void)snprintf(result, sizeof result, "best %.2f %%", tsri_rival_best(&c->run[i]));
        else
            (void)snprintf(result, sizeof result, "loss %.4g", tsri_rival_loss(&c->run[i]));
        TSR_TRY(tsri_choices_add(choices, c->run[i].name, value, result, place_of(c, i)));
    }
done:
    for (int64_t k = 0; k < d.keys; k++) {
        free_values(d.value[k], c->count);
        tsri_free(d.value[k]);
    }
    return st;
}

/* ---- Seeds ---------------------------------------------------------------------------------- */

/* Do both have the same settings in all keys but the seed that decide results? */
static tsr_status same_settings(bool *same, const tsr_config *a, const tsr_config *b)
{
    tsr_status st = TSR_OK;
    tsr_config *twin = NULL; /* b, with the seed of a */
    tsri_text differences = {0};
    char seed[40];
    *same = false;
    if (!a || !b)
        return TSR_OK;
    (void)snprintf(seed, sizeof seed, "seed=%lld", (long long)tsri_config_int(a, "seed"));
    TSR_TRY(tsri_config_copy(&twin, b));
    TSR_TRY(tsr_config_set(twin, seed));
    TSR_TRY(tsri_config_differences(&differences, a, twin));
    *same = differences.length == 0;
done:
    tsri_text_fini(&differences);
    tsr_config_destroy(twin);
    return st;
}

static bool has_seed(const tsri_compare *c, const int64_t *group, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < n; i++)
        if (tsri_config_int(c->run[group[i]].config, "seed") ==
            tsri_config_int(c->run[k].config, "seed"))
            return true;
    return false;
}

/* group[...] = the runs like run i, itself first; 0 when an earlier one has them. Of runs with one
 * seed the first counts: a copy is no second measurement. */
static tsr_status group_of(int64_t *group, int64_t *n, const tsri_compare *c, int64_t i)
{
    tsr_status st = TSR_OK;
    *n = 0;
    for (int64_t k = 0; k < c->count; k++) {
        bool same = k == i;
        if (!same)
            TSR_TRY(same_settings(&same, c->run[i].config, c->run[k].config));
        if (same && k < i) {
            *n = 0;
            goto done;
        }
        if (same && !(*n > 0 && has_seed(c, group, *n, k)))
            group[(*n)++] = k;
    }
done:
    return st;
}

static double end_of(const tsri_rival *r, const double *column)
{
    return r->lines.n > 0 ? column[r->lines.n - 1] : (double)NAN;
}

/* "88.10 (87.20 to 89.00)"; of values that are all the same that one. Nothing here can be below 0,
 * and an interval of few seeds must not say so. */
static void put_mean(tsri_table *t, const double *value, int64_t n, double unit, int digits)
{
    double scaled[256];
    n = n < 256 ? n : 256;
    for (int64_t i = 0; i < n; i++)
        scaled[i] = value[i] / unit;
    tsri_estimate e = tsri_mean_of(scaled, n);
    if (!isfinite(e.value))
        tsri_table_format(t, "%s", "");
    else if (e.high - e.low <= 1e-12 * fabs(e.value))
        tsri_table_format(t, "%.*f", digits, e.value);
    else
        tsri_table_format(t, "%.*f (%.*f to %.*f)", digits, e.value, digits, fmax(e.low, 0), digits,
                          e.high);
}

static void group_row(tsri_table *t, const tsri_compare *c, const int64_t *group, int64_t n)
{
    double value[3][256] = {{0}};
    n = n < 256 ? n : 256;
    for (int64_t i = 0; i < n; i++) {
        const tsri_rival *r = &c->run[group[i]];
        value[0][i] = tsri_compare_accuracy(c) ? tsri_rival_best(r) : tsri_rival_loss(r);
        value[1][i] = end_of(r, r->seconds);
        value[2][i] = end_of(r, r->bytes);
    }
    tsri_table_text(t, c->run[group[0]].name);
    tsri_table_format(t, "%lld", (long long)n);
    put_mean(t, value[0], n, 1, tsri_compare_accuracy(c) ? 2 : 4);
    put_mean(t, value[1], n, 1, value[1][0] < 10 ? 2 : 1);
    put_mean(t, value[2], n, 1e6, 2);
}

/* The mean over the seeds with its interval, at each evaluation that all of them have. */
static void group_curve(tsri_page *p, tsri_chart *chart, const tsri_compare *c,
                        const int64_t *group, int64_t n)
{
    double *mean = NULL, *low = NULL, *high = NULL, one[256];
    int64_t points = c->run[group[0]].lines.n;
    bool accuracy = tsri_compare_accuracy(c);
    const double *round = tsri_curves_get(&c->run[group[0]].lines, "round");
    n = n < 256 ? n : 256;
    for (int64_t i = 1; i < n; i++)
        points = c->run[group[i]].lines.n < points ? c->run[group[i]].lines.n : points;
    if (p->html.st == TSR_OK && round)
        p->html.st = tsri_alloc(&mean, 3 * points, sizeof *mean);
    if (!mean)
        return;
    low = mean + points;
    high = low + points;
    for (int64_t k = 0; k < points; k++) {
        for (int64_t i = 0; i < n; i++)
            one[i] = accuracy ? c->run[group[i]].percent[k] : c->run[group[i]].loss[k];
        tsri_estimate e = tsri_mean_of(one, n);
        mean[k] = e.value;
        low[k] = e.low;
        high[k] = e.high;
    }
    tsri_chart_series(chart, &(tsri_series){.name = c->run[group[0]].name,
                                            .n = points,
                                            .x = round,
                                            .y = mean,
                                            .low = low,
                                            .high = high});
    tsri_free(mean);
}

static tsr_status over_seeds(tsri_page *p, const tsri_compare *c)
{
    tsr_status st = TSR_OK;
    int64_t *group = NULL, found = 0;
    tsri_table t = {0};
    tsri_chart chart;
    bool accuracy = tsri_compare_accuracy(c);
    tsri_chart_begin(&chart, NULL);
    chart.width = 940;
    chart.height = 380;
    tsri_chart_panel(&chart, &(tsri_panel){.title = "Means over seeds, with 95 % intervals",
                                           .x_label = "round",
                                           .y_label = accuracy ? "test accuracy, %" : "loss"});
    TSR_TRY(tsri_alloc(&group, c->count, sizeof *group));
    tsri_table_head(&t, accuracy ? "runs like|seeds|best, %|seconds|traffic, MB"
                                 : "runs like|seeds|loss|seconds|traffic, MB");
    for (int64_t i = 0; i < c->count; i++) {
        int64_t n = 0;
        TSR_TRY(group_of(group, &n, c, i));
        if (n < 2)
            continue;
        group_row(&t, c, group, n);
        group_curve(p, &chart, c, group, n);
        found++;
    }
    if (found > 0) {
        tsri_section_open(p, "Over seeds");
        tsri_page_say(p, "Runs that differ in their seeds alone: means, with 95 %% intervals "
                         "(Student's).");
        tsri_table_html(&p->html, &t);
        tsri_page_chart(p, &chart, NULL);
        tsri_section_close(p);
    }
done:
    tsri_chart_fini(&chart);
    tsri_table_fini(&t);
    tsri_free(group);
    return st;
}

/* ---- The page ------------------------------------------------------------------------------- */

/* Had any run workers in other processes? */
static bool any_parts(const tsri_compare *c)
{
    for (int64_t i = 0; i < c->count; i++)
        if (!isnan(c->run[i].part[0]))
            return true;
    return false;
}

/* What each run took to the same accuracies; after that, the keys in which they differ. */
static tsr_status tabulate(tsri_table *t, const tsri_compare *c, const tsri_choices *keys)
{
    tsr_status st = TSR_OK;
    tsri_text all = {0};
    bool parts = any_parts(c), accuracy = tsri_compare_accuracy(c);
    TSR_TRY(tsri_text_add(&all, "run|rounds|loss%s%s", accuracy ? "|best, %" : "",
                          parts ? "|computing, %|sending, %|waiting, %" : ""));
    for (int64_t g = 0; g < c->goals; g++)
        TSR_TRY(tsri_text_add(&all, "|to %.4g %%, s|traffic", c->goal[g]));
    for (int64_t k = 0; k < keys->keys; k++)
        TSR_TRY(tsri_text_add(&all, "|%s", keys->key[k].name));
    tsri_table_head(t, all.data);
    for (int64_t i = 0; i < c->count; i++) {
        const tsri_rival *r = &c->run[i];
        tsri_table_text(t, r->name);
        tsri_table_real(t, tsri_rival_rounds(r), 0);
        tsri_table_real(t, tsri_rival_loss(r), 4);
        if (accuracy)
            tsri_table_real(t, tsri_rival_best(r), 2);
        for (int k = 0; parts && k < TSRI_PARTS; k++)
            tsri_table_real(t, r->part[k], 0);
        for (int64_t g = 0; g < c->goals; g++) {
            int64_t at = tsri_rival_reached(r, c->goal[g]);
            tsri_table_real(t, at < 0 ? (double)NAN : r->seconds[at],
                            at >= 0 && r->seconds[at] < 10 ? 2 : 1);
            tsri_table_format(t, "%s", at < 0 ? "" : tsri_bytes_text(r->bytes[at]));
        }
        for (int64_t k = 0; k < keys->keys; k++)
            tsri_table_text(t, tsri_choices_text(&keys->key[k], keys->thing[i].at[k]));
    }
    st = t->st;
done:
    tsri_text_fini(&all);
    return st;
}

static void mark_row(tsri_markup *m, const void *context, int64_t row)
{
    tsri_choices_mark(m, context, row);
}

static void page_chart(tsri_page *p, const tsri_compare *c, bool against_traffic)
{
    tsri_chart chart;
    tsri_chart_begin(&chart, NULL);
    chart.width = c->count > 8 ? 940 : 470;
    chart.height = c->count > 8 ? 320 + 18 * floor((double)c->count / 8) : 320;
    tsri_compare_panel(&chart, c, against_traffic);
    tsri_page_chart(p, &chart, NULL);
    tsri_chart_fini(&chart);
}

/* Of the runs that reached the accuracy, the one with the least of that column; -1: none. */
static int64_t least_to(const tsri_compare *c, double percent, bool bytes)
{
    int64_t found = -1;
    double least = (double)INFINITY;
    for (int64_t i = 0; i < c->count; i++) {
        const tsri_rival *r = &c->run[i];
        int64_t at = tsri_rival_reached(r, percent);
        if (at >= 0 && (bytes ? r->bytes : r->seconds)[at] < least) {
            least = (bytes ? r->bytes : r->seconds)[at];
            found = i;
        }
    }
    return found;
}

/* The best of the runs that have a result; -1: none has. */
static int64_t best_of(const tsri_compare *c)
{
    int64_t best = -1;
    for (int64_t i = 0; i < c->count; i++)
        if (!isnan(place_of(c, i)) && (best < 0 || place_of(c, i) > place_of(c, best)))
            best = i;
    return best;
}

/* The first key of which two runs that name it have different values; NULL: none. */
static const char *unlike(const tsri_compare *c, const char *const *keys, int64_t count)
{
    for (int64_t key = 0; key < count; key++) {
        const char *first = NULL;
        for (int64_t i = 0; i < c->count; i++) {
            const char *own =
                c->run[i].config ? tsri_config_text(c->run[i].config, keys[key]) : NULL;
            if (first && own && strcmp(first, own) != 0)
                return keys[key];
            first = first ? first : own;
        }
    }
    return NULL;
}

/* Why results are not of one measure: a key; NULL: they are. Accuracies are of the same samples,
 * losses of the same loss and targets, too. */
static const char *incomparable(const tsri_compare *c)
{
    static const char *const key[] = {"data.name", "data.target", "loss", "data.target_scale"};
    enum { OF_ACCURACY = 2, OF_LOSS = sizeof key / sizeof *key };
    return unlike(c, key, tsri_compare_accuracy(c) ? OF_ACCURACY : OF_LOSS);
}

static void best_fact(tsri_page *p, const tsri_compare *c)
{
    const char *key = incomparable(c);
    int64_t best = best_of(c);
    char text[80];
    (void)snprintf(text, sizeof text, "not told: %s differs", key ? key : "");
    if (best < 0 || key) {
        tsri_page_fact(p, "best run", key ? text : "none has a result yet");
        return;
    }
    tsri_page_fact(p, "best run", c->run[best].name);
    if (tsri_compare_accuracy(c))
        tsri_page_number(p, "its accuracy", tsri_rival_best(&c->run[best]), 2, " %");
    else
        tsri_page_number(p, "its loss", tsri_rival_loss(&c->run[best]), 4, "");
}

/* The run that is best, the one that was first, the one that sent least: what people want to know
 * before they read a table. */
static void facts(tsri_page *p, const tsri_compare *c)
{
    char name[80];
    double goal = c->goals > 0 ? c->goal[c->goals - 1] : 0;
    bool told = c->goals > 0 && !incomparable(c);
    int64_t first = told ? least_to(c, goal, false) : -1;
    int64_t least = told && tsri_compare_traffic(c) ? least_to(c, goal, true) : -1;
    tsri_markup_add(&p->html, "<dl class=\"facts\">\n");
    best_fact(p, c);
    (void)snprintf(name, sizeof name, "first to %.4g %%", goal);
    if (first >= 0)
        tsri_page_fact(p, name, c->run[first].name);
    (void)snprintf(name, sizeof name, "least sent to %.4g %%", goal);
    if (least >= 0)
        tsri_page_fact(p, name, c->run[least].name);
    tsri_markup_add(&p->html, "</dl>\n");
}

/* The result of the run at that end of the last axis: 0 the worst, 1 the best. */
static void end_text(char text[48], const tsri_compare *c, double place)
{
    (void)snprintf(text, 48, "%s", place > 0 ? "best" : "worst");
    for (int64_t i = 0; i < c->count; i++)
        if (place_of(c, i) == place && tsri_compare_accuracy(c))
            (void)snprintf(text, 48, "%.2f %%", tsri_rival_best(&c->run[i]));
        else if (place_of(c, i) == place)
            (void)snprintf(text, 48, "%.4g", tsri_rival_loss(&c->run[i]));
}

static tsr_status sections(tsri_page *p, const tsri_compare *c, const tsri_choices *choices)
{
    tsr_status st = TSR_OK;
    tsri_table t = {.mark = mark_row, .context = choices};
    TSR_TRY(tabulate(&t, c, choices));
    facts(p, c);
    tsri_section_open(p, c->goals > 0 ? "To the same accuracy" : "The runs");
    tsri_choices_filters(p, choices);
    tsri_table_html(&p->html, &t);
    tsri_markup_add(&p->html,
                    "<p class=\"quiet\">Loss: of the test set at the last evaluation, or of "
                    "the training set where there is none.</p>\n");
    tsri_section_close(p);
    TSR_TRY(over_seeds(p, c));
    tsri_section_open(p, "Learning");
    tsri_markup_add(&p->html, "<div class=\"%s\">\n", c->count > 8 ? "tall" : "charts");
    page_chart(p, c, false);
    if (tsri_compare_traffic(c))
        page_chart(p, c, true);
    tsri_markup_add(&p->html, "</div>\n");
    tsri_section_close(p);
    if (choices->keys > 0) {
        tsri_section_open(p, "Which values matter");
        char worst[48], best[48];
        end_text(worst, c, 0);
        end_text(best, c, 1);
        tsri_choices_parallel(p, choices, tsri_compare_accuracy(c) ? "accuracy" : "loss", worst,
                              best);
        tsri_section_close(p);
    }
done:
    tsri_table_fini(&t);
    return st;
}

tsr_status tsri_compare_page(const tsri_compare *c, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_page p = {0};
    tsri_choices choices = {0};
    tsri_text page = {0};
    TSR_TRY(make_choices(&choices, c));
    TSR_TRY(tsri_page_begin(&p, "Runs compared"));
    TSR_TRY(sections(&p, c, &choices));
    TSR_TRY(tsri_page_end(&page, &p));
    TSR_TRY(tsri_file_write_text(path, page.data));
done:
    tsri_choices_fini(&choices);
    tsri_text_fini(&page);
    tsri_page_fini(&p);
    return st;
}
