/* settings.h - what the run file and the command line say, resolved: constant once described.
 *
 * Values that can be read as they are stay in `config`; here is what follows from several of them,
 * from the data or from the scheme, and what every round needs.
 */
#ifndef TSRI_SETTINGS_H
#define TSRI_SETTINGS_H

#include "backend/loss.h"
#include "io/config.h"
#include "optim/optim.h"
#include "optim/schedule.h"

typedef struct tsri_settings {
    const tsr_config *config;
    tsr_run_options options; /* of the command line */
    uint64_t seed;
    bool auto_backend; /* the run file left it to the machine (backend/auto.c) */

    const struct tsri_scheme *scheme; /* scheme/scheme.h */
    int64_t workers, local_steps;     /* p, tau */
    bool shard;                       /* each worker has its own part of the data */
    bool on_samples;                  /* asked for by a sweep before setup: scheme/space.h */
    int64_t recalibrate; /* batches, see recalibrate.c; 0 = keep the running statistics */

    int64_t batch;
    bool gd;             /* full batches, in order */
    bool independent;    /* samples of a batch are drawn with replacement, each on its own; false: a
                         permutation of the data in each epoch (or full batches) */
    double epoch_rounds; /* rounds in one pass over the data */
    int64_t rounds;      /* in all */
    double sample_flops; /* of a training step of the whole network, for one sample */

    const tsri_loss_kind *loss;
    double smoothing;     /* of labels in training */
    double *class_weight; /* [classes] in training, or NULL: all the same */
    tsri_schedule schedule;
    tsri_optim optim;
    double ema; /* what the average of the weights keeps of itself; 0 = there is none */

    bool judges_training;  /* keeping and stopping look at the training set: train/iterate.c */
    int64_t patience;      /* evaluations without a better one that end it; 0 = any */
    double scores_every;   /* epochs between samples of the ranking of filters */
    int64_t convert_round; /* the one after which it converts (train/convert_run.h); -1 = never */
} tsri_settings;

#endif
