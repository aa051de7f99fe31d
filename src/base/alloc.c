/* alloc.c - counted, aligned memory.
 *
 * A block carries 64 bytes in front of it that say how large it is, whose it is and who frees it:
 *
 *     | tag ... 64 bytes | what the caller sees ...
 *
 * so that the right counters are right on free, on any thread, with any allocator underneath.
 */
#include "base/alloc.h"

#include "base/context.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HEADER = 64,
    HUGE_PAGE = 2 << 20,
    LARGE =
        64 << 20 /* before a block of this size, and whenever small ones have added up to as much
                        again, the machine is asked whether it has the memory */
};

typedef struct tag {
    size_t bytes;
    tsr_context *owner;
    void (*free)(void *context, void *memory);
    void *context;
} tag;

_Static_assert(sizeof(tag) <= HEADER, "it stands in front of every block");

/* Weights are read in rows a page and more apart. Pages of 2 MB, where the system has them to give,
 * save most of the walks through its tables that this costs. */
void *tsri_alloc_default(void *context, size_t bytes)
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

void tsri_free_default(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* ---- Whose it is --------------------------------------------------------------------------- */

void tsr_context_set_allocator(tsr_context *context, const tsr_allocator *allocator)
{
    tsri_context_of(context)->allocator =
        allocator ? *allocator : (tsr_allocator)TSRI_ALLOCATOR_DEFAULT;
}

void tsr_set_allocator(const tsr_allocator *allocator)
{
    tsr_context_set_allocator(NULL, allocator);
}

size_t tsr_context_memory_in_use(tsr_context *context)
{
    return tsri_context_of(context)->in_use;
}

size_t tsr_context_memory_peak(tsr_context *context)
{
    return tsri_context_of(context)->peak;
}

size_t tsr_memory_in_use(void)
{
    return tsr_context_memory_in_use(NULL);
}

size_t tsr_memory_peak(void)
{
    return tsr_context_memory_peak(NULL);
}

int64_t tsri_alloc_blocks(void)
{
    return tsri_context_memory()->holders - 1;
}

int64_t tsri_alloc_fail_after(int64_t n, bool persistent)
{
    tsr_context *c = tsri_context_memory();
    c->countdown = n;
    c->fail_persistently = persistent;
    return atomic_exchange(&c->calls, 0);
}

static bool must_fail(tsr_context *c)
{
    atomic_fetch_add(&c->calls, 1);
    if (atomic_load(&c->countdown) < 0)
        return false;
    int64_t left = atomic_fetch_sub(&c->countdown, 1);
    if (left > 0)
        return false;
    atomic_store(&c->countdown, c->fail_persistently ? 0 : -1);
    return true;
}

static void count_in(tsr_context *c, size_t bytes)
{
    size_t now = atomic_fetch_add(&c->in_use, bytes) + bytes;
    size_t seen = atomic_load(&c->peak);
    while (now > seen && !atomic_compare_exchange_weak(&c->peak, &seen, now))
        ;
    atomic_fetch_add(&c->holders, 1);
}

/* ---- Taking and giving back ---------------------------------------------------------------- */

/* RESOURCES when the machine lacks the memory: Linux would hand out the block and kill the process
 * when it is written to. A program's own allocator knows by itself what it has. */
static bool beyond_machine(tsr_context *c, size_t bytes)
{
    size_t most = c->peak, now = c->in_use + bytes;
    bool another = now > most && now / LARGE > most / LARGE;
    return (bytes >= LARGE || another) && c->allocator.alloc == tsri_alloc_default &&
           (bytes > LARGE ? bytes : LARGE) > (size_t)tsri_memory_available();
}

tsr_status tsri_alloc_raw(void *out, int64_t count, size_t size)
{
    void *none = NULL;
    tsr_context *c = tsri_context_memory();
    memcpy(out, &none, sizeof none);
    size_t bytes, padded;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)(2 * HEADER - 1), &padded))
        return tsri_fail(TSR_RESOURCES, "out of memory: %lld x %zu bytes is more than can exist",
                         (long long)count, size);
    padded = padded / HEADER * HEADER;
    if (beyond_machine(c, padded))
        return tsri_fail(
            TSR_RESOURCES,
            "out of memory: %s wanted, %s free on this machine, %s already in use here",
            tsri_bytes_text((double)bytes), tsri_bytes_text((double)tsri_memory_available()),
            tsri_bytes_text((double)c->in_use));
    unsigned char *block = must_fail(c) ? NULL : c->allocator.alloc(c->allocator.context, padded);
    if (!block)
        return tsri_fail(TSR_RESOURCES,
                         "out of memory: %zu bytes wanted, %zu already in use by the library",
                         bytes, (size_t)c->in_use);
    tag mine = {bytes, c, c->allocator.free, c->allocator.context};
    memcpy(block, &mine, sizeof mine);
    count_in(c, bytes);
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

static tag tag_of(const void *memory)
{
    tag mine = {0};
    if (memory)
        memcpy(&mine, (const unsigned char *)memory - HEADER, sizeof mine);
    return mine;
}

tsr_status tsri_realloc(void *memory, int64_t count, size_t size)
{
    void *old, *fresh;
    memcpy(&old, memory, sizeof old);
    tsr_status st = tsri_alloc(&fresh, count, size);
    if (st != TSR_OK)
        return st;
    size_t had = tag_of(old).bytes, want = (size_t)count * size;
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
    tag mine = tag_of(memory);
    atomic_fetch_sub(&mine.owner->in_use, mine.bytes);
    mine.free(mine.context, (unsigned char *)memory - HEADER);
    tsri_context_release(mine.owner);
}
