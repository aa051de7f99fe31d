/* distance.h - how far two rankings of the same units are from each other.
 *
 * The filter distance of LoFT (section 3.1), a footrule that weighs the first places most. List a,
 * the reference, has unit a[i-1] in place i; in list b that unit has place sigma(i):
 *
 *     F = sum over i of (1/i) |ln i - ln sigma(i)|
 *
 * A unit that is missing from b, a pruned list of length l, counts as place l + 1. F is not
 * symmetric: the weights are those of the reference. Places are counted from 1, the largest score
 * first (tsri_order_by_score).
 *
 * The mask distance (You et al. 2019, early-bird tickets) looks only at which units would stay.
 */
#ifndef TSRI_DISTANCE_H
#define TSRI_DISTANCE_H

#include "base/status.h"

/* a: [n] units in the order of the reference; place_b: [all units] place in b, 0 = missing from b;
 * l: units in b. */
double tsri_filter_distance(const int64_t *a, int64_t n, const int64_t *place_b, int64_t l);

/* The distance of a list of n from its reversal: divided by it, distances of lists of different
 * lengths can be compared. 0 for n = 1. */
double tsri_filter_distance_reversed(int64_t n);

/* place[unit] = 1, 2, ... for the units of a list, 0 for the others of `all`. */
void tsri_places_of(int64_t *place, int64_t all, const int64_t *list, int64_t n);

/* The fraction of all units that only one of the two masks keeps: the first keep_a of a, or the
 * first keep_b places of b. */
double tsri_mask_distance(const int64_t *a, int64_t keep_a, const int64_t *place_b, int64_t keep_b,
                          int64_t all);

#endif
