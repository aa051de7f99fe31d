/* loft_parts.h - what the files of LoFT's certificate share: loft.c (theorems, notes),
 * loft_lemmas.c and loft_theorems.c (rows). See loft.c. */
#ifndef TSRI_LOFT_PARTS_H
#define TSRI_LOFT_PARTS_H

#include "theory/loft_data.h"
#include "theory/loft_look.h"

#include <math.h>

/* Everything that rows are made from. */
typedef struct tsri_loft_view {
    const tsri_run_view *view;
    const tsri_past *past;
    tsri_loft s;
    tsri_loft_data data;
    bool moved;       /* at least one round is done */
    tsri_seen kernel; /* samples of H_inf and H(t) */
    tsri_seen draws;  /* of masks */
    int kernels, lemma1, lemma2, lemma3, lemma4, lemma5, mixing, claim, theorem1, theorem2,
        corollary1;
} tsri_loft_view;

/* Inputs are floats divided by a float: for up to 1e4 numbers their length is 1 to about 1e-6. */
#define TSRI_LOFT_LENGTH_ERROR 1e-5

static inline double tsri_loft_at_start(const tsri_loft_view *v, const char *name)
{
    return tsri_past_at(v->past, 0, name);
}

/* The largest of a series over all rounds so far; unknown before the first. */
static inline double tsri_loft_most(const tsri_loft_view *v, const char *name)
{
    return v->moved ? tsri_past_most(v->past, name) : (double)NAN;
}

void tsri_loft_lemmas(tsri_certificate *c, const tsri_loft_view *v);
tsr_status tsri_loft_theorems(tsri_certificate *c, const tsri_loft_view *v);

#endif
