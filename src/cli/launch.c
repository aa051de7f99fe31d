/* launch.c - mpirun as a child: its signals, and the run's exit code.
 *
 * mpirun answers Ctrl-C by ending the ranks within a second, saved or not. So it runs in a process
 * group of its own, where the terminal's Ctrl-C does not reach it, and gets SIGUSR1 instead, which
 * it passes on to the ranks; for them it means: save and stop. */
#include "cli/launch.h"
#include "cli/progress.h"
#include "cli/string.h"
#include "cli/training.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds that mpirun has to end after the run has, and after SIGTERM. It takes one or two. */
enum { WAIT = 15, PATIENCE = 3 };

/* ---- Words ---------------------------------------------------------------------------------- */

tsr_status cli_words_add(cli_words *words, const char *fmt, ...)
{
    tsr_status st = TSR_OK;
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    char *word = NULL;
    TSR_TRY(cli_reserve(&words->word, &words->capacity, words->count + 1, sizeof *words->word));
    TSR_TRY(cli_alloc(&word, n + 1, 1));
    (void)vsnprintf(word, (size_t)n + 1, fmt, again);
    words->word[words->count++] = word;
    words->word[words->count] = NULL;
done:
    va_end(args);
    va_end(again);
    return st;
}

void cli_words_fini(cli_words *words)
{
    for (int64_t i = 0; i < words->count; i++)
        free(words->word[i]);
    free(words->word);
    *words = (cli_words){0};
}

bool cli_number_at(int *out, const char **at)
{
    char *end = NULL;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    long number = strtol(*at, &end, 10);
    if (errno != 0 || number > 65535)
        return false;
    *out = (int)number;
    *at = end;
    return true;
}

static tsr_status add_quoted(cli_string *line, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%^";
    tsr_status st = TSR_OK;
    if (*word && strspn(word, plain) == strlen(word))
        return cli_string_add(line, "%s", word);
    TSR_TRY(cli_string_add(line, "'"));
    for (; *word; word++)
        TSR_TRY(*word == '\'' ? cli_string_add(line, "'\\''") : cli_string_add(line, "%c", *word));
    TSR_TRY(cli_string_add(line, "'"));
done:
    return st;
}

tsr_status cli_words_line(cli_string *line, const cli_words *words)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < words->count; i++) {
        if (i > 0)
            TSR_TRY(cli_string_add(line, " "));
        TSR_TRY(add_quoted(line, words->word[i]));
    }
done:
    return st;
}

/* ---- Signals -------------------------------------------------------------------------------- */

static volatile sig_atomic_t child, heard, asked;

/* The first waits until all ranks hear it (rank_is_ready): until then there is nothing to save, and
 * mpirun would pass it on to nobody, or end by it. */
static void pass_on(int number)
{
    int before = errno;
    (void)number;
    if (child > 0 && (heard || asked))
        (void)kill((pid_t)child, asked ? SIGTERM : SIGUSR1);
    asked = 1;
    errno = before;
}

/* ---- What the ranks say --------------------------------------------------------------------- */

/* Passes on what is said on standard error, but for the lines that begin with the token. */
typedef struct sieve {
    const char *token;
    char held[128]; /* the beginning of a line that may be one of them */
    size_t n;
    bool inside;  /* of a line that is not */
    int code;     /* of the first such line that told of a failure, else 0; -1 = none came */
    int ready;    /* ranks that hear signals */
    int ranks;    /* in all */
    bool over;    /* rank 0 has said its last line */
    double until; /* when it is no longer waited for, on cli_clock */
    const cli_far *far;
} sieve;

static void pass(const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t k = write(STDERR_FILENO, bytes, n);
        if (k < 0 && errno != EINTR)
            return;
        bytes += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
}

