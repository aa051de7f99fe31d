/* harness.c - the program that breaks things: harness KIND tries all faults of one kind.
 *
 *     harness calls                a sample, for CI
 *     TESSERA_LONG=1 harness calls all of them
 *     harness calls sweep          only on this scenario
 *
 * TESSERA_TEST_SEED (1) is the seed of what is drawn. Works in a folder of its own in memory
 * (/dev/shm) or in /tmp. docs/reliability.md says what is promised and how often it was tried.
 */
#include "kinds.h"
#include "world.h"

#include "linalg/openblas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {{"calls", try_calls},   {"moments", try_moments}, {"power", try_power},
             {"spoilt", try_spoilt}, {"reads", try_reads},     {"memory", try_memory}};

static char folder[64];
static pid_t harness;

/* Also when the test itself gives up; not when a child does. */
static void remove_folder(void)
{
    if (getpid() == harness && chdir("/") == 0)
        remove_tree(folder);
}

static void make_folder(void)
{
    const char *in = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(folder, sizeof folder, "%s/tessera-faults-XXXXXX", in);
    must(mkdtemp(folder) && chdir(folder) == 0 && mkdir("disk", 0777) == 0, "no folder to work in");
    harness = getpid();
    (void)atexit(remove_folder);
}

int main(int argc, char **argv)
{
    void (*run)(void) = NULL;
    must(tsri_openblas_ready(1) == TSR_OK, "OpenBLAS is not here"); /* before heap.c looks round */
    for (size_t i = 0; argc >= 2 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            run = kinds[i].run;
    must(run != NULL, "usage: harness calls|moments|power|spoilt|reads|memory [SCENARIO]");
    only_scenario = argc > 2 ? find_scenario(argv[2])->name : NULL;
    make_folder();
    shim_watch("disk");
    run();
    if (complaints > 0)
        (void)printf("%d faults found something\n", complaints);
    return complaints > 0;
}
