/* device_fit.h - will a run fit into the memory of its device, and which batch would?
 *
 *     TSR_TRY(tsri_device_fit(&fit, run, 0, true));    what it wants, what there is, the batch
 *     TSR_TRY(tsri_device_fits(run));                  RESOURCES if not, with the batch that would fit
 */
#ifndef TSRI_DEVICE_FIT_H
#define TSRI_DEVICE_FIT_H

#include "run/run.h"

typedef struct tsri_fit {
    int64_t wanted;    /* bytes: numbers, plans of all workers, data; 0: the processors' memory */
    int64_t available; /* bytes that are free */
    int64_t all;       /* that the device has */
    int64_t batch;     /* about the largest that would fit; 0: none does, or it is not the run's to
                          choose (gd) */
} tsri_fit;

/* Of a run that is described (describe.h). `stated` > 0: plan for a device with so much memory
 * instead of asking it. The batch is looked for only where it is `wanted`. */
tsr_status tsri_device_fit(tsri_fit *fit, tsri_run *run, int64_t stated, bool batch);

tsr_status tsri_device_fits(tsri_run *run);

/* RESOURCES when it does not. */
tsr_status tsri_fit_judge(const tsri_fit *fit, const tsri_run *run);

#endif
