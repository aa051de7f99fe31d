/* launch.h - mpirun as a child: its options for a run, its signals, the run's exit code. */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include "cli/string.h"

/* The words of a command line; ended by NULL once there is one. */
typedef struct cli_words {
    char **word;
    int64_t count, capacity;
} cli_words;

tsr_status cli_words_add(cli_words *words, const char *fmt, ...) TSR_PRINTF(2, 3);
tsr_status cli_words_line(cli_string *line, const cli_words *words); /* as a shell takes it */
void cli_words_fini(cli_words *words);

/* The whole number at *at, 0 to 65535, behind which *at then points; false when there is none. */
bool cli_number_at(int *out, const char **at);

/* The hosts of --hosts "a,b:4,c": a name and how many workers it takes. */
typedef struct cli_host {
    const char *name; /* length bytes of the option's text */
    int length;
    int workers;
} cli_host;

enum { CLI_HOSTS_MAX = 256 };

/* USAGE when the text is not such a list. */
tsr_status cli_hosts_read(cli_host *host, int *count, const char *text);

/* Copies files and folders (absolute paths) to the same paths of every host but this one, through
 * what mpirun itself reaches them by: ssh, or OMPI_MCA_plm_rsh_agent. `folder` is made there. */
tsr_status cli_ship(const cli_host *host, int hosts, const cli_words *paths, const char *folder);

/* Is that this host? By its name alone. */
bool cli_host_is_here(const cli_host *host);

/* A coordinator on another host, which may become unreachable: how long it may say nothing. */
typedef struct cli_far {
    cli_host host;
    double start;   /* seconds more, until it speaks for the first time */
    double silence; /* seconds; 0 = it is here, and may be as silent as it likes */
} cli_far;

/* Runs mpirun with these words, for that many ranks, to its end and gives the run's own exit code, which mpirun with
 * --enable-recovery forgets: rank 0 says it in a last line that begins with `token` (alive.h).
 * Ctrl-C (or SIGTERM, or a closed terminal) asks the ranks to save and stop; a second one ends
 * them. */
tsr_status cli_launch(int *code, const cli_words *words, const char *token, int ranks,
                      const cli_far *far);

#endif
