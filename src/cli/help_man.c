/* help_man.c - man pages, in man(7) macros, from the same tables as the help: one of the program,
 * and one of each command. */
#include "cli/help.h"
#include "cli/string.h"

#include "cli/args.h"

#include <ctype.h>
#include <string.h>

/* Text that roff must take as it stands: no escapes, no requests, hyphens that can be copied. */
static void roff(const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            (void)fputs("\\&", stdout);
        line_start = *text == '\n';
        if (*text == '\\')
            (void)fputs("\\e", stdout);
        else if (*text == '-')
            (void)fputs("\\-", stdout);
        else if (*text == '\'')
            (void)fputs("\\(aq", stdout);
        else
            (void)putchar(*text);
    }
}

static void paragraphs(const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t n = end ? (size_t)(end - text) : strlen(text);
        (void)fputs(".PP\n", stdout);
        char line[4096];
        (void)snprintf(line, sizeof line, "%.*s", (int)n, text);
        roff(line);
        (void)putchar('\n');
        text += n + (end ? 2 : 0);
    }
}

static void option(const cli_option *o)
{
    (void)fputs(".TP\n", stdout);
    if (o->letter)
        (void)printf("\\fB\\-%c\\fR, ", o->letter);
    (void)fputs("\\fB\\-\\-", stdout);
    roff(o->name);
    (void)fputs("\\fR", stdout);
    if (o->argument) {
        (void)fputs(" \\fI", stdout);
        roff(o->argument);
        (void)fputs("\\fR", stdout);
    }
    (void)putchar('\n');
    roff(o->help);
    if (o->choices) {
        (void)fputs(" (", stdout);
        roff(o->choices);
        (void)putchar(')');
    }
    (void)putchar('\n');
}

static void options(const cli_option *list)
{
    for (; list && list->name; list++)
        option(list);
}

static void command(const cli_command *c)
{
    (void)printf(".SS \"tessera %s ", c->name);
    (void)fputs("[OPTION...] ", stdout);
    roff(c->synopsis);
    (void)fputs("\"\n", stdout);
    roff(c->help);
    (void)fputs(".\n", stdout);
    if (c->details)
        paragraphs(c->details);
    options(c->options);
}

static void exit_codes(void)
{
#define X(name, code, text) (void)printf(".TP\n%d\n%s\n", code, text);
    TSR_STATUS_LIST(X)
#undef X
}

/* TESSERA-TRAIN, as the head of a page has it. */
static void head(const cli_command *c)
{
    (void)fputs(".TH TESSERA", stdout);
    if (c)
        (void)putchar('-');
    for (const char *at = c ? c->name : ""; *at; at++)
        (void)putchar(toupper((unsigned char)*at));
    (void)printf(" 1 \"\" \"tessera %s\" \"User Commands\"\n", tsr_version());
}

void cli_help_man_command(const cli_command *c)
{
    head(c);
    (void)printf(".SH NAME\ntessera-%s \\- ", c->name);
    roff(c->help);
    (void)printf("\n.SH SYNOPSIS\n.B tessera %s\n[\\fIOPTION\\fR...] ", c->name);
    roff(c->synopsis);
    (void)puts("\n.SH DESCRIPTION");
    if (c->details)
        paragraphs(c->details);
    else
        (void)printf("This command is part of \\fBtessera\\fR(1).\n");
    (void)puts(".SH OPTIONS");
    options(c->options);
    options(cli_common);
    (void)puts(".SH EXIT STATUS");
    exit_codes();
    (void)puts(
        ".SH SEE ALSO\n\\fBtessera\\fR(1), which lists all commands and the keys of a run file");
}

static tsr_status key(const tsr_key *row)
{
    tsr_status st = TSR_OK;
    char *expected = NULL;
    TSR_TRY(tsr_key_expected(&expected, row->key));
    (void)fputs(".TP\n\\fB", stdout);
    roff(row->key);
    (void)fputs("\\fR", stdout);
    if (row->preset) {
        char preset[CLI_KEY_DEFAULT];
        (void)fputs(" = ", stdout);
        roff(cli_key_default(preset, row));
    }
    (void)putchar('\n');
    roff(row->help);
    (void)fputs(" (", stdout);
    roff(expected);
    (void)fputs(")\n", stdout);
done:
    tsr_free(expected);
    return st;
}

tsr_status cli_help_man(void)
{
    tsr_status st = TSR_OK;
    head(NULL);
    (void)puts(
        ".SH NAME\n"
        "tessera \\- train one wide network as many small ones\n"
        ".SH SYNOPSIS\n"
        ".B tessera\n"
        ".I COMMAND\n"
        "[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
        ".SH DESCRIPTION\n"
        "Tessera trains one wide network as many small ones, puts them together again, draws\n"
        "the winning ticket from the result, and measures how far the run is from what the\n"
        "theory promises.\n"
        ".SH OPTIONS\n"
        "Every command takes these.");
    options(cli_common);
    (void)puts(".SH COMMANDS");
    for (int i = 0; cli_commands[i]; i++)
        command(cli_commands[i]);
    (void)puts(".SH RUN FILE\n"
               "A run file is YAML or JSON. These are its keys, with their defaults; a key with a\n"
               "point stands in a section, \\fBoptim: {lr: 0.1}\\fR.");
    for (int64_t i = 0; i < tsr_key_count(); i++) {
        tsr_key row = cli_key_at(i);
        TSR_TRY(key(&row));
    }
    (void)puts(".SH EXIT STATUS");
    exit_codes();
    (void)puts(".SH ENVIRONMENT\n"
               ".TP\n"
               "NO_COLOR\n"
               "when set and not empty, the progress bar has no colour");
done:
    return st;
}
