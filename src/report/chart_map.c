/* chart_map.c - a matrix as colours, and the bar that says which colour is which number. */
#include "report/chart_parts.h"
#include "report/colour.h"

#include <math.h>
#include <string.h>

static const char *colour_of(char text[TSRI_COLOUR_TEXT], const tsri_view *v, double value)
{
    double at = tsri_scale_at(&v->bar, value);
    return isnan(at) ? "none" : tsri_ramp(text, at);
}

/* Neighbours of one colour in a row are one rectangle. */
static void draw_row(tsri_markup *m, const tsri_view *v, int64_t row)
{
    const tsri_map *map = &v->panel->map;
    double top = tsri_view_y(v, (double)row), bottom = tsri_view_y(v, (double)(row + 1));
    for (int64_t j = 0, end; j < map->columns; j = end) {
        char colour[TSRI_COLOUR_TEXT], next[TSRI_COLOUR_TEXT];
        const char *fill = colour_of(colour, v, map->value[row * map->columns + j]);
        for (end = j + 1; end < map->columns; end++)
            if (strcmp(fill, colour_of(next, v, map->value[row * map->columns + end])) != 0)
                break;
        double left = tsri_view_x(v, (double)j), right = tsri_view_x(v, (double)end);
        tsri_markup_add(m, "<rect fill=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>\n",
                        fill, tsri_px(left), tsri_px(top), tsri_px(right - left),
                        tsri_px(bottom - top));
    }
}

/* The colours of the bar, from `x` on. */
static void draw_ramp(tsri_markup *m, const tsri_view *v, double x)
{
    const tsri_box *p = &v->plot;
    char colour[TSRI_COLOUR_TEXT];
    int steps = v->bar_flat ? 1 : 64;
    for (int i = 0; i < steps; i++)
        tsri_markup_add(m, "<rect fill=\"%s\" x=\"%s\" y=\"%s\" width=\"%d\" height=\"%s\"/>\n",
                        tsri_ramp(colour, v->bar_flat ? 0 : (i + 0.5) / steps), tsri_px(x),
                        tsri_px(p->top + p->height * (steps - 1 - i) / steps), TSRI_COLOUR_BAR,
                        tsri_px(p->height / steps + (i > 0 ? 0.6 : 0))); /* no seams */
}

static void draw_bar(tsri_markup *m, const tsri_view *v)
{
    const tsri_box *p = &v->plot;
    double x = p->left + p->width + 14, right = x + TSRI_COLOUR_BAR;
    draw_ramp(m, v, x);
    for (int i = 0; i < v->bar_ticks.count; i++) {
        double at = v->bar_flat ? 0.5 : tsri_scale_at(&v->bar, v->bar_ticks.at[i]);
        double y = p->top + p->height * (1 - at);
        tsri_markup_add(m, "<path class=\"axis\" stroke=\"#555555\" d=\"M%s %sh4\"/>\n",
                        tsri_px(right), tsri_px(y));
        tsri_draw_text(m, right + 6, y + 4, "start", v->bar_ticks.label[i]);
    }
    if (*v->bar_ticks.factor)
        tsri_draw_text(m, x, p->top - 6, "start", v->bar_ticks.factor);
    if (!v->panel->map.label)
        return;
    tsri_markup_add(m,
                    "<text class=\"ink\" transform=\"translate(%s %s) rotate(90)\" "
                    "text-anchor=\"middle\">",
                    tsri_px(v->box.left + v->box.width - 14), tsri_px(p->top + p->height / 2));
    tsri_markup_text(m, v->panel->map.label);
    tsri_markup_add(m, "</text>\n");
}

void tsri_draw_map(tsri_markup *m, const tsri_view *v)
{
    tsri_markup_add(m, "<g shape-rendering=\"crispEdges\">\n");
    for (int64_t i = 0; i < v->panel->map.rows; i++)
        draw_row(m, v, i);
    tsri_markup_add(m, "</g>\n");
    draw_bar(m, v);
}
