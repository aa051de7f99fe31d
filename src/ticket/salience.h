/* salience.h - how much the loss depends on a unit: SNIP and GraSP, filter by filter.
 *
 * Put a factor c_j on all weights F_j that make unit j; at c = 1
 *
 *     snip    |dL/dc_j| = |sum of w g over F_j|          Lee et al. 2019: how much the loss would
 *                                                        change first if the unit went
 *     grasp   d(|g|^2/2)/dc_j = sum of w (H g) over F_j  Wang et al. 2020: how much gradient would
 *                                                        be lost; what has the least goes first
 *
 * with L the mean loss over some batches of the training set, g its gradient and H its Hessian, as
 * a training step has them: norms use the statistics of the batch. H g is autograd's: made in
 * double (hessian.h). Where that would take too long, or a ReLU's input is exactly 0, it is the
 * central difference of f32 gradients over 2e-4 of the weights' length: what ReLUs that switch on
 * that step add to it then counts, and a warning says so (docs/tickets.md).
 *
 * The numbers stand in a store like weights do, so that what ranks weights ranks them (score.h).
 */
#ifndef TSRI_SALIENCE_H
#define TSRI_SALIENCE_H

#include "ticket/prune.h"

enum { TSRI_SALIENCE_BATCHES = 8 };

typedef struct tsri_salience {
    tsri_criterion criterion; /* snip or grasp */
    int64_t batches;
    double most; /* operations that exact H g may take (TSRI_HESSIAN_MOST) */
    bool exact;  /* the outcome: H g is autograd's, and no difference over 2e-4 */
} tsri_salience;

/* `to` becomes a store of model->net with w g, or w (H g), in the place of every trained weight, in
 * the order of files. Data and batch size are those of the run of `shown`; arithmetic is f32, of
 * exact H g double. The same for any number of threads. Fails as training would. The caller calls
 * tsri_store_fini, also after a failure. */
tsr_status tsri_salience_measure(tsri_store *to, tsri_salience *how, const tsr_model *model,
                                 const tsr_model *shown);

#endif
