/* heap.h - memory that belongs to a device.
 *
 * Its addresses are of an incomplete type: the compiler refuses what would read them on the host.
 * Only a backend's own code turns them into pointers. The host sees what is there by a mapping: a
 * copy, or, on devices that use the host's own memory, the memory itself at no cost.
 *
 *     TSR_TRY(tsri_map_open(&mapping, heap, mem, bytes));
 *     ... mapping.host ...
 *     TSR_TRY(tsri_map_save(&mapping));          where the host has changed it
 *     tsri_map_close(&mapping);                  also after a failure
 */
#ifndef TSRI_HEAP_H
#define TSRI_HEAP_H

#include "base/status.h"

typedef struct tsri_mem tsri_mem; /* never defined */

/* The address `bytes` further on. */
static inline tsri_mem *tsri_mem_at(const tsri_mem *mem, int64_t bytes)
{
    return mem ? (tsri_mem *)(void *)((char *)(uintptr_t)mem + bytes) : NULL;
}

/* How memory of one kind is taken and copied. */
typedef struct tsri_heap {
    const char *name;
    bool open;                                         /* the host may read and write it */
    tsr_status (*take)(tsri_mem **mem, int64_t bytes); /* zeroed, aligned to 64 bytes; NULL
                                                          after a failure */
    void (*drop)(tsri_mem *mem);                       /* NULL is fine */
    tsr_status (*in)(tsri_mem *to, const void *from, int64_t bytes);
    tsr_status (*out)(void *to, const tsri_mem *from, int64_t bytes);
    tsr_status (*within)(tsri_mem *to, const tsri_mem *from, int64_t bytes);
    tsr_status (*zero)(tsri_mem *to, int64_t bytes);
    /* (optional) Bytes that could be taken now, and that there are at all. */
    tsr_status (*room)(int64_t *available, int64_t *all);
    void (*enter)(void); /* (optional) a call of the backend begins; calls may be nested, or made */
    void (*leave)(void); /* by several threads at once */
} tsri_heap;

extern const tsri_heap tsri_heap_host; /* the host's own */

/* The memory of devices that are this machine's processors: the host's own. A build with
 * TESSERA_GUARD takes it from pages that nobody may touch but a backend's call, between enter and
 * leave (guarded.c). */
#ifdef TSRI_GUARD
extern const tsri_heap tsri_heap_guarded;
#define TSRI_HEAP_HERE (&tsri_heap_guarded)
#else
#define TSRI_HEAP_HERE (&tsri_heap_host)
#endif

/* What the host sees of device memory. */
typedef struct tsri_mapping {
    const tsri_heap *heap;
    tsri_mem *mem;
    int64_t bytes;
    void *host; /* [bytes] */
    bool copied;
} tsri_mapping;

/* All zero when mem is NULL. */
tsr_status tsri_map_open(tsri_mapping *mapping, const tsri_heap *heap, tsri_mem *mem,
                         int64_t bytes);
tsr_status tsri_map_save(const tsri_mapping *mapping);
void tsri_map_close(tsri_mapping *mapping);

#endif
