/* thread.c - starts the library's own threads, without signals. */
#include "base/thread.h"

#include <signal.h>
#include <stddef.h>

int tsri_thread_start(pthread_t *thread, void *(*work)(void *), void *argument)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* a thread begins with its creator's mask */
    int error = pthread_create(thread, NULL, work, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
