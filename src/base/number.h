/* number.h - numbers as text, strictly and in every locale.
 *
 * strtod() and printf() follow the user's locale (a German one wants "0,5") and accept more than
 * files should hold ("0x10", "nan", "1e400" as infinity). These do not: one plain decimal form in,
 * the fewest digits that read back to the same bits out.
 */
#ifndef TSRI_NUMBER_H
#define TSRI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum tsri_number_fault {
    TSRI_NUMBER_OK,
    TSRI_NUMBER_FORM,  /* not a decimal number: "1e", "0x10", "1_000", "nan", "" */
    TSRI_NUMBER_RANGE, /* too large for the type, or so small that it would become 0 */
} tsri_number_fault;

/* [+-] digits, without leading zeros. The whole text must be the number; *out only when OK. */
tsri_number_fault tsri_number_int(int64_t *out, const char *text);

/* [+-] digits [. digits] [e [+-] digits], a digit on at least one side of the point. */
tsri_number_fault tsri_number_real(double *out, const char *text);

enum { TSRI_NUMBER_TEXT = 40 };

/* The shortest text of a finite number: none with fewer digits reads back to the same bits. A point
 * or an exponent is always there ("1.0", "-0.0"), so that readers which tell integers from reals
 * see a real. Both return `text`. */
const char *tsri_shortest(char text[TSRI_NUMBER_TEXT], double value);
const char *tsri_shortest_float(char text[TSRI_NUMBER_TEXT], float value);

/* For people: that many digits (0 to 9) after the point. What is too large for that is written as
 * the shortest text, what is not finite as a dash. Returns `text`. */
const char *tsri_fixed(char text[TSRI_NUMBER_TEXT], double value, int digits);

/* For people, too: a whole number of more than four digits with commas, "580,882". */
const char *tsri_grouped(char text[TSRI_NUMBER_TEXT], int64_t value);

#endif
