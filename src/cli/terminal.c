/* terminal.c - a screen that is drawn again and again, and the keys that are pressed meanwhile. */
#include "cli/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { LEAST_WIDTH = 20, LEAST_HEIGHT = 4, MOST = 1000 };

/* The other screen, no cursor, no wrapping at the edge; and back. */
static const char enter[] = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
static const char leave[] = "\x1b[?7h\x1b[?25h\x1b[?1049l";

bool cli_terminal_there(void)
{
    const char *term = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
           strcmp(term, "dumb") != 0;
}

static void measure(cli_terminal *t)
{
    struct winsize size = {0};
    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    t->width = size.ws_col > 0 ? size.ws_col : 80;
    t->height = size.ws_row > 0 ? size.ws_row : 24;
    t->width = t->width < LEAST_WIDTH ? LEAST_WIDTH : t->width > MOST ? MOST : t->width;
    t->height = t->height < LEAST_HEIGHT ? LEAST_HEIGHT : t->height > MOST ? MOST : t->height;
}

/* Keys come one by one and unseen; Ctrl-C and Ctrl-Z are still signals. */
static void take_over(const cli_terminal *t)
{
    struct termios raw = t->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    (void)fputs(enter, stdout);
    (void)fflush(stdout);
}

static void give_back(const cli_terminal *t)
{
    (void)fputs(leave, stdout);
    (void)fflush(stdout);
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &t->before);
}

tsr_status cli_terminal_begin(cli_terminal *t)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
    const char *no = getenv("NO_COLOR");
    sigset_t mine;
    *t = (cli_terminal){.colour = !(no && *no),
                        .unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    (void)sigemptyset(&mine);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        (void)sigaddset(&mine, caught[i]);
    (void)sigprocmask(SIG_BLOCK, &mine, &t->mask);
    t->signals = signalfd(-1, &mine, SFD_NONBLOCK | SFD_CLOEXEC);
    if (t->signals < 0 || tcgetattr(STDIN_FILENO, &t->before) != 0) {
        (void)sigprocmask(SIG_SETMASK, &t->mask, NULL);
        return TSR_FAILURE;
    }
    take_over(t);
    measure(t);
    return TSR_OK;
}

void cli_terminal_end(cli_terminal *t)
{
    give_back(t);
    (void)close(t->signals);
    (void)sigprocmask(SIG_SETMASK, &t->mask, NULL);
}

/* A line is emptied before it is written: erasing behind a full one takes its last character. In
 * one write where the terminal takes it, so that nothing half drawn is seen. */
void cli_terminal_show(cli_terminal *t, const char *lines)
{
    (void)t;
    (void)fputs("\x1b[H", stdout);
    for (const char *end;; lines = end + 1) {
        end = lines + strcspn(lines, "\n");
        (void)fputs("\x1b[2K", stdout);
        (void)fwrite(lines, 1, (size_t)(end - lines), stdout);
        if (!*end)
            break;
        (void)fputs("\r\n", stdout);
    }
    (void)fflush(stdout);
}

/* ---- Keys and signals ----------------------------------------------------------------------- */

static void stop_here(cli_terminal *t)
{
    give_back(t);
    (void)raise(SIGSTOP);
    take_over(t);
    measure(t);
}

static cli_key heed_signals(cli_terminal *t)
{
    struct signalfd_siginfo one;
    cli_key key = CLI_KEY_NONE;
    while (read(t->signals, &one, sizeof one) == (ssize_t)sizeof one) {
        if (one.ssi_signo == SIGTSTP)
            stop_here(t);
        else if (one.ssi_signo == SIGWINCH || one.ssi_signo == SIGCONT)
            measure(t);
        else
            key = CLI_KEY_QUIT;
    }
    return key;
}

static cli_key plain_key(char c)
{
    switch (c) {
    case 'q':
    case 'Q':
    case '\x04':
        return CLI_KEY_QUIT;
    case 'k':
        return CLI_KEY_UP;
    case 'j':
        return CLI_KEY_DOWN;
    case '\r':
    case '\n':
    case 'l':
        return CLI_KEY_OPEN;
    case '\x1b':
    case '\x7f':
    case '\b':
    case 'h':
        return CLI_KEY_BACK;
    default:
        return CLI_KEY_NONE;
    }
}

/* Arrows are ESC [ A or ESC O A, with numbers between when a modifier is held; an ESC alone is the
 * key of that name. *bytes = how many of the text it was. */
static cli_key next_key(int *bytes, const char *text, int n)
{
    static const cli_key arrow[] = {CLI_KEY_UP, CLI_KEY_DOWN, CLI_KEY_OPEN, CLI_KEY_BACK};
    *bytes = 1;
    if (n < 3 || text[0] != '\x1b' || (text[1] != '[' && text[1] != 'O'))
        return plain_key(text[0]);
    int at = 2;
    while (at < n - 1 && (unsigned char)text[at] < 0x40)
        at++;
    *bytes = at + 1;
    return text[at] >= 'A' && text[at] <= 'D' ? arrow[text[at] - 'A'] : CLI_KEY_NONE;
}

static cli_key take_key(cli_terminal *t)
{
    int bytes = 0;
    cli_key key = next_key(&bytes, t->typed, t->count);
    t->count -= bytes;
    memmove(t->typed, t->typed + bytes, (size_t)t->count);
    return key;
}

static cli_key read_key(cli_terminal *t)
{
    ssize_t n = read(STDIN_FILENO, t->typed, sizeof t->typed);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        return CLI_KEY_QUIT; /* the terminal is gone */
    t->count = n > 0 ? (int)n : 0;
    return n > 0 ? take_key(t) : CLI_KEY_NONE;
}

cli_key cli_terminal_wait(cli_terminal *t, double seconds)
{
    struct pollfd from[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = t->signals, .events = POLLIN}};
    if (t->count > 0)
        return take_key(t);
    if (poll(from, 2, (int)(1e3 * seconds)) <= 0)
        return CLI_KEY_NONE;
    if (from[1].revents & POLLIN) {
        cli_key key = heed_signals(t);
        if (key != CLI_KEY_NONE)
            return key;
    }
    return from[0].revents ? read_key(t) : CLI_KEY_NONE;
}
