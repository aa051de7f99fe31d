/* words.c - a set of different texts, numbered in the order in which they came. */
#include "data/words.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *text, size_t n) /* FNV-1a */
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h;
}

/* The slot of a text: the one that has it, or the free one where it belongs. */
static int64_t find(const tsri_words *w, const char *text, size_t n)
{
    int64_t at = (int64_t)(hash(text, n) & (uint64_t)(w->slots - 1));
    for (;; at = (at + 1) & (w->slots - 1)) {
        if (w->slot[at] == 0)
            return at;
        const char *have = w->word[w->slot[at] - 1];
        if (strlen(have) == n && memcmp(have, text, n) == 0)
            return at;
    }
}

static tsr_status grow(tsri_words *w)
{
    tsr_status st = TSR_OK;
    tsri_words more = *w;
    if (2 * (w->count + 1) <= w->slots)
        goto done;
    more.slots = w->slots > 0 ? 2 * w->slots : 32;
    TSR_TRY(tsri_alloc(&more.slot, more.slots, sizeof *more.slot));
    for (int64_t i = 0; i < w->count; i++)
        more.slot[find(&more, w->word[i], strlen(w->word[i]))] = i + 1;
    tsri_free(w->slot);
    *w = more;
done:
    return st;
}

tsr_status tsri_words_add(int64_t *number, tsri_words *words, const char *text, size_t n)
{
    tsr_status st = TSR_OK;
    TSR_TRY(grow(words));
    int64_t at = find(words, text, n);
    if (words->slot[at] == 0) {
        TSR_TRY(tsri_reserve(&words->word, &words->capacity, words->count, sizeof *words->word));
        TSR_TRY(tsri_strndup(&words->word[words->count], text, n));
        words->slot[at] = ++words->count;
    }
    *number = words->slot[at] - 1;
done:
    return st;
}

int64_t tsri_words_find(const tsri_words *words, const char *text, size_t n)
{
    return words->slots > 0 ? words->slot[find(words, text, n)] - 1 : -1;
}

typedef struct entry {
    const char *word;
    int64_t number;
} entry;

static int by_bytes(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->word, ((const entry *)b)->word);
}

tsr_status tsri_words_positions(int64_t **position, const tsri_words *words)
{
    tsr_status st = TSR_OK;
    entry *sorted = NULL;
    TSR_TRY(tsri_alloc_raw(position, words->count, sizeof **position));
    TSR_TRY(tsri_alloc_raw(&sorted, words->count, sizeof *sorted));
    for (int64_t i = 0; i < words->count; i++)
        sorted[i] = (entry){words->word[i], i};
    qsort(sorted, (size_t)words->count, sizeof *sorted, by_bytes);
    for (int64_t i = 0; i < words->count; i++)
        (*position)[sorted[i].number] = i;
done:
    tsri_free(sorted);
    return st;
}

void tsri_words_fini(tsri_words *words)
{
    for (int64_t i = 0; i < words->count; i++)
        tsri_free(words->word[i]);
    tsri_free(words->word);
    tsri_free(words->slot);
    *words = (tsri_words){0};
}
