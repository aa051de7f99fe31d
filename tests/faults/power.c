/* power.c - states that a power cut leaves (crash.h): the command is given again and must end well,
 * with the files of the undisturbed one; a checkpoint whose save had returned is not lost, and a
 * command that had ended has its results already. */
#include "kinds.h"

#include "crash.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A log of the undisturbed command. */
static unsigned char *record(const scenario *s, int64_t *n)
{
    struct stat about;
    int log = memfd_create("log", MFD_CLOEXEC);
    remove_tree("disk");
    must(log >= 0 && mkdir("disk", 0777) == 0, "no log");
    ending e = run_command(s, (shim_plan){0}, log);
    must(e.code == 0 && fstat(log, &about) == 0, "%s: exit %d: %s", s->name, e.code, e.said);
    *n = about.st_size;
    unsigned char *bytes = malloc((size_t)*n);
    must(bytes && pread(log, bytes, (size_t)*n, 0) == *n, "cannot read the log");
    (void)close(log);
    return bytes;
}

static int64_t resumed_at(const char *said)
{
    long long round = -1;
    const char *at = strstr(said, "resumed at round ");
    return at && sscanf(at, "resumed at round %lld", &round) == 1 ? round : -1;
}

static void try_state(const scenario *s, const crash_disk *d, int64_t step, int64_t state,
                      tsri_rng *rng)
{
    char why[200];
    crash_leave(d, "disk", rng);
    if (step == crash_steps(d) && !is_reference(s, why, sizeof why) && !strstr(why, "temporary"))
        complain("%s, state %lld: it had ended, and %s", s->name, (long long)state, why);
    copy_tree("state", "disk");
    ending e = run_command(s, (shim_plan){0}, -1);
    int64_t promised = s->checkpoints ? crash_promised(d, "disk/run") : -1;
    if (e.code != 0)
        complain("%s, state %lld (power gone before step %lld): exit %d, signal %d: %s", s->name,
                 (long long)state, (long long)step, e.code, e.signal, e.said);
    else if (!is_reference(s, why, sizeof why))
        complain("%s, state %lld (power gone before step %lld): %s: %s", s->name, (long long)state,
                 (long long)step, why, e.said);
    else if (resumed_at(e.said) < promised)
        complain("%s, state %lld (power gone before step %lld): the checkpoint of round %lld was "
                 "lost: %s",
                 s->name, (long long)state, (long long)step, (long long)promised, e.said);
}

/* `count` states, spread over all moments. */
static void walk(const scenario *s, int64_t count)
{
    int64_t n, start = complaints;
    make_reference(s);
    unsigned char *log = record(s, &n);
    crash_disk *d = crash_create(log, n);
    int64_t steps = crash_steps(d);
    for (int64_t i = 0; i < count; i++) {
        int64_t step = count > 1 ? i * steps / (count - 1) : steps;
        tsri_rng rng = tsri_rng_stream(test_seed(), TSRI_FOR_TEST, 1, i, 0);
        crash_advance(d, step);
        try_state(s, d, step, i, &rng);
    }
    (void)printf("%s: %lld states of %lld moments, %lld bad\n", s->name, (long long)count,
                 (long long)steps, (long long)(complaints - start));
    (void)fflush(stdout);
    crash_destroy(d);
    free(log);
}

void try_power(void)
{
    int64_t total = 0, count = is_long() ? 20000 / scenario_count + 1 : 150;
    const scenario *s;
    for (int i = 0; (s = next_scenario(i)) != NULL; i++, total += count)
        walk(s, count);
    (void)printf("%lld power cuts\n", (long long)total);
}
