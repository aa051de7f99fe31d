/* when.h - what is due after a round. */
#ifndef TSRI_WHEN_H
#define TSRI_WHEN_H

#include "run/run.h"

/* Is that round the last one, or one that completes another `key` epochs ("eval.every")? */
bool tsri_due(const tsri_settings *s, int64_t round, const char *key);
bool tsri_due_after(const tsri_settings *s, int64_t round, double every); /* that many epochs */

/* How many rounds lie between one time that this is due and the next; 0: only the last round is. */
int64_t tsri_period(const tsri_settings *s, double every);

/* Does anything look at the weights after that round: evaluation, checkpoint, ranking, observers,
 * trace? */
bool tsri_looked_at(const tsri_run *run, int64_t round);
int64_t tsri_looks(const tsri_run *run); /* how many rounds are; an estimate for very long runs */

#endif
