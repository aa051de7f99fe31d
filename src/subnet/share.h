/* share.h - a choice of indices along the axes of a network: all that a subnetwork is.
 *
 * On every axis a share has either the whole or a list of indices, ascending. The network says what
 * may be cut (tsri_axis_prunable). Indices come from a draw (draw.h), from a list, or from a
 * ranking; take.h and put.h move the numbers.
 *
 *     tsri_share share;
 *     TSR_TRY(tsri_share_init(&share, net));                     the whole
 *     TSR_TRY(tsri_share_give(&share, axis, index, count));      these units of that axis
 *     TSR_TRY(tsri_net_cut(&small, net, &share, false));             the smaller network
 *     tsri_share_fini(&share);
 */
#ifndef TSRI_SHARE_H
#define TSRI_SHARE_H

#include "backend/slices.h"
#include "net/net.h"

typedef struct tsri_share {
    const tsri_net *net;
    tsri_pick *pick; /* [net->axes] */
    bool *cut;       /* [net->axes] not whole */
    int64_t *index;  /* memory of all picks */
    int32_t *place;
    int64_t *order; /* [longest axis] for draws and rankings: a permutation being made */
    uint8_t *mark;  /* [longest axis] 1 = picked: what draws write and settle reads */
} tsri_share;

/* The whole of every axis, with room for any choice: nothing is allocated later. The network must
 * outlive the share. */
tsr_status tsri_share_init(tsri_share *share, const tsri_net *net);
void tsri_share_fini(tsri_share *share);

/* Back to the whole of every axis. */
void tsri_share_whole(tsri_share *share);

/* These units, in any order. USAGE when the axis cannot be cut, when an index is not on it or is
 * given twice. */
tsr_status tsri_share_give(tsri_share *share, int64_t axis, const int64_t *index, int64_t count);

/* The `count` units with the largest scores; of equal ones the first. `score` has one number per
 * unit, none of them NaN. USAGE as above. */
tsr_status tsri_share_best(tsri_share *share, int64_t axis, const double *score, int64_t count);

/* order = 0 .. n-1 by falling score, equal ones in their order: order[0] is the unit of place 1.
 * The one definition of a ranking, for what is kept and for distances between rankings. */
tsr_status tsri_order_by_score(int64_t *order, const double *score, int64_t n);

/* Is some axis without any unit? Then no signal passes, and there is nothing to train. */
bool tsri_share_empty(const tsri_share *share);

/* The axis with that name, or -1. */
int64_t tsri_axis_find(const tsri_net *net, const char *name);

/* cut[a] for every axis: is it one of `names`? These are "hidden.0, hidden.2"; "inner", every axis
 * that shares can cut; or "all", which with `streams` (for tickets) also means the streams between
 * blocks. USAGE, listing the axes, for a name that is not an axis that can be cut. */
tsr_status tsri_axes_named(bool *cut, const tsri_net *net, const char *names, bool streams);

/* ---- For draws ---------------------------------------------------------------------------- */

/* Makes the pick of `axis` from share->mark. */
void tsri_share_settle(tsri_share *share, int64_t axis, double xi);

#endif
