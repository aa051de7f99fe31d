/* process.h - another program, run to its end in a folder; no shell in between. */
#ifndef TSRI_PROCESS_H
#define TSRI_PROCESS_H

#include "base/status.h"

/* Called now and then while the program runs. */
typedef struct tsri_watch {
    void (*look)(void *context);
    void *context;
} tsri_watch;

/* Runs argv[0] (searched in PATH) in `folder`; what it prints goes to the file `log`. `watch` may
 * be NULL. FAILURE with the last line it printed when it cannot be started or does not end with 0;
 * `remedy` ends the sentence. */
tsr_status tsri_process_run(const char *const *argv, const char *folder, const char *log,
                            const char *remedy, const tsri_watch *watch);

/* Is there a program of this name in PATH? */
bool tsri_process_found(const char *name);

#endif
