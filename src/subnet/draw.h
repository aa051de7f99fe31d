/* draw.h - shares by chance, as pure functions of (seed, round, worker).
 *
 * Every worker computes its own share without a message, and the shares of a round fit together:
 * disjoint ones come from one permutation, or one draw per unit, that all workers know.
 *
 *     whole         everything
 *     bernoulli     each unit with chance xi, independently for each worker
 *     categorical   each unit goes to exactly one worker, drawn with the workers' weights
 *     chunks        a permutation of the units cut into pieces: every unit once, sizes by weight;
 *                   equal weights give sizes that differ by at most one (remainders are kept)
 *
 *     tsri_draw draw = {.kind = TSRI_DRAW_CHUNKS, .workers = 4};
 *     TSR_TRY(tsri_draw_check(&draw, net));
 *     tsri_share_draw(&share, &draw, seed, round, worker);
 */
#ifndef TSRI_DRAW_H
#define TSRI_DRAW_H

#include "subnet/share.h"

typedef enum tsri_draw_kind {
    TSRI_DRAW_WHOLE,
    TSRI_DRAW_BERNOULLI,
    TSRI_DRAW_CATEGORICAL,
    TSRI_DRAW_CHUNKS
} tsri_draw_kind;

typedef struct tsri_draw {
    tsri_draw_kind kind;
    int64_t workers;
    double xi;            /* bernoulli: 0 < xi <= 1 */
    const double *weight; /* [workers] of categorical and chunks, each > 0; NULL = equal */
    const bool *cut;      /* [axes] which axes are cut; NULL = every one that can be */
} tsri_draw;

/* Can such shares be drawn from this network? USAGE with the axis when there are more workers than
 * units, when nothing can be cut, or when xi or a weight is out of range. */
tsr_status tsri_draw_check(const tsri_draw *draw, const tsri_net *net);

/* The share of `worker` in `round`. The draw has been checked. */
void tsri_share_draw(tsri_share *share, const tsri_draw *draw, uint64_t seed, int64_t round,
                     int64_t worker);

/* The chance that a unit is in the share of `worker`; with chunks, the average size of that share
 * as a fraction of the axis. */
double tsri_draw_chance(const tsri_draw *draw, int64_t worker);

/* The chance that a unit is in at least one share: 1 - (1 - xi)^workers where workers draw
 * independently, 1 where every unit belongs to one of them. */
double tsri_draw_coverage(const tsri_draw *draw);

#endif
