/* local_sgd.c - local SGD (McDonald et al. 2009; Zinkevich et al. 2010; Stich 2019).
 *
 * Every worker has the whole network and its own order of the data (or its own shard), takes
 * tau steps alone; then all networks are averaged.
 */
#include "scheme/schemes.h"

#include "scheme/team.h"

tsr_status tsri_local_sgd_draw(tsri_draw_kind *kind, const tsr_config *config)
{
    *kind = TSRI_DRAW_WHOLE;
    (void)config;
    return TSR_OK;
}

tsr_status tsri_local_sgd_round(tsri_run *run)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_team_draw(run));  /* everything, for everyone */
    TSR_TRY(tsri_team_train(run)); /* tau steps of each worker */
    TSR_TRY(tsri_team_put(run));   /* mean over the workers    */
done:
    return st;
}
