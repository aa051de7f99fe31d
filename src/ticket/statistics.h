/* statistics.h - batch norm's running statistics of a ticket, measured on the ticket itself.
 *
 * They were measured on the whole network. Behind a layer that reads fewer units sums are other
 * sums, and a ticket judged with the whole's statistics is judged by the wrong scales. So batches
 * of the training set go through it before it is judged or trained on, as a network trained in
 * shares is measured before it is judged (run/recalibrate.c).
 */
#ifndef TSRI_STATISTICS_H
#define TSRI_STATISTICS_H

#include "model/model.h"

enum { TSRI_STATISTICS_BATCHES = 16 }; /* unless given */

/* Has the network statistics at all? */
bool tsri_statistics_has(const tsri_net *net);

/* Measures those of `ticket`, a store with filters as in files, whose run file is `config`, on so
 * many batches of the training data that `shown` names and the batch size and augmentation of its
 * run. No weight changes. The same for any number of threads. Fails as training would: no data, too
 * few samples for a batch. */
tsr_status tsri_statistics_measure(tsri_store *ticket, const tsr_config *config,
                                   const tsr_model *shown, int64_t batches);

#endif
