/* prune.h - a ticket: the share of a network that holds its most important units.
 *
 *     tsri_prune how = {.ratio = 0.5, .round_to = 1};
 *     TSR_TRY(tsri_share_init(&share, net));
 *     TSR_TRY(tsri_prune_choose(&share, &store, &how));      then cut and take as for any share
 *     TSR_TRY(tsri_ticket_write(NULL, "t.safetensors", model, &how));
 *
 * The units with the largest scores are kept. By default the axes are ticket.axes of the run, or
 * those that its scheme cuts. Where it cuts none, they are those that LoFT would cut
 * (subnet/filters.h): the first stage and strided blocks stay whole; models without pairs of
 * convolutions are cut on every axis that can be.
 */
#ifndef TSRI_PRUNE_H
#define TSRI_PRUNE_H

#include "io/json.h"
#include "model/model.h"
#include "subnet/score.h"
#include "subnet/share.h"

/* What decides how much is removed (target.h). */
typedef enum tsri_measure {
    TSRI_BY_FILTERS,
    TSRI_BY_PARAMS,
    TSRI_BY_OPS,
    TSRI_BY_TIME
} tsri_measure;

typedef struct tsri_prune {
    double ratio;         /* part of the units that is removed, at least 0, below 1 */
    tsri_measure measure; /* for others than filters the ratio is found: the least that leaves at
                             most `keep` of the whole's parameters, operations or time */
    double keep;          /* above 0, below 1 */
    bool settled;         /* the ratio was found: ratio, round_to and reached are the outcome */
    double reached;       /* the part that is left of what the measure counts */
    tsri_criterion criterion;
    bool global; /* one ranking over all axes; an axis's scores are divided by their mean, except
                    for bn and random */
    int64_t round_to; /* what is kept of an axis is a multiple of this; 0 and 1 = any number */
    const char *axes; /* names between commas, or "all"; NULL = the default */
    const tsr_config *config; /* the run whose default axes are meant; NULL = none.
                                 tsri_ticket_write takes the model's own */
    bool reinit;              /* the shape alone, with fresh weights: a control */
    uint64_t seed;            /* of random, and of fresh weights */
    int64_t recalibrate;      /* batches of the training set on which the ticket's statistics are
                                 measured again (statistics.h); 0 = the whole's */
    const tsr_model *shown;   /* the model whose config names that set; NULL = this one */
    const tsri_store *scored; /* what is ranked in place of the weights: earlier ones, or what
                                 snip and grasp need (salience.h); NULL = the weights */
    tsri_json *scores;        /* (optional) gets the scores of every axis that is pruned:
                                 {"hidden.0":[...],...}; fini is the caller's */
} tsri_prune;

/* The outcome. */
typedef struct tsri_ticket_made {
    int64_t recalibrated;  /* batches its statistics were measured on; 0 = they are the whole's */
    tsri_prune how;        /* settled */
    const char *scores_by; /* of grasp: "exact" or "difference" (salience.h); else NULL */
} tsri_ticket_made;

/* Units kept of an axis of `size` at this ratio: the nearest number, then the nearest multiple of
 * round_to; at least one (multiple), at most all. */
int64_t tsri_prune_count(int64_t size, const tsri_prune *how);

/* The share that is kept. USAGE when the ratio is out of range, or the criterion does not fit. */
tsr_status tsri_prune_choose(tsri_share *share, const tsri_store *store, const tsri_prune *how);

/* Writes the ticket of a model as a model file: smaller, self-describing, with the numbers of the
 * units that stayed. model->config then has the ticket's widths. Statistics are not measured again
 * for a ticket that lost no unit, nor for fresh weights. `made` may be NULL. */
tsr_status tsri_ticket_put(tsri_ticket_made *made, tsri_sink *to, tsr_model *model,
                           const tsri_prune *how);
tsr_status tsri_ticket_write(tsri_ticket_made *made, const char *path, tsr_model *model,
                             const tsri_prune *how);

/* The model that any share of `model` is. The caller destroys *out. */
tsr_status tsri_share_model(tsr_model **out, const tsr_model *model, const tsri_share *share);

#endif
