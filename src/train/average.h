/* average.h - the exponential average of the weights. */
#ifndef TSRI_AVERAGE_H
#define TSRI_AVERAGE_H

#include "run/run.h"

/* Makes room for the average, if the run has one. USAGE when it cannot have one. */
tsr_status tsri_average_init(tsri_run *run);

/* Takes the weights after run->position.round rounds into the average. After every round. */
tsr_status tsri_average_round(tsri_run *run);

/* Swaps average and weights, so that the store holds the average. A second call swaps them back.
 * Without an average both do nothing. */
void tsri_average_swap(tsri_run *run);

#endif
