/* flops.c - the operations of a pass through a net, counted from its layers.
 *
 * A step goes forward through every layer, and backward through those that have something trained
 * in or before them: a layer with weights multiplies once more for each gradient that is wanted,
 * its weights' and its input's. A first layer has no gradient of its input; what is fixed has none
 * of its weights; what only makes gates has neither, and where the gates are known beforehand
 * (gate_table.h) it does not go forward.
 */
#include "net/net.h"

#include "base/alloc.h"

double tsri_net_flops(const tsri_net *net)
{
    double flops = 0;
    for (int64_t i = 0; i < net->layers; i++) {
        tsri_op op = tsri_net_op(net, i, 1);
        flops += tsri_op_flops(&op);
    }
    return flops;
}

static bool trained(const tsri_net *net, int p)
{
    return p >= 0 && net->param[p].role == TSRI_TRAINED;
}

/* needed[v]: read by something else than gates; wants[v]: something trained stands before it. */
static void mark_values(bool *needed, bool *wants, const tsri_net *net)
{
    needed[net->layer[net->layers - 1].out] = true;
    for (int64_t i = net->layers - 1; i >= 0; i--) {
        const tsri_layer *l = &net->layer[i];
        if (needed[l->out])
            needed[l->in] = true;
        if (needed[l->out] && l->add >= 0 && l->kind != TSRI_GATE)
            needed[l->add] = true;
    }
    wants[net->entry] = net->entry != 0; /* of a part, the part before it */
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        bool second = l->add >= 0 && l->kind != TSRI_GATE && wants[l->add];
        wants[l->out] = wants[l->in] || second || trained(net, l->weight) || trained(net, l->bias);
    }
}

/* Backward of a layer over its forward. Without weights, or with a norm's few, it is taken as
 * twice. */
static double backward(const tsri_net *net, const tsri_layer *l, const bool *wants)
{
    bool product = l->kind == TSRI_LINEAR || l->kind == TSRI_CONV || l->kind == TSRI_RECURRENT;
    if (!wants[l->out])
        return 0;
    if (!product)
        return 2;
    return (trained(net, l->weight) ? 1 : 0) +
           (wants[l->in] || l->kind == TSRI_RECURRENT ? 1 : 0); /* back through time */
}

tsr_status tsri_net_step_flops(double *flops, const tsri_net *net, bool gates_known)
{
    tsr_status st = TSR_OK;
    bool *needed = NULL, *wants = NULL;
    *flops = 0;
    TSR_TRY(tsri_alloc(&needed, net->values, sizeof *needed));
    TSR_TRY(tsri_alloc(&wants, net->values, sizeof *wants));
    mark_values(needed, wants, net);
    for (int64_t i = 0; i < net->layers; i++) {
        const tsri_layer *l = &net->layer[i];
        tsri_op op = tsri_net_op(net, i, 1);
        double forward = tsri_op_flops(&op);
        if (needed[l->out])
            *flops += forward * (1 + backward(net, l, wants));
        else
            *flops += gates_known ? 0 : forward;
    }
done:
    tsri_free(needed);
    tsri_free(wants);
    return st;
}
