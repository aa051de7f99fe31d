/* optim.h - what a step does with a gradient: SGD or Adam, as `optim:` says.
 *
 *     tsri_optim rule = tsri_optim_from(config);
 *     tsri_dials dials = tsri_optim_dials(&rule, rate, seen);
 */
#ifndef TSRI_OPTIM_H
#define TSRI_OPTIM_H

#include "backend/backend.h"
#include "io/config.h"

/* What optim.name says. */
typedef struct tsri_optim_row {
    const char *name;
    bool whole_set;   /* a step takes the whole training set, whatever `batch` says */
    bool adam;        /* else SGD */
    bool decoupled;   /* AdamW: the decay is taken from the weights, not added to the gradient */
    const char *keys; /* of `optim:` that it reads */
} tsri_optim_row;

const tsri_optim_row *tsri_optim_of(const tsr_config *config);

typedef struct tsri_optim {
    double momentum, decay; /* momentum: beta1 of Adam */
    bool nesterov;
    bool adam, decoupled; /* decoupled: the decay is AdamW's */
    double beta2, epsilon;
    double clip; /* longest gradient; 0 = any */
} tsri_optim;

tsri_optim tsri_optim_from(const tsr_config *config);

/* Does a step depend on earlier ones? */
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
