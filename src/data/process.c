/* process.c - another program, run to its end. */
#include "data/process.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The last line of the log that says something. */
static const char *last_words(char *text)
{
    char *end = text + strlen(text);
    while (end > text && strchr(" \t\r\n", end[-1]))
        *--end = '\0';
    char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

static tsr_status start(pid_t *child, const char *const *argv, const char *folder, const char *log)
{
    posix_spawn_file_actions_t actions;
    union {
        const char *const *from;
        char *const *to;
    } cast = {argv}; /* posix_spawn does not write to them */
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return tsri_fail(TSR_RESOURCES, "cannot start %s: %s", argv[0], strerror(error));
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log,
                                                 O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (error == 0)
        error = posix_spawnp(child, argv[0], &actions, NULL, cast.to, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? TSR_OK
                      : tsri_fail(TSR_FAILURE, "cannot start %s: %s", argv[0], strerror(error));
}

/* *status = how the child ended. */
static tsr_status await(int *status, pid_t child, const char *name, const tsri_watch *watch)
{
    tsr_status st = TSR_OK;
    const struct timespec pause = {0, 200000000};
    for (pid_t ended = 0; ended != child;) {
        ended = waitpid(child, status, watch ? WNOHANG : 0);
        TSR_CHECK(ended >= 0 || errno == EINTR, TSR_FAILURE, "cannot wait for %s: %s", name,
                  strerror(errno));
        if (ended != 0 || !watch)
            continue;
        watch->look(watch->context);
        (void)nanosleep(&pause, NULL);
    }
done:
    return st;
}

tsr_status tsri_process_run(const char *const *argv, const char *folder, const char *log,
                            const char *remedy, const tsri_watch *watch)
{
    tsr_status st = TSR_OK;
    pid_t child = 0;
    int status = 0;
    char *text = NULL;
    int64_t n = 0;
    st = start(&child, argv, folder, log);
    TSR_CHECK(st == TSR_OK, st, "%s is needed and could not be started; %s", argv[0], remedy);
    TSR_TRY(await(&status, child, argv[0], watch));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        goto done;
    if (tsri_file_read(&text, &n, log, 1 << 24) != TSR_OK)
        text = NULL;
    const char *said = text ? last_words(text) : "";
    TSR_CHECK(false, TSR_FAILURE, "'%s %s' failed: %s; %s", argv[0], argv[1],
              *said ? tsri_quote(said) : "it said nothing", remedy);
done:
    tsri_free(text);
    return st;
}

bool tsri_process_found(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    for (const char *at = path; at && *at;) {
        size_t n = strcspn(at, ":");
        int length = snprintf(file, sizeof file, "%.*s/%s", (int)n, at, name);
        if (n > 0 && length < (int)sizeof file && access(file, X_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}
