/* grelu_switch_runs.h - the runs behind Figures 3b and 3c of the GReLU paper (grelu_switch.c): a gated
 * net that is converted half-way, its ReLU twin, and conversions at other widths.
 *
 *     tsri_switch_runs runs = {.seeds = 3};
 *     TSR_TRY(tsri_switch_train(&runs, study, &sizes));
 *     ... runs.bundle[TSRI_TWIN_GRELU][TSRI_ON_TEST], runs.change[k] ...
 *     tsri_switch_runs_fini(&runs);
 */
#ifndef TSRI_GRELU_SWITCH_RUNS_H
#define TSRI_GRELU_SWITCH_RUNS_H

#include "reproduce/grelu_cifar.h"

/* One conversion: before and after it. Losses are sums over the set, as the run judges; NaN: there
 * was no conversion. */
typedef struct tsri_switch_change {
    double train[2], test[2], norm[2];
} tsri_switch_change;

enum { TSRI_ON_TRAIN, TSRI_ON_TEST, TSRI_SWITCH_SETS };

typedef struct tsri_switch_runs {
    tsri_bundle bundle[TSRI_TWINS][TSRI_SWITCH_SETS]; /* errors of a sample */
    int64_t seeds;
    tsri_switch_change *change; /* [1 + crowds][seeds], the figure's own width first */
} tsri_switch_runs;

/* Trains all of them, or with --paper reads and makes their cells. h->seeds is set; call fini also
 * after a failure. */
tsr_status tsri_switch_train(tsri_switch_runs *h, tsri_study *s, const tsri_switch_sizes *z);
void tsri_switch_runs_fini(tsri_switch_runs *runs);

#endif
