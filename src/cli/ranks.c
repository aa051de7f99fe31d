/* ranks.c - ending all ranks when some would wait for others in vain.
 *
 * mpirun is asked to end them all. Now and then it cannot: when a rank dies while it is joining, the
 * PMIx inside mpirun (4.2) may deadlock, so that mpirun hears no rank and no signal, and passes on
 * nothing that a rank prints. Then mpirun is killed here, as its user would have to do. */
#include "cli/ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Who started this rank ------------------------------------------------------------------ */

/* The parent of a process, and whether the process itself is mpirun or its daemon. */
static bool look_up(pid_t pid, int *parent, bool *starts)
{
    static const char *const known[] = {"mpirun", "mpiexec", "orterun", "orted", "prte"};
    char path[64], line[256] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    const char *read = f ? fgets(line, sizeof line, f) : NULL;
    if (f)
        (void)fclose(f);
    const char *name = strchr(line, '('), *end = strrchr(line, ')'); /* 12 (mpirun) S 11 ... */
    if (!read || !name || !end || strlen(end) < 5)
        return false;
    *parent = (int)strtol(end + 4, NULL, 10);
    *starts = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        *starts = *starts || strncmp(name + 1, known[i], strlen(known[i])) == 0;
    return true;
}

/* Scripts may stand between. 0: nobody of that name. */
static pid_t find_starter(void)
{
    enum { GENERATIONS = 4 };
    pid_t pid = getppid();
    for (int i = 0, parent = 0; i < GENERATIONS && pid > 1; i++, pid = parent) {
        bool starts = false;
        if (!look_up(pid, &parent, &starts))
            return 0;
        if (starts)
            return pid;
    }
    return 0;
}

/* ---- Its end ---------------------------------------------------------------------------------- */

/* Where mpirun itself prints: our own output goes through it and would end with it. */
static void say_there(pid_t starter)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/fd/2", (int)starter);
    int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)dprintf(fd,
                  "tessera: rank %d: mpirun does not answer its ranks, so it was ended: a rank may "
                  "have died as it began; start again\n",
                  tsr_rank(NULL));
    (void)close(fd);
}

static void end_starter(void)
{
    enum { LOOKS = 30, LOOK_MS = 100 };
    pid_t starter = find_starter();
    if (starter == 0 || kill(starter, SIGTERM) != 0)
        return;
    for (int i = 0; i < LOOKS; i++) {
        (void)poll(NULL, 0, LOOK_MS);
        if (find_starter() != starter)
            return;
    }
    say_there(starter);
    (void)kill(starter, SIGKILL);
}

_Noreturn void cli_ranks_end_all(int status)
{
    if (!tsr_ranks_end(status))
        end_starter();
    _exit(status);
}

void cli_ranks_hang(void *nothing, tsr_status status)
{
    (void)nothing;
    cli_ranks_end_all((int)status);
}
