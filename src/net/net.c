/* net.c - the description of a network: its axes, values and parameters, and the whole. */
#include "net/net_parts.h"

#include "base/alloc.h"
#include "base/narrow.h"
#include "net/widths.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Axes, values, parameters ------------------------------------------------------------- */

static tsr_status add_axis(tsri_net *net, int *axis, const tsri_axis *like)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&net->axis, &net->axes_room, net->axes, sizeof *net->axis));
    tsri_axis *a = &net->axis[net->axes];
    *a = *like;
    a->full = a->size;
    TSR_TRY(tsri_widths_apply(net, a));
    *axis = (int)net->axes++;
done:
    return st;
}

tsr_status tsri_net_axis(tsri_net *net, int *axis, int64_t size, bool cuttable, const char *fmt,
                         ...)
{
    tsri_axis a = {.size = size, .cuttable = cuttable};
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(a.name, sizeof a.name, fmt, args);
    va_end(args);
    return add_axis(net, axis, &a);
}

tsr_status tsri_net_stream(tsri_net *net, int *axis, int64_t size, const char *fmt, ...)
{
    tsri_axis a = {.size = size, .stream = true};
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(a.name, sizeof a.name, fmt, args);
    va_end(args);
    return add_axis(net, axis, &a);
}

tsr_status tsri_net_inner(tsri_net *net, int *axis, int64_t size, int stage, bool strided,
                          const char *name)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_net_axis(net, axis, size, true, "%s", name));
    net->axis[*axis].stage = stage;
    net->axis[*axis].inner = true;
    net->axis[*axis].strided = strided;
done:
    return st;
}

tsr_status tsri_net_add_value(tsri_net *net, int *value, tsri_shape shape, int axis)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&net->value, &net->values_room, net->values, sizeof *net->value));
    net->value[net->values] = (tsri_value){shape, axis};
    *value = (int)net->values++;
done:
    return st;
}

tsr_status tsri_net_add_layer(tsri_net *net, tsri_layer **layer, tsri_kind kind, int in,
                              const char *name)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&net->layer, &net->layers_room, net->layers, sizeof *net->layer));
    *layer = &net->layer[net->layers++];
    **layer = (tsri_layer){.kind = kind,
                           .in = in,
                           .add = -1,
                           .weight = -1,
                           .bias = -1,
                           .mean = -1,
                           .var = -1,
                           .tracked = -1,
                           .scale = 1};
    (void)snprintf((*layer)->name, sizeof(*layer)->name, "%s", name);
done:
    return st;
}

tsr_status tsri_net_add_plain(tsri_net *net, int *out, int in, tsri_kind kind, tsri_shape shape,
                              const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    TSR_TRY(tsri_net_add_layer(net, &layer, kind, in, name));
    TSR_TRY(tsri_net_add_value(net, &layer->out, shape, net->value[in].axis));
    *out = layer->out;
done:
    return st;
}

/* Appends a parameter "<layer>.<suffix>"; shape, axes and init are filled in by the caller's
 * copy. */
tsr_status tsri_net_add_param(tsri_net *net, int *index, const tsri_param *like, const char *layer,
                              const char *suffix)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&net->param, &net->params_room, net->params, sizeof *net->param));
    tsri_param *p = &net->param[net->params];
    *p = *like;
    p->stream = net->params;
    int n = snprintf(p->name, sizeof p->name, "%s.%s", layer, suffix);
    assert(n > 0 && (size_t)n < sizeof p->name);
    p->count = 1;
    for (int d = 0; d < p->dims; d++)
        TSR_TRY(tsri_multiply(&p->count, p->count, p->shape[d], p->name));
    *index = (int)net->params++;
done:
    return st;
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* Trained numbers first, so that gradients and momentum are plain vectors beside them. */
void tsri_net_finish(tsri_net *net)
{
    int64_t at = 0;
    for (int64_t i = 0; i < net->params; i++)
        if (net->param[i].role == TSRI_TRAINED) {
            net->param[i].offset = at;
            at += net->param[i].count;
        }
    net->trained = at;
    for (int64_t i = 0; i < net->params; i++)
        if (net->param[i].role != TSRI_TRAINED) {
            net->param[i].offset = at;
            at += net->param[i].count;
        }
    net->total = at;
    net->place = NULL; /* the config may be gone before the net */
    net->widths = net->widths_place = NULL;
}

static tsri_conv_choice conv_choice(const tsr_config *config)
{
    const char *conv = tsri_config_text(config, "conv");
    return strcmp(conv, "direct") == 0     ? TSRI_CONV_DIRECT
           : strcmp(conv, "winograd") == 0 ? TSRI_CONV_WINOGRAD
                                           : TSRI_CONV_AUTO;
}

