/* gated_parts.h - what the files of the gated nets' certificate share: gated.c (the paper, its
 * theorems and what they assume), gated_rate.c (how fast the loss must fall), gated_lemmas.c (how
 * far a run moves, what the lemmas bound). All rows are made from the series of gated_look.c. */
#ifndef TSRI_GATED_PARTS_H
#define TSRI_GATED_PARTS_H

#include "theory/gated.h"

/* The paper's letters for a run; with a schedule eta is the largest rate (rates.h). */
typedef struct tsri_gated_letters {
    double n, dx, dy, L, m, eta;
} tsri_gated_letters;

/* Indices of theorems (tsri_certify_theorem). */
typedef struct tsri_gated_theorems {
    int one, three, five, six;                   /* Corollary 4 is with Theorem 3 */
    int two_l, three_l, four_l, five_l, seven_l; /* lemmas */
    int steep, start, ends, kernel, fixed;       /* (39), (43), (47), (14) to (17), Remark 3 */
} tsri_gated_theorems;

/* Everything that the rows of a certificate are made from. */
typedef struct tsri_gated_file {
    tsri_certificate *c;
    const tsri_run_view *view;
    const tsri_past *past;
    tsri_gated_reach reach;
    tsri_gated_letters s;
    tsri_gated_theorems of;
} tsri_gated_file;

/* Rounds of a series, and samples of a measurement. */
tsri_seen tsri_gated_seen(const tsri_gated_file *f, const char *series, tsri_gated_portion p);

/* The same for a number that may err either way. */
tsri_seen tsri_gated_some(tsri_seen seen);

/* The last round for which a series has a number; -1 = none. */
int64_t tsri_gated_latest(const tsri_past *past, const char *series);

/* The round in which `series` exceeds `bound` by most, or falls short of it by least. */
int64_t tsri_gated_worst(const tsri_past *past, const char *series, const char *bound);

/* gated_rate.c: (14) to (19), (42), (46). gated_lemmas.c: the others. */
tsr_status tsri_gated_rate_rows(tsri_gated_file *f);
void tsri_gated_lemma_rows(tsri_gated_file *f);
void tsri_gated_moved_rows(tsri_gated_file *f);

#endif
