/* run.h - everything one run holds, from the run file to the finished model.
 *
 *     run.yaml -> data -> [ a round of the scheme ] x rounds -> metrics, checkpoints -> model
 *
 * Three parts, each with a header of its own, and what they share. A function takes the part it
 * needs: this header is for those that need more than one of them and the network. A scheme
 * (scheme/scheme.h) does one round; what it may ask of the run are the other headers of this room.
 */
#ifndef TSRI_RUN_H
#define TSRI_RUN_H

#include "data/loader.h"
#include "net/plan.h"
#include "run/position.h"
#include "run/process.h"
#include "run/score_log.h"
#include "run/settings.h"

typedef struct tsri_run {
    tsri_settings settings;     /* what the run file says */
    tsri_run_position position; /* how far it has come */
    tsri_process process;       /* what belongs to it in this process */

    /* What the three share: the network with its numbers, and what it is trained on. */
    tsri_device device; /* its pool is also the host's threads */
    tsr_data *data;
    tsri_net *net;
    tsri_store store;
    tsri_mem *average;     /* [net->total] of the weights; NULL = none (train/average.c) */
    tsri_mem *best_w;      /* [net->total] of the best iterate, or NULL: the last is kept */
    tsri_score_log scores; /* the scores of filters so far; empty when nobody looks */
    void *scheme_state;
    tsri_text forced; /* what --force let pass so far, one event a line (train/forced.c) */
    char *ticket;     /* of the model it began from: which units of the whole that has, or NULL */
    char init[TSRI_INIT_TEXT]; /* checksum of that model's numbers; "" = there was none, or of a
                                  checkpoint that does not say */
} tsri_run;

/* The plan of a training step of the whole network. */
tsr_status tsri_run_plan(tsri_plan **out, tsri_run *run);

/* Adds a worker's losses before each of its steps to those of the round. */
void tsri_run_add_losses(tsri_run *run, const double *loss, int64_t steps);

/* What the net is now, "grelu" or "relu_twin", in a run that converts (train/convert_run.h); else
 * NULL. */
const char *tsri_convert_kind(const tsri_settings *s, const tsri_run_position *p);

#endif
