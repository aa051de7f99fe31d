/* net.c - building the description of a network, layer by layer. */
#include "net/net_parts.h"

#include "base/alloc.h"
#include "base/narrow.h"
#include "net/widths.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Axes, values, parameters ------------------------------------------------------------- */

tsr_status tsri_net_axis(tsri_net *net, int *axis, int64_t size, bool cuttable, const char *fmt,
                         ...)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&net->axis, &net->axes_room, net->axes, sizeof *net->axis));
    tsri_axis *a = &net->axis[net->axes];
    *a = (tsri_axis){.size = size, .full = size, .cuttable = cuttable};
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(a->name, sizeof a->name, fmt, args);
    va_end(args);
    TSR_TRY(tsri_widths_apply(net, a));
    *axis = (int)net->axes++;
done:
    return st;
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

/* Appends a parameter "<layer>.<suffix>"; shape, axes and init are filled in by the caller's copy.
 */
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
    for (int d = 0; d < p->rank; d++)
        TSR_TRY(tsri_multiply(&p->count, p->count, p->shape[d], p->name));
    *index = (int)net->params++;
done:
    return st;
}

/* A vector over the channels of `axis`. */
static tsri_param vector(const tsri_net *net, int axis, tsri_role role, tsri_init init)
{
    return (tsri_param){.role = role,
                        .rank = 1,
                        .shape = {net->axis[axis].size},
                        .axis = {axis, -1, -1, -1},
                        .inner = {1, 1, 1, 1},
                        .init = init};
}

/* ---- Layers ------------------------------------------------------------------------------- */

tsr_status tsri_net_linear(tsri_net *net, int *out, int in, int axis, bool bias, double gain,
                           const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    tsri_value x = net->value[in];
    int64_t inputs = tsri_shape_count(x.shape), outputs = net->axis[axis].size;
    TSR_TRY(tsri_net_add_layer(net, &layer, TSRI_LINEAR, in, name));
    tsri_param weight = {.role = TSRI_TRAINED,
                         .rank = 2,
                         .shape = {outputs, inputs},
                         .axis = {axis, x.axis, -1, -1},
                         .inner = {1, x.shape.h * x.shape.w, 1, 1},
                         .init = TSRI_INIT_NORMAL,
                         .sigma = sqrt(gain / (double)inputs)};
    TSR_TRY(tsri_net_add_param(net, &layer->weight, &weight, name, "weight"));
    if (bias) {
        tsri_param b = vector(net, axis, TSRI_TRAINED, TSRI_INIT_ZERO);
        TSR_TRY(tsri_net_add_param(net, &layer->bias, &b, name, "bias"));
    }
    TSR_TRY(tsri_net_add_value(net, &layer->out, (tsri_shape){outputs, 1, 1}, axis));
    *out = layer->out;
done:
    return st;
}

tsr_status tsri_net_fixed(tsri_net *net, int *out, int in, int axis, double scale, const char *name)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_net_linear(net, out, in, axis, false, 1.0, name));
    tsri_param *weight = &net->param[net->params - 1];
    weight->role = TSRI_FIXED;
    weight->init = TSRI_INIT_SIGN;
    weight->sigma = scale;
done:
    return st;
}

tsr_status tsri_net_norm(tsri_net *net, int *out, int in, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    tsri_value x = net->value[in];
    TSR_TRY(tsri_net_add_layer(net, &layer, TSRI_NORM, in, name));
    layer->eps = 1e-5; /* PyTorch's defaults */
    layer->momentum = 0.1;
    tsri_param p = vector(net, x.axis, TSRI_TRAINED, TSRI_INIT_ONE);
    TSR_TRY(tsri_net_add_param(net, &layer->weight, &p, name, "weight"));
    p = vector(net, x.axis, TSRI_TRAINED, TSRI_INIT_ZERO);
    TSR_TRY(tsri_net_add_param(net, &layer->bias, &p, name, "bias"));
    p = vector(net, x.axis, TSRI_BUFFER, TSRI_INIT_ZERO);
    TSR_TRY(tsri_net_add_param(net, &layer->mean, &p, name, "running_mean"));
    p = vector(net, x.axis, TSRI_BUFFER, TSRI_INIT_ONE);
    TSR_TRY(tsri_net_add_param(net, &layer->var, &p, name, "running_var"));
    p = (tsri_param){.role = TSRI_COUNT, .axis = {-1, -1, -1, -1}, .inner = {1, 1, 1, 1}};
    TSR_TRY(tsri_net_add_param(net, &layer->tracked, &p, name, "num_batches_tracked"));
    TSR_TRY(tsri_net_add_value(net, &layer->out, x.shape, x.axis));
    *out = layer->out;
done:
    return st;
}

