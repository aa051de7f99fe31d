/* stop.c - whether somebody asked the program to stop: one flag that a signal handler may set. */
#include "base/stop.h"

#include <signal.h>
#include <stdbool.h>

static volatile sig_atomic_t stop_requested;

void tsr_request_stop(void)
{
    stop_requested = 1;
}

bool tsri_stop_asked(void)
{
    return stop_requested != 0;
}

void tsri_stop_clear(void)
{
    stop_requested = 0;
}
