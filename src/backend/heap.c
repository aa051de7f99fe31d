/* heap.c - mappings of device memory, and the memory of this machine's own processors. */
#include "backend/heap.h"

#include "base/alloc.h"

#include <string.h>

/* ---- Mappings ------------------------------------------------------------------------------ */

tsr_status tsri_map_open(tsri_mapping *mapping, const tsri_heap *heap, tsri_mem *mem, int64_t bytes)
{
    tsr_status st = TSR_OK;
    *mapping = (tsri_mapping){.heap = heap, .mem = mem, .bytes = bytes};
    if (!mem)
        return TSR_OK;
    mapping->host = (void *)mem;
    if (heap->open)
        return TSR_OK;
    mapping->host = NULL;
    TSR_TRY(tsri_alloc_raw(&mapping->host, bytes, 1));
    mapping->copied = true;
    TSR_TRY(heap->out(mapping->host, mem, bytes));
done:
    if (st != TSR_OK)
        tsri_map_close(mapping);
    return st;
}

tsr_status tsri_map_save(const tsri_mapping *mapping)
{
    return mapping->copied ? mapping->heap->in(mapping->mem, mapping->host, mapping->bytes)
                           : TSR_OK;
}

void tsri_map_close(tsri_mapping *mapping)
{
    if (mapping->copied)
        tsri_free(mapping->host);
    *mapping = (tsri_mapping){0};
}

/* ---- The host's own memory ----------------------------------------------------------------- */

static tsr_status take(tsri_mem **mem, int64_t bytes)
{
    return tsri_alloc(mem, bytes, 1);
}

static void drop(tsri_mem *mem)
{
    tsri_free(mem);
}

static tsr_status in(tsri_mem *to, const void *from, int64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
    return TSR_OK;
}

static tsr_status out(void *to, const tsri_mem *from, int64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
    return TSR_OK;
}

static tsr_status within(tsri_mem *to, const tsri_mem *from, int64_t bytes)
{
    memmove(to, from, (size_t)bytes);
    return TSR_OK;
}

static tsr_status zero(tsri_mem *to, int64_t bytes)
{
    memset(to, 0, (size_t)bytes);
    return TSR_OK;
}

const tsri_heap tsri_heap_host = {.name = "host",
                                  .open = true,
                                  .take = take,
                                  .drop = drop,
                                  .in = in,
                                  .out = out,
                                  .within = within,
                                  .zero = zero};
