/* papers.h - the papers whose theorems are certified: one file each, one row each.
 *
 * A paper's file measures what its theorems speak of and adds rows to a certificate. It is asked
 * before a run (`tessera certify`) and, with `certify: {every: N}`, after every N rounds, and then
 * sees the run as it is: weights, shares, data, and what it said before (past.h).
 */
#ifndef TSRI_PAPERS_H
#define TSRI_PAPERS_H

#include "scheme/run.h"
#include "theory/certificate.h"

typedef struct tsri_past tsri_past;

typedef struct tsri_paper {
    const char *name;                     /* "masked-neurons" */
    const char *title;                    /* authors and title */
    bool (*applies)(const tsri_run *run); /* is this run one that the paper speaks of? */

    /* Adds the rows. `past` is NULL before the run; during it, the numbers of earlier
     * certificates of this run. */
    tsr_status (*certify)(tsri_certificate *c, tsri_run *run, tsri_past *past);
} tsri_paper;

extern const tsri_paper tsri_paper_deep_relu, tsri_paper_rnn;

extern const tsri_paper *const tsri_papers[]; /* NULL at the end */

/* The paper that speaks of this run, or NULL. */
const tsri_paper *tsri_paper_of(const tsri_run *run);

#endif
