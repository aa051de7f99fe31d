/* cmd_help.c - tessera help: which help is asked for. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/help.h"

#include "base/status.h"
#include "base/text.h"

#include <string.h>

static tsr_status help_on_run_file(const cli_args *args)
{
    if (cli_has(args, "markdown"))
        return cli_help_runfile_markdown();
    return args->json ? cli_help_runfile_json() : cli_help_runfile();
}

static tsr_status help_on_topic(const cli_args *args, const char *topic)
{
    const cli_command *command = cli_find_command(topic);
    if (strcmp(topic, "run-file") == 0)
        return help_on_run_file(args);
    if (cli_has(args, "markdown"))
        return tsri_fail(TSR_USAGE, "help: --markdown goes with run-file");
    if (!command)
        return tsri_fail(TSR_USAGE, "help: there is no command '%s'; 'tessera help' lists them",
                         tsri_quote(topic));
    return cli_help_command(command);
}

static tsr_status run(const cli_args *args)
{
    if (cli_has(args, "man"))
        return cli_help_man();
    if (cli_has(args, "completion"))
        return cli_help_completion(cli_text(args, "completion"));
    if (args->count > 0)
        return help_on_topic(args, args->operand[0]);
    if (cli_has(args, "markdown"))
        return tsri_fail(TSR_USAGE, "help: --markdown goes with run-file");
    return args->json ? cli_help_json() : cli_help_overview(stdout);
}

static const cli_option options[] = {
    {"markdown", 0, NULL, CLI_FLAG, .help = "with run-file: print the page docs/run-file.md"},
    {"man", 0, NULL, CLI_FLAG, .help = "print the man page, for man(1)"},
    {"completion", 0, "SHELL", CLI_CHOICE, .choices = "bash|zsh|fish",
     .help = "print the completion script of a shell"},
    {0},
};

const cli_command cli_help = {
    .name = "help",
    .help = "explain a command, or the keys of a run file",
    .synopsis = "[COMMAND | run-file]",
    .most = 1,
    .words = "run-file",
    .options = options,
    .run = run,
    .details = "To have the completion in this shell: source <(tessera help --completion bash)",
};
