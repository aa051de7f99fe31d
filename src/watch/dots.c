/* dots.c - a chart of characters: curves of braille dots, two by four to a cell. */
#include "watch/dots.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The bits of a braille cell, by row and column (Unicode 2800 and the following). */
static const uint8_t braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

tsr_status tsri_dots_begin(tsri_dots *d, bool unicode)
{
    tsr_status st = TSR_OK;
    d->unicode = unicode;
    d->columns = d->width - TSRI_DOTS_LABEL - 1;
    d->rows = d->height - 2;
    d->columns = d->columns > 1 ? d->columns : 1;
    d->rows = d->rows > 1 ? d->rows : 1;
    d->x_low = d->y_low = INFINITY;
    d->x_high = d->y_high = -INFINITY;
    d->seen = 0;
    d->down = false;
    d->factor = d->factor > 0 || d->factor < 0 ? d->factor : 1;
    TSR_TRY(tsri_alloc(&d->cell, (int64_t)d->rows * d->columns, 1));
    TSR_TRY(tsri_alloc(&d->style, (int64_t)d->rows * d->columns, 1));
done:
    return st;
}

void tsri_dots_end(tsri_dots *d)
{
    TSRI_FREE(d->cell);
    TSRI_FREE(d->style);
}

void tsri_dots_see(tsri_dots *d, double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    d->seen++;
    d->log = d->log && y > 0;
    d->x_low = fmin(d->x_low, x);
    d->x_high = fmax(d->x_high, x);
    d->y_low = fmin(d->y_low, y);
    d->y_high = fmax(d->y_high, y);
}

void tsri_dots_pen(tsri_dots *d, tsri_style style)
{
    static const double decades = 10; /* less of a range is easier to read without logarithms */
    d->log = d->log && d->y_high > decades * d->y_low;
    d->pen = style;
    d->down = false;
}

/* ---- Drawing -------------------------------------------------------------------------------- */

static int dots_across(const tsri_dots *d)
{
    return d->columns * (d->unicode ? 2 : 1);
}

static int dots_down(const tsri_dots *d)
{
    return d->rows * (d->unicode ? 4 : 1);
}

static void dot(tsri_dots *d, int x, int y)
{
    int cx = d->unicode ? x / 2 : x, cy = d->unicode ? y / 4 : y;
    if (x < 0 || y < 0 || cx >= d->columns || cy >= d->rows)
        return;
    d->cell[cy * d->columns + cx] |= d->unicode ? braille[y % 4][x % 2] : 1;
    d->style[cy * d->columns + cx] = (uint8_t)d->pen;
}

/* Where v lies between low and high, 0 to 1. */
static double part_of(double v, double low, double high, bool log_scale)
{
    if (log_scale) {
        v = log(v);
        low = log(low);
        high = log(high);
    }
    return high > low ? (v - low) / (high - low) : 0.5;
}

void tsri_dots_to(tsri_dots *d, double x, double y)
{
    if (!isfinite(x) || !isfinite(y) || (d->log && y <= 0)) {
        d->down = false;
        return;
    }
    double px = part_of(x, d->x_low, d->x_high, false) * (dots_across(d) - 1);
    double py = (1 - part_of(y, d->y_low, d->y_high, d->log)) * (dots_down(d) - 1);
    double dx = d->down ? px - d->at_x : 0, dy = d->down ? py - d->at_y : 0;
    int steps = (int)fmin(1e5, ceil(fmax(fabs(dx), fabs(dy))));
    for (int i = 0; i <= steps; i++) {
        double t = steps > 0 ? (double)(steps - i) / steps : 0;
        dot(d, (int)lround(px - t * dx), (int)lround(py - t * dy));
    }
    d->down = true;
    d->at_x = px;
    d->at_y = py;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void label(char *text, size_t n, double value)
{
    (void)snprintf(text, n, fabs(value) >= 1e5 ? "%.2g" : "%.4g", value);
}

/* The value at a row of the field, for its label. */
static double value_at(const tsri_dots *d, int row)
{
    double part = d->rows > 1 ? 1 - (double)row / (d->rows - 1) : 0.5;
    if (d->log)
        return d->factor * exp(log(d->y_low) + part * (log(d->y_high) - log(d->y_low)));
    return d->factor * (d->y_low + part * (d->y_high - d->y_low));
}

static void field_row(tsri_canvas *f, const tsri_dots *d, int row)
{
    char text[32] = "";
    bool labelled = row == 0 || row == d->rows - 1 || (d->rows >= 7 && row == d->rows / 2);
    if (labelled && d->seen > 0)
        label(text, sizeof text, value_at(d, row));
    tsri_canvas_say(f, TSRI_QUIET, "%*s%s", TSRI_DOTS_LABEL, text,
                    !f->unicode ? "|"
                    : labelled  ? "\u2524"
                                : "\u2502");
    for (int c = 0; c < d->columns; c++) {
        uint8_t bits = d->cell[row * d->columns + c];
        char glyph[5] = "*";
        if (d->unicode && bits)
            glyph[tsri_utf8_encode(glyph, 0x2800u + bits)] = '\0';
        if (bits)
            tsri_canvas_say(f, (tsri_style)d->style[row * d->columns + c], "%s", glyph);
        else
            tsri_canvas_say(f, TSRI_PLAIN, " ");
    }
}

static void last_row(tsri_canvas *f, const tsri_dots *d, int begin)
{
    char low[32], high[32];
    tsri_canvas_to(f, begin + TSRI_DOTS_LABEL + 1);
    if (d->seen == 0)
        return;
    label(low, sizeof low, d->x_low);
    label(high, sizeof high, d->x_high);
    tsri_canvas_say(f, TSRI_QUIET, "%s", low);
    int room = d->columns - tsri_canvas_columns(low) - tsri_canvas_columns(high);
    int name = d->x_name ? tsri_canvas_columns(d->x_name) : 0;
    if (name + 2 <= room) {
        tsri_canvas_to(f, f->column + (room - name) / 2);
        tsri_canvas_say(f, TSRI_QUIET, "%s", d->x_name ? d->x_name : "");
    }
    tsri_canvas_to(f, begin + d->width - tsri_canvas_columns(high));
    tsri_canvas_say(f, TSRI_QUIET, "%s", high);
}

void tsri_dots_row(tsri_canvas *f, const tsri_dots *d, int row)
{
    int begin = f->column, width = f->width;
    f->width = begin + d->width < width ? begin + d->width : width;
    if (row == 0) {
        tsri_canvas_to(f, begin + TSRI_DOTS_LABEL + 1);
        tsri_canvas_say(f, TSRI_BOLD, "%s%s", d->title, d->log ? " (log)" : "");
        for (int i = 0; i < 2; i++)
            if (d->legend[i])
                tsri_canvas_say(f, i ? TSRI_SECOND : TSRI_FIRST, "  %s", d->legend[i]);
        if (d->seen == 0)
            tsri_canvas_say(f, TSRI_QUIET, "  none yet");
    } else if (row == d->height - 1) {
        last_row(f, d, begin);
    } else {
        field_row(f, d, row - 1);
    }
    tsri_canvas_to(f, begin + d->width);
    f->width = width;
}
