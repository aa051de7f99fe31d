/* grelu_watch.h - one run of a GReLU net or its twin, looked at after every epoch: how far its
 * gradient moved, or how much of its ReLUs' pattern.
 *
 * A run is made in memory, since nothing of it but what is looked at is wanted, and that is kept in
 * the study's folder when the run is done: a study that is stopped and called again reads it.
 *
 *     tsri_watched p = {.patterns = false, .seen = seen, .epochs = epochs};
 *     TSR_TRY(tsri_watch_seed(&p, s, z, TSRI_TWIN_RELU, 0));
 */
#ifndef TSRI_GRELU_WATCH_H
#define TSRI_GRELU_WATCH_H

#include "reproduce/grelu_fig2.h"

typedef struct tsri_watched {
    bool patterns; /* of the test set, or gradients */
    double *seen;  /* [epochs] |g_t - g_(t-1)|, or the part of the ReLUs that changed on the test
                      set; NaN in the first, infinity from the epoch on that diverged */
    int64_t epochs, lasted; /* epochs done before it diverged; all when it did not */
    float *before;          /* while it runs: the gradient of the epoch before */
    uint64_t *bits;         /* and the pattern */
} tsri_watched;

/* One seed of one net (TSRI_TWIN_...): found in the study's folder, or made and kept there. A run
 * that diverges is a result. INTERRUPTED when a signal asks; else what training fails with. */
tsr_status tsri_watch_seed(tsri_watched *p, tsri_study *s, const tsri_watch_sizes *z, int net,
                           int64_t seed);

#endif
