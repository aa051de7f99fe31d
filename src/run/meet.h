/* meet.h - before a run begins its ranks make sure that they would run the same thing. */
#ifndef TSRI_MEET_H
#define TSRI_MEET_H

#include "run/run.h"

/* All ranks of run->process.crew agree on run file, data, version and kernels, or the coordinator
 * refuses (USAGE, naming what differs). The n bytes of `gift` go from the coordinator to everyone.
 * */
tsr_status tsri_run_meet(tsri_run *run, void *gift, int64_t n);

#endif
