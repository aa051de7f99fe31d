/* cut.c - the description of the smaller network that a share is.
 *
 * A size that depends on an axis is written as axis size x inner in the parameter, and as the
 * channels of a value; all others (kernels, pixels, outputs) stay.
 */
#include "subnet/cut.h"

#include <math.h>

static void cut_param(tsri_param *p, const tsri_net *net)
{
    p->count = 1;
    for (int d = 0; d < p->dims; d++) {
        if (p->axis[d] >= 0)
            p->shape[d] = net->axis[p->axis[d]].size * p->inner[d];
        p->count *= p->shape[d];
    }
}

static void rescale_layer(tsri_layer *l, const tsri_net *net, const tsri_share *share)
{
    double xi = share->pick[net->value[l->in].axis].xi;
    bool hidden = net->axis[net->value[l->out].axis].cuttable;
    if (l->kind == TSRI_RECURRENT || (l->each && hidden))
        l->scale /= sqrt(xi); /* the norm of a state, not its mean: see net/rnn.c */
    else if (l->kind == TSRI_LINEAR)
        l->scale = l->share_scale > 0 ? l->share_scale : l->scale / xi;
}

void tsri_net_resize(tsri_net *small, const tsri_share *share)
{
    for (int64_t a = 0; a < small->axes; a++)
        small->axis[a].size = share->pick[a].count;
    for (int64_t p = 0; p < small->params; p++)
        cut_param(&small->param[p], small);
    for (int64_t v = 0; v < small->values; v++)
        small->value[v].shape.c = small->axis[small->value[v].axis].size;
    tsri_net_finish(small);
}

tsr_status tsri_net_cut(tsri_net **out, const tsri_net *net, const tsri_share *share, bool rescale)
{
    tsr_status st = TSR_OK;
    tsri_net *small = NULL;
    TSR_TRY(tsri_net_copy(out, net));
    small = *out;
    for (int64_t i = 0; rescale && i < net->layers; i++)
        rescale_layer(&small->layer[i], net, share);
    tsri_net_resize(small, share);
done:
    return st;
}

bool tsri_net_fits(const tsri_net *small, const tsri_share *share)
{
    for (int64_t a = 0; a < small->axes; a++)
        if (small->axis[a].size != share->pick[a].count)
            return false;
    return true;
}
