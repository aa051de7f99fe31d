/* encoding.h - tables are read as UTF-8; older ones are brought to it.
 *
 * Names and words must be the same texts wherever a table was saved, or a model would not recognise
 * its own columns.
 */
#ifndef TSRI_ENCODING_H
#define TSRI_ENCODING_H

#include "base/status.h"

/* Text that is not UTF-8 is taken for Windows-1252 (of which Latin-1 is a part) and becomes UTF-8,
 * with a note. BAD_FILE for UTF-16. *text is replaced, and ends with a NUL after its *n bytes. */
tsr_status tsri_to_utf8(char **text, int64_t *n, const char *path);

#endif
