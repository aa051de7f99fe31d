/* statistics.h - batch norm's running statistics of a ticket, measured on the ticket itself.
 *
 * They were measured on the whole network. A layer that reads fewer units has other sums, so a
 * ticket evaluated with the whole's statistics would be scaled wrongly. Batches of the training set
 * therefore go through the ticket before it is evaluated or fine-tuned, as through a network that
 * was trained in shares before it is evaluated (run/recalibrate.c).
 */
#ifndef TSRI_STATISTICS_H
#define TSRI_STATISTICS_H

#include "model/model.h"

enum { TSRI_STATISTICS_BATCHES = 16 }; /* unless given */

/* Does the network have statistics at all? */
bool tsri_statistics_has(const tsri_net *net);

/* The run file that would train the ticket of `config` on, on the data that `shown` was trained on.
 * The caller destroys *out. */
tsr_status tsri_ticket_run_file(tsr_config **out, const tsr_config *config, const tsr_model *shown);

/* All numbers of `from`, a store in the order of files, into a run's, whatever its order. */
tsr_status tsri_ticket_copy_numbers(tsri_store *to, const tsri_store *from);

/* Measures the statistics of `ticket`, a store with filters laid out as in files, whose run file is
 * `config`, on this many batches. Data, batch size and augmentation are those of the run of
 * `shown`. No weight changes. The same for any number of threads. Fails as training would: no data,
 * too few samples for a batch. */
tsr_status tsri_statistics_measure(tsri_store *ticket, const tsr_config *config,
                                   const tsr_model *shown, int64_t batches);

#endif
