/* cost_estimate.h - what a study will cost: an estimate, printed before it begins.
 *
 *     tsri_cost_estimate cost = {0};
 *     tsri_cost_estimate_add(&cost, seeds, 3e12, 2e9);   `seeds` runs: 3e12 products, 2 GB each
 *     TSR_TRY(tsri_study_tell_cost(s, &cost));           RESOURCES when one run does not fit
 *
 * The time counts multiplications only, none skipped, at the speed that a large product reaches on
 * this machine now. Small layers take several times as long; gates that are skipped take less. The
 * study's sweeps then run as many cells at once as memory allows.
 */
#ifndef TSRI_COST_ESTIMATE_H
#define TSRI_COST_ESTIMATE_H

#include "reproduce/reproduce.h"

typedef struct tsri_cost_estimate {
    int64_t runs;
    double products; /* multiplications with their additions, of all runs */
    double bytes;    /* of the largest run */
    char sizes[400]; /* of the networks, as text; what does not fit is left out */
    char data[60];   /* what the last of them are trained on; not in `sizes` yet */
} tsri_cost_estimate;

void tsri_cost_estimate_add(tsri_cost_estimate *t, int64_t runs, double products, double bytes);

/* Adds a network, "6 x 256", trained on "256 samples, 180 epochs"; each pair is listed once. */
void tsri_cost_estimate_net(tsri_cost_estimate *t, const char *net, const char *data);

/* Reports sizes and cost as progress, and keeps the cost as a note of the study. */
tsr_status tsri_study_tell_cost(tsri_study *s, const tsri_cost_estimate *t);

#endif
