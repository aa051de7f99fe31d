/* text.h - a growing string, and small helpers for sentences that people read.
 *
 *     tsri_text t = {0};
 *     TSR_TRY(tsri_text_add(&t, "%d layers", n));
 *     ... t.data, t.length ...
 *     tsri_text_fini(&t);
 */
#ifndef TSRI_TEXT_H
#define TSRI_TEXT_H

#include "base/status.h"

typedef struct tsri_text {
    char *data; /* NUL behind; NULL while empty */
    int64_t length;
    int64_t capacity;
} tsri_text;

tsr_status tsri_text_add(tsri_text *text, const char *fmt, ...) TSR_PRINTF(2, 3);
tsr_status tsri_text_add_bytes(tsri_text *text, const char *bytes, size_t n);
/* A field of CSV: in quotes, doubled inside, where it holds a comma, a quote or a line end. */
tsr_status tsri_text_add_field(tsri_text *text, const char *field);
/* Untrusted text as it is, in UTF-8, but for control characters, which become \xNN (no terminal
 * injection). Never cut. */
tsr_status tsri_text_add_shown(tsri_text *text, const char *words);
void tsri_text_fini(tsri_text *text);

/* A printable copy of untrusted text in a small ring of thread-local buffers: UTF-8 as it is,
 * control characters and other bytes as \xNN, long text cut with "...". For use inside messages. */
const char *tsri_printable(const char *bytes, size_t n);
const char *tsri_quote(const char *text);

/* The word of `words` nearest to `word` in edit distance, or NULL when none is near enough to be
 * what was meant. */
const char *tsri_nearest(const char *word, const char *const *words, int64_t count);

/* "1.5 GB", "312 kB": decimal units, in the same ring of buffers. */
const char *tsri_bytes_text(double bytes);

#endif
