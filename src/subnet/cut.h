/* cut.h - the description of the smaller network that a share is. */
#ifndef TSRI_CUT_H
#define TSRI_CUT_H

#include "subnet/share.h"

/* The same axes, layers and parameters under the same names, each axis as long as the share's pick.
 * No numbers: a store of it is filled by take. The caller destroys *out. */
tsr_status tsri_net_cut(tsri_net **out, const tsri_net *net, const tsri_share *share);

/* Is `small` what tsri_net_cut would make of the share now? Then it, its store and its plan serve
 * again. */
bool tsri_net_fits(const tsri_net *small, const tsri_share *share);

#endif
