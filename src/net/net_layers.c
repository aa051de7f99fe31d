/* net_layers.c - appending layers: what each kind has of parameters, and the shape of what it
 * makes. */
#include "net/net_parts.h"

#include <assert.h>
#include <math.h>

/* A vector over the channels of `axis`. */
static tsri_param vector(const tsri_net *net, int axis, tsri_role role, tsri_init init)
{
    return (tsri_param){.role = role,
                        .dims = 1,
                        .shape = {net->axis[axis].size},
                        .axis = {axis, -1, -1, -1},
                        .inner = {1, 1, 1, 1},
                        .init = init};
}

tsr_status tsri_net_linear(tsri_net *net, int *out, int in, int axis, bool bias, double gain,
                           const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    tsri_value x = net->value[in];
    int64_t inputs = tsri_shape_count(x.shape), outputs = net->axis[axis].size;
    TSR_TRY(tsri_net_add_layer(net, &layer, TSRI_LINEAR, in, name));
    tsri_param weight = {.role = TSRI_TRAINED,
                         .dims = 2,
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
                         .dims = 4,
                         .shape = {shape.c, x.shape.c, size, size},
                         .axis = {axis, x.axis, -1, -1},
                         .inner = {1, 1, 1, 1},
                         .filters = net->filters,
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

/* A layer that reads a second value, `other`, and gives the shape of the first. */
static tsr_status reads_two(tsri_net *net, int *out, int in, tsri_kind kind, int other,
                            const char *name)
{
    tsr_status st = TSR_OK;
    tsri_layer *layer = NULL;
    tsri_value x = net->value[in];
    assert(other != 0); /* the plan keeps no gradient of the input, and no memory for it */
    TSR_TRY(tsri_net_add_layer(net, &layer, kind, in, name));
    layer->add = other;
    TSR_TRY(tsri_net_add_value(net, &layer->out, x.shape, x.axis));
    *out = layer->out;
done:
    return st;
}

tsr_status tsri_net_add(tsri_net *net, int *out, int in, int add, const char *name)
{
    tsri_shape x = net->value[in].shape, y = net->value[add].shape;
    assert(x.c == y.c && x.h == y.h && x.w == y.w);
    return reads_two(net, out, in, TSRI_ADD, add, name);
}

tsr_status tsri_net_gate(tsri_net *net, int *out, int in, int gate, const char *name)
{
    assert(tsri_shape_count(net->value[in].shape) == tsri_shape_count(net->value[gate].shape));
    net->gated = true;
    return reads_two(net, out, in, TSRI_GATE, gate, name);
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

tsr_status tsri_net_pointwise(tsri_net *net, int *out, int in, tsri_kind kind, const char *name)
{
    assert(tsri_kind_of(kind)->pointwise);
    return tsri_net_add_plain(net, out, in, kind, net->value[in].shape, name);
}

tsr_status tsri_net_relu(tsri_net *net, int *out, int in, const char *name)
{
    return tsri_net_pointwise(net, out, in, TSRI_RELU, name);
}

tsr_status tsri_net_global(tsri_net *net, int *out, int in, const char *name)
{
    return tsri_net_add_plain(net, out, in, TSRI_GLOBALPOOL,
                              (tsri_shape){net->value[in].shape.c, 1, 1}, name);
}

/* The value keeps its shape, so that a linear layer after it knows how many pixels a channel has;
 * in memory it is a plain vector, channels outermost. */
tsr_status tsri_net_flatten(tsri_net *net, int *out, int in, const char *name)
{
    return tsri_net_add_plain(net, out, in, TSRI_FLATTEN, net->value[in].shape, name);
}
