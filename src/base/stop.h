/* stop.h - has somebody asked this thread's context to stop (tsr_context_stop)?
 *
 * A signal handler or another thread sets it; long work looks at it between its steps. The command
 * that obeys clears it when it is done.
 */
#ifndef TSRI_STOP_H
#define TSRI_STOP_H

#include "tessera.h"

bool tsri_stop_asked(void);
void tsri_stop_clear(void);

#endif
