/* gpipe_parts.h - what the files of gpipe share: gpipe.c (all stages in this process), gpipe_crew.c
 * (stages in other processes, seen by the coordinator) with gpipe_line.c (which ranks they are, and
 * messages to and from them), gpipe_stage.c (seen by one of them), gpipe_numbers.c (what they send
 * each other). */
#ifndef TSRI_GPIPE_PARTS_H
#define TSRI_GPIPE_PARTS_H

#include "optim/optimiser.h"
#include "optim/step.h"
#include "run/run.h"
#include "scheme/micro.h"

typedef struct tsri_pipe_stage {
    tsri_net *net;
    tsri_store store;   /* the run's own vectors, seen through the stage's network */
    tsri_device device; /* the run's, perhaps with threads of its own */
    bool owns_pool;
    tsri_plan **plan;  /* [M] */
    tsri_step *step;   /* [M] of them, without an update */
    int64_t low, high; /* its part of the trained numbers */
    int64_t sent;      /* bytes, in this round */
    tsr_status st;
    char error[1024];
} tsri_pipe_stage;

typedef struct tsri_pipe {
    tsri_run *run;
    tsri_micro micro;
    int64_t *begin;         /* [workers + 1] the first layer of each stage, and their number */
    tsri_pipe_stage *stage; /* [workers]; a rank that is a stage has one */
    int64_t stages;         /* made */
    tsri_loader *loader;
    const tsri_batch *batch;
    tsri_optimiser optimiser; /* of the run's store, or the part of it that is here */
    double *loss;             /* [M] */
    int64_t tick;
    struct tsri_line *line; /* stages in other processes, for the coordinator; else NULL */
} tsri_pipe;

/* ---- gpipe.c ------------------------------------------------------------------------------ */

/* USAGE when the run file asks for what a pipeline cannot do. */
tsr_status tsri_gpipe_allowed(const tsri_settings *s);

/* The layers from .. to-1 as the next stage of this process, on that pool; NULL = one of its
 * own. */
tsr_status tsri_pipe_add(tsri_pipe *p, tsri_pool *pool, int64_t from, int64_t to);
void tsri_pipe_clear(tsri_pipe *p); /* removes all stages */

/* Prepares the batches, if that was not done before. */
tsr_status tsri_pipe_load(tsri_pipe *p);

/* The step of run->position.round by stages of this process, all of them: losses into p->loss. */
tsr_status tsri_pipe_step(tsri_pipe *p);

/* ---- gpipe_crew.c ------------------------------------------------------------------------- */

/* The same step, by the run's crew. */
tsr_status tsri_line_step(tsri_pipe *p);

/* Of the scheme's row, with gpipe_stage.c: see tsri_scheme. */
tsr_status tsri_gpipe_assemble(tsri_run *run);
tsr_status tsri_gpipe_serve(tsri_run *run);
tsr_status tsri_gpipe_collect(tsri_run *run);

/* ---- gpipe_line.c ------------------------------------------------------------------------- */

void tsri_line_destroy(struct tsri_line *line); /* NULL is fine */

/* ---- gpipe_numbers.c ---------------------------------------------------------------------- */

/* What the coordinator tells a rank that becomes a stage, before its numbers; its neighbours are -1
 * at the ends. */
typedef struct tsri_orders {
    int64_t from, to; /* layers */
    int64_t before, behind;
    int64_t pad[4]; /* the numbers begin aligned */
} tsri_orders;

/* What a stage reports of a round: bytes of activations and gradients. Losses may follow. */
typedef struct tsri_traffic {
    int64_t received, sent;
} tsri_traffic;

/* Every frame of a pipeline has a mark in the place of a share's number: the number of the line
 * that it belongs to, and what it is about (a micro-batch, a place in the line, a request). */
int64_t tsri_mark(int64_t forming, int64_t what);
int64_t tsri_mark_forming(int64_t mark);
int64_t tsri_mark_what(int64_t mark);

/* The numbers of a part (net/depth.h): weights, state of the optimiser, statistics, all that a
 * stage needs and changes. Bytes, with that many vectors (tsri_run_vectors); out of a store of the
 * whole; and back into one. */
int64_t tsri_part_bytes(int64_t vectors, const tsri_net *part);
tsr_status tsri_part_pack(void *bytes, const tsri_store *whole, const tsri_net *part);
tsr_status tsri_part_unpack(tsri_store *whole, const tsri_net *part, const void *bytes);

#endif
