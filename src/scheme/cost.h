/* cost.h - what each scheme takes: the entries of the schemes' table for tsr_cost_count. */
#ifndef TSRI_COST_H
#define TSRI_COST_H

#include "scheme/run.h"

/* Each fills in share, step, memory and bytes; the rest is there. The run is described, not filled
 * (run.h): no weights. */
tsr_status tsri_dense_cost(tsr_cost *cost, tsri_run *run);
tsr_status tsri_team_cost(tsr_cost *cost, tsri_run *run);
tsr_status tsri_gpipe_cost(tsr_cost *cost, tsri_run *run);

#endif
