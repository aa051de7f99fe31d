/* dropout.c - dropout (Srivastava et al. 2014) and multi-sample dropout (Inoue 2019) as the
 * masked-neurons paper has them: Algorithm 1 with Bernoulli masks and one local step.
 *
 *     dropout      p = 1, tau = 1      one share, thrown anew for every step
 *     multisample  p any, tau = 1      the update of a unit is the mean over the shares that have
 * it
 *
 * The thrown network is really smaller: rows and columns that are out are not multiplied by zero,
 * they are not there. The mask is that of a round, the same for all samples of the batch.
 */
#include "scheme/schemes.h"

#include "scheme/team.h"

tsr_status tsri_dropout_draw(tsri_draw_kind *kind, const tsr_config *config)
{
    *kind = TSRI_DRAW_BERNOULLI;
    (void)config;
    return TSR_OK;
}

tsr_status tsri_dropout_round(tsri_run *run)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_team_draw(run));  /* m ~ Bern(xi), for each share      */
    TSR_TRY(tsri_team_train(run)); /* one step of each share            */
    TSR_TRY(tsri_team_put(run));   /* mean over the owners of each unit */
done:
    return st;
}
