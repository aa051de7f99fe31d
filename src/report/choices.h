/* choices.h - things that differ in a few keys (the cells of a sweep, runs side by side): boxes that
 * filter them, and all of them as lines through parallel axes, one for each key and one for what
 * came out.
 *
 *     tsri_choices c = {0};
 *     TSR_TRY(tsri_choices_key(&c, "optim.lr"));              each key, in the order of the axes
 *     TSR_TRY(tsri_choices_add(&c, name, values, "88.1 %", 0.7));   each thing: a value of each key
 *     tsri_choices_filters(page, &c);
 *     tsri_choices_parallel(page, &c, "test accuracy", "60 %", "90 %");
 *     tsri_choices_fini(&c);
 *
 * Whatever else on the page belongs to thing i carries tsri_choices_mark's attributes: the page's
 * script (filter.js) hides and highlights it with the line.
 */
#ifndef TSRI_CHOICES_H
#define TSRI_CHOICES_H

#include "report/report_parts.h"

enum { TSRI_CHOICE_KEYS = 8 };

typedef struct tsri_choice_key {
    char *name;
    char **value; /* [values] in the order in which they came */
    int64_t values, capacity;
} tsri_choice_key;

typedef struct tsri_choice {
    char *name, *result;          /* what came out, in words */
    double place;                 /* 0 (worst) to 1 (best); NaN: nothing came out */
    int64_t at[TSRI_CHOICE_KEYS]; /* which value of each key */
} tsri_choice;

typedef struct tsri_choices {
    tsri_choice_key key[TSRI_CHOICE_KEYS];
    int64_t keys;
    tsri_choice *thing;
    int64_t count, capacity;
} tsri_choices;

tsr_status tsri_choices_key(tsri_choices *c, const char *name);
tsr_status tsri_choices_add(tsri_choices *c, const char *name, const char *const *value,
                            const char *result, double place);
void tsri_choices_fini(tsri_choices *c);

/* A value in words: "none" of one that is empty. */
const char *tsri_choices_text(const tsri_choice_key *key, int64_t value);

void tsri_choices_filters(tsri_page *p, const tsri_choices *c);
void tsri_choices_parallel(tsri_page *p, const tsri_choices *c, const char *measure,
                           const char *worst, const char *best);

/* " data-cell=... data-keys=... data-name=...": for an element that belongs to thing i. */
void tsri_choices_mark(tsri_markup *m, const tsri_choices *c, int64_t i);

#endif
