/* main.c - the program: finds the command, runs it, reports its failure once.
 *
 * A failure is one sentence on stderr, "tessera: <sentence>", with --json also one object on
 * stdout, and the exit code is the status.
 */
#include "cli/alive.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/ranks.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMANDS_MAX = 64 };

/* Messages of the library. */
static void show_message(void *context, tsr_log_level level, const char *text)
{
    (void)context;
    cli_say("%s%s", level == TSR_LOG_WARNING ? "warning: " : "", text);
}

static tsr_status refuse_command(const char *word)
{
    const char *names[COMMANDS_MAX];
    int64_t n = 0;
    for (; n < COMMANDS_MAX && cli_commands[n]; n++)
        names[n] = cli_commands[n]->name;
    const char *near = tsr_nearest(word, names, n);
    if (near)
        return tsr_fail(TSR_USAGE, "unknown %s '%s'; did you mean %s?",
                        *word == '-' ? "option" : "command", tsr_quote(word), near);
    return tsr_fail(TSR_USAGE, "unknown %s '%s'; 'tessera help' lists the commands",
                    *word == '-' ? "option" : "command", tsr_quote(word));
}

static const cli_command *running; /* or NULL: it was not found */

static tsr_status run_command(const cli_command *command, int argc, char **argv)
{
    tsr_status st = TSR_OK;
    cli_args args = {0};
    running = command;
    TSR_TRY(cli_args_read(&args, command, argc, argv));
    tsr_set_log(show_message, NULL, args.quiet ? TSR_LOG_WARNING : TSR_LOG_INFO);
    st = args.help ? cli_help_command(command) : command->run(&args);
done:
    cli_progress_end();
    cli_args_fini(&args);
    return st;
}

static tsr_status dispatch(int argc, char **argv)
{
    if (argc < 2) {
        cli_help_start(stderr);
        return tsr_fail(TSR_USAGE, "which command?");
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return run_command(&cli_help, argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return run_command(&cli_version, argc - 1, argv + 1);
    const cli_command *command = cli_find_command(argv[1]);
    return command ? run_command(command, argc - 1, argv + 1) : refuse_command(argv[1]);
}

/* ---- Reports ------------------------------------------------------------------------------ */

static bool json_asked(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

static void report_json(const char *sentence, tsr_status status)
{
    tsr_json *w = tsr_json_create();
    tsr_json_text(w, "error", sentence);
    tsr_json_int(w, "code", status);
    (void)cli_json_print(w); /* without memory the sentence on stderr must do */
}

/* Of many processes, each but the first says in its message which rank it is, and where. */
static void report(tsr_status status, bool json)
{
    const char *sentence = *tsr_last_error() ? tsr_last_error() : tsr_status_text(status);
    char host[65] = "";
    int rank = tsr_rank(NULL);
    if (rank > 0 && gethostname(host, sizeof host - 1) == 0)
        cli_say("rank %d on %s: %s", rank, tsr_quote(host), sentence);
    else
        cli_say("%s", sentence);
    if (json)
        report_json(sentence, status);
}

/* Did the reader of stdout go away (| head)? stdio may have forgotten the errno, the pipe has
 * not. */
static bool reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* Fails when what was printed did not arrive; a reader that went away is no failure. */
static tsr_status close_output(void)
{
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && !reader_left())
        return tsr_fail(TSR_FAILURE, "cannot write to standard output: %s",
                        errno ? strerror(errno) : "it failed earlier");
    return TSR_OK;
}

int main(int argc, char **argv)
{
    (void)setlocale(LC_CTYPE, ""); /* for the bar's characters; numbers stay in the C locale */
    (void)setvbuf(stderr, NULL, _IOLBF, 4096); /* a line, or a bar, in one piece */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* beyond ulimit -f a write fails, with a sentence */
    tsr_set_log(show_message, NULL, TSR_LOG_WARNING);
    tsr_context_on_hang(NULL, cli_ranks_hang, NULL);
    cli_alive_begin();
    /* Of many processes one speaks on standard output. */
    bool json = json_asked(argc, argv) && tsr_rank(NULL) == 0;
    tsr_status st = dispatch(argc, argv);
    if (st != TSR_OK)
        report(st, json);
    tsr_status closed = close_output();
    if (st == TSR_OK && closed != TSR_OK)
        report(closed, false);
    int code = st != TSR_OK ? (int)st : (int)closed;
    bool excused = st != TSR_OK && running && running->ranks;
    if (tsr_rank(NULL) == 0 || (excused && st != TSR_INTERRUPTED))
        cli_alive_end(code);
    if (excused && tsr_ranks_excuse())
        cli_ranks_end_all(code);
    if (st == TSR_RESOURCES)
        _exit((int)st); /* OpenBLAS, out of address space, would wait for its threads forever */
    cli_ranks_end(code);
    return code;
}
