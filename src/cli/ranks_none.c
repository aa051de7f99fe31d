/* ranks_none.c - built in place of ranks_mpi.c where MPI is not installed: there is nothing to
 * end. */
#include "cli/ranks.h"

void cli_ranks_end(int status)
{
    (void)status;
}
