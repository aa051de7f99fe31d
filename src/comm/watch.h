/* watch.h - a thread that looks after a rank while its main thread computes, or is stuck in MPI.
 *
 * It owns the lifeline, so that a death is heard of at once and no stranger costs a round time. And
 * it ends the process, with a sentence, where the main thread cannot:
 *
 * - MPI_Init waits for ever for a rank that has ended or has not come: the watch names it, after
 *   `start` seconds at most, and ends all ranks;
 * - MPI hangs and somebody asked the program to stop (base/stop.h): it waits some seconds for the
 *   call to return, no longer.
 *
 *     TSR_TRY(tsri_watch_create(&watch, &plan));
 *     tsri_watch_enter(watch);     MPI_Init_thread(...);     tsri_watch_leave(watch);
 *     tsri_watch_begun(watch);
 */
#ifndef TSRI_WATCH_H
#define TSRI_WATCH_H

#include "comm/lifeline.h"
#include "comm/roster.h"

typedef struct tsri_watch tsri_watch;

typedef struct tsri_watch_plan {
    int rank, size;
    double start; /* seconds within which all ranks must have come */
    const tsri_roster *roster;
    tsri_lifeline *line; /* or NULL; the watch's from now on */
} tsri_watch_plan;

tsr_status tsri_watch_create(tsri_watch **out, const tsri_watch_plan *plan);
void tsri_watch_destroy(tsri_watch *watch); /* and the lifeline; NULL is fine */

/* MPI has begun, so every rank has come: nobody else may. */
void tsri_watch_begun(tsri_watch *watch);

/* Around calls of MPI. */
void tsri_watch_enter(tsri_watch *watch);
void tsri_watch_leave(tsri_watch *watch);

/* Has that rank hung up? Was it ever connected? */
bool tsri_watch_died(const tsri_watch *watch, int rank);

#endif
