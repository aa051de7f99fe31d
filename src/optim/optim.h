/* optim.h - what a step does with a gradient: SGD or Adam, as `optim:` says. */
#ifndef TSRI_OPTIM_H
#define TSRI_OPTIM_H

#include "backend/backend.h"
#include "io/config.h"

typedef struct tsri_optim {
    double momentum, decay; /* momentum: beta1 of Adam */
    bool nesterov;
    bool adam, decoupled; /* decoupled: the decay is AdamW's */
    double beta2, epsilon;
    double clip; /* longest gradient; 0 = any */
} tsri_optim;

tsri_optim tsri_optim_from(const tsr_config *config);

/* Does a step remember those before it? */
static inline bool tsri_optim_remembers(const tsri_optim *rule)
{
    return rule->momentum > 0 || rule->adam;
}

/* Vectors of trained numbers that a step changes: weights, momentum, variance. */
static inline int64_t tsri_optim_vectors(const tsri_optim *rule)
{
    return rule->adam ? 3 : 2;
}

/* The dials of a step with this rate, when momentum and variance have seen `seen` steps: Adam
 * corrects for their start at zero. In double, once, the same for every backend. */
tsri_dials tsri_optim_dials(const tsri_optim *rule, double rate, int64_t seen);

#endif
