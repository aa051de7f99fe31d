/* stop_metric.h - what may end a run early (stop.metric), one row each.
 *
 * The row says what is measured and which keys of `stop:` count; nobody compares names.
 */
#ifndef TSRI_STOP_METRIC_H
#define TSRI_STOP_METRIC_H

#include "io/config.h"

typedef enum tsri_stop_on {
    TSRI_STOP_ON_NOTHING,  /* the run goes on to its end */
    TSRI_STOP_ON_TRAINING, /* the whole training set, with each evaluation */
    TSRI_STOP_ON_TEST,     /* the test set: no new least value for stop.patience evaluations */
    TSRI_STOP_ON_RANKS     /* how far the ranking of filters has moved (score_log.h) */
} tsri_stop_on;

typedef struct tsri_stop_metric {
    const char *name; /* in run files */
    const char *keys; /* those of `stop:` that it reads, between spaces */
    tsri_stop_on on;
    bool error;   /* 1 - accuracy; else the loss */
    bool masks;   /* of ranks: of the masks at stop.ratio; else of the whole ranking */
    double below; /* what stop.below: -1 means: the run ends at this value */
} tsri_stop_metric;

/* The row that the config names. */
const tsri_stop_metric *tsri_stop_metric_of(const tsr_config *config);

#endif
