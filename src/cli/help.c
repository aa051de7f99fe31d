/* help.c - the help on the screen, and the commands as JSON. */
#include "cli/help.h"

#include "cli/args.h"
#include "cli/print.h"

#include <string.h>

/* ---- The overview ------------------------------------------------------------------------- */

static tsr_status print_options(FILE *to, const cli_option *a, const cli_option *b);

tsr_status cli_help_overview(FILE *to)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    (void)fputs(
        "Tessera trains one wide network as many small ones and draws the winning ticket.\n\n"
        "Usage: tessera COMMAND [OPTION...] [ARGUMENT...]\n\n"
        "Commands:\n",
        to);
    cli_table_columns(&t, 2, 2);
    for (int i = 0; cli_commands[i]; i++) {
        cli_table_text(&t, cli_commands[i]->name);
        cli_table_text(&t, cli_commands[i]->help);
    }
    TSR_TRY(cli_table_print(&t, to));
    (void)fputs("\nOptions of every command:\n", to);
    TSR_TRY(print_options(to, NULL, cli_common));
    (void)fputs(
        "\n'tessera help COMMAND' explains a command, 'tessera help run-file' the run file.\n", to);
done:
    cli_table_fini(&t);
    return st;
}

/* Half a screen: the whole overview is longer than a terminal is high. */
void cli_help_start(FILE *to)
{
    (void)fputs(
        "Tessera trains one wide network as many small ones and draws the winning ticket.\n\n"
        "To begin, write one line into a file run.yaml\n\n"
        "  data: {name: glyphs}\n\n"
        "and then\n\n"
        "  tessera check run.yaml                what it will do, and the memory it needs\n"
        "  tessera train run.yaml --out runs/a   train; Ctrl-C saves, --resume goes on\n"
        "  tessera ticket run.yaml --out runs/b  pretrain, prune, fine-tune, compare\n\n"
        "  tessera help                          all commands\n"
        "  tessera help run-file                 all that a run file can say\n\n",
        to);
}

/* ---- One command -------------------------------------------------------------------------- */

static void add_options(cli_table *t, const cli_option *o)
{
    for (; o && o->name; o++) {
        char letter[8] = "    ";
        if (o->letter)
            (void)snprintf(letter, sizeof letter, "-%c, ", o->letter);
        cli_table_format(t, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
                         o->argument ? o->argument : "");
        if (o->choices)
            cli_table_format(t, "%s (%s)", o->help, o->choices);
        else
            cli_table_text(t, o->help);
    }
}

/* Two lists in one table, so that they line up. */
static tsr_status print_options(FILE *to, const cli_option *a, const cli_option *b)
{
    cli_table t = {0};
    cli_table_columns(&t, 2, 2);
    add_options(&t, a);
    add_options(&t, b);
    tsr_status st = cli_table_print(&t, to);
    cli_table_fini(&t);
    return st;
}

tsr_status cli_help_command(const cli_command *c)
{
    int width = cli_width(stdout);
    char line[400];
    (void)snprintf(line, sizeof line, "tessera %s [OPTION...]%s%s", c->name,
                   *c->synopsis ? " " : "", c->synopsis);
    (void)printf("Usage: ");
    cli_wrap(stdout, line, 7, width);
    (void)snprintf(line, sizeof line, "tessera %s: %s", c->name, c->help);
    (void)putchar('\n');
    cli_wrap(stdout, line, 0, width);
    if (c->details) {
        (void)putchar('\n');
        cli_wrap(stdout, c->details, 0, width < 100 ? width : 100);
    }
    (void)puts("\nOptions:");
    return print_options(stdout, c->options, cli_common);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_options(tsr_json *w, const cli_option *o)
{
    for (; o && o->name; o++) {
        char letter[2] = {o->letter, '\0'};
        tsr_json_open(w, NULL, '{');
        tsr_json_text(w, "name", o->name);
        if (o->letter)
            tsr_json_text(w, "letter", letter);
        if (o->argument)
            tsr_json_text(w, "argument", o->argument);
        tsr_json_text(w, "help", o->help);
        tsr_json_close(w, '}');
    }
}

static void json_command(tsr_json *w, const cli_command *c)
{
    tsr_json_open(w, NULL, '{');
    tsr_json_text(w, "name", c->name);
    tsr_json_text(w, "help", c->help);
    tsr_json_text(w, "synopsis", c->synopsis);
    tsr_json_open(w, "options", '[');
    json_options(w, c->options);
    json_options(w, cli_common);
    tsr_json_close(w, ']');
    tsr_json_close(w, '}');
}

tsr_status cli_help_json(void)
{
    tsr_json *w = tsr_json_create();
    tsr_json_text(w, "version", tsr_version());
    tsr_json_open(w, "commands", '[');
    for (int i = 0; cli_commands[i]; i++)
        json_command(w, cli_commands[i]);
    tsr_json_close(w, ']');
    return cli_json_print(w);
}
