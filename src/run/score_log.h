/* score_log.h - the scores of filters, noted as a run goes on: how their ranking settles.
 *
 * Every `distance.every` epochs a run notes the score of every unit on the axes that tickets lose
 * units on (scheme/rules.h: tsri_ticket_axes). From these samples follow the distances between any
 * two of them, layer by layer (subnet/distance.h): what Figure 1 and Figure 4 of LoFT show, and a
 * reason to stop pretraining:
 *
 *     stop: {metric: filter_distance, window: 5, below: 0.05}
 *
 * ends the run when the current ranking is nearer than `below` to each of the `window` samples
 * before it. The distance of two samples is the mean over the layers of F / F of the reversal, so 0
 * is the same ranking, 1 its reversal, whatever the widths. Samples are part of the checkpoint.
 *
 *     stop: {metric: mask_distance, window: 5, below: 0.1, ratio: 0.5}
 *
 * is the rule of early-bird tickets (You et al. 2019): the distance is the part of all units that
 * only one of the two masks keeps, by the weights of the norms.
 */
#ifndef TSRI_SCORE_LOG_H
#define TSRI_SCORE_LOG_H

#include "io/json.h"
#include "net/parcel.h"
#include "net/store.h"

typedef struct tsri_score_log {
    const tsri_net *net;
    bool *cut;      /* [axes] which are looked at; NULL = nothing is */
    int64_t units;  /* on all of them */
    int64_t *round; /* [count] of each sample */
    double *score; /* [count][2][units]: l2 norms; weights of the norms (l2 where there are none) */
    int64_t count, room;
    bool masks; /* the change is that of the masks at `ratio`, not that of the ranking */
    double ratio;
} tsri_score_log;

/* For those of the axes with cut [axes] that can be ranked. USAGE when there is none. The network
 * must outlive it. */
tsr_status tsri_score_log_init(tsri_score_log *r, const tsri_net *net, const bool *cut);
void tsri_score_log_fini(tsri_score_log *r);

/* Notes the scores of now. *change = the largest distance to the last `window` samples; NaN = there
 * are too few yet. */
tsr_status tsri_score_log_sample(double *change, tsri_score_log *r, const tsri_store *store,
                                 int64_t round, int64_t window);

/* Into a checkpoint and back ("ranks.round", "ranks.score"). BAD_FILE when they do not fit. */
tsr_status tsri_score_log_save(const tsri_score_log *r, tsri_parcel *parcel);
tsr_status tsri_score_log_load(tsri_score_log *r, const tsri_tensors *file, const char *path);

/* All pairs of samples as FOLDER/distance.csv, with mask distances at the ratios, and as
 * FOLDER/distance.json for the report. Nothing when there is no sample. */
tsr_status tsri_score_log_write(const tsri_score_log *r, double epoch_rounds, const double *ratio,
                                int64_t ratios, const char *folder);

#endif
