/* alive.h - what ranks tell `tessera launch` beside their results: that they hear it; and the first
 * one, that it is alive and how it ended.
 *
 * mpirun passes on what a rank writes to standard error, wherever it runs, and nothing better: it
 * may forget a run's exit code, and it does not say when it no longer reaches a host. So under
 * launch, which gives the ranks a token, lines that begin with it are meant for launch, which keeps
 * them to itself (launch.c):
 *
 *     TOKEN alive        rank 0, every CLI_ALIVE_SECONDS
 *     TOKEN ready        every rank: from now on it hears signals
 *     TOKEN CODE RANK    a rank's last line
 */
#ifndef CLI_ALIVE_H
#define CLI_ALIVE_H

/* The name of the environment's variable that holds the token. */
#define CLI_LAUNCH_TOKEN "TESSERA_LAUNCH"

enum { CLI_ALIVE_SECONDS = 2 };

/* From now on rank 0 says that it lives; everybody else, and a process alone, says nothing. */
void cli_alive_begin(void);

/* This rank saves and stops when it is told to: before, a signal would have ended it, or have been
 * lost on the way to it. */
void cli_alive_ready(void);

/* The exit code, as this rank's last line. */
void cli_alive_end(int code);

#endif
