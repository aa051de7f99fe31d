/* stop.h - was this thread's context asked to stop (tsr_context_stop)?
 *
 * A signal handler or another thread asks; long work looks between its steps. Whoever stops because
 * of it clears the request.
 */
#ifndef TSRI_STOP_H
#define TSRI_STOP_H

#include "tessera.h"

bool tsri_stop_asked(void);
void tsri_stop_clear(void);

#endif
