/* chart_series.c - what is drawn inside the axes: lines, bands, points, whiskers, bars. */
#include "report/chart_parts.h"
#include "report/colour.h"

#include <math.h>

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A line of ten thousand points on five hundred pixels: of the points that fall on one pixel only
 * the lowest and the highest are drawn, in their order; the picture is the same. */
typedef struct bundle {
    double x; /* the pixel */
    double low, low_x, high, high_x;
    bool full, pen_down;
} bundle;

static void draw_to(tsri_markup *m, bundle *b, double x, double y)
{
    tsri_markup_add(m, "%s%s %s", b->pen_down ? "L" : "M", tsri_px(x), tsri_px(y));
    b->pen_down = true;
}

static void let_go(tsri_markup *m, bundle *b)
{
    if (!b->full)
        return;
    bool low_first = b->low_x <= b->high_x;
    draw_to(m, b, low_first ? b->low_x : b->high_x, low_first ? b->low : b->high);
    if (b->low != b->high)
        draw_to(m, b, low_first ? b->high_x : b->low_x, low_first ? b->high : b->low);
    b->full = false;
}

static void take_in(tsri_markup *m, bundle *b, double x, double y)
{
    if (b->full && floor(x) != b->x)
        let_go(m, b);
    if (!b->full) {
        *b = (bundle){floor(x), y, x, y, x, true, b->pen_down};
        return;
    }
    if (y < b->low) {
        b->low = y;
        b->low_x = x;
    }
    if (y > b->high) {
        b->high = y;
        b->high_x = x;
    }
}

static void line_path(tsri_markup *m, const tsri_view *v, const tsri_series *s)
{
    bundle b = {0};
    bool dense = s->n > 1000;
    for (int64_t i = 0; i < s->n; i++) {
        double x = tsri_view_x(v, tsri_series_x(s, i)), y = tsri_view_y(v, s->y[i]);
        if (isnan(x) || isnan(y)) { /* a gap */
            let_go(m, &b);
            b.pen_down = false;
        } else if (dense) {
            take_in(m, &b, x, y);
        } else {
            draw_to(m, &b, x, y);
        }
    }
    let_go(m, &b);
}

/* The colours come again after seven series, each time with other dashes: fifty runs have fifty
 * lines. draw.js has the same ones. */
static const char *dashes(const tsri_series *s, int colour)
{
    static const char *const pattern[] = {"6 5", "2 4",      "12 5",       "9 4 2 4",
                                          "1 7", "16 4 6 4", "7 3 2 3 2 3"};
    enum { PATTERNS = sizeof pattern / sizeof *pattern };
    int turn = colour / TSRI_COLOURS;
    return turn > 0 ? pattern[(turn - 1) % PATTERNS] : s->dashed ? pattern[0] : "none";
}

static void draw_line(tsri_markup *m, const tsri_view *v, const tsri_series *s, int colour)
{
    tsri_markup_add(m,
                    "<path class=\"s%d\" stroke=\"%s\" fill=\"none\" stroke-width=\"1.8\" "
                    "stroke-linejoin=\"round\" stroke-linecap=\"round\" "
                    "stroke-dasharray=\"%s\" d=\"",
                    colour % TSRI_COLOURS + 1, tsri_colour(colour), dashes(s, colour));
    line_path(m, v, s);
    tsri_markup_add(m, "\"/>\n");
}

/* ---- Bands ----------------------------------------------------------------------------------- */

static bool has_band(const tsri_view *v, const tsri_series *s, int64_t i)
{
    return !isnan(tsri_view_x(v, tsri_series_x(s, i))) && !isnan(tsri_view_y(v, s->low[i])) &&
           !isnan(tsri_view_y(v, s->high[i]));
}

/* One closed shape for points i to end - 1: along the high side and back along the low one. */
static void band_piece(tsri_markup *m, const tsri_view *v, const tsri_series *s, int64_t i,
                       int64_t end)
{
    for (int64_t k = i; k < end; k++)
        tsri_markup_add(m, "%s%s %s", k == i ? "M" : "L",
                        tsri_px(tsri_view_x(v, tsri_series_x(s, k))),
                        tsri_px(tsri_view_y(v, s->high[k])));
    for (int64_t k = end - 1; k >= i; k--)
        tsri_markup_add(m, "L%s %s", tsri_px(tsri_view_x(v, tsri_series_x(s, k))),
                        tsri_px(tsri_view_y(v, s->low[k])));
    tsri_markup_add(m, "Z");
}

static void draw_band(tsri_markup *m, const tsri_view *v, const tsri_series *s, int colour)
{
    tsri_markup_add(m, "<path class=\"f%d\" fill=\"%s\" fill-opacity=\"0.18\" d=\"",
                    colour % TSRI_COLOURS + 1, tsri_colour(colour));
    for (int64_t i = 0; i < s->n; i++) {
        int64_t end = i;
        while (end < s->n && has_band(v, s, end))
            end++;
        if (end > i)
            band_piece(m, v, s, i, end);
        i = end;
    }
    tsri_markup_add(m, "\"/>\n");
}

