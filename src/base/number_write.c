/* number_write.c - the shortest text of a number.
 *
 * printf rounds correctly, so the nearest decimal with p digits is one call away; the first p whose
 * text reads back to the same bits is taken. One case escapes that search: at a power of two the
 * numbers below are twice as dense as those above, and the nearest decimal may lie just outside on
 * the dense side while its upper neighbour, a little further off, is inside. So at each p the
 * upper neighbour is tried too. (2^-44 has such a one: 5.684341886080802e-14.)
 */
#include "base/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The decimal point must be a point whatever the host program's locale. */
static locale_t c_locale;
static pthread_once_t locale_made = PTHREAD_ONCE_INIT;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Decimal: 0.d1d2d3... is written d1.d2d3... x 10^exponent. */
typedef struct decimal {
    char digit[20];
    int count;
    int exponent;
} decimal;

/* The nearest decimal with p digits to a positive value. */
static decimal nearest(double value, int p)
{
    char text[TSRI_NUMBER_TEXT];
    decimal d = {.count = p};
    (void)snprintf(text, sizeof text, "%.*e", p - 1, value); /* d.ddde+xx */
    char *e = strchr(text, 'e');
    d.exponent = (int)strtol(e + 1, NULL, 10);
    d.digit[0] = text[0];
    if (p > 1)
        memcpy(d.digit + 1, text + 2, (size_t)p - 1);
    return d;
}

/* The next decimal with as many digits. All nines carry into a 1 with zeros and a higher
 * exponent. */
static decimal next_up(decimal d)
{
    int i = d.count - 1;
    while (i >= 0 && d.digit[i] == '9')
        d.digit[i--] = '0';
    if (i >= 0) {
        d.digit[i]++;
    } else {
        d.digit[0] = '1';
        d.exponent++;
    }
    return d;
}

static bool reads_back(const decimal *d, double value, bool single)
{
    char text[TSRI_NUMBER_TEXT];
    (void)snprintf(text, sizeof text, "%.1s.%.*se%d", d->digit, d->count - 1, d->digit + 1,
                   d->exponent);
    if (single)
        return strtof(text, NULL) == (float)value;
    return strtod(text, NULL) == value;
}

static decimal shortest(double value, bool single)
{
    int most = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    decimal d = nearest(value, 1);
    for (int p = 1; p <= most; p++) {
        d = nearest(value, p);
        if (reads_back(&d, value, single))
            break;
        decimal up = next_up(d);
        if (reads_back(&up, value, single))
            return up;
    }
    return d;
}

/* The text of a decimal: plain while short, else with an exponent. */
static void lay_out(char *text, const decimal *d)
{
    const char *s = d->digit;
    int n = d->count, e = d->exponent;
    size_t room = TSRI_NUMBER_TEXT - 1;
    while (n > 1 && s[n - 1] == '0')
        n--;
    if (e < -5 || e > 15)
        (void)snprintf(text, room, n > 1 ? "%.1s.%.*se%d" : "%.1s%.*se%d", s, n - 1, s + 1, e);
    else if (e < 0)
        (void)snprintf(text, room, "0.%.*s%.*s", -e - 1, "00000", n, s);
    else if (n <= e + 1)
        (void)snprintf(text, room, "%.*s%.*s.0", n, s, e + 1 - n, "0000000000000000");
    else
        (void)snprintf(text, room, "%.*s.%.*s", e + 1, s, n - e - 1, s + e + 1);
}

static const char *write_number(char *text, double value, bool single)
{
    (void)pthread_once(&locale_made, make_locale);
    locale_t old = uselocale(c_locale);
    char *start = text;
    if (signbit(value))
        *start++ = '-';
    decimal d = {.digit = "0", .count = 1};
    if (value != 0.0)
        d = shortest(fabs(value), single);
    lay_out(start, &d);
    (void)uselocale(old);
    return text;
}

const char *tsri_shortest(char text[TSRI_NUMBER_TEXT], double value)
{
    return write_number(text, value, false);
}

const char *tsri_shortest_float(char text[TSRI_NUMBER_TEXT], float value)
{
    return write_number(text, (double)value, true);
}

const char *tsri_fixed(char text[TSRI_NUMBER_TEXT], double value, int digits)
{
    if (!isfinite(value)) {
        (void)snprintf(text, TSRI_NUMBER_TEXT, "–");
        return text;
    }
    if (fabs(value) >= 1e15)
        return tsri_shortest(text, value);
    (void)pthread_once(&locale_made, make_locale);
    locale_t old = uselocale(c_locale);
    (void)snprintf(text, TSRI_NUMBER_TEXT, "%.*f", digits < 9 ? digits : 9, value);
    (void)uselocale(old);
    return text;
}

const char *tsri_grouped(char text[TSRI_NUMBER_TEXT], int64_t value)
{
    char plain[24];
    int length = snprintf(plain, sizeof plain, "%lld", (long long)value), used = 0;
    int first = *plain == '-'; /* of the digits */
    for (int i = 0; i < length; i++) {
        if (i > first && length - first > 4 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = plain[i];
    }
    text[used] = '\0';
    return text;
}
