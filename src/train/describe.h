/* describe.h - from a checked run file to a run: data, network, first weights. */
#ifndef TSRI_DESCRIBE_H
#define TSRI_DESCRIBE_H

#include "run/run.h"

/* What runs of one process may have in common: a sweep loads its data once and gives each of many
 * runs one thread. */
typedef struct tsri_ground {
    tsr_data *data; /* loaded already and not the run's, or NULL: the run loads its own */
    int threads;    /* of the run; the backend is started already */
    bool dry;       /* only to see whether the run is possible: weights stay zero */
} tsri_ground;

/* Everything from the run file that needs no folder: data, network, initial weights. */
tsr_status tsri_run_init(tsri_run *run, tsr_config *config, const tsr_run_options *options);
void tsri_run_fini(tsri_run *run);

/* The same on given ground. With data of the ground the config must name them: it is not changed.
 */
tsr_status tsri_run_init_on(tsri_run *run, tsr_config *config, const tsr_run_options *options,
                            const tsri_ground *ground);

/* What follows from the run file without weights: data, network, length. `ground` may be NULL. */
tsr_status tsri_run_describe(tsri_run *run, tsr_config *config, const tsr_run_options *options,
                             const tsri_ground *ground);

/* The backend that the config names, its library checked and ready for *threads, the number that
 * the config says. Once per run, or once for all runs on one ground. */
tsr_status tsri_start_backend(const tsri_backend **backend, int *threads, const tsr_config *config);

/* The data the config names; what was chosen where it names none is written into it. */
tsr_status tsri_run_data(tsr_data **data, tsr_config *config);

#endif
