/* stop.h - was this thread's context asked to stop (tsr_context_stop)?
 *
 * A signal handler or another thread asks; long work looks between its steps. Whoever stops because
 * of it clears the request.
 */
#ifndef TSRI_STOP_H
#define TSRI_STOP_H

#include "base/status.h"

bool tsri_stop_asked(void);

/* INTERRUPTED when it was: for work that is nowhere saved. Whoever knows what the user can do next
 * says so instead. */
tsr_status tsri_stop_heed(void);
void tsri_stop_clear(void);

#endif
