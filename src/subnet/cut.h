/* cut.h - the description of the smaller network that a share is. */
#ifndef TSRI_CUT_H
#define TSRI_CUT_H

#include "subnet/share.h"

/* What becomes of the scale of linear layers (tsri_layer.scale). A layer that reads fewer units
 * gives less: with `rescale` a layer of a share has its share_scale or, where it has none,
 * scale/xi, xi being the chance of a unit of its input's axis (inverted dropout). Then the mean
 * over all draws of what a share computes in a layer is what the whole computes. What makes a state
 * of a recurrent network has scale/sqrt(xi), which keeps its norm. Without, scales stay: a ticket.
 */

/* The same axes, layers and parameters under the same names, each axis as long as the share's pick.
 * No numbers: a store of it is filled by take. The caller destroys *out. */
tsr_status tsri_net_cut(tsri_net **out, const tsri_net *net, const tsri_share *share, bool rescale);

/* Makes `small`, a cut of the same network, one of this share: sizes and places change, scales
 * stay, nothing is allocated. A store made for a larger one serves; see also tsri_store_fit. */
void tsri_net_resize(tsri_net *small, const tsri_share *share);

/* Is `small` what tsri_net_cut would make of the share now? Then it, its store and its plan serve
 * again. */
bool tsri_net_fits(const tsri_net *small, const tsri_share *share);

#endif
