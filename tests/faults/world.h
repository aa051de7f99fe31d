/* world.h - commands of the program, run in a child with a fault, and what they left.
 *
 * A scenario is one command that can be given again and again until it ends well: it begins what is
 * not begun and goes on with what is. Its folder is disk/run. Whatever happens on the way, at the
 * end the files it names are those of the undisturbed command.
 */
#ifndef TSRI_FAULTS_WORLD_H
#define TSRI_FAULTS_WORLD_H

#include "shim.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the harness with a sentence: the test itself is broken. */
#define must(condition, ...) ((condition) ? (void)0 : give_up(__FILE__, __LINE__, __VA_ARGS__))
_Noreturn void give_up(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Files -------------------------------------------------------------------------------- */

void put_file(const char *path, const void *bytes, int64_t n);
/* NULL: it is not there. A NUL stands behind the bytes; the caller frees them. */
char *get_file(const char *path, int64_t *n);
void remove_tree(const char *path);
void copy_tree(const char *to, const char *from);
/* How many names below `path` contain `part`. */
int count_names(const char *path, const char *part);

/* ---- Scenarios ---------------------------------------------------------------------------- */

typedef struct scenario {
    const char *name;
    const char *run;     /* the run file */
    const char *command; /* words between spaces */
    const char *results; /* files of disk/run that count, between spaces */
    bool checkpoints;    /* it says "resumed at round" when it goes on from one */
} scenario;

extern const scenario scenarios[];
extern const int scenario_count;
const scenario *find_scenario(const char *name);

/* The i-th scenario to disturb: of all in the long tier, else of those that stand for the others;
 * with `only` set that one alone. NULL after the last. */
const scenario *next_scenario(int i);
extern const char *only; /* the scenario or step to try; NULL: all */

/* What a child left behind. */
typedef struct ending {
    int code;        /* of its exit, or -1 */
    int signal;      /* that ended it, or 0 */
    char said[6000]; /* on both streams */
} ending;

/* Runs the scenario's command under the plan, logging changes to `log` (-1: nowhere). A child that
 * takes longer than a minute is killed by SIGALRM. */
ending run_command(const scenario *s, shim_plan plan, int log);
/* The same, killed after `seconds`. */
ending run_and_kill(const scenario *s, double seconds);

/* The undisturbed command: what its files are from now on compared with. Leaves it in disk/run. */
void make_reference(const scenario *s);

/* True when the results in disk/run are those of the reference, times aside. Else *why is set. */
bool is_reference(const scenario *s, char *why, size_t n);

/* Ends a child by a signal when memory it took is out of reach (under the address sanitizer, which
 * says whose it is; elsewhere it does nothing). */
void no_leak(void);

/* ---- Counting ----------------------------------------------------------------------------- */

/* Full counts (TESSERA_LONG=1), or a sample that fits into CI. */
bool is_long(void);
/* The seed of all chance: TESSERA_TEST_SEED, or 1. */
uint64_t test_seed(void);

/* A finding: printed; the harness fails at its end. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern int complaints;

#endif
