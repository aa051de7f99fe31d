/* alive.c - what the first rank tells `tessera launch`: that it lives, how it ended. */
#include "cli/alive.h"

#include "base/thread.h"
#include "comm/comm.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *token(void)
{
    return tsri_comm_given_size() > 1 ? getenv(CLI_LAUNCH_TOKEN) : NULL;
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

/* Without a thread launch hears nothing and ends too early: rather
 * that than no run at all. */
void cli_alive_begin(void)
{
    const char *text = token();
    pthread_t thread;
    if (!text || tsri_comm_given_rank() != 0)
        return;
    if (tsri_thread_start(&thread, beat, (void *)(uintptr_t)text) == 0)
        (void)pthread_detach(thread);
}

void cli_alive_end(int code)
{
    const char *text = token();
    if (text)
        (void)fprintf(stderr, "%s %d %d\n", text, code, tsri_comm_given_rank());
}
