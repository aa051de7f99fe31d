/* commands.c - the list of commands, in the order of the help. */
#include "cli/commands.h"

#include <string.h>

/* clang-format off */
const cli_command *const cli_commands[] = {
    &cli_train,
    &cli_launch_command,
    &cli_sweep,
    &cli_ticket,
    &cli_eval,
    &cli_predict,
    &cli_import,
    &cli_prune,
    &cli_convert,
    &cli_finetune,
    &cli_export,
    &cli_distance,
    &cli_check,
    &cli_cost,
    &cli_info,
    &cli_ntk,
    &cli_certify,
    &cli_theory,
    &cli_data,
    &cli_bench,
    &cli_report,
    &cli_watch,
    &cli_metrics,
    &cli_reproduce,
    &cli_help,
    &cli_version,
    NULL,
};
/* clang-format on */

const cli_command *cli_find_command(const char *name)
{
    for (int i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}
