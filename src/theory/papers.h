/* papers.h - the papers whose theorems are certified: one file each, one row each.
 *
 * A paper's file measures what its theorems are about and adds rows to a certificate. `tessera
 * certify` asks it before a run. With `certify: {every: N}` it looks at the run after every round
 * and keeps what it saw (past.h). Certificates are made before the first round, after every N-th
 * and after the last, from the run as it is then (weights, shares, data) and from that past.
 */
#ifndef TSRI_PAPERS_H
#define TSRI_PAPERS_H

#include "theory/run_view.h"
#include "theory/assume.h"
#include "theory/certificate.h"
#include "theory/past.h"

typedef struct tsri_paper {
    const char *name;  /* "masked-neurons" */
    const char *title; /* authors, title */
    bool remembers;    /* needs past->memory */
    const char *about; /* which runs it covers, after "certificates are for" */
    /* (optional) A model names the paper that covers it (tsri_model.paper). Does the paper also
     * cover this run's loss and data? */
    bool (*applies)(const tsri_run_view *view);

    /* Before the first round and after each one, however often certificates are made: keeps in
     * `past` what rows about all rounds need. tsri_look_stride decides how many rounds get an
     * expensive look; the others are left unseen. */
    tsr_status (*look)(const tsri_run_view *view, tsri_past *past);

    /* Adds the rows for the run as it is now, right after its look. It keeps nothing: a verdict
     * must not depend on how often certificates are made. */
    tsr_status (*certify)(tsri_certificate *c, const tsri_run_view *view, const tsri_past *past);

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

/* The paper that covers this run, or NULL. */
const tsri_paper *tsri_paper_of(const tsri_run_view *view);

/* Adds a breach for each assumption that the run's way of training breaks (assume.c). */
void tsri_assume_run(tsri_certificate *c, const tsri_run_view *view);

/* Is a local step the one in the papers about shares: w - eta times the gradient on all samples,
 * the same samples for all workers, in single precision? Only such rounds can be recomputed. */
bool tsri_plain_steps(const tsri_run_view *view);

/* Multiplications and additions of one round of the run. */
double tsri_round_operations(const tsri_run_view *view);

/* Rounds from one look to the next, for looks that take `operations` (multiplications and
 * additions, or what takes as long), so that all looks together take at most certify.budget of the
 * training time: 1 = every round. It follows from the run file alone, so a resumed run looks at the
 * same rounds. */
int64_t tsri_look_stride(const tsri_run_view *view, double operations);

/* Is this round one of them? The first and the last always are. */
bool tsri_look_due(const tsri_run_view *view, double operations);

/* Multiplications and additions that a certificate may spend on one measurement (certify.effort); a
 * measurement that would take more looks at a part. */
double tsri_effort(const tsri_settings *s);

/* Adds a note: how long all of `what` would take, when only a part of it was looked at. */
void tsri_certify_long(tsri_certificate *c, const char *what, double operations);

/* Makes certificates an observer of runs (run/observer.h), before main. Nothing calls it by name:
 * where this library is linked as an archive the linker is told to bring it along
 * (CMakeLists.txt). */
__attribute__((constructor)) void tsri_certificates_register(void);

/* The certificate of a run before its first round: `tessera certify`. USAGE when no paper covers
 * it. The caller calls tsri_certificate_fini, even on failure. */
tsr_status tsri_certify_before(tsri_certificate *c, tsr_config *config);

/* The same on a program's own data, or with NULL on those that the config names. */
tsr_status tsri_certify_on(tsri_certificate *c, tsr_config *config, const tsr_data *data);

#endif
