/* silent.h - the loss of a network that always answers 0.
 *
 * It gives the usual size of a loss on this data, and chance cannot make it small: the loss of a
 * first batch may be 1e-10, when the batch is one sample that happens to fit, or when the network was
 * trained before.
 */
#ifndef TSRI_SILENT_H
#define TSRI_SILENT_H

#include "run/run.h"

/* The loss that a step of the run would have with outputs that are all 0: over the first samples of
 * the training set, as one of a batch. */
tsr_status tsri_silent_loss(double *loss, const tsri_run *run);

#endif
