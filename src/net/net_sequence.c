/* net_sequence.c - layers for sequences. */
#include "net/models.h"
#include "net/net_parts.h"

#include <math.h>

static tsri_param matrix(const tsri_net *net, int rows, int cols, double variance, bool trained)
{
    return (tsri_param){.role = trained ? TSRI_TRAINED : TSRI_FIXED,
                        .dims = 2,
                        .shape = {net->axis[rows].size, net->axis[cols].size},
                        .axis = {rows, cols, -1, -1},
                        .inner = {1, 1, 1, 1},
                        .init = TSRI_INIT_NORMAL,
                        .sigma = sqrt(variance)};
}

tsr_status tsri_net_each(tsri_net *net, int *out, int in, int axis, double variance, bool trained,
                         const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    tsri_value x = net->value[in];
    tsri_param weight = matrix(net, axis, x.axis, variance, trained);
    TSR_TRY(tsri_net_add_layer(net, &layer, TSRI_LINEAR, in, name));
    layer->each = true;
    TSR_TRY(tsri_net_add_param(net, &layer->weight, &weight, name, ""));
    tsri_rename_last(net, name);
    TSR_TRY(
        tsri_net_add_value(net, &layer->out, (tsri_shape){weight.shape[0], x.shape.h, 1}, axis));
    *out = layer->out;
done:
    return st;
}

tsr_status tsri_net_recurrent(tsri_net *net, int *out, int in, double variance, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    tsri_value x = net->value[in];
    tsri_param weight = matrix(net, x.axis, x.axis, variance, true);
    TSR_TRY(tsri_net_add_layer(net, &layer, TSRI_RECURRENT, in, name));
    TSR_TRY(tsri_net_add_param(net, &layer->weight, &weight, name, ""));
    tsri_rename_last(net, name);
    TSR_TRY(tsri_net_add_value(net, &layer->out, x.shape, x.axis));
    *out = layer->out;
done:
    return st;
}

tsr_status tsri_net_last(tsri_net *net, int *out, int in, const char *name)
{
    return tsri_net_add_plain(net, out, in, TSRI_LAST, (tsri_shape){net->value[in].shape.c, 1, 1},
                              name);
}

tsr_status tsri_net_turn(tsri_net *net, int *out, int in, const char *name)
{
    tsri_shape x = net->value[in].shape;
    return tsri_net_add_plain(net, out, in, TSRI_TURN, (tsri_shape){x.c, x.h, 1}, name);
}
