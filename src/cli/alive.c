/* alive.c - what ranks tell `tessera launch`: that they hear it, that they live, how they ended. */
#include "cli/alive.h"

#include "tessera.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *token(void)
{
    int size = 1;
    (void)tsr_rank(&size);
    return size > 1 ? getenv(CLI_LAUNCH_TOKEN) : NULL;
}

/* A thread of its own: the main one may compute, or wait in MPI, for as long as it likes. */
static void *beat(void *text)
{
    for (;;) {
        (void)fprintf(stderr, "%s alive\n", (const char *)text);
        (void)sleep(CLI_ALIVE_SECONDS);
    }
    return NULL;
}

/* If no thread can be started, launch hears nothing and gives up too early: better than no run. */
void cli_alive_begin(void)
{
    const char *text = token();
    pthread_t thread;
    sigset_t all, before;
    if (!text || tsr_rank(NULL) != 0)
        return;
    (void)sigfillset(&all); /* signals are the main thread's */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, beat, (void *)(uintptr_t)text) == 0)
        (void)pthread_detach(thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cli_alive_ready(void)
{
    const char *text = token();
    if (text)
        (void)fprintf(stderr, "%s ready\n", text);
}

void cli_alive_end(int code)
{
    const char *text = token();
    if (text)
        (void)fprintf(stderr, "%s %d %d\n", text, code, tsr_rank(NULL));
}
