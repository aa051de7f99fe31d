/* keys.h - keys of a run file that its data, scheme, model or optimiser does not read.
 *
 * The row of each says which keys it reads (tsri_scheme.keys, tsri_model.keys, tsri_optim_row.keys,
 * and for data tsri_source.keys or tsri_format.keys). A run that sets another key is refused, because
 * its author expects an effect. Where a program makes one run file from another (a ticket's
 * fine-tuning from its pretraining), such keys are dropped.
 */
#ifndef TSRI_KEYS_H
#define TSRI_KEYS_H

#include "data/dataset.h"

/* USAGE, with the place, when `data:`, `model:`, `optim:`, `scheme:` or `stop:` says something that
 * nobody reads. */
tsr_status tsri_check_keys(const tsr_config *config, const tsr_data *data);

/* Sets such keys back to their defaults. */
tsr_status tsri_forget_unread(tsr_config *config);

#endif
