/* alike.h - texts that people take for the same: True and true, Köln in one character or two.
 *
 * They are different words, classes or names all the same, since only their bytes are compared. A
 * reader that meets two of them warns.
 */
#ifndef TSRI_ALIKE_H
#define TSRI_ALIKE_H

#include "base/status.h"

/* Without regard to capitals, spaces, marks of no width, and accents of Latin letters. */
tsr_status tsri_alike(bool *same, const char *a, const char *b);

/* first and second of the words that are alike, or -1 and -1 when no two are. */
tsr_status tsri_alike_pair(int64_t *first, int64_t *second, char *const *word, int64_t count);

#endif
