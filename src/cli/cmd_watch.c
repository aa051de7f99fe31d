/* cmd_watch.c - tessera watch: what the runs of a folder are doing, in the terminal or a
 * browser. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/string.h"
#include "cli/terminal.h"
#include "cli/training.h"

#include <stdio.h>
#include <string.h>

/* ---- Once ----------------------------------------------------------------------------------- */

static tsr_status print_once(const tsr_watch *w, bool json)
{
    char *text = NULL;
    tsr_status st = json ? tsr_watch_json(&text, w) : tsr_watch_text(&text, w);
    if (st == TSR_OK)
        (void)printf("%s%s", text, json ? "\n" : "");
    tsr_free(text);
    return st;
}

/* ---- On a terminal -------------------------------------------------------------------------- */

/* Until a key is pressed the run that is going on is shown. */
typedef struct choice {
    int64_t index;
    bool open, made;
} choice;

static tsr_status list_runs(tsr_doc **out, const tsr_watch *w)
{
    tsr_status st = TSR_OK;
    char *json = NULL;
    TSR_TRY(tsr_watch_json(&json, w));
    TSR_TRY(tsr_doc_parse(out, json));
done:
    tsr_free(json);
    return st;
}

static const char *run_at(const tsr_doc *list, int64_t i)
{
    return tsr_doc_text(tsr_doc_at(tsr_doc_get(list, "runs"), i), "run");
}

/* Runs stand in the order of their names: one that begins or goes moves the others, and the one that
 * was chosen is known by its name. */
static void follow(choice *c, const tsr_doc *before, const tsr_doc *now)
{
    const char *name = run_at(before, c->index), *other;
    if (!name)
        return;
    for (int64_t i = 0; (other = run_at(now, i)); i++)
        if (strcmp(other, name) == 0) {
            c->index = i;
            return;
        }
    c->open = false; /* it is gone */
}

static void obey(choice *c, cli_key key, const tsr_watch *w)
{
    int64_t liveliest, runs = tsr_watch_runs(w, &liveliest);
    c->made = c->made || key != CLI_KEY_NONE;
    c->open = key == CLI_KEY_OPEN || (c->open && key != CLI_KEY_BACK);
    c->index += key == CLI_KEY_DOWN;
    c->index -= key == CLI_KEY_UP;
    if (!c->made)
        c->index = liveliest;
    c->index = c->index >= runs ? runs - 1 : c->index;
    c->index = c->index < 0 ? 0 : c->index;
}

static tsr_status show_until_quit(tsr_watch *w, cli_terminal *t, double pause)
{
    tsr_status st = TSR_OK;
    char *text = NULL;
    tsr_doc *before = NULL, *now = NULL;
    choice c = {0};
    for (cli_key key = CLI_KEY_NONE; key != CLI_KEY_QUIT; key = cli_terminal_wait(t, pause)) {
        TSR_TRY(tsr_watch_look(w));
        TSR_TRY(list_runs(&now, w));
        follow(&c, before, now);
        tsr_doc_destroy(before);
        before = now;
        now = NULL;
        obey(&c, key, w);
        tsr_screen screen = tsr_screen_default();
        screen.width = t->width;
        screen.height = t->height;
        screen.colour = t->colour;
        screen.unicode = t->unicode;
        screen.chosen = c.index;
        screen.open = c.open;
        tsr_free(text);
        TSR_TRY(tsr_watch_draw(&text, w, &screen));
        cli_terminal_show(t, text);
    }
done:
    tsr_doc_destroy(before);
    tsr_doc_destroy(now);
    tsr_free(text);
    return st;
}

static tsr_status show(tsr_watch *w, double pause)
{
    tsr_status st = TSR_OK;
    cli_terminal t;
    TSR_CHECK(cli_terminal_begin(&t) == TSR_OK, TSR_FAILURE,
              "this terminal cannot be drawn on; add --once");
    st = show_until_quit(w, &t, pause);
    cli_terminal_end(&t);
done:
    return st;
}

/* ---- In a browser --------------------------------------------------------------------------- */

static void tell_address(void *context, const char *address)
{
    (void)context;
    (void)printf("watch    %s\n", address);
    (void)fflush(stdout);
}

static tsr_status serve(tsr_watch *w, const cli_args *args)
{
    tsr_serve_options o = tsr_serve_options_default();
    o.port = (int)cli_int(args, "port", 0);
    o.token_file = cli_text(args, "token-file");
    o.every = cli_real(args, "every", 1);
    o.ready = tell_address;
    cli_catch_signals();
    return tsr_watch_serve(w, &o);
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_watch *w = NULL;
    TSR_CHECK(cli_has(args, "serve") || (!cli_has(args, "port") && !cli_has(args, "token-file")),
              TSR_USAGE, "--port and --token-file are for --serve");
    TSR_CHECK(!cli_has(args, "serve") || (!cli_has(args, "once") && !args->json), TSR_USAGE,
              "--serve goes on until it is stopped: --once and --json are for the terminal");
    TSR_TRY(tsr_watch_open(&w, args->operand[0]));
    if (cli_has(args, "serve"))
        TSR_TRY(serve(w, args));
    else if (cli_has(args, "once") || args->json || !cli_terminal_there())
        TSR_TRY(print_once(w, args->json));
    else
        TSR_TRY(show(w, cli_real(args, "every", 1)));
done:
    tsr_watch_destroy(w);
    return st;
}

static const cli_option options[] = {
    {"once", 0, NULL, CLI_FLAG, .help = "print the state of all runs as plain text, once"},
    {"every", 'n', "SECONDS", CLI_REAL, .least = 0.1, .most = 3600,
     .help = "time between looks at the files (default: 1)"},
    {"serve", 0, NULL, CLI_FLAG, .help = "show a live page to browsers on this machine instead"},
    {"port", 'p', "N", CLI_INT, .least = 0, .most = 65535,
     .help = "with --serve: the port on 127.0.0.1 (default: any that is free)"},
    {"token-file", 0, "FILE", CLI_FILE,
     .help = "with --serve: a file that keeps the token of the address for the next time"},
    {0},
};

const cli_command cli_watch = {
    .name = "watch",
    .help = "watch runs while they train: curves, workers, traffic, time left",
    .synopsis = "FOLDER",
    .least = 1,
    .most = 1,
    .operand = CLI_FOLDER,
    .options = options,
    .details =
        "FOLDER is that of a run, a sweep or a ticket, or one with runs below it. Only files are "
        "read: the run is not disturbed, and leaving with q or Ctrl-C leaves it running. Up and "
        "down choose a run, enter opens it, escape goes back to the list.\n\n"
        "When the output is no terminal, or with --once, the state of every run is printed once; "
        "--json prints it as a document.\n\n"
        "--serve shows the page of `tessera report`, updating, on 127.0.0.1 alone. The address "
        "holds a token; without it nothing can be seen. /metrics below that address is for "
        "Prometheus (OpenMetrics).",
    .run = run,
};
