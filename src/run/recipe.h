/* recipe.h - what follows from the settings for a step: optimiser, loss, batches. */
#ifndef TSRI_RECIPE_H
#define TSRI_RECIPE_H

#include "data/loader.h"
#include "optim/step.h"
#include "run/settings.h"

/* Reads optim: what a step is. */
void tsri_choose_optimiser(tsri_settings *s);

/* The loss of training steps. */
tsri_aim tsri_run_aim(const tsri_settings *s);

/* How worker l reads the training set: its order, its part, augmentation. */
tsri_loader_options tsri_run_loader(const tsri_settings *s, int64_t worker);

/* Do samples change from epoch to epoch? */
bool tsri_run_changes_samples(const tsri_settings *s);

/* Does the device make batches of a training set that it holds? Not where images are changed in
 * ways that only the host knows: it then prepares batches ahead and sends them. */
bool tsri_run_draws_there(const tsri_settings *s, const tsri_backend *backend);

#endif
