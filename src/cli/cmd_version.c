/* cmd_version.c - tessera version: which program this is. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"

#include <stdio.h>

static tsr_status run(const cli_args *args)
{
    char *build = NULL;
    if (!args->json) {
        (void)printf("tessera %s\n", tsr_version());
        return TSR_OK;
    }
    tsr_status st = tsr_build(&build);
    if (st == TSR_OK)
        cli_print(build);
    return st;
}

const cli_command cli_version = {
    .name = "version",
    .help = "show the version",
    .synopsis = "",
    .run = run,
};
