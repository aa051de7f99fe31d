/* ranking.h - the units of a network by score, and which of them stay.
 *
 *     TSR_TRY(tsri_ranking_init(&r, store, how));
 *     TSR_TRY(tsri_ranking_keep(&share, &r, how));        for each ratio to be tried
 *     tsri_ranking_fini(&r);
 *
 * Scores are computed once: a search (target.h) tries many ratios with one ranking. Whatever a
 * smaller ratio removes, a larger one removes, too.
 */
#ifndef TSRI_RANKING_H
#define TSRI_RANKING_H

#include "ticket/prune.h"

/* The scores of all axes that are pruned, one after the other. */
typedef struct tsri_ranking {
    const tsri_net *net;
    bool *cut;      /* [axes] */
    int64_t *first; /* [axes] where its scores begin */
    int64_t *count; /* [axes] kept */
    int64_t *seen;  /* [axes] scratch for counting */
    double *score;  /* [total] */
    int64_t *order; /* [total] all units, the best first; NULL unless one ranking is asked for */
    int64_t total;
} tsri_ranking;

/* Uses how->axes, criterion, seed and global. The store's filters may be in any layout. Call fini
 * even when it failed. USAGE when the criterion does not fit, or there is nothing to cut. */
tsr_status tsri_ranking_init(tsri_ranking *r, const tsri_store *store, const tsri_prune *how);
void tsri_ranking_fini(tsri_ranking *r);

/* The share that is left when how->ratio of the units go, in multiples of how->round_to. */
tsr_status tsri_ranking_keep(tsri_share *share, tsri_ranking *r, const tsri_prune *how);

#endif
