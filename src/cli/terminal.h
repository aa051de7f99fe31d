/* terminal.h - a screen that is drawn again and again, and the keys that are pressed meanwhile.
 *
 *     cli_terminal t;
 *     TSR_TRY(cli_terminal_begin(&t));
 *     for (;;) {
 *         cli_terminal_show(&t, text);                      lines, as many as t.height
 *         cli_key key = cli_terminal_wait(&t, 1.0);         or a second passes
 *         if (key == CLI_KEY_QUIT)
 *             break;
 *     }
 *     cli_terminal_end(&t);
 *
 * The other screen of the terminal is used, so that what was there comes back at the end, also
 * after Ctrl-C, a SIGTERM or Ctrl-Z. Only sequences that every terminal since the VT220 knows, and
 * tmux and screen pass on, are sent.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "tessera.h"

#include <signal.h>
#include <termios.h>

typedef enum cli_key {
    CLI_KEY_NONE, /* time has passed, or the size has changed */
    CLI_KEY_QUIT, /* q, Ctrl-C, Ctrl-D, SIGTERM, SIGHUP */
    CLI_KEY_UP,
    CLI_KEY_DOWN,
    CLI_KEY_OPEN, /* enter, right */
    CLI_KEY_BACK  /* escape, left, backspace */
} cli_key;

typedef struct cli_terminal {
    int width, height;
    bool colour, unicode;
    struct termios before;
    sigset_t mask;  /* before */
    int signals;    /* a descriptor that they come through */
    char typed[64]; /* keys that were not asked for yet: whoever holds an arrow down sends many */
    int count;
} cli_terminal;

/* Are both ends a terminal that can be drawn on? */
bool cli_terminal_there(void);

tsr_status cli_terminal_begin(cli_terminal *t);
void cli_terminal_show(cli_terminal *t, const char *lines);
cli_key cli_terminal_wait(cli_terminal *t, double seconds);
void cli_terminal_end(cli_terminal *t);

#endif
