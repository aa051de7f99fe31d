/* number.c - numbers read from text, strictly and in every locale.
 *
 * The form is checked by hand; the digits are then converted by the C library, which rounds
 * correctly, under the "C" locale. glibc's "C" locale is a constant: asking for it takes no memory
 * and cannot fail.
 */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_sign(const char *p)
{
    return *p == '+' || *p == '-' ? p + 1 : p;
}

static const char *skip_digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

tsri_number_fault tsri_number_int(int64_t *out, const char *text)
{
    const char *first = skip_sign(text), *end = skip_digits(first);
    if (end == first || *end != '\0' || (first[0] == '0' && end - first > 1))
        return TSRI_NUMBER_FORM;
    uint64_t most = text[0] == '-' ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX, value = 0;
    for (const char *p = first; p < end; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (value > (most - digit) / 10)
            return TSRI_NUMBER_RANGE;
        value = value * 10 + digit;
    }
    *out = text[0] == '-' ? (int64_t)(0 - value) : (int64_t)value;
    return TSRI_NUMBER_OK;
}

/* The end of the mantissa in *end; does it have a digit, and one that is not zero? */
static bool mantissa(const char *p, const char **end, bool *nonzero)
{
    const char *whole = skip_digits(p), *stop = whole;
    int64_t digits = whole - p;
    if (*stop == '.') {
        stop = skip_digits(stop + 1);
        digits += stop - whole - 1;
    }
    *nonzero = false;
    for (; p < stop; p++)
        *nonzero = *nonzero || (*p != '0' && *p != '.');
    *end = stop;
    return digits > 0;
}

tsri_number_fault tsri_number_real(double *out, const char *text)
{
    const char *p = skip_sign(text);
    bool nonzero = false;
    if (!mantissa(p, &p, &nonzero))
        return TSRI_NUMBER_FORM;
    if (*p == 'e' || *p == 'E') {
        const char *digits = skip_sign(p + 1);
        p = skip_digits(digits);
        if (p == digits)
            return TSRI_NUMBER_FORM;
    }
    if (*p != '\0')
        return TSRI_NUMBER_FORM;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = strtod_l(text, NULL, c);
    freelocale(c);
    if (isinf(value) || (value == 0.0 && nonzero))
        return TSRI_NUMBER_RANGE;
    *out = value;
    return TSRI_NUMBER_OK;
}
