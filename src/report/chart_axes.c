/* chart_axes.c - a panel's frame: what its axes span, where the plot lies, ticks, labels,
 * legend. */
#include "report/chart_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- What the axes span --------------------------------------------------------------------- */

static bool has_bars(const tsri_drawn *p)
{
    for (int64_t i = 0; i < p->count; i++)
        if (p->series[i].marks == TSRI_MARKS_BARS)
            return true;
    return false;
}

static void see_series(tsri_span *x, tsri_span *y, const tsri_panel *about, const tsri_series *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        tsri_span_see(x, tsri_series_x(s, i), about->x_log);
        tsri_span_see(y, s->y[i], about->y_log);
        if (s->low && s->high) {
            tsri_span_see(y, s->low[i], about->y_log);
            tsri_span_see(y, s->high[i], about->y_log);
        }
    }
}

static void span_axes(tsri_view *v)
{
    const tsri_drawn *p = v->panel;
    tsri_span x = TSRI_SPAN_EMPTY, y = TSRI_SPAN_EMPTY;
    bool bars = has_bars(p);
    for (int64_t i = 0; i < p->count; i++)
        see_series(&x, &y, &p->about, &p->series[i]);
    if (bars && !p->about.y_log)
        tsri_span_see(&y, 0, false);
    v->x = tsri_scale_of(&x, p->about.x_log, 0.03);
    v->y = tsri_scale_of(&y, p->about.y_log, 0.05);
    if (bars)
        v->x = (tsri_scale){.low = -0.5, .high = (double)p->about.categories - 0.5};
    if (bars && !p->about.y_log && y.low >= 0)
        v->y.low = 0; /* bars stand on the ground */
    if (p->about.y_low < p->about.y_high) {
        y = (tsri_span){p->about.y_low, p->about.y_high};
        v->y = tsri_scale_of(&y, p->about.y_log, 0);
    }
    if (bars && p->about.categories < 1)
        v->x = (tsri_scale){.low = 0, .high = 1};
}

/* A map's axes count cells; its first row is on top. */
static void span_map(tsri_view *v)
{
    const tsri_map *map = &v->panel->map;
    tsri_span seen = TSRI_SPAN_EMPTY;
    for (int64_t i = 0; i < map->rows * map->columns; i++)
        tsri_span_see(&seen, map->value[i], false);
    if (map->low < map->high)
        seen = (tsri_span){map->low, map->high};
    else
        v->bar_flat = seen.low == seen.high;
    if (v->bar_flat) /* all alike: the dark end of the ramp, and no other number on the bar */
        seen.high = seen.low + fmax(1, fabs(seen.low));
    v->bar = tsri_scale_of(&seen, false, 0);
    v->x = (tsri_scale){.low = 0, .high = (double)map->columns};
    v->y = (tsri_scale){.low = 0, .high = (double)map->rows};
}

/* ---- Ticks ---------------------------------------------------------------------------------- */

static bool whole_numbers(const tsri_drawn *p)
{
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < p->series[k].n; i++) {
            double x = tsri_series_x(&p->series[k], i);
            if (isfinite(x) && x != nearbyint(x))
                return false;
        }
    return true;
}

enum { FEW = 8 };

/* The different x of all series in *value, those above `least`, or -1 when there are more than a
 * few. */
static int distinct_x(double value[FEW], const tsri_drawn *p, double least)
{
    int count = 0;
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < p->series[k].n; i++) {
            double x = tsri_series_x(&p->series[k], i);
            int at = 0;
            while (at < count && value[at] != x)
                at++;
            if (at < count || !isfinite(x) || !(x > least))
                continue;
            if (count == FEW)
                return -1;
            value[count++] = x;
        }
    return count;
}

/* Rising in even steps? */
static bool evenly(const double *value, int count)
{
    double step = (value[count - 1] - value[0]) / (count - 1);
    for (int i = 1; i < count; i++)
        if (!(fabs(value[i] - value[i - 1] - step) <= 1e-9 * step))
            return false;
    return true;
}

