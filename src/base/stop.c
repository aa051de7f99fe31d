/* stop.c - whether somebody asked a context to stop: one flag that a signal handler may set. */
#include "base/stop.h"

#include "base/context.h"

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler sets it");

void tsr_context_stop(tsr_context *context)
{
    atomic_store(&tsri_context_of(context)->stop, true);
}

void tsr_request_stop(void)
{
    tsr_context_stop(NULL);
}

bool tsri_stop_asked(void)
{
    const tsr_context *c = tsri_context();
    return atomic_load_explicit(&c->stop, memory_order_relaxed) ||
           (c->above && atomic_load_explicit(&c->above->stop, memory_order_relaxed));
}

tsr_status tsri_stop_heed(void)
{
    return tsri_stop_asked() ? tsri_fail(TSR_INTERRUPTED, "stopped") : TSR_OK;
}

void tsr_context_clear_stop(tsr_context *context)
{
    atomic_store(&tsri_context_of(context)->stop, false);
}

void tsri_stop_clear(void)
{
    tsr_context_clear_stop(tsri_context());
}
