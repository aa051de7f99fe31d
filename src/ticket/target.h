/* target.h - how much of a network shall stay, in parameters, operations or time.
 *
 * A ratio says which part of the filters is removed. What that leaves of the network follows from
 * its shape; a target says that outright, and the ratio is searched for: the smallest one, so the
 * largest network, that leaves at most how->keep of what the whole has. Ratios are whole numbers of
 * ten-thousandths, so that the one that was found can be given by hand.
 *
 *     filters   how->ratio of the units of each axis go; nothing is searched for
 *     params    numbers of the model's file
 *     ops       operations of one sample forward
 *     time      of one batch forward, measured beside the whole on this machine, the least of many
 *
 * Time is the one measure that depends on the machine and the moment. So the ratio that it chose is
 * recorded in the ticket; a resumed command takes it from there and measures nothing (pipeline.c).
 */
#ifndef TSRI_TARGET_H
#define TSRI_TARGET_H

#include "ticket/prune.h"

/* "filters", "params", "ops", "time", and what they count in words. */
const char *tsri_measure_name(tsri_measure measure);
const char *tsri_measure_words(tsri_measure measure);

/* Finds how->ratio and, for time where no round_to is asked for, how->round_to; how->reached is the
 * part that is left. How that is settled already, or of filters, stays as it is. For time the store
 * is as the backend of `config` keeps it. USAGE when no ratio leaves so little. */
tsr_status tsri_target_settle(tsri_prune *how, tsri_store *whole, const tsr_config *config);

/* The last alone: can the target be reached at all? */
tsr_status tsri_target_check(const tsri_prune *how, tsri_store *whole, const tsr_config *config);

#endif
