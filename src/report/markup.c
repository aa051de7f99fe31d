/* markup.c - XML and HTML out: a writer that keeps its first failure and escapes what is not
 * ours. */
#include "report/markup.h"

#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void raw(tsri_markup *m, const char *bytes, size_t n)
{
    if (m->st == TSR_OK && n > 0)
        m->st = tsri_text_add_bytes(&m->text, bytes, n);
}

void tsri_markup_add(tsri_markup *m, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (m->st == TSR_OK && (n < 0 || n >= (int)sizeof text))
        m->st = tsri_fail(TSR_FAILURE, "a piece of markup of %d bytes is too long to write", n);
    raw(m, text, n > 0 && n < (int)sizeof text ? (size_t)n : 0);
}

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* XML 1.0 has no place, not even escaped, for control characters, U+FFFE and U+FFFF. */
static bool forbidden(const char *at, size_t length)
{
    unsigned char c = (unsigned char)*at;
    if (length == 0)
        return true;
    if (length == 1)
        return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
    return length == 3 &&
           (memcmp(at, "\xEF\xBF\xBE", 3) == 0 || memcmp(at, "\xEF\xBF\xBF", 3) == 0);
}

void tsri_markup_text(tsri_markup *m, const char *text)
{
    size_t n = text ? strlen(text) : 0, i = 0;
    while (i < n) {
        size_t length = tsri_utf8_length(text + i, n - i);
        const char *name = entity(text[i]);
        if (forbidden(text + i, length))
            raw(m, "\xEF\xBF\xBD", 3);
        else if (name)
            raw(m, name, strlen(name));
        else
            raw(m, text + i, length);
        i += length > 0 ? length : 1;
    }
}

tsr_status tsri_markup_end(const tsri_markup *m)
{
    return m->st;
}

void tsri_markup_fini(tsri_markup *m)
{
    tsri_text_fini(&m->text);
    *m = (tsri_markup){0};
}

const char *tsri_px(double value)
{
    enum { RING = 16, SLOT = 24 };
    static _Thread_local char ring[RING][SLOT];
    static _Thread_local int turn;
    turn = (turn + 1) % RING;
    char *slot = ring[turn];
    double far = 1e6;
    value = isnan(value) ? 0 : fmax(-far, fmin(far, value));
    long long hundredths = llround(value * 100);
    long long size = hundredths < 0 ? -hundredths : hundredths;
    const char *sign = hundredths < 0 ? "-" : "";
    if (size % 100 == 0)
        (void)snprintf(slot, SLOT, "%s%lld", sign, size / 100);
    else if (size % 10 == 0)
        (void)snprintf(slot, SLOT, "%s%lld.%lld", sign, size / 100, size % 100 / 10);
    else
        (void)snprintf(slot, SLOT, "%s%lld.%02lld", sign, size / 100, size % 100);
    return slot;
}
