/* scale.c - an axis: which numbers it spans, where a number lies on it, which ones it names. */
#include "report/scale.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond these, differences and steps would be infinite or lose their digits. */
static const double largest = 1e300, smallest = 1e-290;

/* ---- Spans and places ----------------------------------------------------------------------- */

static bool has_place(double value, bool log)
{
    return fabs(value) <= largest && (!log || value >= smallest);
}

bool tsri_span_empty(const tsri_span *span)
{
    return span->low > span->high;
}

void tsri_span_see(tsri_span *span, double value, bool log)
{
    if (!has_place(value, log))
        return;
    if (fabs(value) < smallest)
        value = 0;
    bool first = tsri_span_empty(span);
    span->low = first ? value : fmin(span->low, value);
    span->high = first ? value : fmax(span->high, value);
}

/* A range too narrow for its ticks to differ in the fifteen digits of a double is widened. */
static void give_room(tsri_scale *s)
{
    double size = fmax(fabs(s->low), fabs(s->high));
    if (s->high - s->low > size * 1e-10)
        return;
    double room = s->log ? 0.5 : size > 0 ? size * 0.1 : 1;
    s->low -= room;
    s->high += room;
}

tsri_scale tsri_scale_of(const tsri_span *span, bool log, double margin)
{
    tsri_scale s = {.log = log, .low = 0, .high = 1};
    if (tsri_span_empty(span))
        return s;
    s.low = log ? log10(span->low) : span->low;
    s.high = log ? log10(span->high) : span->high;
    give_room(&s);
    double free_end = (s.high - s.low) * margin;
    s.low -= free_end;
    s.high += free_end;
    return s;
}

double tsri_scale_at(const tsri_scale *s, double value)
{
    if (!has_place(value, s->log))
        return (double)NAN;
    return ((s->log ? log10(value) : value) - s->low) / (s->high - s->low);
}

/* ---- Numbers as labels ------------------------------------------------------------------------
 * A label is n * 10^power with n whole: its digits are known, only the point has to be placed. */

static void decimal(char out[TSRI_LABEL], int64_t n, int power)
{
    char whole[TSRI_NUMBER_TEXT];
    const char *sign = n < 0 ? "-" : "";
    long long size = n < 0 ? -n : n, unit = 1;
    for (; power > 0 && size < INT64_MAX / 10; power--)
        size *= 10;
    for (int i = power; i < 0 && unit < INT64_MAX / 10; i++)
        unit *= 10;
    (void)tsri_grouped(whole, size / unit);
    if (power < 0)
        (void)snprintf(out, TSRI_LABEL, "%s%.20s.%0*lld", sign, whole, -power > 18 ? 18 : -power,
                       size % unit);
    else
        (void)snprintf(out, TSRI_LABEL, "%s%.26s", sign, whole);
}

/* "⁻12" as superscripts. */
static void superscript(char *out, size_t room, int power)
{
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    (void)snprintf(plain, sizeof plain, "%d", power);
    size_t used = 0;
    for (const char *p = plain; *p && used + 4 < room; p++) {
        const char *s = *p == '-' ? "⁻" : digit[*p - '0'];
        used += (size_t)snprintf(out + used, room - used, "%s", s);
    }
}

static void power_of_ten(char out[TSRI_LABEL], const char *before, int power)
{
    char raised[16] = "";
    superscript(raised, sizeof raised, power);
    (void)snprintf(out, TSRI_LABEL, "%.12s10%.15s", before, raised);
}

/* 10 ^ floor(log10(value)), right also where the logarithm of 1000 is 2.9999999999999996. */
static int power_below(double value)
{
    int power = (int)floor(log10(value));
    if (value >= pow(10, power + 1))
        power++;
    return power;
}

void tsri_tick_text(char text[TSRI_LABEL], double value)
{
    char mantissa[TSRI_LABEL];
    if (value == 0 || !isfinite(value)) {
        (void)snprintf(text, TSRI_LABEL, "%s", value == 0 ? "0" : "–");
        return;
    }
    int power = power_below(fabs(value)), last = power - 3; /* four digits */
    int64_t n = llround(value / pow(10, last));
    if (power >= 0 && power < 6 && fabs(value - nearbyint(value)) < 1e-9 * fabs(value)) {
        n = llround(value);
        last = 0;
    }
    for (; n % 10 == 0 && last != 0; n /= 10)
        last++;
    if (power >= -4 && power < 6) {
        decimal(text, n, last);
        return;
    }
    decimal(mantissa, n, last - power);
    (void)snprintf(mantissa + strlen(mantissa), sizeof mantissa - strlen(mantissa), "×");
    power_of_ten(text, strcmp(mantissa, "1×") == 0 ? "" : mantissa, power);
}

