/* checkpoint.h - the whole state of a run in one file, found again after any crash. */
#ifndef TSRI_CHECKPOINT_H
#define TSRI_CHECKPOINT_H

#include "run/run.h"
#include <inttypes.h>

#define TSRI_CHECKPOINT_NAME "checkpoints/ckpt-%012" PRId64 ".safetensors" /* of a round */

/* Writes checkpoints/ckpt-<round>.safetensors; drops older ones but the newest few and the best.
 * DIVERGED, and nothing is written, when the weights are not sound. */
tsr_status tsri_checkpoint_save(tsri_run *run);

/* Fills the run from the newest sound checkpoint of its folder; those that are damaged or hold
 * weights that have diverged are named in a warning and passed over. *found = false when there is
 * none. */
tsr_status tsri_checkpoint_load(tsri_run *run, bool *found);

/* The same, but only checkpoints of rounds up to `last`; later ones are removed. */
tsr_status tsri_checkpoint_load_until(tsri_run *run, bool *found, int64_t last);

#endif