/* Of two digits, or whole: 0.05 and 64 are good labels, 0.4074 is not. */
static bool is_short(double value)
{
    double digits = value / pow(10, floor(log10(value)) - 1);
    return value == nearbyint(value) || fabs(digits - nearbyint(digits)) < 1e-6;
}

/* A few measured values are better labels than round numbers: on a log axis sizes (2, 4, 8 workers)
 * rather than 1, 10, 100; on a plain axis values in even steps (epochs 5, 10, 15, 20). */
static bool ticks_at_values(tsri_view *v)
{
    double value[FEW];
    bool log = v->panel->about.x_log;
    int count = distinct_x(value, v->panel, log ? 0 : -INFINITY);
    bool good = count > 1 && (log || evenly(value, count));
    for (int i = 0; log && i < count; i++)
        good = good && is_short(value[i]);
    if (!good)
        return false;
    tsri_ticks_at(&v->x_ticks, value, count);
    return true;
}

/* Ticks of cells: at their middle, with the number that was given for the row or column. */
static void cell_ticks(tsri_ticks *t, int64_t count, const double *number)
{
    tsri_scale cells = {.low = 0, .high = count > 1 ? (double)(count - 1) : 1};
    tsri_ticks_make(t, &cells, 6, true);
    for (int i = 0; i < t->count; i++) {
        int64_t cell = (int64_t)t->at[i];
        tsri_tick_text(t->label[i], number && cell < count ? number[cell] : t->at[i]);
        t->at[i] += 0.5;
    }
    if (count == 1)
        t->count = 1;
}

static void make_ticks(tsri_view *v)
{
    const tsri_map *map = &v->panel->map;
    if (map->rows > 0) {
        cell_ticks(&v->x_ticks, map->columns, map->x);
        cell_ticks(&v->y_ticks, map->rows, map->y);
        if (v->bar_flat)
            tsri_ticks_at(&v->bar_ticks, &v->bar.low, 1);
        else
            tsri_ticks_make(&v->bar_ticks, &v->bar, 5, false);
        return;
    }
    tsri_ticks_make(&v->y_ticks, &v->y, 6, false);
}

/* ---- Where the plot lies -------------------------------------------------------------------- */

double tsri_text_width(const char *text)
{
    int columns = 0;
    for (const char *p = text ? text : ""; *p; p++)
        columns += ((unsigned char)*p & 0xc0) != 0x80;
    return columns * TSRI_FONT * 0.58;
}

static double widest(const tsri_ticks *t)
{
    double width = 0;
    for (int i = 0; i < t->count; i++)
        width = fmax(width, tsri_text_width(t->label[i]));
    return width;
}

static double widest_category(const tsri_panel *p)
{
    double width = 0;
    for (int64_t i = 0; p->category && i < p->categories; i++)
        width = fmax(width, tsri_text_width(p->category[i]));
    return width;
}

static bool categories_lean(const tsri_view *v)
{
    const tsri_panel *p = &v->panel->about;
    return p->categories > 0 &&
           widest_category(p) + 6 > v->box.width * 0.85 / (double)p->categories;
}

static double room_below(const tsri_view *v)
{
    double room = 22 + (v->panel->about.x_label ? 20 : 0);
    if (categories_lean(v))
        room += fmin(90, widest_category(&v->panel->about) * 0.6);
    return room;
}

static void place_plot(tsri_view *v)
{
    const tsri_panel *about = &v->panel->about;
    double left = 12 + widest(&v->y_ticks) + (about->y_label ? 20 : 0), right = 14;
    if (v->panel->map.rows > 0)
        right += 16 + TSRI_COLOUR_BAR + widest(&v->bar_ticks) + (v->panel->map.label ? 20 : 0);
    double top = (about->title ? 22 : 6);
    bool above = *v->y_ticks.factor || *v->bar_ticks.factor;
    v->plot.left = v->box.left + left;
    v->plot.width = v->box.width - left - right;
    int rows = tsri_draw_legend(NULL, v->panel, v->plot.left, 0, v->plot.width);
    if (v->own_legend && rows > 0)
        top += TSRI_LEGEND * rows + 4;
    top += above ? 14 : 0;
    v->plot.top = v->box.top + top;
    v->plot.height = v->box.height - top - room_below(v);
}

