/* score.h - the score of a unit: one number per unit of an axis; the largest are kept.
 *
 * A unit's weights are the rows that make it: filter j of the convolution in front of the axis, or
 * row j of the linear layer, as one long vector F_j (several, when several layers write the axis).
 *
 *     l2       ||F_j||_2                     the paper's (LoFT, section 3.1)
 *     l1       ||F_j||_1                     Li et al. 2016
 *     bn       |gamma_j| of the batch norm   Liu et al. 2017, early-bird tickets
 *     fpgm     sum over k of ||F_j - F_k||_2 He et al. 2019: what is near the geometric median of
 *                                            the layer can be replaced by the others
 *     snip     |sum of F_j|                  of a store that holds w g, weight times gradient
 *     grasp    sum of F_j, of any sign       of one that holds w (H g) (ticket/salience.h)
 *     random   by chance: the control
 */
#ifndef TSRI_SCORE_H
#define TSRI_SCORE_H

#include "net/store.h"

typedef enum tsri_criterion {
    TSRI_SCORE_L2,
    TSRI_SCORE_L1,
    TSRI_SCORE_BN,
    TSRI_SCORE_FPGM,
    TSRI_SCORE_SNIP,
    TSRI_SCORE_GRASP,
    TSRI_SCORE_RANDOM
} tsri_criterion;

/* By its name; USAGE with the names there are. */
tsr_status tsri_criterion_find(tsri_criterion *out, const char *name);
const char *tsri_criterion_name(tsri_criterion criterion);

/* Are its scores of gradients, for which data are needed? */
bool tsri_criterion_of_gradients(tsri_criterion criterion);

/* Does the axis have what the criterion needs? */
bool tsri_score_fits(const tsri_net *net, int64_t axis, tsri_criterion criterion);

/* score[units of the axis], all finite and, but for grasp, at least 0. Sums are in double, in the order of the
 * model file, so that they have the same bits whatever layout the backend uses. `seed` is for
 * random. USAGE when the axis has no such weights (no batch norm). Floats only. */
tsr_status tsri_score(double *score, const tsri_store *store, int64_t axis,
                      tsri_criterion criterion, uint64_t seed);

/* Of n units those that stay when the part `ratio` goes: the nearest number, halves up, at least
 * one. */
int64_t tsri_units_kept(int64_t n, double ratio);

#endif
