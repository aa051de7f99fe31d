/* silent.h - the loss of a network that answers 0, whatever it is asked.
 *
 * A measure of what a loss of these data is, which no luck makes small: the loss of a first batch
 * may be 1e-10, where the batch is one sample that happens to fit, or where the network was trained
 * before.
 */
#ifndef TSRI_SILENT_H
#define TSRI_SILENT_H

#include "run/run.h"

/* The loss that a step of the run would have with outputs that are all 0: over the first samples of
 * the training set, as one of a batch. */
tsr_status tsri_silent_loss(double *loss, const tsri_run *run);

#endif
