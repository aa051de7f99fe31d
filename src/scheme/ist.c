/* ist.c - Independent Subnet Training (Yuan et al. 2019; masked-neurons, Theorem 4).
 *
 * Each round the units of every hidden axis are dealt out to p workers, each to exactly one: as
 * pieces of a permutation (`chunks`, the default: equal numbers) or by throws (`categorical`). A
 * worker has the weights between its own units, trains them for tau steps and gives them back:
 * copied, since nobody else had them. Weights between units of different workers rest. What is on
 * no hidden axis (the biases of the last layer) is had by all and averaged.
 *
 * Departures: the step count is exact (the public code loses the last local step of a round);
 * remainders are kept (it drops them); running statistics go with their units.
 */
#include "scheme/schemes.h"

#include "scheme/team.h"

#include <string.h>

tsr_status tsri_ist_draw(tsri_draw_kind *kind, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    const char *draw = tsri_config_text(config, "scheme.draw");
    TSR_CHECK(strcmp(draw, "bernoulli") != 0, TSR_USAGE,
              "%s: the shares of ist are disjoint: use draw: chunks or categorical, or scheme "
              "masked for overlapping ones",
              tsri_config_place(config, "scheme.draw"));
    *kind = strcmp(draw, "categorical") == 0 ? TSRI_DRAW_CATEGORICAL : TSRI_DRAW_CHUNKS;
done:
    return st;
}

tsr_status tsri_ist_round(tsri_run *run)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_team_draw(run));  /* deal out the units              */
    TSR_TRY(tsri_team_train(run)); /* tau steps of each worker        */
    TSR_TRY(tsri_team_put(run));   /* copy; mean of what all had      */
done:
    return st;
}