/* Do labels of the x axis run into each other? */
static bool labels_collide(const tsri_view *v)
{
    const tsri_ticks *t = &v->x_ticks;
    for (int i = 1; i < t->count; i++) {
        double gap = fabs(tsri_view_x(v, t->at[i]) - tsri_view_x(v, t->at[i - 1]));
        double room = (tsri_text_width(t->label[i]) + tsri_text_width(t->label[i - 1])) / 2;
        if (gap < room + 6)
            return true;
    }
    return false;
}

/* As many ticks as have room for their labels: a few without one among the others read like an
 * axis with gaps. */
static void make_x_ticks(tsri_view *v)
{
    bool whole = whole_numbers(v->panel);
    if (ticks_at_values(v) && !labels_collide(v))
        return;
    for (int about = v->box.width > 450 ? 8 : 5; about > 0; about--) {
        tsri_ticks_make(&v->x_ticks, &v->x, about, whole);
        if (!labels_collide(v))
            return;
    }
}

void tsri_view_make(tsri_view *v, const tsri_drawn *panel, tsri_box box, bool own_legend)
{
    memset(v, 0, sizeof *v);
    v->panel = panel;
    v->box = box;
    v->own_legend = own_legend;
    if (panel->map.rows > 0)
        span_map(v);
    else
        span_axes(v);
    make_ticks(v);
    place_plot(v);
    if (panel->map.rows == 0 && !has_bars(panel))
        make_x_ticks(v);
}

double tsri_view_x(const tsri_view *v, double x)
{
    return v->plot.left + v->plot.width * tsri_scale_at(&v->x, x);
}

double tsri_view_y(const tsri_view *v, double y)
{
    double at = tsri_scale_at(&v->y, y);
    return v->plot.top + v->plot.height * (v->panel->map.rows > 0 ? at : 1 - at);
}

/* ---- Drawing -------------------------------------------------------------------------------- */

void tsri_draw_text(tsri_markup *m, double x, double y, const char *anchor, const char *text)
{
    tsri_markup_add(m, "<text class=\"ink\" x=\"%s\" y=\"%s\" text-anchor=\"%s\">", tsri_px(x),
                    tsri_px(y), anchor);
    tsri_markup_text(m, text);
    tsri_markup_add(m, "</text>\n");
}

static void turned_text(tsri_markup *m, double x, double y, int degrees, const char *anchor,
                        const char *text)
{
    tsri_markup_add(
        m, "<text class=\"ink\" transform=\"translate(%s %s) rotate(%d)\" text-anchor=\"%s\">",
        tsri_px(x), tsri_px(y), degrees, anchor);
    tsri_markup_text(m, text);
    tsri_markup_add(m, "</text>\n");
}

static void line(tsri_markup *m, const char *kind, double x1, double y1, double x2, double y2)
{
    const char *colour = strcmp(kind, "grid") == 0 ? "#e2e2e2" : "#555555";
    tsri_markup_add(m, "<path class=\"%s\" stroke=\"%s\" d=\"M%s %sL%s %s\"/>\n", kind, colour,
                    tsri_px(x1), tsri_px(y1), tsri_px(x2), tsri_px(y2));
}

static bool inside(double at, double from, double length)
{
    return at >= from - 0.01 && at <= from + length + 0.01;
}

static void draw_x_ticks(tsri_markup *m, const tsri_view *v)
{
    const tsri_box *p = &v->plot;
    double bottom = p->top + p->height, last = -1e9;
    bool map = v->panel->map.rows > 0;
    for (int i = 0; i < v->x_ticks.count; i++) {
        double x = tsri_view_x(v, v->x_ticks.at[i]), width = tsri_text_width(v->x_ticks.label[i]);
        if (!inside(x, p->left, p->width))
            continue;
        if (!map)
            line(m, "grid", x, p->top, x, bottom);
        line(m, "axis", x, bottom, x, bottom + 4);
        if (fabs(x - last) < width + 6) /* labels never run into each other */
            continue;
        tsri_draw_text(m, x, bottom + 17, "middle", v->x_ticks.label[i]);
        last = x;
    }
    for (int i = 0; i < v->x_ticks.minor_count; i++) {
        double x = tsri_view_x(v, v->x_ticks.minor[i]);
        line(m, "axis", x, bottom, x, bottom + 2);
    }
    if (*v->x_ticks.factor)
        tsri_draw_text(m, p->left + p->width, bottom + 31, "end", v->x_ticks.factor);
}

