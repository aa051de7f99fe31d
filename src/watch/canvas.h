/* canvas.h - lines of text that fit a screen, in width and in number.
 *
 *     tsri_canvas f = {.out = &text, .width = 80, .height = 24, .colour = true, .unicode = true};
 *     tsri_canvas_say(&f, TSRI_BOLD, "%s", name);      what does not fit is left out
 *     tsri_canvas_next(&f);
 *     TSR_TRY(tsri_canvas_end(&f));                    fills up; the first failure of all calls
 *
 * Text may come from files: control characters and bytes that are not UTF-8 become '?', so that
 * nothing in a run's folder can drive the terminal.
 */
#ifndef TSRI_CANVAS_H
#define TSRI_CANVAS_H

#include "base/text.h"

typedef enum tsri_style {
    TSRI_PLAIN,
    TSRI_BOLD,
    TSRI_QUIET,
    TSRI_GOOD,
    TSRI_WARN,
    TSRI_BAD,
    TSRI_FIRST, /* the first curve, and bars */
    TSRI_SECOND,
    TSRI_MARKED /* the line of a list that is chosen */
} tsri_style;

typedef struct tsri_canvas {
    tsri_text *out;
    tsr_status st;
    int width, height;
    int line, column; /* where the next text goes */
    int kept;         /* lines at the bottom that are not written to yet */
    bool colour, unicode;
    tsri_style ground; /* of the whole line, where text has no style of its own */
} tsri_canvas;

void tsri_canvas_say(tsri_canvas *f, tsri_style style, const char *fmt, ...) TSR_PRINTF(3, 4);
void tsri_canvas_to(tsri_canvas *f, int column); /* spaces up to there */
void tsri_canvas_next(tsri_canvas *f);
bool tsri_canvas_full(const tsri_canvas *f);
tsr_status tsri_canvas_end(tsri_canvas *f);

/* Columns that such a text takes. */
int tsri_canvas_columns(const char *text);

/* `text` at the right edge, where there is room for it. */
void tsri_canvas_right(tsri_canvas *f, tsri_style style, const char *text);

/* A bar of `cells` columns, `part` (0 to 1) of it full. */
void tsri_canvas_bar(tsri_canvas *f, tsri_style style, double part, int cells);

/* "3:07", "1:02:03", "2 d 03:04": in `text`, which is returned. */
enum { TSRI_TIME_TEXT = 24 };
const char *tsri_time_text(char text[TSRI_TIME_TEXT], double seconds);

#endif
