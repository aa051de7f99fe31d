/* slices.h - the form of a network's parameter when some of its axes are cut (backend/slices.h).
 * The only place that knows it: take, put and the wire all walk it. */
#ifndef TSRI_FORM_H
#define TSRI_FORM_H

#include "subnet/share.h"

/* The form of parameter p when the axes with cut[axis] are cut. */
tsri_slices tsri_slices_of(const tsri_param *p, const tsri_net *net, const bool *cut);

#endif
