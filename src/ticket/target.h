/* target.h - tickets of a given size: at most so many parameters, operations, or so much time.
 *
 * A ratio says which part of the filters is removed. What that leaves of the network follows from
 * its shape. A target states what is left, and the ratio is searched for: the smallest one, hence
 * the largest network, that leaves at most how->keep of what the whole has. Ratios are multiples of
 * 1/10,000, so that the one that was found can be given by hand.
 *
 *     filters   how->ratio of the units of each axis are removed; nothing is searched for
 *     params    numbers of the model's file
 *     ops       operations of one sample forward
 *     time      of one batch forward, measured beside the whole on this machine, the least of many
 *
 * Time is the only measure that depends on the machine and the moment. So the ratio that was chosen
 * is recorded in the ticket; a resumed command takes it from there and measures nothing
 * (pipeline.c).
 */
#ifndef TSRI_TARGET_H
#define TSRI_TARGET_H

#include "ticket/prune.h"

/* "filters", "params", "ops", "time", and what they count in words. */
const char *tsri_measure_name(tsri_measure measure);
const char *tsri_measure_words(tsri_measure measure);

/* Finds how->ratio and, for time where no round_to is asked for, how->round_to; how->reached is the
 * part that is left. Nothing changes when `how` is settled already or is about filters. For time,
 * the store has the layout of config's backend. USAGE when no ratio leaves so little. */
tsr_status tsri_target_settle(tsri_prune *how, tsri_store *whole, const tsr_config *config);

/* Only the check: USAGE when the target cannot be reached at all. */
tsr_status tsri_target_check(const tsri_prune *how, tsri_store *whole, const tsr_config *config);

#endif
