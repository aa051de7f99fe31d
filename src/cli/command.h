/* command.h - what a command of the program is: one row of one table.
 *
 * A command lives in its own file, src/cli/cmd_<name>.c, which ends with its row:
 *
 *     static const cli_option options[] = {
 *         {"out", 'o', "DIR", CLI_FOLDER, .help = "folder of the run"},
 *         {"resume", 0, NULL, CLI_FLAG, .help = "continue from the newest good checkpoint"},
 *         {0},
 *     };
 *     const cli_command cli_train = {
 *         .name = "train", .help = "train a network", .synopsis = "RUN-FILE",
 *         .least = 1, .most = 1, .operand = CLI_FILE, .options = options, .run = run,
 *     };
 *
 * and is listed in commands.c. The row makes the parsing of its options, `tessera help`, the man
 * page and the completion of bash, zsh and fish.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "tessera.h"

typedef struct cli_args cli_args;

/* What an option's argument (or an operand) is: decides how it is checked and completed. */
typedef enum cli_type {
    CLI_FLAG,   /* no argument */
    CLI_TEXT,   /* anything */
    CLI_INT,    /* a whole number within least..most */
    CLI_REAL,   /* a number within least..most */
    CLI_CHOICE, /* one of `choices` */
    CLI_FILE,   /* a path; completed, not checked: the command knows what it needs */
    CLI_FOLDER, /* a path of a folder */
    CLI_DATA,   /* the name of a data set, or a path */
    CLI_SETTING /* key=value of a run file */
} cli_type;

typedef struct cli_option {
    const char *name;     /* long name, without "--"; NULL ends a list */
    char letter;          /* short name, or 0 */
    const char *argument; /* its name in the help, "FILE"; NULL for a flag */
    cli_type type;
    const char *help;    /* one line, no full stop */
    const char *choices; /* "bash|zsh|fish" for CHOICE */
    double least, most;  /* for INT and REAL; both 0 = any */
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *help;     /* one line, no full stop */
    const char *synopsis; /* operands as the help shows them, "RUN-FILE"; "" = none */
    int least, most;      /* how many operands; most < 0 = any number */
    cli_type operand;     /* what operands are, for the completion */
    const char *words;    /* "list|info|get": the first operand's known words, or NULL */
    /* (optional) The i-th name that an operand (after `words`, where there are any) may have; NULL
     * after the last. For the completion. */
    const char *(*names)(int64_t i);
    const cli_option *options;
    bool ranks;          /* mpirun may start many: when one fails at once, all must end */
    const char *details; /* paragraphs for help and man page, separated by "\n\n"; or NULL */
    tsr_status (*run)(const cli_args *args);
} cli_command;

/* All commands, in the order of the help; ended by NULL. */
extern const cli_command *const cli_commands[];

const cli_command *cli_find_command(const char *name); /* or NULL */

#endif