static void draw_whisker(tsri_markup *m, double x, double low, double high, int colour)
{
    if (isnan(x) || isnan(low) || isnan(high))
        return;
    tsri_markup_add(m,
                    "<path class=\"s%d\" stroke=\"%s\" stroke-width=\"1.2\" fill=\"none\" "
                    "d=\"M%s %sV%sM%s %sh6M%s %sh6\"/>\n",
                    colour % TSRI_COLOURS + 1, tsri_colour(colour), tsri_px(x), tsri_px(low),
                    tsri_px(high), tsri_px(x - 3), tsri_px(low), tsri_px(x - 3), tsri_px(high));
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* Circle, square, triangle, diamond: the shape tells series apart without colour. */
static void draw_point(tsri_markup *m, double x, double y, int colour)
{
    static const char *const shape[] = {
        "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
        "m-3.2 -3.2h6.4v6.4h-6.4z",
        "m0 -4.2l4 7h-8z",
        "m0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z",
    };
    tsri_markup_add(m, "<path class=\"f%d\" fill=\"%s\" d=\"M%s %s%s\"/>\n",
                    colour % TSRI_COLOURS + 1, tsri_colour(colour), tsri_px(x), tsri_px(y),
                    shape[colour % 4]);
}

static void draw_points(tsri_markup *m, const tsri_view *v, const tsri_series *s, int colour)
{
    int64_t stride = s->marks == TSRI_MARKS_BOTH && s->n > 40 ? (s->n + 24) / 25 : 1;
    for (int64_t i = 0; i < s->n; i += stride) {
        double x = tsri_view_x(v, tsri_series_x(s, i)), y = tsri_view_y(v, s->y[i]);
        if (isnan(x) || isnan(y))
            continue;
        if (s->marks == TSRI_MARKS_POINTS && s->low && s->high)
            draw_whisker(m, x, tsri_view_y(v, s->low[i]), tsri_view_y(v, s->high[i]), colour);
        draw_point(m, x, y, colour);
    }
}

/* ---- Bars ------------------------------------------------------------------------------------ */

static void draw_bars(tsri_markup *m, const tsri_view *v, int64_t which)
{
    const tsri_series *s = &v->panel->series[which];
    int colour = tsri_series_colour(v->panel, which);
    double slot = v->plot.width / (v->x.high - v->x.low);
    double width = slot * 0.8 / (double)v->panel->count;
    double zero = tsri_view_y(v, 0), floor_y = v->plot.top + v->plot.height;
    double ground = isnan(zero) ? floor_y : fmin(zero, floor_y);
    for (int64_t i = 0; i < s->n && i < v->panel->about.categories; i++) {
        double x = tsri_view_x(v, (double)i) - slot * 0.4 + width * (double)which;
        double y = tsri_view_y(v, s->y[i]);
        if (isnan(y))
            continue;
        tsri_markup_add(m,
                        "<rect class=\"f%d\" fill=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" "
                        "height=\"%s\"/>\n",
                        colour % TSRI_COLOURS + 1, tsri_colour(colour), tsri_px(x),
                        tsri_px(fmin(y, ground)), tsri_px(width * 0.94), tsri_px(fabs(ground - y)));
        if (s->low && s->high)
            draw_whisker(m, x + width * 0.47, tsri_view_y(v, s->low[i]), tsri_view_y(v, s->high[i]),
                         6);
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool banded(const tsri_series *s)
{
    return s->low && s->high && (s->marks == TSRI_MARKS_LINE || s->marks == TSRI_MARKS_BOTH);
}

/* Cuts off what lies outside the axes. An inner <svg> does so without an id, which could clash with
 * that of another chart on the page. */
void tsri_draw_series(tsri_markup *m, const tsri_view *v)
{
    const tsri_drawn *p = v->panel;
    tsri_box b = {v->plot.left - 5, v->plot.top - 5, v->plot.width + 10, v->plot.height + 5};
    const char *left = tsri_px(b.left), *top = tsri_px(b.top);
    const char *width = tsri_px(b.width), *height = tsri_px(b.height);
    tsri_markup_add(
        m,
        "<svg class=\"plot\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" viewBox=\"%s %s %s %s\" "
        "overflow=\"hidden\">\n",
        left, top, width, height, left, top, width, height);
    for (int64_t i = 0; i < p->count; i++)
        if (banded(&p->series[i]))
            draw_band(m, v, &p->series[i], tsri_series_colour(p, i));
    for (int64_t i = 0; i < p->count; i++) {
        const tsri_series *s = &p->series[i];
        int colour = tsri_series_colour(p, i);
        if (s->marks == TSRI_MARKS_BARS)
            draw_bars(m, v, i);
        if (s->marks == TSRI_MARKS_LINE || s->marks == TSRI_MARKS_BOTH)
            draw_line(m, v, s, colour);
        if (s->marks == TSRI_MARKS_POINTS || s->marks == TSRI_MARKS_BOTH || s->n == 1)
            draw_points(m, v, s, colour);
    }
    tsri_markup_add(m, "</svg>\n");
}

void tsri_draw_sample(tsri_markup *m, const tsri_drawn *panel, int64_t i, double x, double y)
{
    const tsri_series *s = &panel->series[i];
    int colour = tsri_series_colour(panel, i);
    if (s->marks == TSRI_MARKS_BARS)
        tsri_markup_add(m,
                        "<rect class=\"f%d\" fill=\"%s\" x=\"%s\" y=\"%s\" width=\"12\" "
                        "height=\"10\"/>\n",
                        colour % TSRI_COLOURS + 1, tsri_colour(colour), tsri_px(x + 10),
                        tsri_px(y - 5));
    if (s->marks == TSRI_MARKS_LINE || s->marks == TSRI_MARKS_BOTH)
        tsri_markup_add(m,
                        "<path class=\"s%d\" stroke=\"%s\" stroke-width=\"1.8\" "
                        "stroke-linecap=\"round\" stroke-dasharray=\"%s\" d=\"M%s %sh22\"/>\n",
                        colour % TSRI_COLOURS + 1, tsri_colour(colour), dashes(s, colour),
                        tsri_px(x + 2), tsri_px(y));
    if (s->marks == TSRI_MARKS_POINTS || s->marks == TSRI_MARKS_BOTH)
        draw_point(m, x + 13, y, colour);
}
