/* dots.h - a chart of characters: curves of braille dots, two by four to a cell.
 *
 *     tsri_dots d = {.width = 60, .height = 10, .title = "loss", .log = true};
 *     TSR_TRY(tsri_dots_begin(&d, frame->unicode));
 *     tsri_dots_see(&d, x, y); ...                     all points, so that the axes fit them
 *     tsri_dots_pen(&d, TSRI_FIRST);
 *     tsri_dots_to(&d, x, y); ...                      a curve; NaN interrupts it
 *     for (row = 0; row < d.height; row++)
 *         tsri_dots_row(frame, &d, row);               so that two charts can stand side by side
 *     tsri_dots_end(&d);
 *
 * The first row is the title, the last the labels of x. Without Unicode a cell is one dot, '*'.
 */
#ifndef TSRI_DOTS_H
#define TSRI_DOTS_H

#include "watch/canvas.h"

enum { TSRI_DOTS_LABEL = 8, TSRI_DOTS_LEAST = 4 }; /* columns of labels, fewest rows */

typedef struct tsri_dots {
    int width, height; /* in characters, with title and labels */
    const char *title, *x_name;
    const char *legend[2]; /* of the first and the second curve, in their colours; NULL: none */
    bool log;              /* y; labelled as such. Left out where a value is not positive */
    double factor;         /* of y, for the labels: 100 for percent; 0 = 1 */

    /* Private. */
    bool unicode;
    int columns, rows; /* cells of the field */
    uint8_t *cell;     /* [rows][columns] bits of dots */
    uint8_t *style;    /* [rows][columns] */
    double x_low, x_high, y_low, y_high;
    int64_t seen;
    tsri_style pen;
    bool down; /* the pen is on the paper, at */
    double at_x, at_y;
} tsri_dots;

tsr_status tsri_dots_begin(tsri_dots *d, bool unicode);
void tsri_dots_see(tsri_dots *d, double x, double y);
void tsri_dots_pen(tsri_dots *d, tsri_style style);
void tsri_dots_to(tsri_dots *d, double x, double y);
void tsri_dots_row(tsri_canvas *f, const tsri_dots *d, int row);
void tsri_dots_end(tsri_dots *d);

#endif