/* A network with its input and nothing after it yet. */
static tsr_status begin(tsri_net **out, const tsr_config *config, tsri_shape input, int64_t outputs,
                        tsri_filter_order filters)
{
    tsr_status st = TSR_OK;
    int axis, value;
    TSR_TRY(tsri_alloc(out, 1, sizeof **out));
    **out = (tsri_net){.input = input,
                       .outputs = outputs,
                       .filters = filters,
                       .conv = conv_choice(config),
                       .bf16 = tsri_config_is(config, "precision", "bf16"),
                       .skip_gates = !tsri_config_is(config, "skip", "off"),
                       .skip_relu = tsri_config_is(config, "skip", "on"),
                       .place = tsri_config_place(config, "model.name"),
                       .widths = tsri_config_text(config, "model.widths"),
                       .widths_place = tsri_config_place(config, "model.widths")};
    TSR_TRY(tsri_net_axis(*out, &axis, input.c, false, "input"));
    TSR_TRY(tsri_net_add_value(*out, &value, input, axis));
done:
    return st;
}

tsr_status tsri_net_create(tsri_net **out, const tsr_config *config, tsri_shape input,
                           int64_t outputs, tsri_filter_order filters)
{
    tsr_status st = TSR_OK;
    tsri_net *net = NULL;
    *out = NULL;
    TSR_TRY(begin(&net, config, input, outputs, filters));
    const tsri_model *model = tsri_model_of(config);
    TSR_TRY(model->build(net, config, model->of));
    TSR_TRY(tsri_widths_check(net));
    tsri_net_finish(net);
    *out = net;
    net = NULL;
done:
    tsri_net_destroy(net);
    return st;
}

void tsri_net_expect(tsri_net *net, double chance)
{
    for (int64_t i = 0; i < net->layers; i++)
        if (net->layer[i].share_scale > 0)
            net->layer[i].scale = chance * net->layer[i].share_scale;
}

tsr_status tsri_net_build(tsri_net **out, const tsr_config *config, tsri_shape input,
                          int64_t outputs, tsri_filter_order filters,
                          tsr_status (*build)(tsri_net *net))
{
    tsr_status st = TSR_OK;
    tsri_net *net = NULL;
    *out = NULL;
    TSR_TRY(begin(&net, config, input, outputs, filters));
    TSR_TRY(build(net));
    tsri_net_finish(net);
    *out = net;
    net = NULL;
done:
    tsri_net_destroy(net);
    return st;
}

void tsri_net_destroy(tsri_net *net)
{
    if (!net)
        return;
    tsri_free(net->axis);
    tsri_free(net->param);
    tsri_free(net->value);
    tsri_free(net->layer);
    tsri_free(net);
}

static tsr_status copy(void *out, const void *from, int64_t count, size_t size)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(out, count, size));
    memcpy(*(void **)out, from, (size_t)count * size);
done:
    return st;
}

tsr_status tsri_net_copy(tsri_net **out, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    tsri_net *twin = NULL;
    *out = NULL;
    TSR_TRY(tsri_alloc(&twin, 1, sizeof *twin));
    *twin = *net;
    twin->axis = NULL;
    twin->param = NULL;
    twin->value = NULL;
    twin->layer = NULL;
    TSR_TRY(copy(&twin->axis, net->axis, net->axes, sizeof *net->axis));
    TSR_TRY(copy(&twin->param, net->param, net->params, sizeof *net->param));
    TSR_TRY(copy(&twin->value, net->value, net->values, sizeof *net->value));
    TSR_TRY(copy(&twin->layer, net->layer, net->layers, sizeof *net->layer));
    twin->axes_room = net->axes;
    twin->params_room = net->params;
    twin->values_room = net->values;
    twin->layers_room = net->layers;
    *out = twin;
    twin = NULL;
done:
    tsri_net_destroy(twin);
    return st;
}

tsri_op tsri_net_op(const tsri_net *net, int64_t i, int64_t n)
{
    const tsri_layer *l = &net->layer[i];
    return (tsri_op){.kind = l->kind,
                     .n = n,
                     .in = net->value[l->in].shape,
                     .out = net->value[l->out].shape,
                     .eps = l->eps,
                     .momentum = l->momentum,
                     .scale = l->scale,
                     .positions = l->each ? net->value[l->in].shape.h : 0,
                     .size = l->size,
                     .stride = l->stride,
                     .pad = l->pad,
                     .conv = net->conv,
                     .bf16 = net->bf16};
}

int64_t tsri_net_param(const tsri_net *net, const char *name)
{
    for (int64_t i = 0; i < net->params; i++)
        if (strcmp(net->param[i].name, name) == 0)
            return i;
    return -1;
}
