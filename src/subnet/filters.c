/* filters.c - which axes LoFT cuts and tickets prune. */
#include "subnet/filters.h"

#include "subnet/share.h"

#include <string.h>

static int last_stage(const tsri_net *net)
{
    int last = 0;
    for (int64_t a = 0; a < net->axes; a++)
        last = net->axis[a].stage > last ? net->axis[a].stage : last;
    return last;
}

static bool chosen(const tsri_filters *filters, int stage)
{
    for (int64_t i = 0; i < filters->stages; i++)
        if (filters->stage[i] == stage)
            return true;
    return filters->stages == 0 && stage > 1;
}

tsr_status tsri_filters_choose(bool *cut, const tsri_net *net, const tsri_filters *filters)
{
    tsr_status st = TSR_OK;
    int64_t count = 0, last = last_stage(net);
    TSR_CHECK(last > 0, TSR_USAGE,
              "the model has no pairs of convolutions, whose filters could be cut: name axes "
              "outright (scheme.axes: all), or take another scheme, such as ist");
    for (int64_t i = 0; i < filters->stages; i++)
        TSR_CHECK(filters->stage[i] >= 1 && filters->stage[i] <= last, TSR_USAGE,
                  "the model has no stage %lld: its stages are 1 to %lld",
                  (long long)filters->stage[i], (long long)last);
    for (int64_t a = 0; a < net->axes; a++) {
        const tsri_axis *axis = &net->axis[a];
        cut[a] =
            axis->inner && chosen(filters, axis->stage) && (filters->strided || !axis->strided);
        count += cut[a];
    }
    TSR_CHECK(count > 0, TSR_USAGE,
              "nothing is left to cut: these stages have no pairs of convolutions%s; axes: inner "
              "takes those of every stage",
              filters->strided ? "" : " without a stride");
done:
    return st;
}

static bool has_pairs(const tsri_net *net)
{
    for (int64_t a = 0; a < net->axes; a++)
        if (net->axis[a].inner)
            return true;
    return false;
}

tsr_status tsri_axes_choose(bool *cut, const tsri_net *net)
{
    tsri_filters filters = {0};
    return has_pairs(net) ? tsri_filters_choose(cut, net, &filters)
                          : tsri_axes_named(cut, net, "all", false);
}
