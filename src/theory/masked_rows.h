/* masked_rows.h - what the parts of the masked-neurons certificate have in common: the run's
 * letters and what was kept of it. */
#ifndef TSRI_MASKED_ROWS_H
#define TSRI_MASKED_ROWS_H

#include "theory/fall.h"
#include "theory/masked_bounds.h"
#include "theory/papers.h"

typedef struct tsri_masked_view {
    tsri_certificate *c;
    const tsri_run_view *view;
    const tsri_past *past;
    tsri_masked s;
    bool dealt; /* every unit in exactly one share */
    bool whole; /* every share is the whole: nothing is left to chance */
} tsri_masked_view;

/* What Algorithm 1, on samples of length 1 with no two parallel, assumes about a run. */
enum {
    TSRI_ALGORITHM_1 = TSRI_CONSTANT_RATE | TSRI_NO_MOMENTUM | TSRI_NO_DECAY | TSRI_FULL_BATCHES |
                       TSRI_COMMON_DATA | TSRI_FIXED_SAMPLES | TSRI_DRAWN_START |
                       TSRI_SINGLE_PRECISION | TSRI_UNIT_ROWS | TSRI_DISTINCT_ROWS |
                       TSRI_PAPER_MODEL | TSRI_EQUAL_SHARES
};

/* "m over <formula>": a width in Omega or Theta, whose constant the paper does not give. */
void tsri_masked_constant(const tsri_masked_view *v, int of, double order, const char *formula);

/* The largest distance of a unit from its first weights so far, against R. */
void tsri_masked_distance(const tsri_masked_view *v, int of, const char *where, double R,
                          const char *formula);

/* masked_theorems.c: Theorems 3 and 4 and their corollaries. */
tsr_status tsri_masked_theorem3(const tsri_masked_view *v);
tsr_status tsri_masked_theorem4(const tsri_masked_view *v);

/* masked_steps.c: Hypothesis 1 and the lemmas about local steps, with alpha and B_1 of the theorem
 * that covers this run. */
void tsri_masked_hypothesis(const tsri_masked_view *v, double alpha, double B1, double R);

#endif
