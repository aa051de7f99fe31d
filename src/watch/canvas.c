/* canvas.c - lines of text for a screen, clipped. */
#include "watch/canvas.h"

#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const code[] = {
    [TSRI_PLAIN] = "",         [TSRI_BOLD] = "\x1b[1m",    [TSRI_QUIET] = "\x1b[2m",
    [TSRI_GOOD] = "\x1b[32m",  [TSRI_WARN] = "\x1b[33m",   [TSRI_BAD] = "\x1b[31;1m",
    [TSRI_FIRST] = "\x1b[36m", [TSRI_SECOND] = "\x1b[35m", [TSRI_MARKED] = "\x1b[7m"};

static void put(tsri_canvas *f, const char *bytes, size_t n)
{
    if (f->st == TSR_OK)
        f->st = tsri_text_add_bytes(f->out, bytes, n);
}

/* One character, cleaned, unless the line is full. Returns the bytes it took from the text. */
static size_t put_character(tsri_canvas *f, const char *text, size_t n)
{
    size_t size = tsri_utf8_length(text, n);
    unsigned char c = (unsigned char)*text;
    /* C1 controls (U+0080 to U+009F) drive some terminals as well. */
    bool control =
        c < 0x20 || c == 0x7f || (size == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0);
    if (f->column < f->width) {
        if (size == 0 || control || (size > 1 && !f->unicode))
            put(f, "?", 1);
        else
            put(f, text, size);
        f->column++;
    }
    return size > 0 ? size : 1;
}

void tsri_canvas_say(tsri_canvas *f, tsri_style style, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *begin = code[style == TSRI_PLAIN ? f->ground : style];
    if (tsri_canvas_full(f) || !*text)
        return;
    if (f->colour && *begin)
        put(f, begin, strlen(begin));
    for (size_t i = 0, n = strlen(text); i < n;)
        i += put_character(f, text + i, n - i);
    if (f->colour && *begin)
        put(f, "\x1b[0m", 4);
}

void tsri_canvas_to(tsri_canvas *f, int column)
{
    int n = column - f->column;
    if (n > 0)
        tsri_canvas_say(f, TSRI_PLAIN, "%*s", n, "");
}

bool tsri_canvas_full(const tsri_canvas *f)
{
    return f->line >= f->height - f->kept;
}

void tsri_canvas_next(tsri_canvas *f)
{
    if (tsri_canvas_full(f))
        return;
    if (f->ground != TSRI_PLAIN)
        tsri_canvas_to(f, f->width);
    f->ground = TSRI_PLAIN;
    if (++f->line < f->height)
        put(f, "\n", 1);
    f->column = 0;
}

tsr_status tsri_canvas_end(tsri_canvas *f)
{
    while (!tsri_canvas_full(f))
        tsri_canvas_next(f);
    return f->st;
}

int tsri_canvas_columns(const char *text)
{
    int columns = 0;
    for (size_t i = 0, n = strlen(text); i < n; columns++) {
        size_t size = tsri_utf8_length(text + i, n - i);
        i += size > 0 ? size : 1;
    }
    return columns;
}

void tsri_canvas_right(tsri_canvas *f, tsri_style style, const char *text)
{
    int at = f->width - tsri_canvas_columns(text);
    if (at <= f->column)
        return;
    tsri_canvas_to(f, at);
    tsri_canvas_say(f, style, "%s", text);
}

static void repeat(tsri_canvas *f, tsri_style style, const char *what, int times)
{
    char text[1024] = "";
    size_t size = strlen(what), n = 0;
    for (; times > 0 && n + size < sizeof text; times--, n += size)
        memcpy(text + n, what, size + 1);
    tsri_canvas_say(f, style, "%s", text);
}

void tsri_canvas_bar(tsri_canvas *f, tsri_style style, double part, int cells)
{
    int full = isfinite(part) ? (int)lround(fmin(fmax(part, 0), 1) * cells) : 0;
    repeat(f, style, f->unicode ? "\u2588" : "#", full);
    repeat(f, TSRI_QUIET, f->unicode ? "\u2591" : ".", cells - full);
}

const char *tsri_time_text(char text[TSRI_TIME_TEXT], double seconds)
{
    if (!(seconds >= 0 && seconds < 1e9)) {
        (void)snprintf(text, TSRI_TIME_TEXT, "?");
        return text;
    }
    long s = (long)(seconds + 0.5);
    if (s >= 86400)
        (void)snprintf(text, TSRI_TIME_TEXT, "%ld d %02ld:%02ld", s / 86400, s / 3600 % 24,
                       s / 60 % 60);
    else if (s >= 3600)
        (void)snprintf(text, TSRI_TIME_TEXT, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        (void)snprintf(text, TSRI_TIME_TEXT, "%ld:%02ld", s / 60, s % 60);
    return text;
}
