/* cmd_help.c - tessera help: which help is asked for. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

static tsr_status help_on_run_file(const cli_args *args)
{
    if (cli_has(args, "markdown"))
        return cli_help_runfile_markdown();
    return args->json ? cli_help_runfile_json(NULL) : cli_help_runfile();
}

enum { MOST_WORDS = 400 };

/* The i-th word that help explains: commands, then run-file, then sections. */
static const char *known_word(int64_t i)
{
    int64_t commands = 0;
    while (cli_commands[commands])
        commands++;
    return i < commands    ? cli_commands[i]->name
           : i == commands ? "run-file"
                           : cli_runfile_section(i - commands - 1);
}

static tsr_status unknown(const char *topic)
{
    const char *known[MOST_WORDS];
    int64_t count = 0;
    while (count < MOST_WORDS && (known[count] = known_word(count)) != NULL)
        count++;
    for (int64_t i = 0; i < tsr_key_count() && count < MOST_WORDS; i++)
        known[count++] = cli_key_at(i).key;
    const char *near = tsr_nearest(topic, known, count);
    return tsr_fail(
        TSR_USAGE,
        "help: there is no command, section or key '%s'; %s%s%s'tessera help' lists the "
        "commands, 'tessera help run-file' the keys",
        tsr_quote(topic), near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* data, ticket and eval are commands and sections: both are shown. */
static tsr_status help_on_topic(const cli_args *args, const char *topic)
{
    tsr_status st = TSR_OK;
    const cli_command *command = cli_find_command(topic);
    bool part = cli_runfile_knows(topic);
    if (strcmp(topic, "run-file") == 0)
        return help_on_run_file(args);
    TSR_CHECK(!cli_has(args, "markdown"), TSR_USAGE, "help: --markdown goes with run-file");
    if (!command && !part)
        return unknown(topic);
    if (part && args->json)
        return cli_help_runfile_json(topic);
    if (command)
        TSR_TRY(cli_help_command(command));
    if (command && part)
        (void)printf("\nIn a run file there is a section of that name:\n");
    if (part)
        TSR_TRY(cli_help_runfile_part(topic));
done:
    return st;
}

static tsr_status man_page(const char *topic)
{
    const cli_command *command = topic ? cli_find_command(topic) : NULL;
    if (!topic)
        return cli_help_man();
    if (!command)
        return tsr_fail(TSR_USAGE, "help: --man is of the program or of a command, not of '%s'",
                        tsr_quote(topic));
    cli_help_man_command(command);
    return TSR_OK;
}

static tsr_status run(const cli_args *args)
{
    if (cli_has(args, "man"))
        return man_page(args->count > 0 ? args->operand[0] : NULL);
    if (cli_has(args, "completion"))
        return cli_help_completion(cli_text(args, "completion"));
    if (args->count > 0)
        return help_on_topic(args, args->operand[0]);
    if (cli_has(args, "markdown"))
        return tsr_fail(TSR_USAGE, "help: --markdown goes with run-file");
    return args->json ? cli_help_json() : cli_help_overview(stdout);
}

static const cli_option options[] = {
    {"markdown", 0, NULL, CLI_FLAG, .help = "with run-file: print the page docs/run-file.md"},
    {"man", 0, NULL, CLI_FLAG,
     .help = "print the man page, of the program or of COMMAND, for man(1)"},
    {"completion", 0, "SHELL", CLI_CHOICE, .choices = "bash|zsh|fish",
     .help = "print the completion script of a shell"},
    {0},
};

const cli_command cli_help = {
    .name = "help",
    .help = "explain a command, or the keys of a run file",
    .synopsis = "[COMMAND | run-file | SECTION | KEY]",
    .most = 1,
    .names = known_word,
    .options = options,
    .run = run,
    .details =
        "tessera help optim explains a section of the run file, tessera help optim.lr one key.\n\n"
        "To have the completion in this shell: source <(tessera help --completion bash)",
};
