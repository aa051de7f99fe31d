/* convert_run.h - a run whose gated net becomes a ReLU net on the way (`convert_at`).
 *
 * After the epoch that the run file names, its evaluation and its checkpoint, the net is replaced
 * by the ReLU net that equals it on every training point (net/convert.h): the training loss goes on
 * where it was. Momentum begins at zero: it was of other weights. Whether it has happened is part
 * of the position; a checkpoint of that very round is still the gated net's, and a run resumed from
 * it converts again, to the same bits.
 */
#ifndef TSRI_CONVERT_RUN_H
#define TSRI_CONVERT_RUN_H

#include "run/run.h"

/* Reads convert_at. USAGE when this run cannot convert, so far as that is known without
 * features. */
tsr_status tsri_convert_init(tsri_run *run);

/* USAGE when the features before the first layer, which never change, are dependent on the training
 * points. With the first weights there, before the folder is touched. */
tsr_status tsri_convert_prepare(tsri_run *run);

/* Before the first round and after each one: converts if it is time. */
tsr_status tsri_convert_when_due(tsri_run *run);

/* Makes net, store and scheme those of the kind that a checkpoint holds; their numbers are zero. */
tsr_status tsri_convert_as_saved(tsri_run *run, int64_t converted);

/* The run file of the net as it is now; the caller destroys *out. */
tsr_status tsri_convert_run_file(tsr_config **out, const tsri_run *run);

#endif
