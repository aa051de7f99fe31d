/* dropout.c - dropout (Srivastava et al. 2014) and multi-sample dropout (Inoue 2019) as the
 * masked-neurons paper has them: Algorithm 1 with Bernoulli masks and one local step.
 *
 *     dropout      p = 1, tau = 1      one share, drawn anew for every step
 *     multisample  p any, tau = 1      a unit's update is the mean over the shares that have it
 *
 * The network that is drawn is really smaller: rows and columns that are left out are not multiplied
 * by zero, they are not there. There is one mask for a round, the same for all samples of the batch.
 */
#include "scheme/schemes.h"

#include "scheme/team.h"

const tsri_scheme tsri_scheme_dropout = {
    .name = "dropout",
    .help = "a new random part of the units in every step",
    .keys = "xi axes scale wire momentum recalibrate events",
    .draw = TSRI_DRAW_BERNOULLI,
    TSRI_TEAM,
};

const tsri_scheme tsri_scheme_multisample = {
    .name = "multisample",
    .help = "several random parts in every step, averaged",
    .keys = "workers xi axes scale data wire momentum recalibrate events",
    .many = true,
    .draw = TSRI_DRAW_BERNOULLI,
    TSRI_TEAM,
};
