/* trace.h - a record of every round (--trace), in files that anyone can check. */
#ifndef TSRI_TRACE_H
#define TSRI_TRACE_H

#include "net/parcel.h"
#include "run/run.h"
#include "subnet/share.h"

tsr_status tsri_trace_data(tsri_run *run);

/* One round as it happened, for anyone to check with some lines of numpy. Without --trace each of
 * these does nothing.
 *
 *     TSR_TRY(tsri_trace_begin(run, workers, steps));                keeps weights and momentum
 *     tsri_trace_batch(run, worker, step, loader, batch, number);    of each local step
 *     TSR_TRY(tsri_trace_round(run, worker, momentum));              run->store has the outcome
 */
typedef struct tsri_traced {
    const tsri_share *share; /* NULL = the whole */
    const tsri_store *local; /* its numbers after its last step; NULL = those of the whole */
    bool momentum;           /* local has its momentum, too: it may be in another process */
    const double *loss;      /* [steps] before each of them; NULL = it took no part */
} tsri_traced;

tsr_status tsri_trace_begin(tsri_run *run, int64_t workers, int64_t steps);

/* Local to the worker: those of several may be noted at once. `number` is that of the loader. */
void tsri_trace_batch(tsri_run *run, int64_t worker, int64_t step, const tsri_loader *loader,
                      const tsri_batch *batch, int64_t number);

/* worker[workers]; `momentum`: the whole has one that goes on from round to round. */
tsr_status tsri_trace_round(tsri_run *run, const tsri_traced *worker, bool momentum);

/* <kind>-<round>.safetensors in the trace's folder, from what is in the parcel. */
tsr_status tsri_trace_write(const char *folder, const tsri_parcel *parcel, const char *kind,
                            int64_t round);

void tsri_trace_fini(tsri_run *run); /* frees run->process.trace and all that is kept */

#endif
