/* ist.c - Independent Subnet Training (Yuan et al. 2019; masked-neurons, Theorem 4).
 *
 * Each round the units of every hidden axis are dealt out to p workers, each to exactly one: as
 * pieces of a permutation (`chunks`, the default: equal numbers) or by chance (`categorical`). A
 * worker has the weights between its own units, trains them for tau steps and gives them back: they
 * are copied, since no other worker had them. Weights between units of different workers stay as they
 * are. Parameters on no hidden axis (the biases of the last layer) are in every share and averaged.
 *
 * Departures: the step count is exact (the public code loses the last local step of a round);
 * remainders are kept (it drops them); running statistics go with their units.
 */
#include "scheme/schemes.h"

#include "scheme/team.h"

const tsri_scheme tsri_scheme_ist = {
    .name = "ist",
    .help = "disjoint shares that take local steps (independent subnet training)",
    .keys = "workers local_steps draw weights axes scale data wire momentum recalibrate events",
    .many = true,
    .local = true,
    .draw = TSRI_DRAW_CHUNKS,
    .disjoint = true,
    TSRI_TEAM,
};
