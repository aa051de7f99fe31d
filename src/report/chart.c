/* chart.c - the contents of a chart: copies of everything, so that callers may free their own. */
#include "report/chart.h"

#include "base/alloc.h"
#include "io/file.h"
#include "report/chart_parts.h"
#include "report/png.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- Copies --------------------------------------------------------------------------------- */

static const char *copy_text(tsri_chart *c, const char *text)
{
    char *copy = NULL;
    if (c->st == TSR_OK && text)
        c->st = tsri_strdup(&copy, text);
    return copy;
}

/* A log axis says so. */
static const char *copy_label(tsri_chart *c, const char *label, bool log)
{
    char with[240];
    if (!label || !log || strstr(label, "log"))
        return copy_text(c, label);
    (void)snprintf(with, sizeof with, "%.200s (log)", label);
    return copy_text(c, with);
}

static const double *copy_numbers(tsri_chart *c, const double *number, int64_t n)
{
    double *copy = NULL;
    if (c->st == TSR_OK && number)
        c->st = tsri_alloc_raw(&copy, n, sizeof *copy);
    if (copy && n > 0)
        memcpy(copy, number, (size_t)n * sizeof *copy);
    return copy;
}

static const char *const *copy_names(tsri_chart *c, const char *const *name, int64_t n)
{
    const char **copy = NULL;
    if (c->st == TSR_OK && name)
        c->st = tsri_alloc(&copy, n, sizeof *copy);
    for (int64_t i = 0; copy && i < n; i++)
        copy[i] = copy_text(c, name[i]);
    return copy;
}

static void release(const void *copy)
{
    tsri_free((void *)copy);
}

/* ---- Building --------------------------------------------------------------------------------*/

void tsri_chart_begin(tsri_chart *c, const char *title)
{
    *c = (tsri_chart){0};
    c->title = (char *)copy_text(c, title);
}

void tsri_chart_caption(tsri_chart *c, const char *text)
{
    tsri_free(c->caption);
    c->caption = (char *)copy_text(c, text);
}

void tsri_chart_panel(tsri_chart *c, const tsri_panel *panel)
{
    if (c->st == TSR_OK)
        c->st = tsri_reserve(&c->panel, &c->capacity, c->count, sizeof *c->panel);
    if (c->st != TSR_OK)
        return;
    tsri_drawn *p = &c->panel[c->count++];
    *p = (tsri_drawn){.about = *panel};
    p->about.title = copy_text(c, panel->title);
    p->about.x_label = copy_label(c, panel->x_label, panel->x_log);
    p->about.y_label = copy_label(c, panel->y_label, panel->y_log);
    p->about.category = copy_names(c, panel->category, panel->categories);
}

static tsri_drawn *last_panel(tsri_chart *c)
{
    if (c->st != TSR_OK)
        return NULL;
    assert(c->count > 0 && "tsri_chart_panel comes first");
    return &c->panel[c->count - 1];
}

void tsri_chart_series(tsri_chart *c, const tsri_series *series)
{
    tsri_drawn *p = last_panel(c);
    if (!p)
        return;
    assert(p->map.rows == 0 && "a map has its panel for itself");
    c->st = tsri_reserve(&p->series, &p->capacity, p->count, sizeof *p->series);
    if (c->st != TSR_OK)
        return;
    tsri_series *s = &p->series[p->count++];
    *s = *series;
    s->name = copy_text(c, series->name);
    s->x = copy_numbers(c, series->x, series->n);
    s->y = copy_numbers(c, series->y, series->n);
    s->low = copy_numbers(c, series->low, series->n);
    s->high = copy_numbers(c, series->high, series->n);
}

void tsri_chart_map(tsri_chart *c, const tsri_map *map)
{
    tsri_drawn *p = last_panel(c);
    if (!p)
        return;
    assert(p->map.rows == 0 && p->count == 0 && "a map has its panel for itself");
    p->map = *map;
    p->map.value = copy_numbers(c, map->value, map->rows * map->columns);
    p->map.x = copy_numbers(c, map->x, map->columns);
    p->map.y = copy_numbers(c, map->y, map->rows);
    p->map.label = copy_text(c, map->label);
}

static void series_fini(tsri_series *s)
{
    release(s->name);
    release(s->x);
    release(s->y);
    release(s->low);
    release(s->high);
}

static void panel_fini(tsri_drawn *p)
{
    for (int64_t i = 0; i < p->count; i++)
        series_fini(&p->series[i]);
    for (int64_t i = 0; p->about.category && i < p->about.categories; i++)
        release(p->about.category[i]);
    release(p->series);
    release(p->about.category);
    release(p->about.title);
    release(p->about.x_label);
    release(p->about.y_label);
    release(p->map.value);
    release(p->map.x);
    release(p->map.y);
    release(p->map.label);
}

void tsri_chart_fini(tsri_chart *c)
{
    for (int64_t i = 0; i < c->count; i++)
        panel_fini(&c->panel[i]);
    tsri_free(c->panel);
    tsri_free(c->title);
    tsri_free(c->caption);
    *c = (tsri_chart){0};
}

bool tsri_chart_drawn(const tsri_chart *c)
{
    for (int64_t i = 0; i < c->count; i++)
        if (c->panel[i].count > 0 || c->panel[i].map.rows > 0)
            return true;
    return false;
}

/* ---- Reading back ----------------------------------------------------------------------------*/

double tsri_series_x(const tsri_series *s, int64_t i)
{
    return s->x ? s->x[i] : (double)i;
}

int tsri_series_colour(const tsri_drawn *panel, int64_t i)
{
    int chosen = panel->series[i].colour;
    return chosen > 0 ? chosen - 1 : (int)i;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static tsr_status write_as(const char *base, const char *ending, const tsri_text *text)
{
    tsr_status st = TSR_OK;
    tsri_text path = {0};
    tsri_piece piece = {text->data, text->length};
    TSR_TRY(tsri_text_add(&path, "%s%s", base, ending));
    TSR_TRY(tsri_file_write(path.data, &piece, 1));
done:
    tsri_text_fini(&path);
    return st;
}

tsr_status tsri_svg_write(const tsri_text *svg, const char *base)
{
    tsr_status st = TSR_OK;
    tsri_text png = {0};
    TSR_TRY(write_as(base, ".svg", svg));
    if (tsri_png_available()) {
        TSR_TRY(tsri_png_from_svg(&png, svg, 2));
        TSR_TRY(write_as(base, ".png", &png));
    }
done:
    tsri_text_fini(&png);
    return st;
}

tsr_status tsri_chart_write(const tsri_chart *c, const char *base)
{
    tsr_status st = TSR_OK;
    tsri_text svg = {0}, csv = {0};
    TSR_TRY(tsri_chart_svg(&svg, c));
    TSR_TRY(tsri_chart_csv(&csv, c));
    TSR_TRY(tsri_svg_write(&svg, base));
    TSR_TRY(write_as(base, ".csv", &csv));
done:
    tsri_text_fini(&svg);
    tsri_text_fini(&csv);
    return st;
}
