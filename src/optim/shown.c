/* shown.c - memory of a device that follows the host's. */
#include "optim/shown.h"

#include "base/alloc.h"

#include <string.h>

enum { SMALL = 4096 }; /* bytes: comparing them takes less than sending them */

tsr_status tsri_shown_init(tsri_shown *shown, const tsri_heap *heap, int64_t room)
{
    tsr_status st = TSR_OK;
    if (!shown->mem)
        TSR_TRY(heap->take(&shown->mem, room));
    if (!shown->last && room <= SMALL)
        TSR_TRY(tsri_alloc(&shown->last, room, 1));
done:
    return st;
}

tsr_status tsri_shown_set(tsri_shown *shown, const tsri_heap *heap, const void *host, int64_t bytes,
                          int64_t room)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_shown_init(shown, heap, room));
    if (shown->last && shown->bytes == bytes && memcmp(shown->last, host, (size_t)bytes) == 0)
        return TSR_OK;
    shown->bytes = 0; /* until it is there */
    TSR_TRY(heap->in(shown->mem, host, bytes));
    if (!shown->last)
        return TSR_OK;
    memcpy(shown->last, host, (size_t)bytes);
    shown->bytes = bytes;
done:
    return st;
}

void tsri_shown_fini(tsri_shown *shown, const tsri_heap *heap)
{
    heap->drop(shown->mem);
    tsri_free(shown->last);
    *shown = (tsri_shown){0};
}
