/* resident.c - a part of a data set in a device's memory. */
#include "optim/resident.h"

#include "base/alloc.h"
#include "data/loader.h"

int64_t tsri_resident_bytes(const tsr_data *data, const tsri_part *part)
{
    int64_t number = (int64_t)sizeof(float), sample = data->dim * (part->bytes ? 1 : number);
    int64_t targets = part->target ? part->n * data->targets * number : 0;
    return part->n * sample + 3 * data->channels * number + targets;
}

/* NULL of the host stays NULL. */
static tsr_status bring(tsri_mem **mem, const tsri_resident *r, const void *host, int64_t bytes)
{
    tsr_status st = TSR_OK;
    if (!host)
        return TSR_OK;
    TSR_TRY(r->heap->take(mem, bytes));
    TSR_TRY(r->heap->in(*mem, host, bytes));
done:
    return st;
}

static tsr_status bring_black(tsri_resident *r, const tsr_data *data, const tsri_part *part)
{
    tsr_status st = TSR_OK;
    float *black = NULL;
    TSR_TRY(tsri_alloc(&black, data->channels, sizeof *black));
    for (int64_t c = 0; c < data->channels; c++)
        black[c] = tsri_black(data, part, c);
    TSR_TRY(bring(&r->black, r, black, data->channels * (int64_t)sizeof *black));
done:
    tsri_free(black);
    return st;
}

tsr_status tsri_resident_init(tsri_resident *r, const tsr_data *data, const tsri_part *part,
                              const tsri_backend *backend)
{
    tsr_status st = TSR_OK;
    int64_t number = (int64_t)sizeof(float), channels = data->channels * number;
    *r = (tsri_resident){.heap = backend->heap,
                         .n = part->n,
                         .shape = {data->channels, data->height, data->width},
                         .dim = data->dim};
    TSR_TRY(bring(&r->bytes, r, part->bytes, part->n * data->dim));
    TSR_TRY(bring(&r->numbers, r, part->numbers, part->n * data->dim * number));
    TSR_TRY(bring(&r->shift, r, part->bytes ? data->scaling.shift : NULL, channels));
    TSR_TRY(bring(&r->scale, r, part->bytes ? data->scaling.scale : NULL, channels));
    TSR_TRY(bring_black(r, data, part));
    r->targets = data->targets;
    TSR_TRY(bring(&r->target, r, part->target, part->n * data->targets * number));
done:
    return st;
}

void tsri_resident_fini(tsri_resident *r)
{
    tsri_mem *const all[] = {r->bytes, r->numbers, r->shift, r->scale, r->black, r->target};
    for (size_t i = 0; r->heap && i < sizeof all / sizeof *all; i++)
        r->heap->drop(all[i]);
    *r = (tsri_resident){0};
}
