/* evaluate.h - loss, accuracy and outputs of a network on a part of the data. */
#ifndef TSRI_EVALUATE_H
#define TSRI_EVALUATE_H

#include "data/dataset.h"
#include "net/plan.h"

/* How the whole network is judged, from the sum over n samples: by the mean, or where
 * the loss is a sum by what its row says (kind->judged). */
double tsri_judged_loss(const tsri_loss_kind *kind, double sum, int64_t n);

/* Loss and accuracy of the store's network on a part, in batches of fixed size. The loss is that
 * of tsri_judged_loss. */
tsr_status tsri_evaluate(tsr_result *result, tsri_store *store, tsri_device device,
                         const tsr_data *data, const tsri_part *part, const tsri_loss_kind *kind);

/* The outputs of every sample, [part->n, outputs]; the caller frees *outputs. */
tsr_status tsri_outputs(float **outputs, tsri_store *store, tsri_device device,
                        const tsr_data *data, const tsri_part *part);

/* The same in batches of another size. */
tsr_status tsri_outputs_in(float **outputs, tsri_store *store, tsri_device device,
                           const tsr_data *data, const tsri_part *part, int64_t batch);

/* Samples that an evaluation takes at a time. */
int64_t tsri_evaluate_batch(const tsri_part *part);

#endif
