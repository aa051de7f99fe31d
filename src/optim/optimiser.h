/* optimiser.h - an update rule applied to a store: the gradient in it becomes a step.
 *
 *     TSR_TRY(tsri_optimiser_init(&o, &rule, store, device));
 *     TSR_TRY(tsri_optimiser_set(&o, rate, seen));             in the device's memory
 *     TSR_TRY(tsri_optimiser_step(&o));                        W <- W - rate ...
 */
#ifndef TSRI_OPTIMISER_H
#define TSRI_OPTIMISER_H

#include "net/store.h"
#include "optim/optim.h"
#include "optim/shown.h"

typedef struct tsri_optimiser {
    tsri_optim rule;
    tsri_store *store;
    tsri_device device;
    tsri_shown dials; /* tsri_dials */
} tsri_optimiser;

/* The store must outlive it. Fini also after a failure; all zeros are fine there. */
tsr_status tsri_optimiser_init(tsri_optimiser *o, const tsri_optim *rule, tsri_store *store,
                               tsri_device device);
void tsri_optimiser_fini(tsri_optimiser *o);

/* The rate of the steps to come; momentum and variance have seen `seen` steps. */
tsr_status tsri_optimiser_set(tsri_optimiser *o, double rate, int64_t seen);

/* Takes the step that was set; the second only for the trained numbers low .. high-1, without
 * clipping. */
tsr_status tsri_optimiser_step(tsri_optimiser *o);
tsr_status tsri_optimiser_step_part(tsri_optimiser *o, int64_t low, int64_t high);

#endif
