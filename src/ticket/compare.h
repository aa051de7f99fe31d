/* compare.h - two models, or a model and its ticket, filter by filter.
 *
 * Units are counted in the whole network (origin.h), so that a ticket can be compared with the
 * network it came from, or with another ticket of it: a unit that one of them lacks is counted by
 * the rule for pruned lists (subnet/distance.h). The first model is the reference.
 */
#ifndef TSRI_TICKET_COMPARE_H
#define TSRI_TICKET_COMPARE_H

#include "model/model.h"
#include "subnet/score.h"

/* One layer. */
typedef struct tsri_compared {
    const char *axis;
    int64_t units, units_other; /* in the reference and in the other */
    double distance;            /* F */
    double relative; /* F / F of the reversal of the reference's length; 0 for one unit */
    double *mask;    /* [ratios] fraction of the whole's units that only one of the two keeps */
} tsri_compared;

typedef struct tsri_comparison {
    tsri_compared *row;
    int64_t rows, ratios;
    double mean;   /* of `relative` over the rows */
    double *masks; /* memory of all rows */
} tsri_comparison;

/* Distances are of rankings by l2 norm. Masks are what `criterion` would keep of each model at the
 * ratios: bn as in early-bird tickets, or l2 where `criterion` is TSRI_SCORE_BN and a layer has no
 * norm. The axes are those of pruning the reference. USAGE when the models are not of one kind. */
tsr_status tsri_compare(tsri_comparison *out, const tsr_model *reference, const tsr_model *other,
                        const char *axes, tsri_criterion criterion, const double *ratio,
                        int64_t ratios);
void tsri_comparison_fini(tsri_comparison *c);

#endif
