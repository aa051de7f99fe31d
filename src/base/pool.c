/* pool.c - a team of threads that runs one loop at a time.
 *
 * A training step has hundreds of short loops, one right after the other. So a waiting thread first
 * spins for a moment (a wake-up by the kernel costs as much as a small loop) and only then sleeps.
 * And the caller never waits for a thread that did not come in time: on a busy machine a helper may
 * get its turn milliseconds late, when the loop is long done. A helper joins through the gate,
 *
 *     gate  | number of the loop (32 bits) | open (1) | joined (31) |
 *
 * which the caller closes when no work is left; then it waits for those that joined.
 */
#include "base/pool.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/thread.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { SPINS = 20000 }; /* some tens of microseconds */

#define OPEN   ((uint64_t)1 << 31)
#define JOINED (OPEN - 1)

struct tsri_pool {
    tsr_context *owner; /* the helpers work for it */
    int threads;
    int started;
    int spins; /* 0 with more threads than cores: spinning would take the core from a working one */
    pthread_t *thread; /* [threads - 1] */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;

    tsri_pool_body body; /* the loop that workers run when the gate opens */
    void *context;
    int64_t count;
    _Atomic int64_t next;
    _Atomic uint64_t gate;
    _Atomic uint64_t left; /* helpers that joined this loop and are done with it */
    _Atomic int sleepers;  /* helpers that may have to be woken */
    atomic_bool quit;
};

typedef struct seat {
    tsri_pool *pool;
    int index;
} seat;

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void work(tsri_pool *pool, int thread)
{
    for (;;) {
        int64_t i = atomic_fetch_add(&pool->next, 1);
        if (i >= pool->count)
            return;
        pool->body(pool->context, i, thread);
    }
}

/* ---- Helpers ------------------------------------------------------------------------------ */

static uint64_t number_of(uint64_t gate)
{
    return gate >> 32;
}

/* Waits until another loop than `seen` has begun; returns the gate. */
static uint64_t await_loop(tsri_pool *pool, uint64_t seen)
{
    for (int i = 0; i < pool->spins; i++) {
        uint64_t gate = atomic_load(&pool->gate);
        if (number_of(gate) != seen)
            return gate;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (number_of(atomic_load(&pool->gate)) == seen)
        pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
    return atomic_load(&pool->gate);
}

/* Joins the loop if its gate is still open. */
static bool join(tsri_pool *pool, uint64_t gate)
{
    while (gate & OPEN)
        if (atomic_compare_exchange_weak(&pool->gate, &gate, gate + 1))
            return true;
    return false;
}

static void leave(tsri_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->left, 1);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
}

static void *helper(void *argument)
{
    seat mine = *(seat *)argument;
    tsri_free(argument);
    tsri_pool *pool = mine.pool;
    uint64_t seen = 0;
    (void)tsr_context_use(pool->owner);
    for (;;) {
        uint64_t gate = await_loop(pool, seen);
        if (atomic_load(&pool->quit))
            return NULL;
        seen = number_of(gate);
        if (join(pool, gate)) {
            work(pool, mine.index);
            leave(pool);
        }
    }
}

/* ---- The caller --------------------------------------------------------------------------- */

static void open_gate(tsri_pool *pool)
{
    uint64_t number = number_of(atomic_load(&pool->gate)) + 1;
    atomic_store(&pool->gate, number << 32 | OPEN);
    if (atomic_load(&pool->sleepers) > 0) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
    }
}

static void await_joined(tsri_pool *pool, uint64_t joined)
{
    for (int i = 0; i < pool->spins; i++) {
        if (atomic_load(&pool->left) == joined)
            return;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->left) < joined)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void tsri_pool_run(tsri_pool *pool, tsri_pool_body body, void *context, int64_t count)
{
    if (pool->started == 0 || count <= 1) {
        for (int64_t i = 0; i < count; i++)
            body(context, i, 0);
        return;
    }
    assert(!(atomic_load(&pool->gate) & OPEN)); /* not from inside a body */
    pool->body = body;
    pool->context = context;
    pool->count = count;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->left, 0);
    open_gate(pool);
    work(pool, 0);
    await_joined(pool, atomic_fetch_and(&pool->gate, ~OPEN) & JOINED);
}

tsr_status tsri_pool_create(tsri_pool **out, int threads)
{
    tsr_status st = TSR_OK;
    tsri_pool *pool = NULL;
    *out = NULL;
    TSR_CHECK(threads >= 1 && threads <= 4096, TSR_USAGE, "threads must be 1 to 4096, not %d",
              threads);
    TSR_TRY(tsri_alloc(&pool, 1, sizeof *pool));
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->owner = tsri_context();
    pool->threads = threads;
    pool->spins = threads <= tsri_cores() ? SPINS : 0;
    TSR_TRY(tsri_alloc(&pool->thread, threads - 1, sizeof *pool->thread));
    for (int i = 1; i < threads; i++) {
        seat *mine = NULL;
        TSR_TRY(tsri_alloc(&mine, 1, sizeof *mine));
        *mine = (seat){pool, i};
        int error = tsri_thread_start(&pool->thread[i - 1], helper, mine);
        if (error != 0)
            tsri_free(mine);
        TSR_CHECK(error == 0, TSR_RESOURCES, "cannot start thread %d of %d: %s", i + 1, threads,
                  strerror(error));
        pool->started++;
    }
    *out = pool;
    pool = NULL;
done:
    tsri_pool_destroy(pool);
    return st;
}

void tsri_pool_destroy(tsri_pool *pool)
{
    if (!pool)
        return;
    atomic_store(&pool->quit, true);
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->gate, (uint64_t)1 << 32);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->started; i++)
        pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    tsri_free(pool->thread);
    tsri_free(pool);
}

int tsri_pool_threads(const tsri_pool *pool)
{
    return pool->threads;
}

int tsri_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
}
