/* guard.h - a thread that looks after a rank while its main thread computes, or is stuck in MPI.
 *
 * It owns the lifeline, so that a death is noticed at once and strangers cost no round any time. And
 * it gives up, with a message, where the main thread cannot. It then tells the program
 * (tsr_context_on_hang), which ends all ranks:
 *
 * - MPI_Init waits for ever for a rank that has ended or has not joined: the guard names it, after
 *   `start` seconds at most;
 * - before that, PMIx, which started the ranks, is asked, and may never answer: the same limit;
 * - MPI hangs and the program was asked to stop (base/stop.h): the guard waits a few seconds for the
 *   call to return, no longer.
 *
 *     TSR_TRY(tsri_guard_create(&guard, &plan));
 *     tsri_guard_enter(guard);     ... a roster, a lifeline ...     tsri_guard_leave(guard);
 *     tsri_guard_watch(guard, roster, line);
 *     tsri_guard_enter(guard);     MPI_Init_thread(...);     tsri_guard_leave(guard);
 *     tsri_guard_begun(guard);
 */
#ifndef TSRI_GUARD_H
#define TSRI_GUARD_H

#include "comm/lifeline.h"
#include "comm/roster.h"

typedef struct tsri_guard tsri_guard;

typedef struct tsri_guard_plan {
    int rank, size;
    double start;              /* seconds within which all ranks must have joined */
    const tsri_roster *roster; /* NULL: it comes later (tsri_guard_watch) */
    tsri_lifeline *line;       /* or NULL; it belongs to the guard from now on */
} tsri_guard_plan;

tsr_status tsri_guard_create(tsri_guard **out, const tsri_guard_plan *plan);
void tsri_guard_destroy(tsri_guard *guard); /* and the lifeline; NULL is fine */

/* The roster and, or NULL, the lifeline, where the guard had to come first. Once. */
void tsri_guard_watch(tsri_guard *guard, const tsri_roster *roster, tsri_lifeline *line);

/* MPI has begun, so every rank has joined: no further connection is accepted. */
void tsri_guard_begun(tsri_guard *guard);

/* Around calls of MPI. */
void tsri_guard_enter(tsri_guard *guard);
void tsri_guard_leave(tsri_guard *guard);

/* Has that rank hung up? Was it ever connected? */
bool tsri_guard_died(const tsri_guard *guard, int rank);

#endif
