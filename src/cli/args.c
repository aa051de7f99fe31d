/* args.c - a command's options and operands, checked against its row.
 *
 * getopt_long does the cutting up, so that the program feels like every other; its table is made
 * from the command's, and its complaints are replaced by ours, which name the nearest option.
 */
#include "cli/args.h"
#include "cli/string.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_common[] = {
    {"json", 0, NULL, CLI_FLAG, .help = "print JSON instead of text"},
    {"quiet", 'q', NULL, CLI_FLAG, .help = "no progress and no remarks, only results"},
    {"help", 'h', NULL, CLI_FLAG, .help = "show the help of this command"},
    {0},
};

/* ---- The table for getopt_long ------------------------------------------------------------ */

enum { OPTIONS_MAX = 64, FIRST_VALUE = 256 };

typedef struct getopt_table {
    const cli_option *row[OPTIONS_MAX];
    struct option option[OPTIONS_MAX + 1];
    const char *name[OPTIONS_MAX];
    char letters[2 * OPTIONS_MAX + 2];
    int count;
} getopt_table;

static void add_options(getopt_table *t, const cli_option *list)
{
    for (; list && list->name; list++) {
        assert(t->count < OPTIONS_MAX);
        int i = t->count++;
        t->row[i] = list;
        t->name[i] = list->name;
        t->option[i] =
            (struct option){list->name, list->type == CLI_FLAG ? no_argument : required_argument,
                            NULL, FIRST_VALUE + i};
        size_t n = strlen(t->letters);
        if (list->letter)
            (void)snprintf(t->letters + n, sizeof t->letters - n, "%c%s", list->letter,
                           list->type == CLI_FLAG ? "" : ":");
    }
}

static void make_table(getopt_table *t, const cli_command *command)
{
    *t = (getopt_table){.letters = ":"}; /* ':' tells a missing argument from an unknown option */
    add_options(t, command->options);
    add_options(t, cli_common);
}

static const cli_option *row_of(const getopt_table *t, int value)
{
    if (value >= FIRST_VALUE)
        return t->row[value - FIRST_VALUE];
    for (int i = 0; i < t->count; i++)
        if (t->row[i]->letter == value)
            return t->row[i];
    return NULL;
}

/* ---- Refusals ----------------------------------------------------------------------------- */

static tsr_status refuse_option(const getopt_table *t, const char *command, const char *word)
{
    size_t n = strcspn(word, "=");
    char name[200];
    if (strncmp(word, "--", 2) != 0)
        return tsr_fail(TSR_USAGE, "%s: unknown option '-%c'; 'tessera help %s' lists them",
                        command, optopt >= ' ' && optopt < 127 ? optopt : '?', command);
    (void)snprintf(name, sizeof name, "%.*s", (int)n - 2, word + 2);
    const struct option *exact = t->option;
    while (exact->name && strcmp(exact->name, name) != 0)
        exact++;
    if (exact->name)
        return tsr_fail(TSR_USAGE, "%s: --%s takes no value", command, name);
    const char *near = tsr_nearest(name, t->name, t->count);
    if (near)
        return tsr_fail(TSR_USAGE, "%s: unknown option '--%s'; did you mean --%s?", command,
                        tsr_quote(name), near);
    return tsr_fail(TSR_USAGE, "%s: unknown option '--%s'; 'tessera help %s' lists them", command,
                    tsr_quote(name), command);
}

enum { NUMBER = 40 };

static const char *bound(char out[NUMBER], double value)
{
    (void)snprintf(out, NUMBER, "%.16g", value); /* 2^53 has 16 digits */
    return out;
}

static tsr_status refuse_number(const char *command, const cli_option *o, const char *value)
{
    char least[NUMBER], most[NUMBER];
    const char *noun = o->type == CLI_INT ? "a whole number" : "a number";
    if (o->least < o->most)
        return tsr_fail(TSR_USAGE, "%s: --%s must be %s from %s to %s, not '%s'", command, o->name,
                        noun, bound(least, o->least), bound(most, o->most), tsr_quote(value));
    return tsr_fail(TSR_USAGE, "%s: --%s must be %s, not '%s'", command, o->name, noun,
                    tsr_quote(value));
}

/* ---- Checks ------------------------------------------------------------------------------- */

static bool one_of(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *p = choices; p; p = strchr(p, '|')) {
        p += *p == '|';
        if (strcspn(p, "|") == n && strncmp(p, value, n) == 0)
            return true;
    }
    return false;
}

