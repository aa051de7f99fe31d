/* scan.h - JSON read token by token from a buffer, without building a tree.
 *
 * For large headers of a known shape: memory is the text itself (strings are decoded in place) and
 * what the caller keeps. Every function skips white space first and fails with BAD_FILE, the name
 * and the byte where it stands.
 *
 *     tsri_scan s = {.start = text, .at = text, .end = text + n, .name = path, .what = "header"};
 *     TSR_TRY(tsri_scan_expect(&s, '{'));
 */
#ifndef TSRI_SCAN_H
#define TSRI_SCAN_H

#include "base/status.h"

typedef struct tsri_scan {
    char *start, *at, *end;
    const char *name; /* of the file, for messages */
    const char *what; /* which part of it */
} tsri_scan;

/* The sentence "name: what byte N: ...". */
tsr_status tsri_scan_fail(const tsri_scan *s, const char *fmt, ...) TSR_PRINTF(2, 3);

/* The next byte that is not white space, or 0 at the end; it stays unread. */
char tsri_scan_peek(tsri_scan *s);

/* Reads exactly this character. */
tsr_status tsri_scan_expect(tsri_scan *s, char c);

/* In an object or array that was opened: *more = whether another element follows; reads the comma
 * before it (`first` is false from then on) or the closing bracket. */
tsr_status tsri_scan_more(tsri_scan *s, bool *first, char close, bool *more);

/* Reads a string: valid UTF-8, no NUL. In place: *text lives in the buffer, followed by a NUL. */
tsr_status tsri_scan_string(tsri_scan *s, char **text, size_t *n);

/* The same into `out`, at most room-1 bytes and a NUL; the buffer is unchanged. */
tsr_status tsri_scan_string_copy(tsri_scan *s, char *out, size_t room);

/* Reads a whole number from 0 to 2^63-1: digits only. */
tsr_status tsri_scan_count(tsri_scan *s, int64_t *out);

/* Nothing but white space is left. */
tsr_status tsri_scan_end(tsri_scan *s);

#endif
