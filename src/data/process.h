/* process.h - another program, run to its end in a folder; no shell in between. */
#ifndef TSRI_PROCESS_H
#define TSRI_PROCESS_H

#include "base/status.h"

/* Runs argv[0] (searched in PATH) in `folder`; what it prints goes to the file `log`. FAILURE with
 * the last line it printed when it cannot be started or does not end with 0; `remedy` ends the
 * sentence. */
tsr_status tsri_process_run(const char *const *argv, const char *folder, const char *log,
                            const char *remedy);

#endif
