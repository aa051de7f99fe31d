/* ranks.h - the end of a process that is one of many.
 *
 * The library never ends the process (tsr_ranks_ending, tsr_context_on_hang): what must happen to
 * MPI and to the other ranks when this one ends is here. Where MPI is not installed ranks_none.c is
 * built instead of ranks_mpi.c.
 */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "tessera.h"

/* Ends MPI in order, or the job, as the library says. When the last words are written. */
void cli_ranks_end(int status);

/* Ends all ranks and this process: for ranks that cannot go on and wait for others in vain. What
 * cannot be asked for within some seconds is left to whoever looks after the ranks. */
_Noreturn void cli_ranks_end_all(int status);

/* The same, for tsr_context_on_hang. */
void cli_ranks_hang(void *nothing, tsr_status status);

#endif
