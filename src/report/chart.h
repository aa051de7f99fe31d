/* chart.h - a chart: panels of lines, points, bars or a map of colours, as SVG, PNG and CSV.
 *
 *     tsri_chart c = {0};
 *     tsri_chart_begin(&c, "Loss against rounds");
 *     tsri_chart_panel(&c, &(tsri_panel){.x_label = "round", .y_label = "loss", .y_log = true});
 *     tsri_chart_series(&c, &(tsri_series){.name = "GD", .n = n, .x = round, .y = loss});
 *     tsri_chart_series(&c, &(tsri_series){.name = "IST", .n = n, .x = round, .y = mean,
 *                                          .low = least, .high = most});      with a band
 *     TSR_TRY(tsri_chart_svg(&svg, &c));             the first failure of all calls above
 *     TSR_TRY(tsri_chart_csv(&csv, &c));
 *     tsri_chart_fini(&c);
 *
 * Everything is copied. Series go to the last panel. Where y is NaN (or not positive on a log axis)
 * a line has a gap. Texts may hold anything: they are escaped. Colours are plain attributes for
 * white paper; a page that wants others has rules for the classes s1 ... s7, ink, faint, grid and
 * paper (tsri_chart_style).
 */
#ifndef TSRI_CHART_H
#define TSRI_CHART_H

#include "base/text.h"

typedef enum tsri_marks {
    TSRI_MARKS_LINE,
    TSRI_MARKS_POINTS,
    TSRI_MARKS_BOTH, /* a line with points on it */
    TSRI_MARKS_BARS  /* x = 0, 1, ... are the panel's categories */
} tsri_marks;

typedef struct tsri_series {
    const char *name; /* in the legend; NULL = not in it */
    int64_t n;
    const double *x, *y;      /* [n]; x NULL = 0, 1, 2, ... */
    const double *low, *high; /* [n] a band around y (whiskers of points and bars), or NULL */
    tsri_marks marks;
    int colour;  /* 1 to 7 of the palette; 0 = the next */
    bool dashed; /* for what theory says, beside what was measured */
} tsri_series;

typedef struct tsri_panel {
    const char *title, *x_label, *y_label; /* each may be NULL */
    bool x_log, y_log;
    double y_low, y_high; /* the range of y; both 0 = from the data */
    const char *const *category;
    int64_t categories; /* names along x, for bars */
} tsri_panel;

/* A matrix as colours, its first row on top. */
typedef struct tsri_map {
    int64_t rows, columns;
    const double *value; /* [rows, columns]; NaN = no colour */
    const double *x, *y; /* [columns], [rows] the numbers at the edge; NULL = 0, 1, 2, ... */
    double low, high;    /* the range of colours; both 0 = from the data */
    const char *label;   /* of the colour bar, or NULL */
} tsri_map;

typedef struct tsri_drawn tsri_drawn; /* a panel with what is drawn in it */

typedef struct tsri_chart {
    tsr_status st;
    char *title, *caption;
    tsri_drawn *panel;
    int64_t count, capacity;
    int columns;          /* panels side by side; 0 = automatic */
    double width, height; /* of a panel; 0 = automatic */
} tsri_chart;

void tsri_chart_begin(tsri_chart *c, const char *title);  /* NULL = no title */
void tsri_chart_caption(tsri_chart *c, const char *text); /* below the panels, in lines; or NULL */
void tsri_chart_panel(tsri_chart *c, const tsri_panel *panel);
void tsri_chart_series(tsri_chart *c, const tsri_series *series);
void tsri_chart_map(tsri_chart *c, const tsri_map *map); /* one per panel, without series */
void tsri_chart_fini(tsri_chart *c);
bool tsri_chart_drawn(const tsri_chart *c); /* is there a series or a map in it? */

/* Appends the chart as one <svg> element, for a page or as a file of its own. */
tsr_status tsri_chart_svg(tsri_text *out, const tsri_chart *c);

/* Appends CSS rules that let an <svg> inside a page follow its light or dark colours. */
tsr_status tsri_chart_style(tsri_text *out);

/* Appends the numbers as CSV with a head: panel,series,x,y and, if there are any, low,high; for a
 * map panel,x,y,value. */
tsr_status tsri_chart_csv(tsri_text *out, const tsri_chart *c);

/* Writes BASE.svg, and BASE.png where the program was built with librsvg. */
tsr_status tsri_svg_write(const tsri_text *svg, const char *base);

/* Writes BASE.svg and BASE.csv, and BASE.png where the program was built with librsvg
 * (tsri_png_available). */
tsr_status tsri_chart_write(const tsri_chart *c, const char *base);

#endif
