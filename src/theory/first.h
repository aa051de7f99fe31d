/* first.h - the weights that a run began with; theory measures how far they have moved. */
#ifndef TSRI_FIRST_H
#define TSRI_FIRST_H

#include "theory/run_view.h"

/* W(0) of the run: from its seed, or of the model it began with. The caller calls
 * tsri_store_fini. */
tsr_status tsri_first_weights(tsri_store *first, const tsri_run_view *view);

#endif
