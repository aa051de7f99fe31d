/* cell.h - one run of a sweep: from its run file to an outcome, without a folder. */
#ifndef TSRI_CELL_H
#define TSRI_CELL_H

#include "sweep/sweep.h"
#include "train/describe.h"

/* Checks everything that `train` would refuse before the first round. *suits: on this machine's
 * processors the run could be trained in the space of its samples (scheme/space.h). *data: the
 * checksum of the data that it would be trained and judged on. */
tsr_status tsri_cell_check(bool *suits, uint32_t *data, tsr_config *config,
                           const tsri_ground *ground);

/* Runs all rounds. A run that diverges, or is refused after it began, is an outcome, not a failure.
 * INTERRUPTED when a stop was asked for. The caller frees outcome->curve and ->refused. */
tsr_status tsri_cell_run(tsri_outcome *outcome, tsr_config *config, const tsri_ground *ground,
                         const tsri_sweep_options *options);

#endif
