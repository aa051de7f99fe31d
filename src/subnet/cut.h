/* cut.h - the description of the smaller network that a share is. */
#ifndef TSRI_CUT_H
#define TSRI_CUT_H

#include "subnet/share.h"

/* The scale of linear layers (tsri_layer.scale). A layer that reads fewer units gives smaller
 * outputs. With `rescale`, a layer of a share gets its share_scale or, where it has none, scale/xi;
 * xi is the chance of a unit on the axis it reads (inverted dropout). Then the mean of a layer's
 * output over all draws is the output of the whole. Layers that make the state of a recurrent
 * network get scale/sqrt(xi), which keeps the state's norm. Without `rescale` scales stay as they
 * are; that is what a ticket wants. */

/* The same axes, layers and parameters under the same names, each axis as long as the share's pick.
 * No numbers: a store of it is filled by take. The caller destroys *out. */
tsr_status tsri_net_cut(tsri_net **out, const tsri_net *net, const tsri_share *share, bool rescale);

/* Turns `small`, a cut of the same network, into the cut of this share: sizes and offsets change,
 * scales stay, nothing is allocated. A store made for a larger cut will do; see tsri_store_fit. */
void tsri_net_resize(tsri_net *small, const tsri_share *share);

/* Is `small` what tsri_net_cut would make of the share now? Then it can be used again, with its
 * store and its plan. */
bool tsri_net_fits(const tsri_net *small, const tsri_share *share);

#endif
