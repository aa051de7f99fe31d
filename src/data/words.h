/* words.h - a set of different texts, numbered in the order in which they came. */
#ifndef TSRI_WORDS_H
#define TSRI_WORDS_H

#include "base/status.h"

typedef struct tsri_words {
    char **word; /* [count] */
    int64_t count, capacity;
    int64_t *slot; /* [slots] number of a word + 1, or 0; open addressing */
    int64_t slots; /* a power of two, at least twice count */
} tsri_words;

/* *number = that of the text of n bytes, which is added when it is new. */
tsr_status tsri_words_add(int64_t *number, tsri_words *words, const char *text, size_t n);

/* The number of that text, or -1. */
int64_t tsri_words_find(const tsri_words *words, const char *text, size_t n);

/* position[i] = the position of word i when all are sorted by bytes. The caller frees *position. */
tsr_status tsri_words_positions(int64_t **position, const tsri_words *words);

void tsri_words_fini(tsri_words *words);

#endif
