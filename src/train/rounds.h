/* rounds.h - what the two ends of a run's life (train.c) share with its rounds. tsri_train_step and
 * tsri_train_progress, of train.h, are in rounds.c, too. */
#ifndef TSRI_ROUNDS_H
#define TSRI_ROUNDS_H

#include "run/run.h"

/* Progress, to who asked for it. */
void tsri_rounds_tell(const tsri_run *run, bool evaluated, bool resumed);

/* Judges the weights, which are those after `rounds` rounds; the position holds what came out.
 * DIVERGED when that is not finite. */
tsr_status tsri_rounds_judge(tsri_run *run, int64_t rounds);

#endif
