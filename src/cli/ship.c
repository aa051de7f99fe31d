/* ship.c - run file and data, copied to the hosts of a run: tar here, ssh, tar there. */
#include "cli/launch.h"

#include "cli/progress.h"
#include "cli/string.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Hosts ---------------------------------------------------------------------------------- */

static const char NAME[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

static tsr_status read_host(cli_host *host, const char *text, int length)
{
    tsr_status st = TSR_OK;
    int name = (int)strspn(text, NAME);
    const char *at = text + name;
    char word[200];
    (void)snprintf(word, sizeof word, "%.*s", length, text);
    bool fine = name > 0 && *text != '-';
    *host = (cli_host){.name = text, .length = name, .workers = 1};
    if (fine && *at == ':') {
        at++;
        fine = cli_number_at(&host->workers, &at) && host->workers >= 1;
    }
    TSR_CHECK(fine && at == text + length && host->workers <= 4096, TSR_USAGE,
              "launch: '%s' is not a host: give names with commas between, a number of workers "
              "behind a colon where one takes more than one: --hosts alpha,beta:4",
              tsr_quote(word));
done:
    return st;
}

tsr_status cli_hosts_read(cli_host *host, int *count, const char *text)
{
    tsr_status st = TSR_OK;
    for (*count = 0;; (*count)++) {
        int length = (int)strcspn(text, ",");
        TSR_CHECK(*count < CLI_HOSTS_MAX, TSR_USAGE, "launch: more than %d hosts", CLI_HOSTS_MAX);
        TSR_TRY(read_host(&host[*count], text, length));
        if (!text[length])
            break;
        text += length + 1;
    }
    (*count)++;
done:
    return st;
}

bool cli_host_is_here(const cli_host *host)
{
    char own[256] = "";
    (void)gethostname(own, sizeof own - 1);
    const char *names[] = {own, "localhost", "127.0.0.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == (size_t)host->length &&
            memcmp(names[i], host->name, (size_t)host->length) == 0)
            return true;
    return false;
}

/* ---- Copying -------------------------------------------------------------------------------- */

static tsr_status start(pid_t *pid, const cli_words *words, int in, int out)
{
    tsr_status st = TSR_OK;
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    if (in >= 0)
        (void)posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    if (out >= 0)
        (void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    int error = posix_spawnp(pid, words->word[0], &actions, NULL, words->word, environ);
    TSR_CHECK(error == 0, TSR_FAILURE, "%s cannot be started: %s", tsr_quote(words->word[0]),
              strerror(error));
done:
    (void)posix_spawn_file_actions_destroy(&actions);
    return st;
}

static bool ended_well(pid_t pid)
{
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Paths are packed without their first '/', and unpacked below it. */
static tsr_status pack_words(cli_words *pack, const cli_words *paths)
{
    tsr_status st = TSR_OK;
    TSR_TRY(cli_words_add(pack, "tar"));
    TSR_TRY(cli_words_add(pack, "-C"));
    TSR_TRY(cli_words_add(pack, "/"));
    TSR_TRY(cli_words_add(pack, "-cf"));
    TSR_TRY(cli_words_add(pack, "-"));
    TSR_TRY(cli_words_add(pack, "--"));
    for (int64_t i = 0; i < paths->count; i++)
        TSR_TRY(cli_words_add(pack, "%s", paths->word[i] + 1));
done:
    return st;
}

/* The agent's words, the host, and what its shell is to do. */
static tsr_status unpack_words(cli_words *unpack, const cli_host *host, const char *folder)
{
    tsr_status st = TSR_OK;
    const char *agent = getenv("OMPI_MCA_plm_rsh_agent");
    cli_words make = {0};
    cli_string line = {0};
    for (agent = agent && *agent ? agent : "ssh"; *agent;) {
        int length = (int)strcspn(agent, " ");
        if (length > 0)
            TSR_TRY(cli_words_add(unpack, "%.*s", length, agent));
        agent += length + (agent[length] == ' ');
    }
    TSR_TRY(cli_words_add(unpack, "%.*s", host->length, host->name));
    TSR_TRY(cli_words_add(&make, "mkdir"));
    TSR_TRY(cli_words_add(&make, "-p"));
    TSR_TRY(cli_words_add(&make, "%s", folder));
    TSR_TRY(cli_words_line(&line, &make));
    TSR_TRY(cli_words_add(unpack, "%s && tar -C / -xf -", line.data));
done:
    cli_string_fini(&line);
    cli_words_fini(&make);
    return st;
}

static tsr_status ship_to(const cli_host *host, const cli_words *paths, const char *folder)
{
    tsr_status st = TSR_OK;
    cli_words pack = {0}, unpack = {0};
    int end[2] = {-1, -1};
    pid_t from = -1, to = -1;
    TSR_TRY(pack_words(&pack, paths));
    TSR_TRY(unpack_words(&unpack, host, folder));
    TSR_CHECK(pipe2(end, O_CLOEXEC) == 0, TSR_RESOURCES, "no pipe: %s", strerror(errno));
    TSR_TRY(start(&from, &pack, -1, end[1]));
    TSR_TRY(start(&to, &unpack, end[0], -1));
done:
    for (int i = 0; i < 2; i++)
        if (end[i] >= 0)
            (void)close(end[i]);
    bool sent = ended_well(from), arrived = ended_well(to);
    if (st == TSR_OK && !(sent && arrived))
        st = tsr_fail(TSR_FAILURE,
                      "%.*s: the files did not arrive: see what was said above; can you log in "
                      "there without a password?",
                      host->length, host->name);
    cli_words_fini(&pack);
    cli_words_fini(&unpack);
    return st;
}

tsr_status cli_ship(const cli_host *host, int hosts, const cli_words *paths, const char *folder)
{
    tsr_status st = TSR_OK;
    for (int i = 0; i < hosts; i++) {
        if (cli_host_is_here(&host[i]))
            continue;
        TSR_TRY(ship_to(&host[i], paths, folder));
        for (int64_t k = 0; k < paths->count; k++)
            cli_say("shipped %s to %.*s", tsr_quote(paths->word[k]), host[i].length, host[i].name);
    }
done:
    return st;
}
