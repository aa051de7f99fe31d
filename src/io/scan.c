/* scan.c - JSON read token by token, without building a tree. */
#include "io/scan.h"

#include "base/text.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

tsr_status tsri_scan_fail(const tsri_scan *s, const char *fmt, ...)
{
    char why[600];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return tsri_fail(TSR_BAD_FILE, "%s: %s byte %lld: %s", tsri_quote(s->name), s->what,
                     (long long)(s->at - s->start), why);
}

char tsri_scan_peek(tsri_scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

/* What stands here, for "expected x, found y". */
static const char *found(tsri_scan *s)
{
    (void)tsri_scan_peek(s);
    size_t left = (size_t)(s->end - s->at);
    return left == 0 ? "the end" : tsri_printable(s->at, left < 20 ? left : 20);
}

tsr_status tsri_scan_expect(tsri_scan *s, char c)
{
    if (tsri_scan_peek(s) != c || s->at == s->end)
        return tsri_scan_fail(s, "expected '%c', found %s", c, found(s));
    s->at++;
    return TSR_OK;
}

tsr_status tsri_scan_more(tsri_scan *s, bool *first, char close, bool *more)
{
    char c = tsri_scan_peek(s);
    *more = c != close;
    if (!*more) {
        s->at++;
        return TSR_OK;
    }
    if (*first) {
        *first = false;
        return TSR_OK;
    }
    if (c != ',')
        return tsri_scan_fail(s, "expected ',' or '%c', found %s", close, found(s));
    s->at++;
    return TSR_OK;
}

/* ---- Strings ------------------------------------------------------------------------------ */

static tsr_status hex4(tsri_scan *s, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        char c = s->at < s->end ? *s->at : '\0';
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (uint32_t)((c | 32) - 'a' + 10);
        else
            return tsri_scan_fail(s, "four hexadecimal digits must follow \\u");
        *code = *code << 4 | digit;
        s->at++;
    }
    return TSR_OK;
}

/* Behind "\u": one code point, from two halves where the first is a surrogate. */
static tsr_status unicode_escape(tsri_scan *s, char out[4], size_t *n)
{
    tsr_status st = TSR_OK;
    uint32_t code = 0, low = 0;
    TSR_TRY(hex4(s, &code));
    if (code >= 0xD800 && code <= 0xDBFF && s->end - s->at >= 2 && s->at[0] == '\\' &&
        s->at[1] == 'u') {
        s->at += 2;
        TSR_TRY(hex4(s, &low));
        if (low >= 0xDC00 && low <= 0xDFFF)
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code >= 0xD800 && code <= 0xDFFF) {
        st = tsri_scan_fail(s, "half a surrogate pair in a string");
        goto done;
    }
    if (code == 0) {
        st = tsri_scan_fail(s, "a NUL in a string");
        goto done;
    }
    *n = tsri_utf8_encode(out, code);
done:
    return st;
}

static tsr_status escape(tsri_scan *s, char out[4], size_t *n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = s->at < s->end ? *s->at++ : '\0';
    if (c == 'u')
        return unicode_escape(s, out, n);
    const char *which = c ? strchr(from, c) : NULL;
    if (!which)
        return tsri_scan_fail(s, "an unknown escape in a string");
    out[0] = to[which - from];
    *n = 1;
    return TSR_OK;
}

/* One character of a string into out; *n = 0 at the closing quote. */
static tsr_status character(tsri_scan *s, char out[4], size_t *n)
{
    if (s->at == s->end)
        return tsri_scan_fail(s, "the text ends inside a string");
    unsigned char c = (unsigned char)*s->at;
    if (c == '"') {
        s->at++;
        *n = 0;
        return TSR_OK;
    }
    if (c == '\\') {
        s->at++;
        return escape(s, out, n);
    }
    if (c < 0x20)
        return tsri_scan_fail(s, "a control character in a string");
    *n = tsri_utf8_length(s->at, (size_t)(s->end - s->at));
    if (*n == 0)
        return tsri_scan_fail(s, "bytes that are not UTF-8");
    memcpy(out, s->at, *n);
    s->at += *n;
    return TSR_OK;
}

/* Into out; an escape is never shorter than what it stands for, so out may be the text itself. */
static tsr_status decode(tsri_scan *s, char *out, size_t room, size_t *used)
{
    tsr_status st = TSR_OK;
    char one[4];
    size_t n = 1;
    *used = 0;
    TSR_TRY(tsri_scan_expect(s, '"'));
    for (;;) {
        TSR_TRY(character(s, one, &n));
        if (n == 0)
            break;
        if (*used + n >= room) {
            st = tsri_scan_fail(s, "a text longer than %zu bytes", room - 1);
            goto done;
        }
        memcpy(out + *used, one, n);
        *used += n;
    }
    out[*used] = '\0';
done:
    return st;
}

tsr_status tsri_scan_string(tsri_scan *s, char **text, size_t *n)
{
    (void)tsri_scan_peek(s);
    *text = s->at;
    return decode(s, s->at, SIZE_MAX, n);
}

tsr_status tsri_scan_string_copy(tsri_scan *s, char *out, size_t room)
{
    size_t used;
    return decode(s, out, room, &used);
}

/* ---- Numbers and the end ------------------------------------------------------------------ */

tsr_status tsri_scan_count(tsri_scan *s, int64_t *out)
{
    char c = tsri_scan_peek(s);
    if (c < '0' || c > '9')
        return tsri_scan_fail(s, "expected a whole number, 0 or more, found %s", found(s));
    const char *digits = s->at;
    *out = 0;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, *s->at - '0', out))
            return tsri_scan_fail(s, "a number over 2^63");
        s->at++;
    }
    bool zero_first = *digits == '0' && s->at - digits > 1;
    if (zero_first || (s->at < s->end && strchr(".eE", *s->at) && *s->at))
        return tsri_scan_fail(s, "expected a whole number, 0 or more");
    return TSR_OK;
}

tsr_status tsri_scan_end(tsri_scan *s)
{
    (void)tsri_scan_peek(s);
    if (s->at != s->end)
        return tsri_scan_fail(s, "nothing may follow here, found %s", found(s));
    return TSR_OK;
}
