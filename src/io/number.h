/* number.h - the shortest text of a number, the same in every locale.
 *
 *     char text[TSRI_NUMBER_TEXT];
 *     tsri_shortest(text, 0.1);            "0.1"
 *
 * Shortest means: no text with fewer digits reads back to the same bits. A point or an exponent is
 * always there ("1.0", "-0.0"), so that readers which tell integers from reals see a real.
 */
#ifndef TSRI_NUMBER_H
#define TSRI_NUMBER_H

enum { TSRI_NUMBER_TEXT = 40 };

/* Both return `text`. The value must be finite. */
const char *tsri_shortest(char text[TSRI_NUMBER_TEXT], double value);
const char *tsri_shortest_float(char text[TSRI_NUMBER_TEXT], float value);

#endif
