/* parts.c - the first and the last layers that several models share. */
#include "net/models.h"

#include <stdio.h>

const char *tsri_module(char name[TSRI_NAME], const char *prefix, const char *last)
{
    (void)snprintf(name, TSRI_NAME, "%.40s.%.20s", prefix, last);
    return name;
}

bool tsri_large_stem(const tsri_net *net, const tsr_config *config)
{
    enum { SMALL = 64 }; /* CIFAR's 32, Tiny ImageNet's 64 */
    char first = tsri_config_text(config, "model.stem")[0];
    int64_t side = net->input.h < net->input.w ? net->input.h : net->input.w;
    return first == 'i' || (first == 'a' && side > SMALL);
}

tsr_status tsri_stem_conv(tsri_net *net, int *x, int axis, bool large)
{
    return large ? tsri_net_conv(net, x, *x, axis, 7, 2, 3, false, 2.0, "conv1")
                 : tsri_net_conv(net, x, *x, axis, 3, 1, 1, false, 2.0, "conv1");
}

tsr_status tsri_classifier(tsri_net *net, int x, const tsr_config *config, const char *name)
{
    tsr_status st = TSR_OK;
    bool bias = tsri_config_bool(config, "model.bias");
    int axis;
    TSR_TRY(tsri_net_global(net, &x, x, "pool"));
    TSR_TRY(tsri_net_axis(net, &axis, net->outputs, false, "output"));
    TSR_TRY(tsri_net_linear(net, &x, x, axis, bias, 1.0, name));
done:
    return st;
}

void tsri_rename_last(tsri_net *net, const char *name)
{
    tsri_param *p = &net->param[net->params - 1];
    (void)snprintf(p->name, sizeof p->name, "%s", name);
}

void tsri_output_vector(tsri_net *net)
{
    tsri_param *a = &net->param[net->params - 1];
    if (net->outputs > 1)
        return;
    a->dims = 1;
    a->shape[0] = a->shape[1];
    a->axis[0] = a->axis[1];
    a->inner[0] = a->inner[1];
}
