/* put.h - shares written back into the whole.
 *
 * A number owned by one share is copied, one owned by several becomes the mean over its owners (the
 * paper's N_{k,r}), one owned by none keeps its bits. A parameter on no cut axis is owned by all
 * shares, so it becomes the mean of all: there is no special case.
 *
 * The mean is that of the values, summed in double in the order of the shares. In exact arithmetic
 * it is the paper's w + (sum of the differences) / N; in ours it has two more properties: the mean
 * of N equal numbers is that number, to the bit, for every N; and the result depends neither on the
 * number of threads nor on which share was ready first.
 *
 *     TSR_TRY(tsri_put_init(&put, net));
 *     TSR_TRY(tsri_put_run(&put, &whole, owners, count, true, device));
 *     tsri_put_fini(&put);
 */
#ifndef TSRI_PUT_H
#define TSRI_PUT_H

#include "net/store.h"
#include "subnet/share.h"

/* A share and its numbers. */
typedef struct tsri_owner {
    const tsri_share *share;
    const tsri_store *store;
} tsri_owner;

/* Work space, made once. */
typedef struct tsri_put {
    const tsri_net *net;
    bool *cut;               /* [axes] by one of the shares at least */
    tsri_slices_owner *part; /* [room] of the parameter that is on its way back */
    int64_t room;
} tsri_put;

/* For networks like `net`. */
tsr_status tsri_put_init(tsri_put *put, const tsri_net *net);
void tsri_put_fini(tsri_put *put);

/* Writes `count` shares back: trained parameters, running statistics, counts; with `momentum` also
 * the momentum and, where the whole has it, the variance. Fixed parameters stay. All are floats in
 * the device's memory. */
tsr_status tsri_put_run(tsri_put *put, tsri_store *whole, const tsri_owner *owner, int64_t count,
                        bool momentum, tsri_device device);

#endif
