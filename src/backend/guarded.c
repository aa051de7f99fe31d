/* guarded.c - memory that faults when anyone but a backend touches it.
 *
 * Only in builds with TESSERA_GUARD (preset `guarded`): there the processors' own devices behave as
 * if their memory were another chip's. All blocks lie in one range of addresses without access;
 * entering a call of a backend opens the range, leaving the last one closes it. A host that keeps a
 * pointer into it dies of SIGSEGV at the very line.
 *
 * While one thread is inside a call, another's mistake goes unnoticed: runs with one thread see
 * all.
 */
#include "backend/heap.h"

#ifdef TSRI_GUARD

#include "base/alloc.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, MOST_BLOCKS = 1 << 16 };

/* A block: its place in the range, from page to page. */
typedef struct block {
    size_t from, pages;
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *range;
static size_t room;               /* bytes of the range: addresses, not memory */
static size_t used;               /* bytes of the range below which blocks lie */
static int inside;                /* calls of backends that have not returned */
static block blocks[MOST_BLOCKS]; /* in the order of their places */
static int64_t count;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* In the child of a fork no thread is left to release a lock that another thread held. */
__attribute__((constructor)) static void heed_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork);
}

static void protect(int how)
{
    if (used > 0 && mprotect(range, used, how) != 0)
        __builtin_trap(); /* nothing could be proven any more */
}

static void enter(void)
{
    pthread_mutex_lock(&lock);
    if (inside++ == 0)
        protect(PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&lock);
}

static void leave(void)
{
    pthread_mutex_lock(&lock);
    if (--inside == 0)
        protect(PROT_NONE);
    pthread_mutex_unlock(&lock);
}

/* The lowest gap of that many pages. */
static int64_t find_gap(size_t pages, size_t *from)
{
    size_t end = 0;
    int64_t i = 0;
    for (; i < count && (blocks[i].from - end) / PAGE < pages; i++)
        end = blocks[i].from + blocks[i].pages * PAGE;
    *from = end;
    return i;
}

static void *reserve(size_t bytes)
{
    return mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Where addresses are limited (ulimit -v), an eighth of them: others need some, too. */
static tsr_status take_range(void)
{
    const size_t most = (size_t)64 << 30;
    tsr_status st = TSR_OK;
    void *at = MAP_FAILED;
    for (room = most; at == MAP_FAILED && room > PAGE; room = at == MAP_FAILED ? room / 2 : room)
        at = reserve(room);
    if (at != MAP_FAILED && room < most) {
        (void)munmap(at, room);
        room /= 8;
        at = reserve(room);
    }
    TSR_CHECK(at != MAP_FAILED, TSR_RESOURCES, "no addresses for guarded memory");
    range = at;
done:
    return st;
}

static tsr_status place(tsri_mem **mem, size_t pages)
{
    tsr_status st = TSR_OK;
    size_t from;
    if (!range)
        TSR_TRY(take_range());
    int64_t i = find_gap(pages, &from);
    TSR_CHECK(count < MOST_BLOCKS && from + pages * PAGE <= room, TSR_RESOURCES,
              "guarded memory is full");
    memmove(blocks + i + 1, blocks + i, (size_t)(count - i) * sizeof *blocks);
    blocks[i] = (block){from, pages};
    count++;
    if (from + pages * PAGE > used) {
        size_t before = used;
        used = from + pages * PAGE;
        if (inside > 0 && mprotect(range + before, used - before, PROT_READ | PROT_WRITE) != 0)
            __builtin_trap();
    }
    *mem = (tsri_mem *)(void *)(range + from);
done:
    return st;
}

/* Taken from the allocator too, so that its counts and injected failures hold for device memory. */
static tsr_status take(tsri_mem **mem, int64_t bytes)
{
    tsr_status st = TSR_OK;
    void *token = NULL;
    size_t pages = ((size_t)bytes + sizeof token + PAGE) / PAGE;
    *mem = NULL;
    TSR_TRY(tsri_alloc_raw(&token, bytes, 1)); /* never touched: it only counts */
    pthread_mutex_lock(&lock);
    st = place(mem, pages);
    pthread_mutex_unlock(&lock);
    if (st != TSR_OK)
        goto done;
    enter();
    memset(*mem, 0, pages * PAGE - sizeof token);
    memcpy((char *)(void *)*mem + pages * PAGE - sizeof token, &token, sizeof token);
    leave();
    token = NULL;
done:
    tsri_free(token);
    return st;
}

/* The number of the block that begins there. */
static int64_t block_at(size_t from)
{
    int64_t i = 0;
    while (i < count && blocks[i].from != from)
        i++;
    if (i == count)
        __builtin_trap(); /* it was never taken */
    return i;
}

/* Its place is given up last: another thread may take it at once. */
static void drop(tsri_mem *mem)
{
    void *token = NULL;
    if (!mem)
        return;
    size_t from = (size_t)((char *)(void *)mem - range);
    pthread_mutex_lock(&lock);
    size_t bytes = blocks[block_at(from)].pages * PAGE;
    pthread_mutex_unlock(&lock);
    enter();
    memcpy(&token, (char *)(void *)mem + bytes - sizeof token, sizeof token);
    (void)madvise(mem, bytes, MADV_DONTNEED);
    leave();
    pthread_mutex_lock(&lock);
    int64_t i = block_at(from);
    memmove(blocks + i, blocks + i + 1, (size_t)(--count - i) * sizeof *blocks);
    pthread_mutex_unlock(&lock);
    tsri_free(token);
}

static tsr_status in(tsri_mem *to, const void *from, int64_t bytes)
{
    enter();
    memcpy(to, from, (size_t)bytes);
    leave();
    return TSR_OK;
}

static tsr_status out(void *to, const tsri_mem *from, int64_t bytes)
{
    enter();
    memcpy(to, from, (size_t)bytes);
    leave();
    return TSR_OK;
}

static tsr_status within(tsri_mem *to, const tsri_mem *from, int64_t bytes)
{
    enter();
    memmove(to, from, (size_t)bytes);
    leave();
    return TSR_OK;
}

static tsr_status zero(tsri_mem *to, int64_t bytes)
{
    enter();
    memset(to, 0, (size_t)bytes);
    leave();
    return TSR_OK;
}

const tsri_heap tsri_heap_guarded = {.name = "guarded",
                                     .take = take,
                                     .drop = drop,
                                     .in = in,
                                     .out = out,
                                     .within = within,
                                     .zero = zero,
                                     .enter = enter,
                                     .leave = leave};

#else

typedef int tsri_guarded_is_empty; /* ISO C wants a file to declare something */

#endif
