/* chart_json.c - the numbers of a page's charts as one JSON document. */
#include "report/chart_json.h"

#include "base/alloc.h"
#include "report/chart_parts.h"

#include <math.h>
#include <string.h>

enum {
    MOST_POINTS = 20000, /* of a series; longer ones are thinned to this */
    MOST_CELLS = 10000   /* of a map; larger ones have no values under the cursor */
};

/* ---- Numbers and columns -------------------------------------------------------------------- */

/* Seven digits; whole numbers whole. */
static void put_number(tsri_json *w, double value)
{
    if (!isfinite(value)) {
        tsri_json_null(w);
    } else if (value == nearbyint(value) && fabs(value) < 1e15) {
        tsri_json_int(w, (int64_t)value);
    } else {
        double power = 6 - floor(log10(fabs(value)));
        double unit = pow(10, power), rounded = nearbyint(value * unit) / unit;
        tsri_json_real(w, fabs(power) < 290 && isfinite(rounded) ? rounded : value);
    }
}

static bool same_column(const tsri_chart_column *c, const double *value, int64_t n)
{
    return c->n == n && memcmp(c->value, value, (size_t)n * sizeof *value) == 0;
}

/* The column's number; -1 when there is none to write, or no memory for it. */
static int64_t column_of(tsri_chart_data *d, const double *value, int64_t n)
{
    for (int64_t i = 0; value && i < d->columns; i++)
        if (same_column(&d->column[i], value, n))
            return i;
    if (!value || d->charts.st != TSR_OK)
        return -1;
    d->charts.st = tsri_reserve(&d->column, &d->capacity, d->columns, sizeof *d->column);
    if (d->charts.st != TSR_OK)
        return -1;
    tsri_chart_column *c = &d->column[d->columns];
    *c = (tsri_chart_column){.n = n};
    d->charts.st = tsri_alloc_raw(&c->value, n, sizeof *c->value);
    if (d->charts.st != TSR_OK)
        return -1;
    if (n > 0)
        memcpy(c->value, value, (size_t)n * sizeof *value);
    return d->columns++;
}

static void put_column(tsri_chart_data *d, const char *key, const double *value, int64_t n)
{
    int64_t column = column_of(d, value, n);
    if (column >= 0)
        tsri_json_put_int(&d->charts, key, column);
}

/* ---- Long series ---------------------------------------------------------------------------- */

static void choose(int64_t *chosen, int64_t *count, int64_t i)
{
    if (*count == 0 || chosen[*count - 1] < i)
        chosen[(*count)++] = i;
}

/* Keeps the least and the largest of each bundle of neighbours, in their order; returns how many.
 * NaN stays where it begins a bundle, so that a gap remains a gap. */
static int64_t thin(int64_t *chosen, const double *y, int64_t n)
{
    int64_t count = 0, bundles = MOST_POINTS / 2;
    for (int64_t b = 0; b < bundles; b++) {
        int64_t from = n * b / bundles, to = n * (b + 1) / bundles, least = from, most = from;
        for (int64_t i = from; i < to; i++) {
            least = y[i] < y[least] || isnan(y[least]) ? i : least;
            most = y[i] > y[most] || isnan(y[most]) ? i : most;
        }
        choose(chosen, &count, least < most ? least : most);
        choose(chosen, &count, least < most ? most : least);
    }
    return count;
}

static void put_chosen(tsri_chart_data *d, const char *key, const double *value,
                       const int64_t *chosen, int64_t count)
{
    double *copy = NULL;
    if (value && d->charts.st == TSR_OK)
        d->charts.st = tsri_alloc_raw(&copy, count, sizeof *copy);
    for (int64_t i = 0; copy && i < count; i++)
        copy[i] = value[chosen[i]];
    put_column(d, key, copy, count);
    tsri_free(copy);
}

static void put_thinned(tsri_chart_data *d, const tsri_series *s)
{
    int64_t *chosen = NULL;
    double *x = NULL;
    if (d->charts.st == TSR_OK)
        d->charts.st = tsri_alloc(&chosen, MOST_POINTS, sizeof *chosen);
    if (d->charts.st == TSR_OK)
        d->charts.st = tsri_alloc(&x, s->n, sizeof *x);
    for (int64_t i = 0; x && i < s->n; i++)
        x[i] = tsri_series_x(s, i);
    if (x) {
        int64_t count = thin(chosen, s->y, s->n);
        put_chosen(d, "x", x, chosen, count);
        put_chosen(d, "y", s->y, chosen, count);
        put_chosen(d, "low", s->low, chosen, count);
        put_chosen(d, "high", s->high, chosen, count);
        tsri_json_put_int(&d->charts, "points", s->n);
    }
    tsri_free(chosen);
    tsri_free(x);
}

/* ---- Panels --------------------------------------------------------------------------------- */

