/* arena.c - packing buffers with lifetimes. */
#include "net/arena.h"

#include "base/alloc.h"
#include "base/pieces.h"

#include <stdlib.h>

enum { GRAIN = 64 };

static int64_t padded(int64_t bytes)
{
    return tsri_round_up(bytes, GRAIN);
}

static int larger_first(const void *a, const void *b)
{
    const tsri_buffer *x = *(tsri_buffer *const *)a, *y = *(tsri_buffer *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x < y ? -1 : x > y; /* the caller's order: qsort alone is not stable */
}

static bool together(const tsri_buffer *a, const tsri_buffer *b)
{
    return a->born <= b->dies && b->born <= a->dies;
}

/* The lowest offset where `b` hits none of the placed buffers that live with it. */
static int64_t lowest_free(const tsri_buffer *b, tsri_buffer *const *placed, int64_t count)
{
    int64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int64_t i = 0; i < count; i++) {
            const tsri_buffer *p = placed[i];
            int64_t end = p->offset + padded(p->bytes);
            if (together(b, p) && at < end && p->offset < at + padded(b->bytes)) {
                at = end;
                moved = true;
            }
        }
    }
    return at;
}

tsr_status tsri_arena_pack(tsri_buffer *buffers, int64_t count, int64_t *total)
{
    tsr_status st = TSR_OK;
    tsri_buffer **order = NULL;
    *total = 0;
    TSR_TRY(tsri_alloc(&order, count, sizeof(tsri_buffer *)));
    for (int64_t i = 0; i < count; i++)
        order[i] = &buffers[i];
    qsort(order, (size_t)count, sizeof *order, larger_first);
    for (int64_t i = 0; i < count; i++) {
        order[i]->offset = lowest_free(order[i], order, i);
        int64_t end = order[i]->offset + padded(order[i]->bytes);
        if (end > *total)
            *total = end;
    }
done:
    tsri_free(order);
    return st;
}
