/* loft.c - LoFT: finding lottery tickets through filter-wise training (Wang, Dun, Liao, Jermaine,
 * Kyrillidis 2022), Algorithm 1.
 *
 * Each round the filters between the two convolutions of a block (rows of conv1, the norm between,
 * columns of conv2) are permuted and cut into S chunks, one for each worker. A worker has whole
 * inputs and outputs of every block and 1/S of what is between; it trains that for l steps on its
 * own. Then the filters go back to their places, and what was not cut is averaged. The whole
 * network is never trained.
 *
 *     draw     line 4     {h_s(W_s)} = filterPartition(h(W), S)
 *     train    lines 5-8  l iterations of SGD on each h_s(W_s)
 *     put      line 9     h(W) = aggregate({h_s(W_s)})
 *
 *     cut     inner axes of the chosen stages: all but the first, no block with a stride
 *             (scheme.stages, scheme.strided; scheme.axes names axes outright)
 *
 * Departures: chunks keep remainders, so S need not divide the filters; plain networks are cut,
 * too (vgg11: neighbouring convolutions); before the whole network is judged or written, the
 * statistics of its norms are measured anew (recalibrate.c). Those of the shares are not its own:
 * a block of a share adds 1/S of what the same block of the whole adds.
 */
#include "scheme/schemes.h"

#include "scheme/team.h"
#include "subnet/filters.h"

static tsr_status axes(bool *cut, const tsr_config *config, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    tsri_filters f = {.strided = tsri_config_bool(config, "scheme.strided")};
    f.stages = tsri_config_ints(config, "scheme.stages", &f.stage);
    st = tsri_filters_choose(cut, net, &f);
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ",
                         tsri_config_place(config, f.stages > 0 ? "scheme.stages" : "scheme.name"));
    return st;
}

const tsri_scheme tsri_scheme_loft = {
    .name = "loft",
    .help = "blocks cut between their convolutions, local steps (LoFT, Algorithm 1)",
    .keys = "workers local_steps weights axes stages strided scale data wire momentum recalibrate "
            "events",
    .many = true,
    .local = true,
    .draw = TSRI_DRAW_CHUNKS,
    .axes = axes,
    TSRI_TEAM,
};
