/* progress.c - how far a long command has come, on stderr.
 *
 * The last update is kept as texts; drawing puts them together to fit the width that the terminal
 * has at that moment: the bar shrinks first, then the line is cut. Nothing is drawn that is not
 * asked for: no thread, no timer, no signal.
 */
#include "cli/progress.h"
#include "cli/string.h"

#include "cli/print.h"

#include <langinfo.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double redraw_seconds = 0.1, line_seconds = 5.0;
enum { PART = 64, LINE = 512, BAR_LEAST = 8, BAR_MOST = 40 };

typedef struct progress {
    bool active, terminal, colour, blocks;
    bool drawn;   /* is a bar on the screen's last line? */
    bool updated; /* has something come since the last drawing? */
    char what[PART], position[PART], rate[PART], loss[PART];
    double begun, last;     /* seconds */
    double fraction;        /* of the last update */
    double first, first_at; /* fraction and moment of the first update; first < 0: none yet */
} progress;

static progress now;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void copy(char to[PART], const char *from)
{
    (void)snprintf(to, PART, "%s", from ? from : "");
}

static bool colour_wanted(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no && *no) && term && strcmp(term, "dumb") != 0;
}

void cli_progress_begin(const char *what, bool quiet)
{
    const char *term = getenv("TERM");
    (void)pthread_mutex_lock(&lock);
    now = (progress){.active = !quiet, .first = -1, .begun = cli_clock()};
    now.terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    now.colour = now.terminal && colour_wanted();
    now.blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    now.last = now.terminal ? 0 : now.begun;
    copy(now.what, what);
    (void)pthread_mutex_unlock(&lock);
}

/* ---- Drawing ------------------------------------------------------------------------------ */

static void format_time(char out[PART], double seconds)
{
    long s = (long)(seconds + 0.5);
    if (s >= 3600)
        (void)snprintf(out, PART, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        (void)snprintf(out, PART, "%ld:%02ld", s / 60, s % 60);
}

/* "0:42 left", or the time it took when all is done; "" while nothing can be said. */
static void format_left(char out[PART])
{
    double done = now.fraction - now.first, at = cli_clock();
    char time[PART];
    out[0] = '\0';
    if (now.fraction >= 1) {
        format_time(time, at - now.begun);
        (void)snprintf(out, PART, "%.40s", time);
    } else if (now.first >= 0 && done > 0 && at - now.first_at >= 0.5) {
        double left = (at - now.first_at) * (1 - now.fraction) / done;
        if (left < 100 * 3600.0) {
            format_time(time, left);
            (void)snprintf(out, PART, "%.40s left", time);
        }
    }
}

/* The text after the bar: " 42 %  epoch 3/10  52300 samples/s  loss 0.3127  0:42 left". */
static void format_parts(char out[LINE])
{
    char left[PART];
    format_left(left);
    const char *part[] = {now.position, now.rate, now.loss, left};
    int n = snprintf(out, LINE, "%3d %%", (int)(100 * now.fraction));
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (*part[i] && n > 0 && n < LINE)
            n += snprintf(out + n, LINE - (size_t)n, "  %s", part[i]);
}

static void draw_bar(int cells)
{
    int full = (int)(now.fraction * cells + 0.5);
    if (now.colour)
        (void)fputs("\x1b[36m", stderr);
    for (int i = 0; i < full; i++)
        (void)fputs(now.blocks ? "\u2588" : "#", stderr);
    if (now.colour)
        (void)fputs("\x1b[2m", stderr);
    for (int i = full; i < cells; i++)
        (void)fputs(now.blocks ? "\u2591" : ".", stderr);
    if (now.colour)
        (void)fputs("\x1b[0m", stderr);
}

/* The bytes of the first `columns` characters. */
static int cut(const char *text, int columns)
{
    int i = 0;
    while (text[i] && (columns > 0 || ((unsigned char)text[i] & 0xc0) == 0x80))
        columns -= ((unsigned char)text[i++] & 0xc0) != 0x80;
    return i;
}

static void draw_on_terminal(void)
{
    char parts[LINE];
    format_parts(parts);
    /* Three columns stay free: the terminal writes ^C behind the bar, and a line that is full would
     * become two. */
    int room = cli_width(stderr) - 3 - cli_columns(now.what) - 1;
    int cells = room - cli_columns(parts) - 1;
    (void)fprintf(stderr, "\r%s ", now.what);
    if (cells >= BAR_LEAST) {
        draw_bar(cells < BAR_MOST ? cells : BAR_MOST);
        (void)fputc(' ', stderr);
        room = cli_columns(parts);
    }
    (void)fprintf(stderr, "%.*s\x1b[K", cut(parts, room), parts);
    now.drawn = true;
}

static void draw(void)
{
    if (now.terminal) {
        draw_on_terminal();
    } else {
        char parts[LINE];
        format_parts(parts);
        (void)fprintf(stderr, "%s %s\n", now.what, parts);
    }
    (void)fflush(stderr);
    now.updated = false;
    now.last = cli_clock();
}

/* ---- Calls -------------------------------------------------------------------------------- */

static bool due(void)
{
    return now.active && cli_clock() - now.last >= (now.terminal ? redraw_seconds : line_seconds);
}

bool cli_progress_due(void)
{
    (void)pthread_mutex_lock(&lock);
    bool is = due() || (now.active && now.first < 0);
    (void)pthread_mutex_unlock(&lock);
    return is;
}

void cli_progress_update(double fraction, const char *position, const char *rate, const char *loss)
{
    (void)pthread_mutex_lock(&lock);
    now.fraction = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
    copy(now.position, position);
    copy(now.rate, rate);
    copy(now.loss, loss);
    now.updated = true;
    if (now.first < 0) {
        now.first = now.fraction;
        now.first_at = cli_clock();
    }
    if (due())
        draw();
    (void)pthread_mutex_unlock(&lock);
}

void cli_progress_end(void)
{
    (void)pthread_mutex_lock(&lock);
    /* Elsewhere a line that says no more than that it began is not worth printing. */
    if (now.active && now.updated && (now.terminal || now.fraction > now.first))
        draw();
    if (now.drawn)
        (void)fputc('\n', stderr);
    now = (progress){0};
    (void)pthread_mutex_unlock(&lock);
}

void cli_say(const char *fmt, ...)
{
    va_list args;
    (void)pthread_mutex_lock(&lock);
    if (now.drawn)
        (void)fputs("\r\x1b[K", stderr);
    (void)fputs("tessera: ", stderr);
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fputc('\n', stderr);
    if (now.drawn)
        draw();
    (void)pthread_mutex_unlock(&lock);
}
