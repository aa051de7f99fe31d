/* describe.h - from a checked run file to a run: data, network, first weights. */
#ifndef TSRI_DESCRIBE_H
#define TSRI_DESCRIBE_H

#include "run/run.h"

/* What the runs of one process may share: a sweep loads its data once and gives each of many runs
 * one thread. */
typedef struct tsri_ground {
    tsr_data *data; /* loaded already and not the run's, or NULL: the run loads its own */
    int threads;    /* of the run; the backend is started already */
    bool dry;       /* only to see whether the run is possible: weights stay 0 */
} tsri_ground;

/* Everything from the run file that needs no folder: data, network, initial weights. */
tsr_status tsri_run_init(tsri_run *run, tsr_config *config, const tsr_run_options *options);
void tsri_run_fini(tsri_run *run);

/* The same on given ground. The config must name the ground's data: it is not changed. */
tsr_status tsri_run_init_on(tsri_run *run, tsr_config *config, const tsr_run_options *options,
                            const tsri_ground *ground);

/* All of that which needs no weights: data, network, length. `ground` may be NULL. */
tsr_status tsri_run_describe(tsri_run *run, tsr_config *config, const tsr_run_options *options,
                             const tsri_ground *ground);

/* Numbers of a training run: weights, their average, gradient, the optimiser's state. */
int64_t tsri_run_numbers(const tsri_settings *s, const tsri_net *net);

/* *backend = the one that the config names, its library checked and ready for *threads, as many as
 * the config says. Once per run, or once for all runs on one ground. */
tsr_status tsri_start_backend(const tsri_backend **backend, int *threads, const tsr_config *config);

/* *data = the data that the config names. Where it names none, what was chosen is written into
 * it. */
tsr_status tsri_run_data(tsr_data **data, tsr_config *config);

#endif
