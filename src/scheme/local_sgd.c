/* local_sgd.c - local SGD (McDonald et al. 2009; Zinkevich et al. 2010; Stich 2019).
 *
 * Every worker has the whole network and its own order of the data (or its own shard), takes
 * tau steps alone; then all networks are averaged.
 */
#include "scheme/schemes.h"

#include "scheme/team.h"

const tsri_scheme tsri_scheme_local_sgd = {
    .name = "local_sgd",
    .help = "every worker has the whole, local steps, then the mean",
    .keys = "workers local_steps data wire momentum recalibrate events",
    .many = true,
    .local = true,
    .draw = TSRI_DRAW_WHOLE,
    TSRI_TEAM,
};
