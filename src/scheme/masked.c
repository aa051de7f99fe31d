/* masked.c - Algorithm 1 of the masked-neurons paper (Liao, Kyrillidis), in general.
 *
 * Each round p shares are drawn, by Bernoulli masks (each unit with chance xi, shares overlap) or
 * categorical ones (each unit in exactly one share; `chunks`: the same in equal numbers). Each
 * takes tau local steps; a unit's new weights are the mean over the shares that had it (N_{k,r}),
 * and stay as they are where no share had it.
 *
 *     draw     line 3       M_k ~ D
 *     train    lines 4-10   W_{k,t+1}^l = W_{k,t}^l - eta dL_m(W)/dW,  t < tau
 *     put      lines 11-13  w_r = mean of w_r^l over the shares l that have r
 *
 * Departures: any network and loss, mini-batches, momentum and weight decay are allowed; the paper
 * has full batches of a shallow net. The mean of the values stands for the weight plus the mean of
 * the differences: the same number (subnet/put.h).
 */
#include "scheme/schemes.h"

#include "scheme/team.h"

const tsri_scheme tsri_scheme_masked = {
    .name = "masked",
    .help = "random shares that take local steps (masked neurons, Algorithm 1)",
    .keys = "workers local_steps draw xi weights axes scale data wire momentum recalibrate events",
    .many = true,
    .local = true,
    .draw = TSRI_DRAW_BERNOULLI,
    TSRI_TEAM,
};
