/* forced.h - a record of what --force let pass when a run was resumed. */
#ifndef TSRI_FORCED_H
#define TSRI_FORCED_H

#include "run/run.h"

/* Notes in run->forced what --force let pass in the checkpoint that was just read: kernels, data or
 * values of the run file that are not those it was made with. `kernels` and `data` are the file's
 * own; `data` may be NULL. */
tsr_status tsri_forced_note(tsri_run *run, const tsri_tensors *file, const char *kernels,
                            const char *data, const char *path);

/* A line of metrics for each thing that was noted. */
tsr_status tsri_forced_tell(tsri_run *run);

#endif
