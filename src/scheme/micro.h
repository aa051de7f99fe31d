/* micro.h - a batch in equal micro-batches, one after the other, their gradients added up.
 *
 *     for m = 0 .. count-1:   forward and backward of the rows from m size on (optim/step.h)
 *                             tsri_micro_add(&micro, store, device, m, low, high)
 *
 * After the last one store.g holds the gradient of the whole batch: the mean of the micro-batches'
 * (their sum, where the loss is a sum), added in their order. Norms see one micro-batch at a time.
 * Dense training so needs less memory; gpipe streams them through its stages.
 */
#ifndef TSRI_MICRO_H
#define TSRI_MICRO_H

#include "net/store.h"
#include "run/settings.h"

typedef struct tsri_micro {
    int64_t count, size; /* of micro-batches, and samples in one */
    bool adds;           /* the loss is a sum, else a mean */
    const tsri_heap *heap;
    tsri_mem *sum; /* [trained]; NULL when there is only one */
} tsri_micro;

/* Count and size as scheme.micro_batches says, `preset` when it is 0. USAGE when they do not divide
 * the batch. */
tsr_status tsri_micro_choose(tsri_micro *micro, const tsri_settings *s, int64_t preset);

/* The same, with memory. */
tsr_status tsri_micro_init(tsri_micro *micro, const tsri_settings *s, const tsri_store *store,
                           int64_t preset);
void tsri_micro_fini(tsri_micro *micro);

/* Adds the numbers low .. high-1 of store.g; those of the last micro-batch become the batch's. */
tsr_status tsri_micro_add(const tsri_micro *micro, const tsri_store *store, tsri_device device,
                          int64_t m, int64_t low, int64_t high);

/* The batch's loss of its micro-batches'. */
double tsri_micro_value(const tsri_micro *micro, const double *loss);

#endif