/* After the last of them what was asked for meanwhile goes out, once. */
static void rank_is_ready(sieve *s)
{
    sigset_t all, before;
    if (++s->ready != s->ranks)
        return;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    heard = 1;
    if (asked && child > 0)
        (void)kill((pid_t)child, SIGUSR1);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

/* A line that begins with the token (alive.h): rank 0 lives, or a rank hears signals, or has ended.
 */
static void end_line(sieve *s)
{
    const char *at = s->held + strlen(s->token);
    int code = 0, rank = -1;
    s->n = 0;
    if (*at++ != ' ')
        return;
    if (strcmp(at, "alive") == 0) {
        if (!s->over && s->far->silence > 0)
            s->until = cli_clock() + s->far->silence;
        return;
    }
    if (strcmp(at, "ready") == 0) {
        rank_is_ready(s);
        return;
    }
    if (!cli_number_at(&code, &at))
        return;
    s->code = s->code > 0 && code == 0 ? s->code : code;
    if (*at++ == ' ' && cli_number_at(&rank, &at) && rank == 0 && !s->over) {
        s->over = true;
        s->until = cli_clock() + WAIT;
    }
}

static void sift(sieve *s, char c)
{
    size_t length = strlen(s->token);
    if (s->inside) {
        pass(&c, 1);
    } else if (s->n >= length && c == '\n') {
        end_line(s);
        return;
    } else if (s->n + 1 < sizeof s->held && (s->n >= length || c == s->token[s->n])) {
        s->held[s->n++] = c;
        s->held[s->n] = '\0';
    } else {
        pass(s->held, s->n);
        pass(&c, 1);
        s->n = 0;
        s->inside = true;
    }
    if (c == '\n' || c == '\r')
        s->inside = false;
}

static void take(sieve *s, const char *bytes, ssize_t n)
{
    ssize_t from = 0;
    for (ssize_t i = 0; i < n; i++) { /* a line that is passed on goes in one piece */
        if (s->inside && bytes[i] != '\n' && bytes[i] != '\r')
            continue;
        if (s->inside)
            pass(bytes + from, (size_t)(i - from));
        sift(s, bytes[i]);
        from = i + 1;
    }
    if (s->inside && n > from)
        pass(bytes + from, (size_t)(n - from));
}

/* Reads until all writers have gone; false when mpirun has not ended WAIT seconds after rank 0, or
 * when there is no more word from a rank 0 on another host. */
static bool listen_to(int fd, sieve *s)
{
    char bytes[4096];
    struct pollfd end = {.fd = fd, .events = POLLIN};
    for (;;) {
        double left = s->until - cli_clock();
        if (left <= 0)
            return false;
        if (poll(&end, 1, (int)(fmin(left, 3600) * 1000) + 1) <= 0)
            continue;
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        take(s, bytes, n);
    }
    pass(s->held, s->n);
    return true;
}

/* ---- The child ------------------------------------------------------------------------------ */

/* `mask`: of the signals that the child blocks. */
static tsr_status start(pid_t *pid, int *from, const cli_words *words, const sigset_t *mask)
{
    tsr_status st = TSR_OK;
    int end[2] = {-1, -1};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t group;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&group);
    TSR_CHECK(pipe2(end, O_CLOEXEC) == 0, TSR_RESOURCES, "no pipe: %s", strerror(errno));
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, end[1], STDERR_FILENO);
    (void)posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawnattr_setsigmask(&group, mask);
    int error = posix_spawnp(pid, words->word[0], &actions, &group, words->word, environ);
    TSR_CHECK(error == 0, TSR_FAILURE, "%s cannot be started: %s; install openmpi-bin",
              words->word[0], strerror(error));
    *from = end[0];
    end[0] = -1;
done:
    if (end[0] >= 0)
        (void)close(end[0]);
    if (end[1] >= 0)
        (void)close(end[1]);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&group);
    return st;
}

static bool ended(pid_t pid, int *status, double seconds)
{
    double until = cli_clock() + seconds;
    pid_t got = 0;
    while ((got = waitpid(pid, status, WNOHANG)) == 0 && cli_clock() < until)
        (void)poll(NULL, 0, 50);
    return got == pid;
}

/* mpirun waits for the daemon of a host that no longer answers, for minutes or without end; we do
 * not. */
static void leave(pid_t pid, int *status, const sieve *s)
{
    const cli_host *host = &s->far->host;
    if (ended(pid, status, 0)) /* and only an ssh of its own is left */
        return;
    if (s->over)
        cli_say("warning: the run is over, but mpirun still waits for a host that does not answer: "
                "ended "
                "without it; look there for processes that are left");
    else
        cli_say("warning: no word from the coordinator on %.*s for %.0f s: launch ends without it; "
                "look "
                "there for the run's results, and add --resume to go on from its last checkpoint",
                host->length, host->name, s->far->silence);
    (void)kill(pid, SIGTERM);
    if (ended(pid, status, PATIENCE))
        return;
    (void)kill(-pid, SIGKILL); /* it leads a group of its own */
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
}

/* Signals wait meanwhile: one that came between mpirun's beginning and the handler's would leave it
 * behind, or find nobody to pass it on to. */
static tsr_status start_and_catch(pid_t *pid, int *from, const cli_words *words)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    tsr_status st = start(pid, from, words, &before);
    if (st == TSR_OK) {
        child = (sig_atomic_t)*pid;
        cli_catch(pass_on, SA_RESTART);
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return st;
}

tsr_status cli_launch(int *code, const cli_words *words, const char *token, int ranks,
                      const cli_far *far)
{
    tsr_status st = TSR_OK;
    sieve s = {.token = token, .code = -1, .ranks = ranks, .until = INFINITY, .far = far};
    pid_t pid = -1;
    int from = -1, status = 0;
    TSR_TRY(start_and_catch(&pid, &from, words));
    if (far->silence > 0)
        s.until = cli_clock() + far->start + far->silence;
    if (!listen_to(from, &s))
        leave(pid, &status, &s);
    else
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    child = 0;
    int own = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (asked) /* and no rank has said how it ended: nothing had begun */
        own = TSR_INTERRUPTED;
    if (!s.over && s.until <= cli_clock()) /* the silence, not our signal, has ended it */
        own = TSR_FAILURE;
    *code = s.code >= 0 ? s.code : own > 0 ? own : TSR_FAILURE; /* the run never came to its end */
done:
    if (from >= 0)
        (void)close(from);
    return st;
}
