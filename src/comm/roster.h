/* roster.h - which ranks were started and where, known before MPI has begun.
 *
 * MPI_Init waits for every rank, forever: a rank that ends before it is complete would never be
 * missed. The launcher (mpirun, Slurm) answers questions earlier, by PMIx: the host of each rank,
 * and a message that rank 0 leaves for the others. Without PMIx nothing is known, and only
 * deadlines help.
 */
#ifndef TSRI_ROSTER_H
#define TSRI_ROSTER_H

#include "base/status.h"

typedef struct tsri_roster tsri_roster;

/* `size` ranks were started. */
tsr_status tsri_roster_create(tsri_roster **out, int size);
void tsri_roster_destroy(tsri_roster *roster); /* NULL is fine */

bool tsri_roster_known(const tsri_roster *roster); /* does anybody answer? */

/* The host of a rank; NULL when it is not known. */
const char *tsri_roster_host(const tsri_roster *roster, int rank);
bool tsri_roster_one_host(const tsri_roster *roster); /* are all on one? false: or not known */

/* What ranks leave for each other. */
#define TSRI_INVITATION "tessera.lifeline"  /* rank 0's */
#define TSRI_ADDRESSES  "tessera.addresses" /* every rank's */

/* A rank leaves n bytes under a name, once for each name, and posts all; others fetch them, *got of
 * at most `room`: false when they have not come within that many seconds. */
tsr_status tsri_roster_leave(tsri_roster *roster, const char *name, void *bytes, int64_t n);
tsr_status tsri_roster_post(tsri_roster *roster);
bool tsri_roster_fetch(tsri_roster *roster, const char *name, int rank, void *bytes, int64_t room,
                       int64_t *got, double seconds);

/* For the program, which ends afterwards: asks whoever started the ranks to end them all, with that
 * status. Returns after some seconds at most; false: nobody has answered. */
bool tsri_roster_ask_end(int status);

#endif
