/* grelu_watch.h - one run of a GReLU net or its twin, looked at after every epoch: how far its
 * gradient moved, or how much of its ReLU pattern changed.
 *
 * The run is made in memory, because only what is looked at is wanted. That is kept in the study's
 * folder when the run is done; a study that is stopped and started again reads it from there.
 *
 *     tsri_watched p = {.patterns = false, .seen = seen, .epochs = epochs};
 *     TSR_TRY(tsri_watch_seed(&p, s, z, TSRI_TWIN_RELU, 0));
 */
#ifndef TSRI_GRELU_WATCH_H
#define TSRI_GRELU_WATCH_H

#include "reproduce/grelu_fig2.h"

typedef struct tsri_watched {
    bool patterns; /* look at patterns on the test set; else at gradients */
    double *seen;  /* [epochs] |g_t - g_(t-1)|, or the fraction of the ReLUs that changed on the
                      test set; NaN in the first epoch, infinity from the one that diverged on */
    int64_t epochs, lasted; /* epochs done before it diverged; all when it did not */
    float *before;          /* during the run: the gradient of the epoch before */
    uint64_t *bits;         /* and its pattern */
} tsri_watched;

/* One seed of one net (TSRI_TWIN_...): read from the study's folder, or made and kept there. A run
 * that diverges is a result. INTERRUPTED after a request to stop; otherwise fails as training
 * does. */
tsr_status tsri_watch_seed(tsri_watched *p, tsri_study *s, const tsri_watch_sizes *z, int net,
                           int64_t seed);

#endif
