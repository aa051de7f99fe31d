/* args.h - a command's options and operands, checked against its row.
 *
 *     const char *out = cli_text(args, "out");             NULL when not given
 *     for (int i = 0; (value = cli_nth(args, "set", i)); i++) ...
 *     args->operand[0], args->count
 *
 * Every command has --json, --quiet and --help.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "cli/command.h"

typedef struct cli_given {
    const cli_option *option;
    const char *value; /* NULL for a flag */
} cli_given;

struct cli_args {
    const cli_command *command;
    bool json, quiet, help;
    int count; /* operands */
    char **operand;
    cli_given *given; /* options in the order of the command line */
    int64_t given_count;
};

/* The options every command has; ended by a row without name. */
extern const cli_option cli_common[];

/* Reads argv (argv[0] is the command's name) and moves operands behind options in it. USAGE with
 * the nearest option when one is unknown. Number and types of the operands are right afterwards,
 * unless args->help. Finish with cli_args_fini. */
tsr_status cli_args_read(cli_args *args, const cli_command *command, int argc, char **argv);
void cli_args_fini(cli_args *args);

/* The option must be in the command's table (asserted). */
bool cli_has(const cli_args *args, const char *name);
const char *cli_text(const cli_args *args, const char *name);           /* the last one given */
const char *cli_nth(const cli_args *args, const char *name, int64_t i); /* the i-th given */
int64_t cli_int(const cli_args *args, const char *name, int64_t preset);
double cli_real(const cli_args *args, const char *name, double preset);

/* The option with this name in a list, or NULL. */
const cli_option *cli_find_option(const cli_option *list, const char *name);

#endif
