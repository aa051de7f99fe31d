/* mpi_none.c - built in place of mpi.c where MPI is not installed: there is never more than one
 * process. */
#include "comm/comm.h"

bool tsri_comm_built(void)
{
    return false;
}

tsr_status tsri_comm_open(tsri_comm **out, const tsri_comm_options *options)
{
    (void)options;
    *out = NULL;
    return TSR_OK;
}

bool tsri_comm_excuse(void)
{
    return false;
}

tsr_ending tsr_ranks_ending(void)
{
    return TSR_END_PLAIN;
}
