/* pool.c - a team of threads that runs one loop at a time.
 *
 * A training step has a dozen short loops, a few hundred microseconds each, one right after the
 * other. So a waiting thread first spins for a moment (a wake-up by the kernel costs as much as a
 * small loop) and only then sleeps. With more threads than cores nobody spins: it would keep the
 * core from the thread that is waited for.
 */
#include "base/pool.h"

#include "base/alloc.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { SPINS = 20000 }; /* about 50 microseconds */

struct tsri_pool {
    int threads;
    int started;
    int spins;
    pthread_t *thread; /* [threads - 1] */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;

    tsri_pool_body body; /* the loop of this generation */
    void *context;
    int64_t count;
    _Atomic int64_t next;
    _Atomic int64_t generation; /* +1 per loop */
    _Atomic int busy;           /* helpers still inside the loop */
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

static int64_t await_generation(tsri_pool *pool, int64_t seen)
{
    for (int i = 0; i < pool->spins; i++) {
        if (atomic_load(&pool->generation) != seen)
            return atomic_load(&pool->generation);
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->generation) == seen)
        pthread_cond_wait(&pool->wake, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    return atomic_load(&pool->generation);
}

static void *helper(void *argument)
{
    seat mine = *(seat *)argument;
    tsri_free(argument);
    tsri_pool *pool = mine.pool;
    int64_t seen = 0;
    for (;;) {
        seen = await_generation(pool, seen);
        if (atomic_load(&pool->quit))
            return NULL;
        work(pool, mine.index);
        if (atomic_fetch_sub(&pool->busy, 1) == 1) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

static void start_generation(tsri_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

void tsri_pool_run(tsri_pool *pool, tsri_pool_body body, void *context, int64_t count)
{
    if (pool->started == 0 || count <= 1) {
        for (int64_t i = 0; i < count; i++)
            body(context, i, 0);
        return;
    }
    assert(atomic_load(&pool->busy) == 0);
    pool->body = body;
    pool->context = context;
    pool->count = count;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->busy, pool->started);
    start_generation(pool);
    work(pool, 0);
    for (int i = 0; i < pool->spins; i++) {
        if (atomic_load(&pool->busy) == 0)
            return;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->busy) > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
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
    pool->threads = threads;
    pool->spins = threads <= tsri_cores() ? SPINS : 0;
    TSR_TRY(tsri_alloc(&pool->thread, threads - 1, sizeof *pool->thread));
    for (int i = 1; i < threads; i++) {
        seat *mine = NULL;
        TSR_TRY(tsri_alloc(&mine, 1, sizeof *mine));
        *mine = (seat){pool, i};
        int error = pthread_create(&pool->thread[i - 1], NULL, helper, mine);
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
    start_generation(pool);
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
