/* masked_coming.h - what is kept about the next round: its shares and local steps, with the masks
 * that it will have, and the expectation over certify.continuations draws of masks. */
#ifndef TSRI_MASKED_COMING_H
#define TSRI_MASKED_COMING_H

#include "theory/masked_ground.h"

/* A third of certify.budget is for looks at the whole, a quarter for looks at the next round; the
 * rest goes into the first and the last look and the certificates themselves. */
enum { TSRI_MASKED_WHOLE = 3, TSRI_MASKED_COMING = 4 };

/* Operations of a look, for tsri_look_due. */
double tsri_masked_coming_cost(const tsri_run_view *view);

/* How many draws of masks a look takes: 1 where there is nothing to draw. */
int64_t tsri_masked_draws(const tsri_run_view *view);

/* `whole` has the outputs of the whole now; masked_look.h lists what is kept. */
tsr_status tsri_masked_coming(tsri_masked_ground *g, tsri_past *past, tsri_masked_pass *whole);

#endif
