/* rounds.h - the rounds of a run, for the file that begins and ends it (train.c). rounds.c also has
 * tsri_train_step and tsri_train_progress (train.h). */
#ifndef TSRI_ROUNDS_H
#define TSRI_ROUNDS_H

#include "run/run.h"

/* What has just happened when a run reports its progress. */
typedef enum tsri_moment {
    TSRI_STARTED,
    TSRI_RESUMED,
    TSRI_ROUND_DONE,
    TSRI_EVALUATED
} tsri_moment;

/* Reports progress to the program, if it asked for that. */
void tsri_rounds_tell(const tsri_run *run, tsri_moment moment);

/* Evaluates the weights, which are those after `rounds` rounds, into the position. DIVERGED when
 * the loss is not finite. */
tsr_status tsri_rounds_judge(tsri_run *run, int64_t rounds);

#endif
