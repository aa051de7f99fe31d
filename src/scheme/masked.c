/* masked.c - Algorithm 1 of the masked-neurons paper (Liao, Kyrillidis), in general.
 *
 * Each round p shares are drawn, by Bernoulli masks (each unit with chance xi, shares overlap) or
 * categorical ones (each unit in exactly one share; `chunks`: the same in equal numbers). Each
 * takes tau local steps; a unit's new weights are the mean over the shares that had it (N_{k,r}),
 * and stay as they are where nobody had it.
 *
 * Departures: any network and loss, mini-batches, momentum and weight decay are allowed; the paper
 * has full batches of a shallow net. The mean of the values stands for the weight plus the mean of
 * the differences: the same number (subnet/put.h).
 */
#include "scheme/schemes.h"

#include "scheme/team.h"

#include <string.h>

tsr_status tsri_masked_draw(tsri_draw_kind *kind, const tsr_config *config)
{
    const char *draw = tsri_config_text(config, "scheme.draw");
    *kind = strcmp(draw, "categorical") == 0 ? TSRI_DRAW_CATEGORICAL
            : strcmp(draw, "chunks") == 0    ? TSRI_DRAW_CHUNKS
                                             : TSRI_DRAW_BERNOULLI;
    return TSR_OK;
}

tsr_status tsri_masked_round(tsri_run *run)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_team_draw(run));  /*  3      M_k ~ D                                          */
    TSR_TRY(tsri_team_train(run)); /*  4-10   W_{k,t+1}^l = W_{k,t}^l - eta dL_m(W)/dW,  t < tau */
    TSR_TRY(tsri_team_put(run));   /* 11-13   w_r = mean of w_r^l over the shares l that have r   */
done:
    return st;
}
