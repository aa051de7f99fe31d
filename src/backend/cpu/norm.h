/* norm.h - what both norms of this backend share: the statistics of a layer and what is kept of
 * them. */
#ifndef TSRI_CPU_NORM_H
#define TSRI_CPU_NORM_H

#include "backend/op.h"

enum { TSRI_NORM_SAVED = 4 }; /* floats per channel */

/* y = scale x + shift, from the mean mu and r = 1 / sqrt(var + eps). */
typedef struct tsri_norm_saved {
    float *scale, *shift, *mu, *r; /* [C] each */
} tsri_norm_saved;

tsri_norm_saved tsri_norm_saved_of(const tsri_op *op);

/* Channel c of a batch had this mean and biased variance over `count` values: fills in the saved
 * numbers and moves the running statistics. */
void tsri_norm_from_batch(tsri_op *op, int64_t c, double mean, double var, double count);

/* All channels from the running statistics: without training, and for an empty batch, which has
 * none of its own and leaves them as they are. */
void tsri_norm_from_running(tsri_op *op);

/* The gradients of the parameters for an empty batch: zero. */
void tsri_norm_no_gradient(tsri_op *op);

#endif
