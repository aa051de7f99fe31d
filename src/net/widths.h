/* widths.h - the key model.widths: axes of a network that are narrower than its model makes them.
 *
 *     model: {name: preresnet18, width: 16, widths: "layer2.1.inner=9, layer4.1.inner=40"}
 *
 * So a pruned network needs no description of its own kind: its file says the model and these
 * sizes, and every command builds it as it builds any other. All that a model derives from its full
 * size (the scale of a fixed last layer) stays as it is; all that follows from what is there (the
 * deviation of first weights) follows from the smaller size.
 */
#ifndef TSRI_WIDTHS_H
#define TSRI_WIDTHS_H

#include "net/net.h"

/* axis->size becomes what net->widths says of it, if it says anything: at least 1, at most the
 * model's own. USAGE with the place in the run file otherwise. Called for each axis as it is
 * made. */
tsr_status tsri_widths_apply(const tsri_net *net, tsri_axis *axis);

/* After the last axis: every name must have been one of them. */
tsr_status tsri_widths_check(const tsri_net *net);

/* The value of the key for this network; empty when every axis is whole. */
tsr_status tsri_widths_write(tsri_text *out, const tsri_net *net);

#endif
