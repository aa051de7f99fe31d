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
    char *data; /* followed by a NUL; NULL while empty */
    int64_t length;
    int64_t capacity;
} tsri_text;

tsr_status tsri_text_add(tsri_text *text, const char *fmt, ...) TSR_PRINTF(2, 3);
tsr_status tsri_text_add_bytes(tsri_text *text, const char *bytes, size_t n);
/* A field of CSV: in quotes, doubled inside, where it holds a comma, a quote or a line end. */
tsr_status tsri_text_add_field(tsri_text *text, const char *field);
/* Untrusted text as it is, in UTF-8, with its tabs and line ends, but for other control characters,
 * which become \xNN (no terminal injection). Never cut. */
tsr_status tsri_text_add_shown(tsri_text *text, const char *words);
void tsri_text_fini(tsri_text *text);
/* *out = the text itself, which is the caller's now and may be freed with tsr_free; "" for an empty
 * one. */
tsr_status tsri_text_give(char **out, tsri_text *text);

/* A printable copy of untrusted text in a small ring of thread-local buffers: UTF-8 as it is,
 * control characters and other bytes as \xNN, long text cut with "...". For use inside messages. */
const char *tsri_printable(const char *bytes, size_t n);
const char *tsri_quote(const char *text);

/* A search for the word that somebody meant:
 *
 *     tsri_near near = tsri_near_to(written);
 *     for (...)
 *         tsri_near_try(&near, name[i]);
 *     return tsri_fail(TSR_USAGE, "there is no %s; %s", tsri_quote(written),
 *                      tsri_near_ask(&near, "'tessera help' lists them"));
 */
typedef struct tsri_near {
    const char *word;
    const char *best; /* of those tried, by edit distance; NULL: none is near enough */
    size_t distance;
} tsri_near;

tsri_near tsri_near_to(const char *word);
void tsri_near_try(tsri_near *near, const char *name);
/* "did you mean seed?" in the ring of buffers, or `otherwise` when no name is near. */
const char *tsri_near_ask(const tsri_near *near, const char *otherwise);

/* The best of a list, or NULL. */
const char *tsri_nearest(const char *word, const char *const *words, int64_t count);

/* "1.5 GB", "312 kB": decimal units, in the same ring of buffers. */
const char *tsri_bytes_text(double bytes);

#endif
