/* help.h - everything the tables can say about themselves: help on the screen, JSON, Markdown, the
 * man page, completion for three shells. All of it is made from cli_commands[] and the table of
 * keys (tsr_key_at). */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/command.h"

#include <stdio.h>

/* On the screen (help.c). */
tsr_status cli_help_overview(FILE *to);

/* What to show when no command was given: how to begin, on half a screen. */
void cli_help_start(FILE *to);
tsr_status cli_help_command(const cli_command *command);
tsr_status cli_help_json(void);

/* The keys of a run file (help_runfile.c). */
tsr_status cli_help_runfile(void);
tsr_status cli_help_runfile_markdown(void);
tsr_status cli_help_runfile_json(const char *part); /* a section or a key; NULL = all */

/* One section ("optim") or one key ("optim.lr"), which must be one that is known. */
bool cli_runfile_knows(const char *name);
tsr_status cli_help_runfile_part(const char *name);
const char *cli_runfile_section(int64_t i); /* the i-th section's name; NULL after the last */

/* Man pages, in man(7) macros (help_man.c): of the program, of a command. */
tsr_status cli_help_man(void);
void cli_help_man_command(const cli_command *command);

/* Completion for "bash", "zsh" or "fish" (help_completion.c). */
tsr_status cli_help_completion(const char *shell);

/* Row i of the run file's keys, which is there; and its default in words, "0.9; with optim.name=gd
 * 0", empty when it has none. */
enum { CLI_KEY_DEFAULT = 160 };
tsr_key cli_key_at(int64_t i);
const char *cli_key_default(char text[CLI_KEY_DEFAULT], const tsr_key *key);

#endif
