/* context.c - contexts: the one that every thread begins with, and those that programs make. */
#include "base/context.h"

#include "base/alloc.h"
#include "base/sized.h"

#include <stdlib.h>

static tsr_context general = {.log_lock = PTHREAD_MUTEX_INITIALIZER,
                              .allocator = TSRI_ALLOCATOR_DEFAULT,
                              .holders = 1,
                              .countdown = -1};
static _Thread_local tsr_context *current; /* NULL = general */

/* In the child of a fork no thread is left to release the lock that another thread held. */
static void after_fork(void)
{
    (void)pthread_mutex_init(&general.log_lock, NULL);
}

__attribute__((constructor)) static void heed_forks(void)
{
    (void)pthread_atfork(NULL, NULL, after_fork);
}

tsr_context *tsri_context(void)
{
    return current ? current : &general;
}

tsr_context *tsri_context_of(tsr_context *context)
{
    return context ? context : &general;
}

tsr_context *tsr_context_use(tsr_context *context)
{
    tsr_context *before = current;
    current = context == &general ? NULL : context;
    return before;
}

/* Its own memory is not counted: it holds the counters. */
tsr_status tsr_context_create(tsr_context **out)
{
    tsr_status st = TSR_OK;
    tsr_context *context = NULL;
    TSRI_GIVEN(out);
    *out = NULL;
    context = calloc(1, sizeof *context);
    TSR_CHECK(context, TSR_RESOURCES, "out of memory for a context");
    pthread_mutex_init(&context->log_lock, NULL);
    context->allocator = (tsr_allocator)TSRI_ALLOCATOR_DEFAULT;
    context->holders = 1;
    context->countdown = -1;
    *out = context;
done:
    return st;
}

tsr_status tsri_context_create_within(tsr_context **out)
{
    tsr_status st = TSR_OK;
    tsr_context *above = tsri_context(), *made = NULL;
    *out = NULL;
    TSR_TRY(tsr_context_create(&made));
    if (!made) /* never: the analyser cannot know that a failure is not OK */
        goto done;
    made->above = above->above ? above->above : above;
    atomic_fetch_add(&made->above->holders, 1);
    *out = made;
done:
    return st;
}

tsr_context *tsri_context_memory(void)
{
    tsr_context *c = tsri_context();
    return c->above ? c->above : c;
}

void tsri_context_release(tsr_context *context)
{
    if (atomic_fetch_sub(&context->holders, 1) > 1 || context == &general)
        return;
    tsr_context *above = context->above;
    pthread_mutex_destroy(&context->log_lock);
    free(context);
    if (above)
        tsri_context_release(above);
}

void tsr_context_destroy(tsr_context *context)
{
    if (!context || context == &general)
        return;
    if (current == context)
        current = NULL;
    tsri_context_release(context);
}

void tsr_context_on_hang(tsr_context *context, tsr_hang_function function, void *argument)
{
    context = tsri_context_of(context);
    context->hang = function;
    context->hang_argument = argument;
}

void tsri_context_hangs(tsr_status status)
{
    tsr_context *context = tsri_context_memory(); /* a run's own has none */
    if (context->hang)
        context->hang(context->hang_argument, status);
}
