/* rate.h - the rate of a round, and how many steps came before it. */
#ifndef TSRI_RATE_H
#define TSRI_RATE_H

#include "run/position.h"
#include "run/settings.h"

/* Does the run go back when it diverges (train/rollback.h)? */
bool tsri_rolls_back(const tsri_settings *s);

/* The rate of a round: the schedule's, halved as often as the run diverged before it. */
double tsri_run_rate(const tsri_settings *s, const tsri_run_position *p, int64_t round);
int64_t tsri_halvings(const tsri_run_position *p, int64_t round); /* how often that is */

/* Steps that a state which goes on from round to round has seen before this one. */
int64_t tsri_run_steps(const tsri_settings *s, const tsri_run_position *p);

#endif
