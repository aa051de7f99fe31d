/* sound.h - when a run has diverged, and which weights it may go back to. */
#ifndef TSRI_SOUND_H
#define TSRI_SOUND_H

#include "run/run.h"

/* DIVERGED when the losses added to run->position.recent since `before` are not finite, or ten
 * thousand times the first, or that of a network that answers 0 where that is larger: such a run
 * will not come back. */
tsr_status tsri_check_loss(tsri_run *run, const tsri_mean *before);

/* The loss that made the last round diverge; NaN when it was something else that did. */
tsr_status tsri_diverged_loss(double *loss, const tsri_run *run);

/* DIVERGED when the loss of an evaluation is not finite. */
tsr_status tsri_check_judged(const tsri_run *run, double loss);

enum { TSRI_WHY = 200 };

/* May a run go back to the current weights later? They must be finite, and the next step must begin
 * with a loss that the rule above lets pass; `why` says why not. Changes nothing. */
tsr_status tsri_is_sound(bool *sound, char why[TSRI_WHY], tsri_run *run);
tsr_status tsri_check_sound(tsri_run *run); /* DIVERGED when not */

#endif