/* Sides of what a window makes of `side` pixels; 0 or less when it does not fit. */
static int64_t windows(int64_t side, int64_t size, int64_t stride, int64_t pad)
{
    return side + 2 * pad < size ? 0 : (side + 2 * pad - size) / stride + 1;
}

static tsr_status windowed(const tsri_net *net, tsri_shape *out, tsri_shape in, int64_t channels,
                           int64_t size, int64_t stride, int64_t pad, const char *name)
{
    tsr_status st = TSR_OK;
    *out =
        (tsri_shape){channels, windows(in.h, size, stride, pad), windows(in.w, size, stride, pad)};
    TSR_CHECK(out->h > 0 && out->w > 0, TSR_USAGE,
              "%s: the model is too deep for these images: at %s they are %lldx%lld pixels, less "
              "than its "
              "window of %lld: use larger images or a model for small ones",
              net->place, name, (long long)in.h, (long long)in.w, (long long)size);
done:
    return st;
}

tsr_status tsri_net_conv(tsri_net *net, int *out, int in, int axis, int64_t size, int64_t stride,
                         int64_t pad, bool bias, double gain, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    tsri_value x = net->value[in];
    tsri_shape shape;
    TSR_TRY(windowed(net, &shape, x.shape, net->axis[axis].size, size, stride, pad, name));
    TSR_TRY(tsri_net_add_layer(net, &layer, TSRI_CONV, in, name));
    layer->size = size;
    layer->stride = stride;
    layer->pad = pad;
    tsri_param weight = {.role = TSRI_TRAINED,
                         .rank = 4,
                         .shape = {shape.c, x.shape.c, size, size},
                         .axis = {axis, x.axis, -1, -1},
                         .inner = {1, 1, 1, 1},
                         .filters_last = net->filters_last,
                         .init = TSRI_INIT_NORMAL,
                         .sigma = sqrt(gain / (double)(x.shape.c * size * size))};
    TSR_TRY(tsri_net_add_param(net, &layer->weight, &weight, name, "weight"));
    if (bias) {
        tsri_param b = vector(net, axis, TSRI_TRAINED, TSRI_INIT_ZERO);
        TSR_TRY(tsri_net_add_param(net, &layer->bias, &b, name, "bias"));
    }
    TSR_TRY(tsri_net_add_value(net, &layer->out, shape, axis));
    *out = layer->out;
done:
    return st;
}

tsr_status tsri_net_add(tsri_net *net, int *out, int in, int add, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    tsri_value x = net->value[in], y = net->value[add];
    assert(add != 0); /* the plan keeps no gradient of the input, and no memory for it */
    assert(x.shape.c == y.shape.c && x.shape.h == y.shape.h && x.shape.w == y.shape.w);
    TSR_TRY(tsri_net_add_layer(net, &layer, TSRI_ADD, in, name));
    layer->add = add;
    TSR_TRY(tsri_net_add_value(net, &layer->out, x.shape, x.axis));
    *out = layer->out;
done:
    return st;
}

tsr_status tsri_net_gate(tsri_net *net, int *out, int in, int gate, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    tsri_value x = net->value[in], z = net->value[gate];
    assert(gate != 0 && tsri_shape_count(x.shape) == tsri_shape_count(z.shape));
    TSR_TRY(tsri_net_add_layer(net, &layer, TSRI_GATE, in, name));
    layer->add = gate;
    TSR_TRY(tsri_net_add_value(net, &layer->out, x.shape, x.axis));
    *out = layer->out;
done:
    return st;
}

