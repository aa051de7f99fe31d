/* ranks_mpi.c - the end of MPI, when the program has written its last words.
 *
 * MPI_Finalize waits for every rank. Should one die at that very moment, those who wait for it end
 * after a while.
 */
#include "cli/ranks.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void *wait_no_longer(void *status)
{
    struct timespec t = {10, 0};
    (void)nanosleep(&t, NULL);
    _exit(*(const int *)status);
}

static void end_in_order(int status)
{
    static int last;
    pthread_t watchdog;
    last = status;
    if (pthread_create(&watchdog, NULL, wait_no_longer, &last) == 0)
        (void)pthread_detach(watchdog);
    (void)MPI_Finalize();
}

/* mpirun waits for ranks that hang, and takes the death of rank 0 for success: it must not. */
void cli_ranks_end(int status)
{
    tsr_ending how = tsr_ranks_ending();
    if (how == TSR_END_PLAIN)
        return;
    (void)fflush(NULL);
    if (how == TSR_END_ABORT)
        (void)MPI_Abort(MPI_COMM_WORLD, status);
    else
        end_in_order(status);
}
