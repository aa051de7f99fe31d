/* date.c - days and times of day as people write them in tables. */
#include "data/date.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* What is left of a cell. */
typedef struct scan {
    const char *at, *end;
} scan;

static bool digit(const scan *s)
{
    return s->at < s->end && isdigit((unsigned char)*s->at);
}

static bool one_of(char *out, scan *s, const char *marks)
{
    if (s->at == s->end || !strchr(marks, *s->at) || *s->at == '\0')
        return false;
    *out = *s->at++;
    return true;
}

/* A whole number of `least` to `most` digits; returns how many there were, or 0. */
static int digits(int *out, scan *s, int least, int most)
{
    int n = 0;
    for (*out = 0; n < most && digit(s); n++)
        *out = *out * 10 + (*s->at++ - '0');
    return n >= least ? n : 0;
}

/* ---- Days --------------------------------------------------------------------------------- */

static bool exists(int year, int month, int day)
{
    static const int most[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return year >= 1000 && month >= 1 && month <= 12 && day >= 1 &&
           day <= most[month - 1] + (month == 2 && leap);
}

/* Days since 1970-01-01 of a day of the Gregorian calendar, counted by eras of 400 years that begin
 * in March. */
static double days_of(int year, int month, int day)
{
    int y = month <= 2 ? year - 1 : year, era = y / 400, of_era = y - era * 400;
    int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int of_days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return (double)era * 146097 + of_days - 719468;
}

/* Day and month in either order. */
static bool either(int year, int a, int b)
{
    return exists(year, a, b) || exists(year, b, a);
}

/* 2024-05-31, 31.05.2024, 5/31/2024, 05/31/24: three numbers with the same mark between them. */
static bool numbers(double *days, scan *s)
{
    int a, b, c;
    char mark, again;
    int first = digits(&a, s, 1, 4);
    if (first == 0 || first == 3 || !one_of(&mark, s, "-./"))
        return false;
    int second = digits(&b, s, 1, 2);
    if (second == 0 || !one_of(&again, s, "-./") || again != mark)
        return false;
    int third = digits(&c, s, 1, 4);
    bool year_first = first == 4, year_last = first < 3 && third == 4;
    *days = (double)NAN;
    if (year_first && third > 0 && third < 3 && exists(a, b, c))
        *days = days_of(a, b, c);
    else if (year_last && mark == '.' && exists(c, b, a))
        *days = days_of(c, b, a);
    else
        return (year_last && mark != '.' && either(c, a, b)) ||
               (first == 2 && second == 2 && third == 2 && (either(2000 + c, a, b)));
    return true;
}

/* The month that a name of at least three letters means, from 1; 0 for none. */
static int month_of(scan *s)
{
    static const char *const names[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
    const char *from = s->at;
    while (s->at < s->end && isalpha((unsigned char)*s->at))
        s->at++;
    size_t n = (size_t)(s->at - from);
    for (int m = 0; m < 12; m++)
        if (n >= 3 && n <= strlen(names[m]) && strncasecmp(from, names[m], n) == 0)
            return m + 1;
    return 0;
}

static void skip(scan *s, const char *marks)
{
    while (s->at < s->end && strchr(marks, *s->at) && *s->at != '\0')
        s->at++;
}

/* 31-May-2024, 31 May 2024, May 31, 2024. */
static bool named(double *days, scan *s)
{
    int day = 0, month, year;
    bool day_first = digit(s);
    if (day_first && digits(&day, s, 1, 2) == 0)
        return false;
    skip(s, "-./ ");
    month = month_of(s);
    skip(s, "-./, ");
    if (month == 0 || (!day_first && digits(&day, s, 1, 2) == 0))
        return false;
    if (!day_first)
        skip(s, ", ");
    if (digits(&year, s, 4, 4) == 0 || !exists(year, month, day))
        return false;
    *days = days_of(year, month, day);
    return true;
}

/* ---- Times of day --------------------------------------------------------------------------- */

/* "+02:00", "-0530", "Z": how far local time is ahead, as a part of a day. */
static bool zone(double *ahead, scan *s)
{
    int hours, minutes = 0;
    char sign;
    *ahead = 0;
    if (s->at < s->end && *s->at == 'Z') {
        s->at++;
        return true;
    }
    if (!one_of(&sign, s, "+-"))
        return true;
    if (digits(&hours, s, 2, 2) == 0)
        return false;
    skip(s, ":");
    if (digit(s) && digits(&minutes, s, 2, 2) == 0)
        return false;
    *ahead = (sign == '-' ? -1 : 1) * (hours * 60 + minutes) / 1440.0;
    return hours < 24 && minutes < 60;
}

/* "12:30", "12:30:05.5", all that is left of the cell. */
static bool time_of(double *part, scan *s)
{
    int hour, minute, second = 0;
    double fraction = 0, unit = 0.1, ahead;
    if (digits(&hour, s, 1, 2) == 0 || s->at == s->end || *s->at++ != ':' ||
        digits(&minute, s, 2, 2) == 0)
        return false;
    if (s->at < s->end && *s->at == ':') {
        s->at++;
        if (digits(&second, s, 2, 2) == 0)
            return false;
        if (s->at < s->end && *s->at == '.')
            for (s->at++; digit(s); unit /= 10)
                fraction += unit * (*s->at++ - '0');
    }
    if (!zone(&ahead, s))
        return false;
    *part = (hour * 3600 + minute * 60 + second + fraction) / 86400.0 - ahead;
    return s->at == s->end && hour < 24 && minute < 60 && second < 61;
}

bool tsri_date(double *days, const char *cell, size_t length)
{
    static bool (*const ways[])(double *, scan *) = {numbers, named};
    double part = 0;
    scan s = {cell, cell + length};
    if (time_of(&part, &s)) {
        *days = part;
        return true;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        s = (scan){cell, cell + length};
        if (!ways[i](days, &s))
            continue;
        if (s.at == s.end)
            return true;
        if (*s.at != ' ' && *s.at != 'T')
            continue;
        s.at++;
        if (time_of(&part, &s)) {
            *days += part;
            return true;
        }
    }
    return false;
}
