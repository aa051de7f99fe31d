/* schedule.h - the learning rate as a pure function of the place in the run. */
#ifndef TSRI_SCHEDULE_H
#define TSRI_SCHEDULE_H

#include "io/config.h"

typedef enum tsri_schedule_kind {
    TSRI_CONSTANT, /* lr                                                        */
    TSRI_STEP,     /* lr gamma^(milestones passed)                              */
    TSRI_COSINE    /* final + (lr - final) (1 + cos(pi part)) / 2               */
} tsri_schedule_kind;

typedef struct tsri_schedule {
    tsri_schedule_kind kind;
    double lr, final, gamma, warmup;
    const double *milestone; /* parts of the run; belongs to the config */
    int64_t milestones;
} tsri_schedule;

/* From the `optim:` section; `config` must outlive it. */
tsri_schedule tsri_schedule_from(const tsr_config *config);

/* The rate of step `step` of `steps` (0 <= step < steps). In the warm-up, the first part of the
 * run, the rate rises linearly to lr; the schedule proper runs over what is left. */
double tsri_schedule_rate(const tsri_schedule *s, int64_t step, int64_t steps);

#endif