static void draw_y_ticks(tsri_markup *m, const tsri_view *v)
{
    const tsri_box *p = &v->plot;
    bool map = v->panel->map.rows > 0;
    for (int i = 0; i < v->y_ticks.count; i++) {
        double y = tsri_view_y(v, v->y_ticks.at[i]);
        if (!inside(y, p->top, p->height))
            continue;
        if (!map)
            line(m, "grid", p->left, y, p->left + p->width, y);
        line(m, "axis", p->left - 4, y, p->left, y);
        tsri_draw_text(m, p->left - 7, y + 4, "end", v->y_ticks.label[i]);
    }
    for (int i = 0; i < v->y_ticks.minor_count; i++) {
        double y = tsri_view_y(v, v->y_ticks.minor[i]);
        line(m, "axis", p->left - 2, y, p->left, y);
    }
    if (*v->y_ticks.factor)
        tsri_draw_text(m, p->left - 4, p->top - 6, "start", v->y_ticks.factor);
}

static void draw_categories(tsri_markup *m, const tsri_view *v)
{
    const tsri_panel *about = &v->panel->about;
    double bottom = v->plot.top + v->plot.height;
    bool lean = categories_lean(v);
    for (int64_t i = 0; about->category && i < about->categories; i++) {
        double x = tsri_view_x(v, (double)i);
        if (lean)
            turned_text(m, x + 4, bottom + 14, -30, "end", about->category[i]);
        else
            tsri_draw_text(m, x, bottom + 17, "middle", about->category[i]);
    }
}

static void draw_titles(tsri_markup *m, const tsri_view *v)
{
    const tsri_panel *about = &v->panel->about;
    const tsri_box *p = &v->plot;
    if (about->title) {
        tsri_markup_add(m, "<g font-weight=\"bold\" font-size=\"13\">");
        tsri_draw_text(m, p->left, v->box.top + 14, "start", about->title);
        tsri_markup_add(m, "</g>\n");
    }
    if (about->x_label)
        tsri_draw_text(m, p->left + p->width / 2, v->box.top + v->box.height - 5, "middle",
                       about->x_label);
    if (about->y_label)
        turned_text(m, v->box.left + 13, p->top + p->height / 2, -90, "middle", about->y_label);
}

void tsri_draw_axes(tsri_markup *m, const tsri_view *v)
{
    const tsri_box *p = &v->plot;
    tsri_markup_add(m, "<g class=\"ticks\">\n");
    draw_y_ticks(m, v);
    draw_x_ticks(m, v);
    tsri_markup_add(m, "</g>\n");
    draw_categories(m, v);
    draw_titles(m, v);
    line(m, "axis", p->left, p->top, p->left, p->top + p->height);
    line(m, "axis", p->left, p->top + p->height, p->left + p->width, p->top + p->height);
    if (v->own_legend)
        (void)tsri_draw_legend(m, v->panel, p->left, v->box.top + (v->panel->about.title ? 22 : 6),
                               p->width);
}

int tsri_draw_legend(tsri_markup *m, const tsri_drawn *panel, double left, double top, double width)
{
    double x = left;
    int row = 0, named = 0;
    for (int64_t i = 0; i < panel->count; i++) {
        const char *name = panel->series[i].name;
        double need = name ? 30 + tsri_text_width(name) + 14 : 0;
        if (!name)
            continue;
        if (x > left && x + need > left + width) {
            x = left;
            row++;
        }
        if (m) {
            tsri_markup_add(m, "<g class=\"key\">\n");
            tsri_draw_sample(m, panel, i, x, top + TSRI_LEGEND * row + 8);
            tsri_draw_text(m, x + 30, top + TSRI_LEGEND * row + 12, "start", name);
            tsri_markup_add(m, "</g>\n");
        }
        x += need;
        named++;
    }
    return named > 0 ? row + 1 : 0;
}
