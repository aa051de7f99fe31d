/* scheme.h - a training scheme is a row that acts on a run.
 *
 * A scheme (one file each) does one round: draws its shares, takes local steps, puts them back.
 * What is the same for all schemes (evaluation, metrics, checkpoints, stopping) is train/rounds.c.
 */
#ifndef TSRI_SCHEME_H
#define TSRI_SCHEME_H

#include "run/run.h"
#include "subnet/draw.h"

/* One training scheme per file, which ends with its row; a line of io/names.h makes it known. What
 * other code must know about a scheme is a field here: nobody compares its name. */
typedef struct tsri_scheme {
    const char *name;
    const char *help;
    const char *keys; /* those of `scheme:` that it reads, between spaces; others must not be set */
    bool many;        /* has scheme.workers workers, else one */
    bool local;       /* a worker takes scheme.local_steps steps in a round, else one */
    bool plain; /* every step is one of the whole network: one share that is the whole does the
                   same, to the bit */

    /* Of schemes with shares (team.h). The shares, their chance and the factor of the whole
     * (whole.h) all follow from how they are drawn. */
    bool shares;
    tsri_draw_kind draw; /* what scheme.draw: auto means; the only kind where the key is not read */
    bool disjoint;       /* no unit is in two shares, whatever scheme.draw says */
    /* (optional) on which axes, where that is not all: cut [axes] comes with all that can be cut */
    tsr_status (*axes)(bool *cut, const tsr_config *config, const tsri_net *net);

    tsr_status (*cost)(tsr_cost *cost, tsri_run *run); /* counts without training (cost.h) */
    tsr_status (*setup)(tsri_run *run);                /* (optional) makes run->scheme_state */
    tsr_status (*round)(tsri_run *run); /* one round; adds its losses to run->position.recent */
    void (*teardown)(tsri_run *run);    /* (optional) */
    /* With other processes (run->process.crew); optional, both or none: all ranks agree on the run;
     * those that do not coordinate work until it is over. */
    tsr_status (*assemble)(tsri_run *run);
    tsr_status (*serve)(tsri_run *run);
    /* (optional) With other processes that keep the weights from round to round: brings them into
     * run->store. Called after each round whose weights are looked at (tsri_looked_at). */
    tsr_status (*collect)(tsri_run *run);
} tsri_scheme;

extern const tsri_scheme *const tsri_schemes[]; /* NULL at the end */

/* The one that the config names. */
const tsri_scheme *tsri_scheme_of(const tsr_config *config);

#endif
