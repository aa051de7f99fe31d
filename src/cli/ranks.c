/* ranks.c - ranks that wait for others in vain, ended together. */
#include "cli/ranks.h"

#include "comm/roster.h"

#include <unistd.h>

_Noreturn void cli_ranks_end_all(int status)
{
    tsri_roster_ask_end(status);
    _exit(status);
}

void cli_ranks_hang(void *nothing, tsr_status status)
{
    (void)nothing;
    cli_ranks_end_all((int)status);
}
