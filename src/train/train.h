/* train.h - the life of a run, in steps: for tsr_train, for tsr_run and for tsr_check.
 *
 *     TSR_TRY(tsri_run_init(&run, config, options));      (describe.h)
 *     TSR_TRY(tsri_train_prepare(&run));
 *     TSR_TRY(tsri_train_begin(&run));
 *     for (bool more = true; more;)
 *         TSR_TRY(tsri_train_step(&run, &more));
 *     TSR_TRY(tsri_train_end(&result, &run));
 *     tsri_train_close(&run, st, tsr_last_error());       also after a failure
 */
#ifndef TSRI_TRAIN_H
#define TSRI_TRAIN_H

#include "run/run.h"

/* tsr_train, but a stop that was asked for stays asked for: one that comes too late for this run ends
 * the next one of a command that has several. That command clears it at its end. */
tsr_status tsri_train(tsr_result *result, tsr_config *config, const tsr_run_options *options);

/* All that training refuses, before a folder is touched, so that the same command works once the
 * mistake is fixed. For tsr_train and tsr_check. */
tsr_status tsri_train_prepare(tsri_run *run);

/* USAGE when a run without a folder is to do what only one with a folder can. */
tsr_status tsri_train_check_folder(const tsri_run *run);

/* Folder, checkpoint, open files. */
tsr_status tsri_train_begin(tsri_run *run);

/* One round with what is due after it, or a step back (rollback.h); *more = there is another. */
tsr_status tsri_train_step(tsri_run *run, bool *more);

/* The finished network, judged, in its file where the run has a folder. */
tsr_status tsri_train_end(tsr_result *result, tsri_run *run);

/* Closes what begin has opened; unless st is OK, with a last line that says how it ended and
 * why. */
void tsri_train_close(tsri_run *run, tsr_status st, const char *why);

tsr_progress tsri_train_progress(const tsri_run *run);

#endif
