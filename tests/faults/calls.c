/* calls.c - death and errors at every system call of a command.
 *
 * The number of the call goes up until no call has it. After each the command is given again and
 * must end well, with the files of the undisturbed one. An error may end the command, with one of
 * our exit codes and a sentence; a short or interrupted call must not even be noticed. */
#include "kinds.h"

#include "world.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct fault {
    const char *name;
    int fault;
    bool persistent;
    bool unnoticed; /* the command itself must end well */
} fault;

static const fault faults[] = {
    {"kill", SHIM_KILL, false, false},        {"EIO", EIO, false, false},
    {"EIO for ever", EIO, true, false},       {"ENOSPC", ENOSPC, false, false},
    {"ENOSPC for ever", ENOSPC, true, false}, {"EINTR", EINTR, false, true},
    {"short", SHIM_SHORT, false, true},       {"all short", SHIM_SHORT, true, true},
    {"EMFILE", EMFILE, false, false},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static void fresh_disk(void)
{
    remove_tree("disk");
    must(mkdir("disk", 0777) == 0, "cannot make disk");
}

static bool has_sentence(const ending *e)
{
    return strstr(e->said, "tessera: ") != NULL;
}

/* What the disturbed command itself may do. */
static void judge_first(const scenario *s, const fault *f, int64_t at, const ending *e)
{
    const char *where = shim_seen->where;
    bool killed = f->fault == SHIM_KILL;
    if (killed ? e->signal != SIGKILL : e->signal != 0)
        complain("%s, %s at call %lld (%s): signal %d: %s", s->name, f->name, (long long)at, where,
                 e->signal, e->said);
    if (!killed && e->code != 0 && (e->code > 4 || !has_sentence(e)))
        complain("%s, %s at call %lld (%s): exit %d: %s", s->name, f->name, (long long)at, where,
                 e->code, e->said);
    /* An interrupted fsync or close may have lost bytes: it counts as failed. */
    bool lossy = f->fault == EINTR && (strncmp(where, "fsync", 5) == 0);
    if (f->unnoticed && !lossy && e->code != 0)
        complain("%s, %s at call %lld (%s): exit %d, but nothing was lost: %s", s->name, f->name,
                 (long long)at, where, e->code, e->said);
}

/* One fault, then the same command undisturbed. False: no call had this number. */
static bool try_one(const scenario *s, const fault *f, int64_t at)
{
    char why[200], where[128];
    fresh_disk();
    ending e = run_command(s, (shim_plan){f->fault, at, f->persistent}, -1);
    if (shim_seen->met == 0) {
        if (e.code != 0)
            complain("%s without a fault: exit %d, signal %d: %s", s->name, e.code, e.signal,
                     e.said);
        return false;
    }
    (void)snprintf(where, sizeof where, "%s", shim_seen->where);
    judge_first(s, f, at, &e);
    if (e.code == 0 && is_reference(s, why, sizeof why))
        return true;
    ending again = run_command(s, (shim_plan){0}, -1);
    if (again.code != 0)
        complain("%s, %s at call %lld (%s): cannot go on: exit %d, signal %d: %s; before: %s",
                 s->name, f->name, (long long)at, where, again.code, again.signal, again.said,
                 e.said);
    else if (!is_reference(s, why, sizeof why))
        complain("%s, %s at call %lld (%s), gone on with: %s; before: %s", s->name, f->name,
                 (long long)at, where, why, e.said);
    return true;
}

/* Every `stride`-th call, from a different one for each fault. */
static int64_t walk(const scenario *s, const fault *f, int64_t stride)
{
    int64_t tried = 0;
    for (int64_t at = (f - faults) % stride; try_one(s, f, at); at += stride)
        tried++;
    return tried;
}

void try_calls(void)
{
    int64_t total = 0;
    const scenario *s;
    for (int i = 0; (s = next_scenario(i)) != NULL; i++) {
        make_reference(s);
        for (int f = 0; f < FAULTS; f++) {
            int64_t tried = walk(s, &faults[f], is_long() ? 1 : 17);
            if (tried == 0)
                complain("%s: %s met no call", s->name, faults[f].name);
            total += tried;
        }
        (void)printf("%s: %lld so far\n", s->name, (long long)total);
        (void)fflush(stdout);
    }
    (void)printf("%lld faults at system calls\n", (long long)total);
}
