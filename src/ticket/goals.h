/* goals.h - the tickets that a run file asks for: the lists ticket.ratios, params, ops and time. */
#ifndef TSRI_GOALS_H
#define TSRI_GOALS_H

#include "ticket/prune.h"

/* One ticket: a part of the filters to remove, or a part of something else that stays. */
typedef struct tsri_goal {
    tsri_measure measure;
    double value; /* above 0, below 1; 0 = a whole network */
} tsri_goal;

/* *goals [*n] in the order of the keys; the caller frees it. The default ratios apply when the run
 * file asks for nothing else. USAGE, with the place, for a number that is out of range or given
 * twice, and when nothing is asked for. */
tsr_status tsri_goals_read(tsri_goal **goals, int64_t *n, const tsr_config *config);

/* The key of such goals, "ticket.ops". */
const char *tsri_goal_key(tsri_measure measure);

#endif
