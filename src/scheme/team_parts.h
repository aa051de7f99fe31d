/* team_parts.h - what the files of the team share: team.c (the round), team_worker.c (one worker),
 * team_crew.c (the same round with workers in other processes). */
#ifndef TSRI_TEAM_PARTS_H
#define TSRI_TEAM_PARTS_H

#include "comm/crew.h"
#include "optim/step.h"
#include "run/trace.h"
#include "scheme/rules.h"
#include "scheme/team.h"
#include "subnet/put.h"

typedef struct tsri_team team;

typedef struct tsri_worker {
    tsri_run *run;
    team *team;
    int64_t number;     /* l */
    tsri_device device; /* the run's, with threads of its own */
    bool owns_pool;
    void *queue; /* of its own, on a device that has several; NULL: none */
    tsri_share share;
    tsri_net *net; /* of the share */
    tsri_store store;
    tsri_plan *plan; /* NULL where others do the work */
    tsri_step step;
    bool resized; /* the network, and the plan was not made anew yet */
    tsri_loader *loader;
    const tsri_batch *fixed; /* the one batch of full-batch descent */
    double *loss;      /* [local_steps + 1] before each step and, for events, after the last */
    tsri_mem *tallies; /* [local_steps] on the device, and ... */
    tsri_loss *judged; /* ... of which losses, until the steps are done */
    float *kept;       /* for events: what a forward pass changes, see loss_at_the_end */
    bool idle;         /* nothing was drawn on some axis, or its work was lost */
    tsr_status st;
    char error[1024];
} worker;

struct tsri_team {
    tsri_rules rules;
    struct tsri_space *space; /* when it trains in the space of its samples, else NULL */
    bool events, step_events;
    worker *worker;         /* [workers] */
    tsri_resident resident; /* the training set, on a device that draws batches itself */
    tsri_put put;
    tsri_owner *owner;   /* [workers] those that take part */
    int64_t *down, *up;  /* [workers] bytes of this round */
    tsri_traced *traced; /* [workers] for the trace */
};

/* ---- team_worker.c ------------------------------------------------------------------------- */

/* Needs run, team and number; without a crew, its data too. tsri_worker_fini also after a
 * failure. */
tsr_status tsri_worker_init(worker *w);
void tsri_worker_fini(worker *w);

/* Its share of run->position.round, with network and store; w->idle when the share is empty. */
tsr_status tsri_worker_draw(worker *w);

/* The local steps of the round, from what is in its store. The plan is made when it is needed:
 * USAGE when the batch does not fit it. FAILURE when the coordinator is gone. */
tsr_status tsri_worker_steps(worker *w);

/* The batch of a local step, noted for the trace. */
tsr_status tsri_worker_batch(worker *w, int64_t step, const tsri_batch **batch);

/* ---- team_crew.c -------------------------------------------------------------------------- */

/* The round's training by the run's crew. *alone = nobody was there: nothing has been done. */
tsr_status tsri_team_deal(tsri_run *run, bool *alone);

#endif
