/* filters.h - which axes LoFT cuts and its tickets prune.
 *
 * Both leave the input and the output of a pair of convolutions as they are and choose among the
 * filters between the two: the inner axes. The paper leaves alone what is most sensitive, the first
 * stage and the blocks with a stride. That is the default here.
 *
 *     tsri_filters f = {0};                                    stages 2, 3, ..., no strided block
 *     TSR_TRY(tsri_filters_choose(cut, net, &f));              cut [net->axes]
 */
#ifndef TSRI_FILTERS_H
#define TSRI_FILTERS_H

#include "net/net.h"

typedef struct tsri_filters {
    const int64_t *stage; /* [stages] numbers from 1 */
    int64_t stages;       /* 0 = all but the first */
    bool strided;         /* blocks with a stride, too */
} tsri_filters;

/* cut[a] for every axis. USAGE when the model has no such stage, or nothing is left to cut. */
tsr_status tsri_filters_choose(bool *cut, const tsri_net *net, const tsri_filters *filters);

/* The default above; for models without pairs of convolutions, every axis that can be cut. */
tsr_status tsri_axes_choose(bool *cut, const tsri_net *net);

#endif
