/* cost.h - what each scheme takes: the entries of the schemes' table for tsr_cost_count. */
#ifndef TSRI_COST_H
#define TSRI_COST_H

#include "run/run.h"
#include "scheme/rules.h"

/* Each fills in share, step, memory and bytes; the caller has filled in the rest. The run is
 * described and has no weights (train/describe.h). */
tsr_status tsri_dense_cost(tsr_cost *cost, tsri_run *run);
tsr_status tsri_team_cost(tsr_cost *cost, tsri_run *run);
/* What worker 0 takes in this process for its share of the first round. */
tsr_status tsri_team_worker_bytes(int64_t *bytes, const tsri_rules *rules, const tsri_run *run);
tsr_status tsri_gpipe_cost(tsr_cost *cost, tsri_run *run);

#endif
