/* take.h - the numbers of a share, copied out of the whole. */
#ifndef TSRI_TAKE_H
#define TSRI_TAKE_H

#include "net/store.h"
#include "subnet/share.h"

/* small->w = the share's part of whole->w: trained and fixed parameters, running statistics and
 * counts; with `momentum` also small->v from whole->v (and s, where both have it). The network of
 * `small` is the share's (cut.h). Floats only. */
tsr_status tsri_take(tsri_store *small, const tsri_store *whole, const tsri_share *share,
                     bool momentum);

/* The same for one parameter: to = the share's part of `from`, both in the order of memory. */
void tsri_take_param(float *to, const float *from, const tsri_net *net, int64_t p,
                     const tsri_share *share);

#endif
