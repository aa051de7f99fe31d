/* iterate.h - which iterate becomes the model (optim.keep), and when a run stops early (stop). */
#ifndef TSRI_ITERATE_H
#define TSRI_ITERATE_H

#include "run/run.h"

/* Reads optim.keep and stop. USAGE when the run has nothing to stop at. */
tsr_status tsri_iterate_init(tsri_run *run);

/* Evaluates the whole training set, if a setting asks for it, and keeps the best iterate so far. */
tsr_status tsri_iterate_judge(tsri_run *run);

/* Records the scores of the filters when they are asked for and due. After every round. */
tsr_status tsri_iterate_scores(tsri_run *run);

/* Has the run reached what it was to stop at? */
bool tsri_iterate_enough(const tsri_settings *s, const tsri_run_position *p);
void tsri_iterate_say_enough(const tsri_run *run); /* a message that it has, and why */

/* Puts the best iterate into the store when it becomes the model and is not the last one. */
tsr_status tsri_iterate_take_best(tsri_run *run, bool *taken);

#endif
