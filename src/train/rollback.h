/* rollback.h - on_divergence: rollback: back to the last checkpoint that was due, at half the rate.
 *
 *     while ((st = rounds(run, &done)) == TSR_DIVERGED && tsri_can_roll_back(settings, position))
 *         TSR_TRY(tsri_rollback(run, done));
 *
 * What holds: the rate of a round is a pure function of the schedule and of run->position.rollback,
 * the list of rounds from which on it is halved. Checkpoints carry the list. A run that is killed
 * after it went back, and before its next checkpoint, is resumed from one without the new entry: it
 * diverges again, to the bit, and goes back again. So nothing has to be written at the moment
 * itself, and a resumed run is the uninterrupted one.
 *
 * It goes back to a checkpoint that was due (checkpoint.every) or to the start, never to one that a
 * Ctrl-C added: an uninterrupted run does not have that.
 */
#ifndef TSRI_ROLLBACK_H
#define TSRI_ROLLBACK_H

#include "run/run.h"

/* Reads on_divergence. USAGE where it cannot work. */
tsr_status tsri_rollback_init(const tsri_settings *s);

/* Is it asked for, and not used up? */
bool tsri_can_roll_back(const tsri_settings *s, const tsri_run_position *p);

/* The last round up to `round` after which a checkpoint was due; 0 = the start. */
int64_t tsri_rollback_target(const tsri_settings *s, int64_t round);

/* Takes the run back, after `done` rounds that were sound. DIVERGED, with what was said before,
 * when there is no checkpoint to go back to. */
tsr_status tsri_rollback(tsri_run *run, int64_t done);

/* Lines of metrics for entries of the list that begin with this round. Before every round. */
tsr_status tsri_rollback_tell(tsri_run *run);

/* The list as JSON, for checkpoints and models, and back; nothing and NULL when it is empty.
 * BAD_FILE, naming `path`, when the text is not such a list. */
tsr_status tsri_rollback_write(tsri_text *out, const tsri_run_position *p);
tsr_status tsri_rollback_read(tsri_run_position *p, const char *text, const char *path);

#endif
