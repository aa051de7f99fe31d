/* distance.h - how far two rankings of the same units are from each other.
 *
 * The filter distance of LoFT (section 3.1), a footrule that weighs the first ranks most. List a,
 * the reference, has unit a[i-1] at rank i; in list b that unit has rank sigma(i):
 *
 *     F = sum over i of (1/i) |ln i - ln sigma(i)|
 *
 * A unit that b, a pruned list of length l, has not counts as rank l + 1. F is not symmetric: the
 * weights are those of the reference. Ranks are counted from 1, the largest score first
 * (tsri_rank).
 *
 * The mask distance (You et al. 2019, early-bird tickets) looks only at which units would stay.
 */
#ifndef TSRI_RANK_DISTANCE_H
#define TSRI_RANK_DISTANCE_H

#include "base/status.h"

/* a: [n] units in the order of the reference; rank_b: [all units] rank in b, 0 = b has it not;
 * l: units in b. */
double tsri_filter_distance(const int64_t *a, int64_t n, const int64_t *rank_b, int64_t l);

/* The same of a list of n and its reversal: the unit in which lists of different lengths can be
 * compared. 0 for a single one. */
double tsri_filter_distance_reversed(int64_t n);

/* rank[unit] = 1, 2, ... for the units of a list, 0 for the others of `all`. */
void tsri_ranks_of(int64_t *rank, int64_t all, const int64_t *list, int64_t n);

/* The part of all units that one of the two first-k masks has and the other has not. */
double tsri_mask_distance(const int64_t *a, int64_t keep_a, const int64_t *rank_b, int64_t keep_b,
                          int64_t all);

#endif
