/* chart_parts.h - what the files that draw a chart share; private to them.
 *
 *     +-- panel ------------------------------+
 *     | title                                 |
 *     | legend  -o- GD   -o- IST              |
 *     | y  +-- plot ----------------+ colour  |
 *     |    |                        | bar of  |
 *     |    +------------------------+ a map   |
 *     |      ticks, x label                   |
 *     +---------------------------------------+
 */
#ifndef TSRI_CHART_PARTS_H
#define TSRI_CHART_PARTS_H

#include "report/chart.h"
#include "report/markup.h"
#include "report/scale.h"

struct tsri_drawn {
    tsri_panel about;
    tsri_series *series;
    int64_t count, capacity;
    tsri_map map; /* rows == 0: none */
};

typedef struct tsri_box {
    double left, top, width, height;
} tsri_box;

/* One panel in its place, with its axes. */
typedef struct tsri_view {
    const tsri_drawn *panel;
    tsri_box box;    /* the whole panel */
    tsri_box plot;   /* inside the axes */
    bool own_legend; /* else the chart has one for all panels */
    tsri_scale x, y;
    tsri_ticks x_ticks, y_ticks;
    tsri_ticks bar_ticks; /* of a map's colour bar */
    tsri_scale bar;
    bool bar_flat; /* all values are equal: one colour, one number */
} tsri_view;

enum {
    TSRI_FONT = 12,   /* ticks, labels, legend */
    TSRI_LEGEND = 18, /* height of a row of the legend */
    TSRI_COLOUR_BAR = 14
};

/* Estimated from the number of characters: rather a little too wide than too narrow. */
double tsri_text_width(const char *text);

/* A value's position in pixels; NaN = none. */
double tsri_view_x(const tsri_view *v, double x);
double tsri_view_y(const tsri_view *v, double y);

/* chart_svg.c: panel i where the picture has it. */
void tsri_view_of(tsri_view *v, const tsri_chart *c, int64_t i);

double tsri_series_x(const tsri_series *s, int64_t i);
int tsri_series_colour(const tsri_drawn *panel, int64_t i); /* index into the palette, from 0 */

/* chart_series.c */
void tsri_draw_series(tsri_markup *m, const tsri_view *v);
void tsri_draw_sample(tsri_markup *m, const tsri_drawn *panel, int64_t i, double x, double y);

/* chart_map.c */
void tsri_draw_map(tsri_markup *m, const tsri_view *v);

/* chart_axes.c */
void tsri_view_make(tsri_view *v, const tsri_drawn *panel, tsri_box box, bool own_legend);
void tsri_draw_axes(tsri_markup *m, const tsri_view *v);
void tsri_draw_text(tsri_markup *m, double x, double y, const char *anchor, const char *text);

/* How many rows the legend takes within `width`; draws it if m is not NULL. */
int tsri_draw_legend(tsri_markup *m, const tsri_drawn *panel, double left, double top,
                     double width);

#endif
