/* shown.h - a copy of the host's memory on a device, kept up to date.
 *
 *     TSR_TRY(tsri_shown_set(&shown, heap, host, bytes, room));     from now on shown.mem has them
 *
 * What has not changed is not sent again: every copy that a GPU has to do between two steps takes it
 * 2 us, and lengths, weights and rates are mostly what they were. Large ones are sent in any case.
 */
#ifndef TSRI_SHOWN_H
#define TSRI_SHOWN_H

#include "backend/device.h"

typedef struct tsri_shown {
    tsri_mem *mem; /* NULL: nothing was shown yet */
    void *last;    /* what was sent last, or NULL: of what is large nothing is kept */
    int64_t bytes; /* of it */
} tsri_shown;

/* Takes the memory, `room` bytes, beforehand: for callers that must not take any later. */
tsr_status tsri_shown_init(tsri_shown *shown, const tsri_heap *heap, int64_t room);
/* Sends `bytes` of the host. The memory has `room` bytes, the same each time, followed by zeros;
 * it is taken if it was not before. */
tsr_status tsri_shown_set(tsri_shown *shown, const tsri_heap *heap, const void *host, int64_t bytes,
                          int64_t room);
/* All zeros are fine. */
void tsri_shown_fini(tsri_shown *shown, const tsri_heap *heap);

#endif
