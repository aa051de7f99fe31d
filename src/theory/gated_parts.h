/* gated_parts.h - what the files of the gated nets' certificate share: gated.c (the paper, what it
 * assumes, how far a run moves) and gated_rate.c (how fast its loss must fall). */
#ifndef TSRI_GATED_PARTS_H
#define TSRI_GATED_PARTS_H

#include "theory/gated.h"

/* The paper's letters for a run; of a schedule eta is the largest (rates.h). */
typedef struct tsri_gated_letters {
    double n, dx, dy, L, m, eta;
} tsri_gated_letters;

/* Rows for (14) to (19): eigenvalues, the step they allow, the rate they promise. Of a gated net.
 * Keeps alpha, beta and beta_x in `past`, whose losses it reads. FAILURE when LAPACK gives up. */
tsr_status tsri_gated_eigenvalues(tsri_certificate *c, tsri_run *run, const tsri_gated *v,
                                  tsri_past *past, const tsri_gated_letters *s);

#endif
