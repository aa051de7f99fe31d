/* json_write.c - JSON out: commas, escapes, and numbers with the fewest digits.
 *
 * What is written is always valid JSON: bytes that are not UTF-8 become U+FFFD, numbers that JSON
 * lacks become null. The shape (a key before every value of an object, brackets in pairs) is the
 * caller's duty and is kept honest by the tests that read the output back.
 */
#include "io/json.h"

#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

/* The first failure stays, so that the calls between open and end need no checking. */
static void keep(tsri_json *w, tsr_status st)
{
    if (w->st == TSR_OK)
        w->st = st;
}

static void raw(tsri_json *w, const char *bytes, size_t n)
{
    if (w->st == TSR_OK)
        keep(w, tsri_text_add_bytes(&w->text, bytes, n));
}

static void before_value(tsri_json *w)
{
    if (w->comma)
        raw(w, ",", 1);
    w->comma = true;
}

static void plain(tsri_json *w, const char *token)
{
    before_value(w);
    raw(w, token, strlen(token));
}

static void escaped(tsri_json *w, unsigned char c)
{
    static const char digit[] = "0123456789abcdef";
    char u[] = {'\\', 'u', '0', '0', digit[c >> 4], digit[c & 15]};
    switch (c) {
    case '"':
        raw(w, "\\\"", 2);
        break;
    case '\\':
        raw(w, "\\\\", 2);
        break;
    case '\n':
        raw(w, "\\n", 2);
        break;
    case '\t':
        raw(w, "\\t", 2);
        break;
    default:
        raw(w, u, sizeof u);
    }
}

/* Runs of bytes that need nothing are copied whole. */
static void quoted(tsri_json *w, const char *text)
{
    size_t n = strlen(text), start = 0, i = 0;
    raw(w, "\"", 1);
    while (i < n) {
        unsigned char c = (unsigned char)text[i];
        size_t length = tsri_utf8_length(text + i, n - i);
        if (length > 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) {
            i += length;
            continue;
        }
        raw(w, text + start, i - start);
        if (length == 0)
            raw(w, "\xEF\xBF\xBD", 3); /* U+FFFD, the replacement character */
        else
            escaped(w, c);
        start = ++i;
    }
    raw(w, text + start, n - start);
    raw(w, "\"", 1);
}

void tsri_json_begin(tsri_json *w)
{
    tsri_json_open(w, '{');
    tsri_json_put_int(w, "format", TSRI_JSON_FORMAT);
}

void tsri_json_open(tsri_json *w, char bracket)
{
    before_value(w);
    raw(w, &bracket, 1);
    w->comma = false;
}

void tsri_json_close(tsri_json *w, char bracket)
{
    raw(w, &bracket, 1);
    w->comma = true;
}

void tsri_json_key(tsri_json *w, const char *key)
{
    before_value(w);
    quoted(w, key);
    raw(w, ":", 1);
    w->comma = false;
}

void tsri_json_text(tsri_json *w, const char *value)
{
    before_value(w);
    quoted(w, value);
}

void tsri_json_int(tsri_json *w, int64_t value)
{
    before_value(w);
    if (w->st == TSR_OK)
        keep(w, tsri_text_add(&w->text, "%lld", (long long)value));
}

void tsri_json_real(tsri_json *w, double value)
{
    char text[TSRI_NUMBER_TEXT];
    plain(w, isfinite(value) ? tsri_shortest(text, value) : "null");
}

void tsri_json_float(tsri_json *w, float value)
{
    char text[TSRI_NUMBER_TEXT];
    plain(w, isfinite(value) ? tsri_shortest_float(text, value) : "null");
}

void tsri_json_bool(tsri_json *w, bool value)
{
    plain(w, value ? "true" : "false");
}

void tsri_json_null(tsri_json *w)
{
    plain(w, "null");
}

void tsri_json_copy(tsri_json *w, const char *json)
{
    plain(w, json);
}

void tsri_json_put_text(tsri_json *w, const char *key, const char *value)
{
    tsri_json_key(w, key);
    tsri_json_text(w, value);
}

void tsri_json_put_int(tsri_json *w, const char *key, int64_t value)
{
    tsri_json_key(w, key);
    tsri_json_int(w, value);
}

void tsri_json_put_real(tsri_json *w, const char *key, double value)
{
    tsri_json_key(w, key);
    tsri_json_real(w, value);
}

void tsri_json_put_bool(tsri_json *w, const char *key, bool value)
{
    tsri_json_key(w, key);
    tsri_json_bool(w, value);
}

tsr_status tsri_json_end(tsri_json *w)
{
    return w->st;
}

void tsri_json_fini(tsri_json *w)
{
    tsri_text_fini(&w->text);
    *w = (tsri_json){0};
}

tsr_status tsri_json_give(char **out, tsri_json *w)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_json_end(w));
    TSR_TRY(tsri_text_give(out, &w->text));
done:
    return st;
}
