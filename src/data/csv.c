/* csv.c - the text of a table, cell by cell. */
#include "data/csv.h"

#include "base/number.h"
#include "data/date.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- Cells -------------------------------------------------------------------------------- */

tsri_csv tsri_csv_start(const char *path, const char *text, int64_t n, char separator)
{
    bool mark = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    return (tsri_csv){.path = path,
                      .text = text,
                      .n = n,
                      .at = mark ? 3 : 0,
                      .separator = separator,
                      .next_line = 1};
}

void tsri_csv_fini(tsri_csv *c)
{
    tsri_text_fini(&c->scratch);
}

static bool blank(const tsri_csv *c, int64_t at)
{
    char b = c->text[at];
    return b == ' ' || b == '\r' || (b == '\t' && c->separator != '\t');
}

bool tsri_csv_row(tsri_csv *c)
{
    int64_t at = c->at;
    while (at < c->n && (blank(c, at) || c->text[at] == '\n')) {
        if (c->text[at++] == '\n') { /* everything up to here was blank */
            c->at = at;
            c->next_line++;
        }
    }
    c->line = c->next_line;
    c->column = 0;
    c->row_end = false;
    return at < c->n;
}

static tsr_status quoted_cell(tsri_csv *c)
{
    tsr_status st = TSR_OK;
    int64_t start = ++c->at;
    bool doubled = false;
    for (;; c->at++) {
        TSR_CHECK(c->at < c->n, TSR_BAD_FILE,
                  "%s: line %lld, column %lld: a quote is opened and never closed; close it",
                  tsri_quote(c->path), (long long)c->line, (long long)c->column);
        if (c->text[c->at] == '\n')
            c->next_line++;
        if (c->text[c->at] != '"')
            continue;
        if (c->at + 1 >= c->n || c->text[c->at + 1] != '"')
            break;
        doubled = true;
        c->at++;
    }
    c->cell = c->text + start;
    c->length = (size_t)(c->at++ - start);
    if (doubled) {
        c->scratch.length = 0;
        for (size_t i = 0; i < c->length; i++) {
            TSR_TRY(tsri_text_add_bytes(&c->scratch, c->cell + i, 1));
            i += c->cell[i] == '"';
        }
        c->cell = c->scratch.data;
        c->length = (size_t)c->scratch.length;
    }
    while (c->at < c->n && blank(c, c->at))
        c->at++;
    TSR_CHECK(c->at >= c->n || c->text[c->at] == '\n' || c->text[c->at] == c->separator,
              TSR_BAD_FILE, "%s: line %lld, column %lld: text after a closing quote; remove it",
              tsri_quote(c->path), (long long)c->line, (long long)c->column);
done:
    return st;
}

static void plain_cell(tsri_csv *c)
{
    int64_t start = c->at;
    while (c->at < c->n && c->text[c->at] != '\n' && c->text[c->at] != c->separator)
        c->at++;
    int64_t end = c->at;
    while (end > start && blank(c, end - 1))
        end--;
    c->cell = c->text + start;
    c->length = (size_t)(end - start);
}

tsr_status tsri_csv_cell(tsri_csv *c)
{
    tsr_status st = TSR_OK;
    c->column++;
    while (c->at < c->n && blank(c, c->at))
        c->at++;
    c->quoted = c->at < c->n && c->text[c->at] == '"';
    if (c->quoted)
        TSR_TRY(quoted_cell(c));
    else
        plain_cell(c);
    TSR_CHECK(c->length == 0 || !memchr(c->cell, '\0', c->length), TSR_BAD_FILE,
              "%s: line %lld, column %lld: a NUL byte; this is not a text file",
              tsri_quote(c->path), (long long)c->line, (long long)c->column);
    c->row_end = c->at >= c->n || c->text[c->at] == '\n';
    c->next_line += c->at < c->n && c->text[c->at] == '\n';
    c->at++;
done:
    return st;
}

/* *columns of the first rows when they are cut at `separator`; 0 when rows differ, or are no table
 * at all. */
static tsr_status even_columns(int64_t *columns, const char *path, const char *text, int64_t n,
                               char separator)
{
    enum { ROWS = 32 };
    tsri_csv c = tsri_csv_start(path, text, n, separator);
    tsr_status st = TSR_OK;
    bool even = true;
    *columns = 0;
    for (int row = 0; even && row < ROWS && tsri_csv_row(&c); row++) {
        while (st == TSR_OK && !c.row_end)
            st = tsri_csv_cell(&c);
        even = st == TSR_OK && (row == 0 || c.column == *columns);
        *columns = even ? c.column : 0;
    }
    tsri_csv_fini(&c);
    return st == TSR_BAD_FILE ? TSR_OK : st;
}

