/* iterate.h - which iterate a run hands over, and when it has had enough. */
#ifndef TSRI_ITERATE_H
#define TSRI_ITERATE_H

#include "run/run.h"

/* Reads optim.keep and stop. USAGE when the run has nothing to stop at. */
tsr_status tsri_iterate_init(tsri_run *run);

/* Evaluates the whole training set, if a setting asks for it, and keeps the best iterate so far. */
tsr_status tsri_iterate_judge(tsri_run *run);

/* Notes the scores of the filters now, if a setting asks for them and they are due. After every
 * round. */
tsr_status tsri_iterate_scores(tsri_run *run);

/* Has the run reached what it was to stop at? */
bool tsri_iterate_enough(const tsri_settings *s, const tsri_run_position *p);
void tsri_iterate_say_enough(const tsri_run *run); /* says that and why it ends */

/* The best iterate into the store, where it is to be handed over and is not the last one. */
tsr_status tsri_iterate_take_best(tsri_run *run, bool *taken);

#endif
