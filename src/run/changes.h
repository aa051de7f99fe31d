/* changes.h - how the images of batches were changed at random, kept for a trace.
 *
 *     TSR_TRY(tsri_changes_init(&c, &options.augment, batches, batch));
 *     tsri_changes_note(&c, k, loader, batch, step);                      for each of them
 *     TSR_TRY(tsri_changes_add(&c, &parcel, 0, batches, "", ".0"));       crop.0, flip.0, op.0, ...
 */
#ifndef TSRI_CHANGES_H
#define TSRI_CHANGES_H

#include "data/loader.h"
#include "net/parcel.h"

typedef struct tsri_changes {
    tsri_augment how;
    int64_t batch;
    tsri_changed all; /* [batches] of what `how` does, else NULL (data/loader.h) */
} tsri_changes;

tsr_status tsri_changes_init(tsri_changes *c, const tsri_augment *how, int64_t batches,
                             int64_t batch);
void tsri_changes_fini(tsri_changes *c);

/* Batch number k of those kept is the loader's `b` of `step`. The loader may be NULL where nothing
 * changes. */
void tsri_changes_note(tsri_changes *c, int64_t k, const tsri_loader *loader, const tsri_batch *b,
                       int64_t step);

/* Batches first .. first + count - 1, as tensors <before>crop<behind> and so on. They must stay
 * until the parcel is written. */
tsr_status tsri_changes_add(const tsri_changes *c, tsri_parcel *parcel, int64_t first,
                            int64_t count, const char *before, const char *behind);

#endif
