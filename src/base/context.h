/* context.h - what belongs to a run and not to the process: its stop, its messages, its memory.
 *
 * Two runs of one process, each in a context of its own, do not disturb each other: one can be
 * stopped, be silent or run out of memory while the other goes on.
 *
 * Memory is taken and messages are sent in hundreds of places that know nothing of a run. So a
 * context is not handed from function to function: each thread has a current one, and a thread that
 * the library starts begins with that of its maker:
 *
 *     pool->owner = tsri_context();                where the thread is made
 *     (void)tsr_context_use(pool->owner);          its first line
 *
 * A block of memory remembers its context (alloc.c), so it goes back to the right one, whatever thread
 * frees it. That is also why a context lives until its last block is freed.
 */
#ifndef TSRI_CONTEXT_H
#define TSRI_CONTEXT_H

#include "tessera.h"

#include <pthread.h>
#include <stdatomic.h>

struct tsr_context {
    /* Of a run's own context: the one it was made in, whose memory it uses and which gets its
     * messages when the run has no receiver. NULL for any other. */
    tsr_context *above;
    atomic_bool stop; /* stop.c; a signal handler may set it */

    pthread_mutex_t log_lock; /* log.c: one message at a time */
    tsr_log_function log;
    void *log_argument;
    tsr_log_level log_most;

    tsr_allocator allocator; /* alloc.c */
    _Atomic size_t in_use, peak;
    _Atomic int64_t holders; /* blocks not freed yet, and one more until it is destroyed */
    _Atomic int64_t calls, countdown;
    atomic_bool fail_persistently;

    tsr_hang_function hang;
    void *hang_argument;
};

/* This thread's. Never NULL. */
tsr_context *tsri_context(void);

/* A context for one run inside this thread's context: it is stopped alone, or together with the
 * outer one, and uses the outer one's memory. The caller destroys *out. */
tsr_status tsri_context_create_within(tsr_context **out);

/* Whose memory this thread takes: the current context's, or that of the one above. */
tsr_context *tsri_context_memory(void);

/* `context`, or the one that every thread begins with when it is NULL. */
tsr_context *tsri_context_of(tsr_context *context);

/* Drops one holder; the last one frees the context. */
void tsri_context_release(tsr_context *context);

/* Tells the program that a call of MPI does not return. The message about it has been sent. */
void tsri_context_hangs(tsr_status status);

#endif
