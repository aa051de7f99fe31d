/* when.h - what is due after a round. */
#ifndef TSRI_WHEN_H
#define TSRI_WHEN_H

#include "run/run.h"

/* Is that round the last one, or one that completes another `key` epochs ("eval.every")? */
bool tsri_due(const tsri_settings *s, int64_t round, const char *key);
bool tsri_due_after(const tsri_settings *s, int64_t round, double every); /* that many epochs */

/* The rounds from one time that this is due to the next; 0 = only the last round is. */
int64_t tsri_period(const tsri_settings *s, double every);

/* Does anyone look at the weights after that round: evaluation, checkpoint, ranking, observers,
 * trace? */
bool tsri_looked_at(const tsri_run *run, int64_t round);
int64_t tsri_looks(const tsri_run *run); /* rounds of the run that are; of very many an estimate */

#endif
