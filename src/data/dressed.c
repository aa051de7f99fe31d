/* dressed.c - numbers with something around them. */
#include "data/dressed.h"

#include <ctype.h>
#include <string.h>

/* The length of the text of `list` that stands at `at`, or 0. */
static size_t starts_with(const char *const *list, size_t count, const char *at, const char *end)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(list[i]);
        if (n <= (size_t)(end - at) && memcmp(at, list[i], n) == 0)
            return n;
    }
    return 0;
}

#define STARTS_WITH(list, at, end) starts_with(list, sizeof(list) / sizeof *(list), at, end)

static const char *digits(const char *at, const char *end)
{
    while (at < end && isdigit((unsigned char)*at))
        at++;
    return at;
}

/* Behind 123 or 1,234,567: thousands are apart by one kind of mark, three digits each. */
static const char *whole(const char *at, const char *end)
{
    static const char *const marks[] = {",", ".", "'", " ", "_", "\u00a0", "\u202f", "\u2019"};
    const char *from = at;
    at = digits(at, end);
    size_t n = STARTS_WITH(marks, at, end);
    if (at == from || at - from > 3 || n == 0)
        return at;
    const char *mark = at;
    while ((size_t)(end - at) > n && memcmp(at, mark, n) == 0 &&
           digits(at + n, end) - at == (ptrdiff_t)n + 3)
        at += n + 3;
    return at;
}

bool tsri_dressed(tsri_dress *d, const char *cell, size_t length)
{
    static const char *const before[] = {
        "$",      "\u20ac", "\u00a3", "\u00a5", "\u20b9", "EUR",
        "USD",    "GBP",    "CHF",    "JPY",    "(", /* (5): bookkeepers write -5 so, */
        "\u2212", "\u2013", "\uff0d",                /* and typographers with these */
        "~",      "\u2248", "'"};                    /* '5: how spreadsheets mark a text */
    const char *at = cell, *end = cell + length;
    at += at < end && (*at == '-' || *at == '+');
    d->before = at;
    at += STARTS_WITH(before, at, end);
    d->before_length = (size_t)(at - d->before);
    while (d->before_length > 0 && at < end && *at == ' ')
        at++;
    at += d->before_length > 0 && at < end && *at == '-';
    const char *number = at;
    at = whole(at, end);
    if (at == number)
        return false;
    if (at < end && (*at == '.' || *at == ',') && digits(at + 1, end) > at + 1)
        at = digits(at + 1, end);
    d->behind = at;
    d->behind_length = (size_t)(end - at);
    for (const char *c = at; c < end; c++)
        if (isdigit((unsigned char)*c))
            return false;
    return true;
}
