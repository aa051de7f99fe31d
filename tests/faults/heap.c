/* heap.c - allocations that fail, and blocks that are never freed (heap.h). */
#include "heap.h"

#include <stdio.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

#include "base/alloc.h"

static int64_t armed_at;

void heap_arm(int64_t at, bool persistent)
{
    (void)tsri_alloc_fail_after(at, persistent);
    armed_at = at;
}

bool heap_disarm(int64_t *calls)
{
    *calls = tsri_alloc_fail_after(-1, false);
    return *calls > armed_at;
}

int64_t heap_left(char *who, size_t n)
{
    (void)snprintf(who, n, "the library");
    return tsri_alloc_blocks();
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* glibc's own, under the names that it keeps for those who replace them. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t n);
void *__libc_realloc(void *memory, size_t n);
void *__libc_memalign(size_t alignment, size_t n);
void __libc_free(void *memory);

enum { RANGES = 256, BLOCKS = 1 << 16 };

typedef struct range {
    uintptr_t from, to;
} range;

typedef struct block {
    void *memory; /* NULL: free; GONE: was used */
    const void *taker;
} block;

static range spared[RANGES];
static int ranges;
static block live[BLOCKS];
static bool armed, from_then_on, hit;
static int64_t fail_at, calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char gone_mark;
#define GONE ((void *)&gone_mark)

/* ---- Whose calls count --------------------------------------------------------------------- */

static const char *const left_alone[] = {
    "openblas", "lapack",   "gfortran", "quadmath", "mpi",      "open-pal",   "open-rte", "pmix",
    "hwloc",    "libevent", "cairo",    "rsvg",     "glib",     "gobject",    "gio",      "pango",
    "pixbuf",   "ld-linux", "libxml",   "harfbuzz", "freetype", "fontconfig", "libgcc"};

static int note_library(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size, (void)context;
    bool spare = false;
    for (size_t i = 0; i < sizeof left_alone / sizeof *left_alone; i++)
        spare = spare || strstr(info->dlpi_name, left_alone[i]);
    for (int i = 0; spare && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && ranges < RANGES)
            spared[ranges++] =
                (range){info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                        info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz};
    return 0;
}

static bool counts(const void *caller)
{
    for (int i = 0; i < ranges; i++)
        if ((uintptr_t)caller >= spared[i].from && (uintptr_t)caller < spared[i].to)
            return false;
    return true;
}

/* True when this call must fail. */
static bool refuse(const void *caller)
{
    if (!armed || !counts(caller))
        return false;
    int64_t number = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    bool now = number == fail_at || (from_then_on && number > fail_at);
    hit = hit || now;
    return now;
}

/* ---- Live blocks --------------------------------------------------------------------------- */

static size_t slot_of(const void *memory)
{
    return ((uintptr_t)memory >> 4) * 2654435761u % BLOCKS;
}

static void *taken(void *memory, const void *caller)
{
    if (!armed || !memory || !counts(caller))
        return memory;
    pthread_mutex_lock(&lock);
    size_t i = slot_of(memory), looked = 0;
    for (; looked < BLOCKS && live[i].memory && live[i].memory != GONE; looked++)
        i = (i + 1) % BLOCKS;
    if (looked == BLOCKS)
        abort(); /* more blocks than the table holds */
    live[i] = (block){memory, caller};
    pthread_mutex_unlock(&lock);
    return memory;
}

static void given_back(const void *memory)
{
    if (!memory || ranges == 0)
        return;
    pthread_mutex_lock(&lock);
    size_t i = slot_of(memory);
    for (size_t looked = 0; looked < BLOCKS && live[i].memory; looked++, i = (i + 1) % BLOCKS)
        if (live[i].memory == memory) {
            live[i].memory = GONE;
            break;
        }
    pthread_mutex_unlock(&lock);
}

void heap_arm(int64_t at, bool persistent)
{
    if (ranges == 0)
        (void)dl_iterate_phdr(note_library, NULL);
    memset(live, 0, sizeof live);
    fail_at = at;
    from_then_on = persistent;
    calls = 0;
    hit = false;
    armed = true;
}

bool heap_disarm(int64_t *count)
{
    armed = false;
    *count = calls;
    return hit;
}

int64_t heap_left(char *who, size_t n)
{
    int64_t left = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        Dl_info about = {0};
        if (!live[i].memory || live[i].memory == GONE)
            continue;
        if (left++ > 0 || !dladdr(live[i].taker, &about))
            continue;
        (void)snprintf(who, n, "%s+0x%lx", about.dli_fname,
                       (unsigned long)((uintptr_t)live[i].taker - (uintptr_t)about.dli_fbase));
    }
    return left;
}

/* ---- In malloc's place --------------------------------------------------------------------- */

#define CALLER __builtin_return_address(0)

static void *none(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t n)
{
    return refuse(CALLER) ? none() : taken(__libc_malloc(n), CALLER);
}

void *calloc(size_t count, size_t n)
{
    return refuse(CALLER) ? none() : taken(__libc_calloc(count, n), CALLER);
}

void *realloc(void *memory, size_t n)
{
    if (refuse(CALLER))
        return none();
    void *fresh = __libc_realloc(memory, n);
    if (fresh || n == 0)
        given_back(memory);
    return taken(fresh, CALLER);
}

void *memalign(size_t alignment, size_t n);
void *memalign(size_t alignment, size_t n)
{
    return refuse(CALLER) ? none() : taken(__libc_memalign(alignment, n), CALLER);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return refuse(CALLER) ? none() : taken(__libc_memalign(alignment, n), CALLER);
}

int posix_memalign(void **out, size_t alignment, size_t n)
{
    void *memory = refuse(CALLER) ? NULL : taken(__libc_memalign(alignment, n), CALLER);
    if (!memory)
        return ENOMEM;
    *out = memory;
    return 0;
}

void free(void *memory)
{
    given_back(memory);
    __libc_free(memory);
}

#endif