tsr_status tsri_csv_separator(char *out, const char *path, const char *text, int64_t n)
{
    static const char marks[] = {';', '\t', ','};
    tsr_status st = TSR_OK;
    int64_t columns = 0;
    const char *end = memchr(text, '\n', (size_t)n);
    size_t line = end ? (size_t)(end - text) : (size_t)n;
    *out = ',';
    for (size_t i = 0; i < sizeof marks && columns <= 1; i++) {
        TSR_TRY(even_columns(&columns, path, text, n, marks[i]));
        if (columns > 1 || memchr(text, marks[i], line))
            *out = marks[i];
    }
done:
    return st;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

/* [+-] digits [. digits] [e [+-] digits], all of it. Gives the digits as a whole number with a
 * power of ten when they fit exactly: `exact` says so. */
typedef struct decimal {
    bool negative, exact;
    uint64_t digits;
    int power;
} decimal;

static bool scan(decimal *d, const char *s, const char *end)
{
    int figures = 0, seen = 0, power = 0;
    *d = (decimal){.exact = true};
    if (s < end && (*s == '+' || *s == '-'))
        d->negative = *s++ == '-';
    for (bool point = false; s < end && (isdigit((unsigned char)*s) || (*s == '.' && !point));
         s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        seen++;
        figures += d->digits > 0 || *s != '0';
        if (figures <= 18)
            d->digits = d->digits * 10 + (uint64_t)(*s - '0');
        if (point && power > -10000)
            power--;
    }
    if (seen == 0)
        return false;
    if (s < end && (*s == 'e' || *s == 'E')) {
        int e = 0, sign = 1;
        s++;
        if (s < end && (*s == '+' || *s == '-'))
            sign = *s++ == '-' ? -1 : 1;
        if (s == end)
            return false;
        for (; s < end && isdigit((unsigned char)*s); s++)
            e = e < 100000 ? e * 10 + (*s - '0') : e;
        power += sign * e;
    }
    d->power = power;
    d->exact = figures <= 18 && d->digits <= (uint64_t)1 << 53;
    return s == end;
}

/* A whole number below 2^53 times or over 10^22 at most: both exact, so one rounding, and the
 * result is the correctly rounded one (Clinger, "How to read floating point numbers accurately",
 * 1990). The few others take the slow road. */
static double value_of(const decimal *d, const char *cell, size_t length)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char text[1024];
    double v = (double)d->digits;
    if (d->exact && d->power >= -22 && d->power <= 22) {
        v = d->power < 0 ? v / ten[-d->power] : v * ten[d->power];
        return d->negative ? -v : v;
    }
    if (length >= sizeof text)
        return (double)NAN;
    memcpy(text, cell, length);
    text[length] = '\0';
    return tsri_number_real(&v, text) == TSRI_NUMBER_OK ? v : (double)NAN;
}

static bool is_word(const char *cell, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(cell, word, length) == 0;
}

static bool names_infinity(const char *cell, size_t length)
{
    if (length > 0 && (*cell == '+' || *cell == '-')) {
        cell++;
        length--;
    }
    return is_word(cell, length, "inf") || is_word(cell, length, "infinity");
}

static bool names_nothing(const char *cell, size_t length, bool quoted)
{
    static const char *const words[] = {"-", "NA", "N/A", "NaN", "-NaN", "+NaN", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(cell, length, words[i]))
            return true;
    return length == 0 || (length == 1 && *cell == '?' && !quoted);
}

/* A number with one comma where the point should be: its value with a point. */
static bool decimal_comma(double *value, const char *cell, size_t length)
{
    char text[64];
    decimal d;
    const char *comma = memchr(cell, ',', length);
    if (!comma || length >= sizeof text || memchr(cell, '.', length))
        return false;
    memcpy(text, cell, length);
    text[comma - cell] = '.';
    if (comma == cell || !isdigit((unsigned char)comma[-1]) || !scan(&d, text, text + length))
        return false;
    *value = value_of(&d, text, length);
    return true;
}

tsri_cell tsri_cell_kind(double *value, const char *cell, size_t length, bool quoted)
{
    decimal d;
    if (names_nothing(cell, length, quoted))
        return TSRI_CELL_MISSING;
    if (!scan(&d, cell, cell + length)) {
        if (names_infinity(cell, length))
            return TSRI_CELL_NOT_FINITE;
        if (decimal_comma(value, cell, length))
            return fabs(*value) <= (double)FLT_MAX ? TSRI_CELL_COMMA : TSRI_CELL_NOT_FINITE;
        return tsri_date(value, cell, length) ? TSRI_CELL_DATE : TSRI_CELL_TEXT;
    }
    *value = value_of(&d, cell, length);
    return fabs(*value) <= (double)FLT_MAX ? TSRI_CELL_NUMBER : TSRI_CELL_NOT_FINITE;
}
