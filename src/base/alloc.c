/* alloc.c - counted, aligned memory.
 *
 * A block carries its size in a 64-byte header in front of it:
 *
 *     | size ... 64 bytes | what the caller sees ...
 *
 * so that the counters are right on free, with any allocator underneath.
 */
#include "base/alloc.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HEADER = 64,
    HUGE_PAGE = 2 << 20,
    LARGE = 64 << 20 /* for a block of this size, and whenever small ones have added up to another
                        one, it is asked whether the machine has it */
};

/* Weights are read in rows a page and more apart. Pages of 2 MB, where the system has them to give,
 * save most of the walks through its tables that this costs. */
static void *default_alloc(void *context, size_t bytes)
{
    (void)context;
    if (bytes < 2 * (size_t)HUGE_PAGE)
        return aligned_alloc(HEADER, bytes);
    size_t whole = bytes / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, whole + HUGE_PAGE);
    if (memory)
        (void)madvise(memory, whole, MADV_HUGEPAGE); /* a wish: without it all works as well */
    return memory;
}

static void default_free(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static const tsr_allocator default_allocator = {default_alloc, default_free, NULL};
static tsr_allocator current = {default_alloc, default_free, NULL};

static _Atomic size_t in_use, peak;
static _Atomic int64_t blocks, calls;
static _Atomic int64_t countdown = -1;
static atomic_bool fail_persistently;

void tsr_set_allocator(const tsr_allocator *allocator)
{
    current = allocator ? *allocator : default_allocator;
}

size_t tsr_memory_in_use(void)
{
    return in_use;
}

size_t tsr_memory_peak(void)
{
    return peak;
}

int64_t tsri_alloc_blocks(void)
{
    return blocks;
}

int64_t tsri_alloc_fail_after(int64_t n, bool persistent)
{
    countdown = n;
    fail_persistently = persistent;
    return atomic_exchange(&calls, 0);
}

static bool must_fail(void)
{
    atomic_fetch_add(&calls, 1);
    if (atomic_load(&countdown) < 0)
        return false;
    int64_t left = atomic_fetch_sub(&countdown, 1);
    if (left > 0)
        return false;
    atomic_store(&countdown, fail_persistently ? 0 : -1);
    return true;
}

static void count_in(size_t bytes)
{
    size_t now = atomic_fetch_add(&in_use, bytes) + bytes;
    size_t seen = atomic_load(&peak);
    while (now > seen && !atomic_compare_exchange_weak(&peak, &seen, now))
        ;
    atomic_fetch_add(&blocks, 1);
}

/* Linux would hand out the block and end the process when it is written to. Another allocator than
 * ours knows itself what it has. */
static bool beyond_machine(size_t bytes)
{
    size_t most = peak, now = in_use + bytes;
    bool another = now > most && now / LARGE > most / LARGE;
    return (bytes >= LARGE || another) && current.alloc == default_alloc &&
           (bytes > LARGE ? bytes : LARGE) > (size_t)tsri_memory_available();
}

tsr_status tsri_alloc_raw(void *out, int64_t count, size_t size)
{
    void *none = NULL;
    memcpy(out, &none, sizeof none);
    size_t bytes, padded;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)(2 * HEADER - 1), &padded))
        return tsri_fail(TSR_RESOURCES, "out of memory: %lld x %zu bytes is more than can exist",
                         (long long)count, size);
    padded = padded / HEADER * HEADER;
    if (beyond_machine(padded))
        return tsri_fail(
            TSR_RESOURCES,
            "out of memory: %s wanted, %s free on this machine, %s already in use here",
            tsri_bytes_text((double)bytes), tsri_bytes_text((double)tsri_memory_available()),
            tsri_bytes_text((double)tsr_memory_in_use()));
    unsigned char *block = must_fail() ? NULL : current.alloc(current.context, padded);
    if (!block)
        return tsri_fail(TSR_RESOURCES,
                         "out of memory: %zu bytes wanted, %zu already in use by the library",
                         bytes, tsr_memory_in_use());
    memcpy(block, &bytes, sizeof bytes);
    count_in(bytes);
    void *memory = block + HEADER;
    memcpy(out, &memory, sizeof memory);
    return TSR_OK;
}

tsr_status tsri_alloc(void *out, int64_t count, size_t size)
{
    tsr_status st = tsri_alloc_raw(out, count, size);
    if (st == TSR_OK) {
        void *memory;
        memcpy(&memory, out, sizeof memory);
        memset(memory, 0, (size_t)count * size);
    }
    return st;
}

static size_t size_of(const void *memory)
{
    size_t bytes = 0;
    if (memory)
        memcpy(&bytes, (const unsigned char *)memory - HEADER, sizeof bytes);
    return bytes;
}

tsr_status tsri_realloc(void *memory, int64_t count, size_t size)
{
    void *old, *fresh;
    memcpy(&old, memory, sizeof old);
    tsr_status st = tsri_alloc(&fresh, count, size);
    if (st != TSR_OK)
        return st;
    size_t had = size_of(old), want = (size_t)count * size;
    if (old)
        memcpy(fresh, old, had < want ? had : want);
    tsri_free(old);
    memcpy(memory, &fresh, sizeof fresh);
    return TSR_OK;
}

tsr_status tsri_reserve(void *memory, int64_t *capacity, int64_t count, size_t size)
{
    if (count < *capacity)
        return TSR_OK;
    int64_t more = *capacity > 0 ? *capacity * 2 : 16;
    tsr_status st = tsri_realloc(memory, more, size);
    if (st == TSR_OK)
        *capacity = more;
    return st;
}

tsr_status tsri_strndup(char **out, const char *text, size_t n)
{
    tsr_status st = tsri_alloc_raw(out, (int64_t)n + 1, 1);
    if (st == TSR_OK) {
        memcpy(*out, text, n);
        (*out)[n] = '\0';
    }
    return st;
}

tsr_status tsri_strdup(char **out, const char *text)
{
    return tsri_strndup(out, text, strlen(text));
}

void tsri_free(void *memory)
{
    if (!memory)
        return;
    atomic_fetch_sub(&in_use, size_of(memory));
    atomic_fetch_sub(&blocks, 1);
    current.free(current.context, (unsigned char *)memory - HEADER);
}