static tsr_status check_value(const char *command, const cli_option *o, const char *value)
{
    int64_t whole = 0;
    double real = 0;
    bool fine = true;
    if (o->type == CLI_CHOICE && !one_of(o->choices, value))
        return tsr_fail(TSR_USAGE, "%s: --%s must be one of %s, not '%s'", command, o->name,
                        o->choices, tsr_quote(value));
    if (o->type == CLI_INT) {
        fine = cli_number_int(&whole, value);
        real = (double)whole;
    } else if (o->type == CLI_REAL) {
        fine = cli_number_real(&real, value);
    }
    if (fine && (o->type == CLI_INT || o->type == CLI_REAL) && o->least < o->most)
        fine = real >= o->least && real <= o->most;
    return fine ? TSR_OK : refuse_number(command, o, value);
}

static tsr_status check_operands(const cli_args *args)
{
    const cli_command *c = args->command;
    if (args->count < c->least)
        return tsr_fail(TSR_USAGE, "%s: %s is missing; usage: tessera %s [OPTION...] %s", c->name,
                        args->count == 0 ? c->synopsis : "an argument", c->name, c->synopsis);
    if (c->most >= 0 && args->count > c->most)
        return tsr_fail(
            TSR_USAGE, "%s: unexpected argument '%s'; usage: tessera %s [OPTION...]%s%s", c->name,
            tsr_quote(args->operand[c->most]), c->name, *c->synopsis ? " " : "", c->synopsis);
    return TSR_OK;
}

/* ---- Reading ------------------------------------------------------------------------------ */

static tsr_status take(cli_args *args, int64_t *capacity, const cli_option *option)
{
    tsr_status st = cli_reserve(&args->given, capacity, args->given_count, sizeof *args->given);
    if (st != TSR_OK)
        return st;
    args->given[args->given_count++] = (cli_given){option, optarg};
    args->json = args->json || option == cli_find_option(cli_common, "json");
    args->quiet = args->quiet || option == cli_find_option(cli_common, "quiet");
    args->help = args->help || option == cli_find_option(cli_common, "help");
    return TSR_OK;
}

tsr_status cli_args_read(cli_args *args, const cli_command *command, int argc, char **argv)
{
    tsr_status st = TSR_OK;
    getopt_table table;
    int value = 0;
    int64_t capacity = 0;
    make_table(&table, command);
    *args = (cli_args){.command = command};
    opterr = 0;
    optind = 0; /* glibc: start again */
    while ((value = getopt_long(argc, argv, table.letters, table.option, NULL)) != -1) {
        const char *word = argv[optind - 1];
        if (value == '?')
            return refuse_option(&table, command->name, word);
        TSR_CHECK(value != ':', TSR_USAGE, "%s: %s needs a value", command->name, tsr_quote(word));
        const cli_option *option = row_of(&table, value);
        if (option->type != CLI_FLAG)
            TSR_TRY(check_value(command->name, option, optarg));
        TSR_TRY(take(args, &capacity, option));
    }
    args->count = argc - optind;
    args->operand = argv + optind;
    if (!args->help)
        TSR_TRY(check_operands(args));
done:
    return st;
}

void cli_args_fini(cli_args *args)
{
    free(args->given);
    *args = (cli_args){0};
}

/* ---- Asking ------------------------------------------------------------------------------- */

const cli_option *cli_find_option(const cli_option *list, const char *name)
{
    for (; list && list->name; list++)
        if (strcmp(list->name, name) == 0)
            return list;
    return NULL;
}

const char *cli_nth(const cli_args *args, const char *name, int64_t i)
{
    assert(cli_find_option(args->command->options, name) && "the option is in the table");
    for (int64_t k = 0; k < args->given_count; k++)
        if (strcmp(args->given[k].option->name, name) == 0 && i-- == 0)
            return args->given[k].value;
    return NULL;
}

bool cli_has(const cli_args *args, const char *name)
{
    for (int64_t k = 0; k < args->given_count; k++)
        if (strcmp(args->given[k].option->name, name) == 0)
            return true;
    return false;
}

const char *cli_text(const cli_args *args, const char *name)
{
    const char *last = NULL, *value = NULL;
    for (int64_t i = 0; (value = cli_nth(args, name, i)); i++)
        last = value;
    return last;
}

int64_t cli_int(const cli_args *args, const char *name, int64_t preset)
{
    int64_t value = preset;
    const char *text = cli_text(args, name);
    if (text)
        (void)cli_number_int(&value, text); /* checked when it was read */
    return value;
}

double cli_real(const cli_args *args, const char *name, double preset)
{
    double value = preset;
    const char *text = cli_text(args, name);
    if (text)
        (void)cli_number_real(&value, text);
    return value;
}
