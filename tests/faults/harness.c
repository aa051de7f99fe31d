/* harness.c - the program that breaks things: harness KIND tries all faults of one kind.
 *
 *     harness calls                a sample, for CI
 *     TESSERA_LONG=1 harness calls all of them
 *     harness calls sweep          only on this scenario
 *     harness memory resume        only this step
 *
 * TESSERA_FAULTS_FROM=9586: of memory, only those from this allocation on, with all later ones.
 * TESSERA_TEST_SEED (1) is the seed of what is drawn. Works in a folder of its own in memory
 * (/dev/shm) or in /tmp. docs/reliability.md says what is promised and how often it was tried.
 */
#include "kinds.h"
#include "world.h"

#include "linalg/openblas.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    void (*run)(void);
    bool parts; /* it can be asked for one scenario or step alone */
} kinds[] = {{"calls", try_calls, true},  {"moments", try_moments, true},
             {"power", try_power, true},  {"spoilt", try_spoilt, false},
             {"reads", try_reads, false}, {"memory", try_memory, true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

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
    int kind = 0;
    must(tsri_openblas_ready(1) == TSR_OK, "OpenBLAS is not here"); /* before heap.c looks round */
    while (argc >= 2 && kind < KINDS && strcmp(argv[1], kinds[kind].name) != 0)
        kind++;
    must(argc >= 2 && kind < KINDS && argc <= 2 + kinds[kind].parts,
         "usage: harness calls|moments|power [SCENARIO], memory [STEP], spoilt or reads");
    only = argc > 2 ? argv[2] : NULL;
    make_folder();
    shim_watch("disk");
    kinds[kind].run();
    if (complaints > 0)
        (void)printf("%d faults found something\n", complaints);
    return complaints > 0;
}
