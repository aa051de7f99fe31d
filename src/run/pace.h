/* pace.h - how fast a run trains on a chip of its own, between one evaluation and the next.
 *
 *     tsri_pace_start(run);     training goes on
 *     tsri_pace_stop(run);      it is about to be judged: run->process.pace has its speed
 *
 * Of this machine's processors, which have no name and no memory of their own, nothing is reported. */
#ifndef TSRI_PACE_H
#define TSRI_PACE_H

#include "run/run.h"

void tsri_pace_start(tsri_run *run);
void tsri_pace_stop(tsri_run *run);

/* Which chip trains, in the metrics: whenever a process begins to. */
tsr_status tsri_event_device(tsri_run *run);

#endif
