/* salience.h - what the loss says of a unit: SNIP and GraSP, filter by filter.
 *
 * Put a factor c_j on all weights F_j that make unit j; at c = 1
 *
 *     snip    |dL/dc_j| = |sum of w g over F_j|          Lee et al. 2019: how much the loss would
 *                                                        change first if the unit went
 *     grasp   d(|g|^2/2)/dc_j = sum of w (H g) over F_j  Wang et al. 2020: how much gradient would
 *                                                        be lost; what has the least goes first
 *
 * with L the mean loss over some batches of the training set, g its gradient and H its Hessian, as
 * a training step has them: norms use the statistics of the batch. H g is the central difference of
 * the gradient along itself, over a step of 2e-4 of the weights' length. What ReLUs that switch on
 * that step add to it counts here; autograd's product, with which the paper was made, has no such
 * term (docs/tickets.md).
 *
 * The numbers stand in a store like weights do, so that what ranks weights ranks them (score.h).
 */
#ifndef TSRI_SALIENCE_H
#define TSRI_SALIENCE_H

#include "ticket/prune.h"

enum { TSRI_SALIENCE_BATCHES = 8 };

/* `to` becomes a store of model->net with w g, or w (H g), in the place of every trained weight, in
 * the order of files. Data and batch size are those of the run of `shown`; arithmetic is f32. The
 * same for any number of threads. Fails as training would. The caller calls tsri_store_fini, also
 * after a failure. */
tsr_status tsri_salience_measure(tsri_store *to, const tsr_model *model, const tsr_model *shown,
                                 tsri_criterion criterion, int64_t batches);

#endif