static void put_series(tsri_chart_data *d, const tsri_drawn *p, int64_t i)
{
    static const char *const marks[] = {[TSRI_MARKS_LINE] = "line",
                                        [TSRI_MARKS_POINTS] = "points",
                                        [TSRI_MARKS_BOTH] = "both",
                                        [TSRI_MARKS_BARS] = "bars"};
    const tsri_series *s = &p->series[i];
    tsri_json *w = &d->charts;
    tsri_json_open(w, '{');
    if (s->name)
        tsri_json_put_text(w, "name", s->name);
    tsri_json_put_int(w, "colour", tsri_series_colour(p, i));
    tsri_json_put_text(w, "marks", marks[s->marks]);
    if (s->dashed)
        tsri_json_put_bool(w, "dashed", true);
    if (s->n > MOST_POINTS) {
        put_thinned(d, s);
    } else {
        put_column(d, "x", s->x, s->n);
        put_column(d, "y", s->y, s->n);
        put_column(d, "low", s->low, s->n);
        put_column(d, "high", s->high, s->n);
    }
    tsri_json_close(w, '}');
}

static void put_map(tsri_chart_data *d, const tsri_map *map)
{
    tsri_json *w = &d->charts;
    bool small = map->rows * map->columns <= MOST_CELLS;
    tsri_json_key(w, "map");
    tsri_json_open(w, '{');
    tsri_json_put_int(w, "rows", map->rows);
    tsri_json_put_int(w, "columns", map->columns);
    if (map->label)
        tsri_json_put_text(w, "label", map->label);
    put_column(d, "x", map->x, map->columns);
    put_column(d, "y", map->y, map->rows);
    put_column(d, "value", small ? map->value : NULL, map->rows * map->columns);
    tsri_json_close(w, '}');
}

static void put_axis(tsri_json *w, const char *key, const tsri_scale *scale, const char *label)
{
    tsri_json_key(w, key);
    tsri_json_open(w, '{');
    tsri_json_put_bool(w, "log", scale->log);
    tsri_json_put_real(w, "low", scale->low);
    tsri_json_put_real(w, "high", scale->high);
    if (label)
        tsri_json_put_text(w, "label", label);
    tsri_json_close(w, '}');
}

static void put_box(tsri_json *w, const tsri_box *b)
{
    const double side[] = {b->left, b->top, b->width, b->height};
    tsri_json_key(w, "box");
    tsri_json_open(w, '[');
    for (int i = 0; i < 4; i++)
        put_number(w, nearbyint(side[i] * 100) / 100);
    tsri_json_close(w, ']');
}

static void put_panel(tsri_chart_data *d, const tsri_chart *c, int64_t i)
{
    tsri_view v;
    tsri_json *w = &d->charts;
    const tsri_drawn *p = &c->panel[i];
    tsri_view_of(&v, c, i);
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "title", p->about.title ? p->about.title : "");
    put_box(w, &v.plot);
    put_axis(w, "x", &v.x, p->about.x_label);
    put_axis(w, "y", &v.y, p->about.y_label);
    if (p->about.y_low < p->about.y_high)
        tsri_json_put_bool(w, "fixed", true);
    if (p->about.category) {
        tsri_json_key(w, "categories");
        tsri_json_open(w, '[');
        for (int64_t k = 0; k < p->about.categories; k++)
            tsri_json_text(w, p->about.category[k]);
        tsri_json_close(w, ']');
    }
    if (p->map.rows > 0)
        put_map(d, &p->map);
    tsri_json_key(w, "series");
    tsri_json_open(w, '[');
    for (int64_t k = 0; k < p->count; k++)
        put_series(d, p, k);
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
}

/* ---- The document --------------------------------------------------------------------------- */

void tsri_chart_data_add(tsri_chart_data *d, const tsri_chart *c)
{
    if (d->charts.st == TSR_OK)
        d->charts.st = c->st;
    if (d->charts.st != TSR_OK)
        return;
    tsri_json_open(&d->charts, '[');
    for (int64_t i = 0; i < c->count; i++)
        put_panel(d, c, i);
    tsri_json_close(&d->charts, ']');
}

tsr_status tsri_chart_data_end(tsri_text *out, tsri_chart_data *d)
{
    tsr_status st = TSR_OK;
    tsri_json columns = {0};
    TSR_TRY(tsri_json_end(&d->charts));
    tsri_json_open(&columns, '[');
    for (int64_t i = 0; i < d->columns; i++) {
        tsri_json_open(&columns, '[');
        for (int64_t k = 0; k < d->column[i].n; k++)
            put_number(&columns, d->column[i].value[k]);
        tsri_json_close(&columns, ']');
    }
    tsri_json_close(&columns, ']');
    TSR_TRY(tsri_json_end(&columns));
    TSR_TRY(tsri_text_add(out, "{\"format\":%d,\"charts\":[", TSRI_JSON_FORMAT));
    TSR_TRY(tsri_text_add_bytes(out, d->charts.text.data ? d->charts.text.data : "",
                                (size_t)d->charts.text.length));
    TSR_TRY(tsri_text_add(out, "],\n\"columns\":"));
    TSR_TRY(tsri_text_add_bytes(out, columns.text.data, (size_t)columns.text.length));
    TSR_TRY(tsri_text_add(out, "}"));
done:
    tsri_json_fini(&columns);
    return st;
}

void tsri_chart_data_fini(tsri_chart_data *d)
{
    for (int64_t i = 0; i < d->columns; i++)
        tsri_free(d->column[i].value);
    tsri_free(d->column);
    tsri_json_fini(&d->charts);
    *d = (tsri_chart_data){0};
}