/* ---- Ticks ---------------------------------------------------------------------------------- */

/* The step is unit * 10^power. */
static void nice_step(int *unit, int *power, double length, int about, bool whole)
{
    double raw = length / (about > 1 ? about : 1);
    *power = power_below(raw);
    double lead = raw / pow(10, *power);
    *unit = lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10;
    if (*unit == 10) {
        *unit = 1;
        ++*power;
    }
    if (whole && *power < 0) {
        *unit = 1;
        *power = 0;
    }
}

static void add_tick(tsri_ticks *t, double at)
{
    if (t->count < TSRI_TICKS_MAX)
        t->at[t->count++] = at;
}

/* Labels of very large and very small numbers share a power of ten. */
static int shared_power(double low, double high)
{
    double size = fmax(fabs(low), fabs(high));
    int power = size > 0 ? power_below(size) : 0;
    return power >= 6 || power < -3 ? power : 0;
}

static void linear_ticks(tsri_ticks *t, const tsri_scale *s, int about, bool whole)
{
    int unit, power;
    nice_step(&unit, &power, s->high - s->low, about, whole);
    double step = unit * pow(10, power);
    int shared = shared_power(s->low, s->high);
    int64_t first = llround(ceil(s->low / step - 1e-9)),
            last = llround(floor(s->high / step + 1e-9));
    if (shared != 0)
        power_of_ten(t->factor, "×", shared);
    for (int64_t i = first; i <= last && t->count < TSRI_TICKS_MAX; i++) {
        double at = tsri_scale_at(s, (double)i * step);
        if (!(at >= -1e-9 && at <= 1 + 1e-9))
            continue;
        decimal(t->label[t->count], i * unit, power - shared);
        add_tick(t, (double)i * step);
    }
}

/* Ticks on every decade or, over many, on every second, third, ... one. */
static void decade_ticks(tsri_ticks *t, int first, int last, int about)
{
    int stride = (last - first) / (about > 1 ? about : 1) + 1;
    bool plain = first >= -3 && last <= 4;
    for (int e = first; e <= last && t->count < TSRI_TICKS_MAX; e += stride) {
        if (!has_place(pow(10, e), true))
            continue;
        if (plain)
            tsri_tick_text(t->label[t->count], pow(10, e));
        else
            power_of_ten(t->label[t->count], "", e);
        add_tick(t, pow(10, e));
    }
}

static void minor_ticks(tsri_ticks *t, const tsri_scale *s)
{
    for (int e = (int)floor(s->low); e <= (int)ceil(s->high); e++)
        for (int k = 2; k < 10 && t->minor_count < TSRI_MINOR_MAX; k++) {
            double at = tsri_scale_at(s, k * pow(10, e));
            if (at >= 0 && at <= 1)
                t->minor[t->minor_count++] = k * pow(10, e);
        }
}

/* Less than two decades: 1, 2 and 5 of each; less than two of those: as on a linear axis. */
static void few_decades(tsri_ticks *t, const tsri_scale *s, int about)
{
    static const int unit[] = {1, 2, 5};
    for (int e = (int)floor(s->low); e <= (int)floor(s->high); e++)
        for (int k = 0; k < 3; k++) {
            double value = unit[k] * pow(10, e), at = tsri_scale_at(s, value);
            if (!(at >= -1e-9 && at <= 1 + 1e-9))
                continue;
            tsri_tick_text(t->label[t->count < TSRI_TICKS_MAX ? t->count : 0], value);
            add_tick(t, value);
        }
    if (t->count < 2) {
        tsri_scale plain = {.low = pow(10, s->low), .high = pow(10, s->high)};
        t->count = 0;
        linear_ticks(t, &plain, about, false);
    }
}

void tsri_ticks_make(tsri_ticks *t, const tsri_scale *s, int about, bool whole)
{
    memset(t, 0, sizeof *t);
    if (!s->log) {
        linear_ticks(t, s, about, whole);
        return;
    }
    int first = (int)ceil(s->low - 1e-9), last = (int)floor(s->high + 1e-9);
    if (last - first >= 2)
        decade_ticks(t, first, last, about);
    else
        few_decades(t, s, about);
    if (s->high - s->low < 10)
        minor_ticks(t, s);
}

void tsri_ticks_at(tsri_ticks *t, const double *value, int64_t count)
{
    memset(t, 0, sizeof *t);
    for (int64_t i = 0; i < count && t->count < TSRI_TICKS_MAX; i++) {
        tsri_tick_text(t->label[t->count], value[i]);
        add_tick(t, value[i]);
    }
}
