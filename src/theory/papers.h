/* papers.h - the papers whose theorems are certified: one file each, one row each.
 *
 * A paper's file measures what its theorems speak of and adds rows to a certificate. It is asked
 * before a run (`tessera certify`) and, with `certify: {every: N}`, before the first round and
 * after every N-th and the last, and then sees the run as it is: weights, shares (team.h), data,
 * and what it kept of earlier rounds (past.h).
 */
#ifndef TSRI_PAPERS_H
#define TSRI_PAPERS_H

#include "scheme/run.h"
#include "theory/certificate.h"
#include "theory/past.h"

typedef struct tsri_paper {
    const char *name;                     /* "masked-neurons" */
    const char *title;                    /* authors, title */
    bool remembers;                       /* wants past->memory */
    bool (*applies)(const tsri_run *run); /* does the paper speak of this model and loss? */

    /* Adds the rows for the run as it stands. `past` ends with the moment of this certificate, to
     * which the paper adds what it wants to keep. */
    tsr_status (*certify)(tsri_certificate *c, tsri_run *run, tsri_past *past);
} tsri_paper;

extern const tsri_paper tsri_paper_masked_neurons, tsri_paper_loft, tsri_paper_deep_relu,
    tsri_paper_rnn, tsri_paper_gated;

extern const tsri_paper *const tsri_papers[]; /* NULL at the end */

/* The paper that speaks of this run, or NULL. */
const tsri_paper *tsri_paper_of(const tsri_run *run);

/* The certificate of a run before its first round: `tessera certify`. USAGE when no paper speaks of
 * it. The caller calls tsri_certificate_fini, also on failure. */
tsr_status tsri_certify_before(tsri_certificate *c, tsr_config *config);

#endif
