/* dressed.h - numbers with something around them: 12.5 kg, 40 %, $5, 1,234.50, 1 234.
 *
 * Such cells are not words, and their meaning cannot be guessed: 12.5 kg may stand beside 300 g, and
 * 1.234 may be a thousand. Taken for words, each would become an input of its own; so a column of
 * them is refused.
 */
#ifndef TSRI_DRESSED_H
#define TSRI_DRESSED_H

#include <stdbool.h>
#include <stddef.h>

/* What stands around a number; both point into the cell. */
typedef struct tsri_dress {
    const char *before, *behind;
    size_t before_length, behind_length;
} tsri_dress;

/* Is the cell a number with a currency, a typographer's minus or the like before it, anything without digits after it, or marks
 * between its thousands? */
bool tsri_dressed(tsri_dress *d, const char *cell, size_t length);

#endif
