/* papers.h - the papers whose theorems are certified: one file each, one row each.
 *
 * A paper's file measures what its theorems speak of and adds rows to a certificate. It is asked
 * before a run (`tessera certify`). With `certify: {every: N}` it looks at the run after every
 * round and keeps what it saw (past.h); certificates are made before the first round and after
 * every N-th and the last, of the run as it is (weights, shares (team.h), data) and of that past.
 */
#ifndef TSRI_PAPERS_H
#define TSRI_PAPERS_H

#include "run/run.h"
#include "theory/assume.h"
#include "theory/certificate.h"
#include "theory/past.h"

typedef struct tsri_paper {
    const char *name;  /* "masked-neurons" */
    const char *title; /* authors, title */
    bool remembers;    /* wants past->memory */
    const char *about; /* which runs it speaks of, after "certificates are for" */
    /* (optional) Models name the paper that speaks of them (tsri_model.paper): does it of this
     * run's loss and data, too? */
    bool (*applies)(const tsri_run *run);

    /* Before the first round and after each one, however often certificates are made: keeps in
     * `past` what rows about all rounds need. What a round's look may cost is tsri_look_stride's
     * business: the rest is left unseen. */
    tsr_status (*look)(tsri_run *run, tsri_past *past);

    /* Adds the rows for the run as it stands, right after its look. It keeps nothing: a verdict
     * must not depend on how often one asks for it. */
    tsr_status (*certify)(tsri_certificate *c, tsri_run *run, const tsri_past *past);

    void (*forget)(void *state); /* (optional) frees past->state */
} tsri_paper;

/* Every paper: its row, tsri_paper_NAME, ends its file. */
#define TSRI_PAPER_NAMES(X)                                                                        \
    X(masked_neurons)                                                                              \
    X(loft)                                                                                        \
    X(deep_relu)                                                                                   \
    X(rnn)                                                                                         \
    X(gated)

#define X(name) extern const tsri_paper tsri_paper_##name;
TSRI_PAPER_NAMES(X)
#undef X

/* The paper that speaks of this run, or NULL. */
const tsri_paper *tsri_paper_of(const tsri_run *run);

/* Tells the certificate which assumptions the run's way of training breaks (assume.c). */
void tsri_assume_run(tsri_certificate *c, const tsri_run *run);

/* Is a local step what the papers about shares say: w - eta times the gradient on all samples, the
 * same for all workers, in single precision? Only such rounds can be gone through anew. */
bool tsri_plain_steps(const tsri_run *run);

/* Multiplications and additions of one round of the run. */
double tsri_round_operations(const tsri_run *run);

/* Rounds from one look to the next for a look of `operations` (multiplications and additions, or
 * what takes as long), so that all looks together take at most certify.budget of what training
 * takes: 1 = every round. It follows from the run file alone, so a resumed run looks at the same
 * rounds. */
int64_t tsri_look_stride(const tsri_run *run, double operations);

/* Is this round one of them? The first and the last always are. */
bool tsri_look_due(const tsri_run *run, double operations);

/* Multiplications and additions that a certificate may spend on one thing that it measures
 * (certify.effort): of what takes more it looks at a part. */
double tsri_effort(const tsri_run *run);

/* Notes how long all of `what` would take; after a part of it was looked at. */
void tsri_certify_long(tsri_certificate *c, const char *what, double operations);

/* Makes certificates an observer of runs (run/run.h), before main. Nothing calls it by name:
 * where this library is linked as an archive the linker is told to bring it along (CMakeLists.txt).
 */
__attribute__((constructor)) void tsri_certificates_register(void);

/* The certificate of a run before its first round: `tessera certify`. USAGE when no paper speaks of
 * it. The caller calls tsri_certificate_fini, also on failure. */
tsr_status tsri_certify_before(tsri_certificate *c, tsr_config *config);

#endif
