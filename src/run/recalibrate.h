/* recalibrate.h - the statistics of norms, measured on the whole network. */
#ifndef TSRI_RECALIBRATE_H
#define TSRI_RECALIBRATE_H

#include "run/run.h"

/* Measures the statistics of the whole network's norms anew, on run->settings.recalibrate batches;
 * 0 does nothing. */
tsr_status tsri_recalibrate(tsri_run *run);

/* The same when the weights are not those after run->position.round rounds: the trace has it as
 * what followed `rounds` rounds. */
tsr_status tsri_recalibrate_after(tsri_run *run, int64_t rounds);

#endif