tsr_status tsri_net_pool(tsri_net *net, int *out, int in, tsri_kind kind, int64_t size,
                         int64_t stride, int64_t pad, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    tsri_value x = net->value[in];
    tsri_shape shape;
    TSR_TRY(windowed(net, &shape, x.shape, x.shape.c, size, stride, pad, name));
    TSR_TRY(tsri_net_add_layer(net, &layer, kind, in, name));
    layer->size = size;
    layer->stride = stride;
    layer->pad = pad;
    TSR_TRY(tsri_net_add_value(net, &layer->out, shape, x.axis));
    *out = layer->out;
done:
    return st;
}

/* A layer without parameters that gives `shape`. */
static tsr_status plain_layer(tsri_net *net, int *out, int in, tsri_kind kind, tsri_shape shape,
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

tsr_status tsri_net_relu(tsri_net *net, int *out, int in, const char *name)
{
    return plain_layer(net, out, in, TSRI_RELU, net->value[in].shape, name);
}

tsr_status tsri_net_global(tsri_net *net, int *out, int in, const char *name)
{
    return plain_layer(net, out, in, TSRI_GLOBALPOOL, (tsri_shape){net->value[in].shape.c, 1, 1},
                       name);
}

/* The value keeps its shape, so that a linear layer behind it knows how many pixels a channel has;
 * in memory it is a plain vector, channels outermost. */
tsr_status tsri_net_flatten(tsri_net *net, int *out, int in, const char *name)
{
    return plain_layer(net, out, in, TSRI_FLATTEN, net->value[in].shape, name);
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

static const tsri_model *find_model(const tsr_config *config)
{
    const char *name = tsri_config_text(config, "model.name");
    for (int64_t i = 0; i < tsri_model_count; i++)
        if (strcmp(tsri_models[i].name, name) == 0)
            return &tsri_models[i];
    return NULL;
}

/* A network with its input and nothing behind it yet. */
static tsr_status begin(tsri_net **out, const tsr_config *config, tsri_shape input, int64_t outputs,
                        bool filters_last)
{
    tsr_status st = TSR_OK;
    int axis, value;
    TSR_TRY(tsri_alloc(out, 1, sizeof **out));
    **out = (tsri_net){.input = input,
                       .outputs = outputs,
                       .filters_last = filters_last,
                       .conv = conv_choice(config),
                       .bf16 = strcmp(tsri_config_text(config, "precision"), "bf16") == 0,
                       .skip_gates = strcmp(tsri_config_text(config, "skip"), "off") != 0,
                       .skip_relu = strcmp(tsri_config_text(config, "skip"), "on") == 0,
                       .place = tsri_config_place(config, "model.name"),
                       .widths = tsri_config_text(config, "model.widths"),
                       .widths_place = tsri_config_place(config, "model.widths")};
    TSR_TRY(tsri_net_axis(*out, &axis, input.c, false, "input"));
    TSR_TRY(tsri_net_add_value(*out, &value, input, axis));
done:
    return st;
}

tsr_status tsri_net_create(tsri_net **out, const tsr_config *config, tsri_shape input,
                           int64_t outputs, bool filters_last)
{
    tsr_status st = TSR_OK;
    tsri_net *net = NULL;
    const tsri_model *model = find_model(config);
    *out = NULL;
    assert(model); /* the schema's choices are the table's names; a test compares them */
    TSR_TRY(begin(&net, config, input, outputs, filters_last));
    TSR_TRY(model->build(net, config));
    TSR_TRY(tsri_widths_check(net));
    tsri_net_finish(net);
    *out = net;
    net = NULL;
done:
    tsri_net_destroy(net);
    return st;
}

tsr_status tsri_net_build(tsri_net **out, const tsr_config *config, tsri_shape input,
                          int64_t outputs, bool filters_last, tsr_status (*build)(tsri_net *net))
{
    tsr_status st = TSR_OK;
    tsri_net *net = NULL;
    *out = NULL;
    TSR_TRY(begin(&net, config, input, outputs, filters_last));
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

double tsri_net_flops(const tsri_net *net)
{
    double flops = 0;
    for (int64_t i = 0; i < net->layers; i++) {
        tsri_op op = tsri_net_op(net, i, 1);
        flops += tsri_op_flops(&op);
    }
    return flops;
}

int64_t tsri_net_param(const tsri_net *net, const char *name)
{
    for (int64_t i = 0; i < net->params; i++)
        if (strcmp(net->param[i].name, name) == 0)
            return i;
    return -1;
}
