/* progress.h - how far a long command has come, on stderr.
 *
 *     cli_progress_begin("train", args->quiet);
 *     ... each step:
 *     if (cli_progress_due())
 *         cli_progress_update(fraction, "epoch 3/10", "52300 samples/s", "loss 0.3127");
 *     ...
 *     cli_progress_end();
 *
 * On a terminal: one line, redrawn at most ten times a second and ended by a newline. Elsewhere:
 * one plain line every five seconds and one at the end. --quiet: nothing. A message printed with
 * cli_say() goes above the bar. There is one progress at a time; any thread may call.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "tessera.h"

void cli_progress_begin(const char *what, bool quiet);

/* Would an update be drawn now? Callers ask first and spare themselves the texts. */
bool cli_progress_due(void);

/* fraction: 0 .. 1 of the whole job. Texts may be NULL. Drawn only when due. The time left is
 * judged by what was done since the first update, so a resumed run is judged by its own pace. */
void cli_progress_update(double fraction, const char *position, const char *rate, const char *loss);

/* Draws the last update, whether due or not, and ends the line. Fine when nothing was begun. */
void cli_progress_end(void);

/* A line on stderr, "tessera: <text>", above the bar if there is one. */
void cli_say(const char *fmt, ...) TSR_PRINTF(1, 2);

#endif
