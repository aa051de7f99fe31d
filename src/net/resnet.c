/* resnet.c - residual networks (He et al. 2015), torchvision's layers and names.
 *
 *     x ──┬─ conv1 3x3 ─ bn1 relu ─ conv2 3x3 ─ bn2 ─┐
 *         └─ [downsample.0 1x1, downsample.1 norm] ─(+)─ relu ──     layer<stage>.<block>
 *     stream            inner                      stream
 *
 * Deeper ones have bottlenecks: the stream is four times as wide, and between it lie two inner
 * axes:
 *
 *     x ──┬─ conv1 1x1 ─ bn1 relu ─ conv2 3x3 ─ bn2 relu ─ conv3 1x1 ─ bn3 ─┐
 *         └─ [downsample.0 1x1, downsample.1 norm] ────────────────────────(+)─ relu ──
 *     stream            inner1                 inner2                 stream
 *
 * The stride of a block is that of its first 3x3 convolution. Wide ones (Zagoruyko, Komodakis 2016,
 * as torchvision has them) have twice the inner filters.
 *
 * Axes as in preresnet.c: a stage's stream, a block's inner axes; shares cut only inner axes. The
 * stem is conv1, bn1, ReLU, and for large images 3x3 max pooling; the last layer is `fc`.
 *
 * The downsampling stands before the block's convolutions, so that the plan can fuse sum and ReLU
 * into bn2. Weights start as N(0, 2/inputs), the last layer's as N(0, 1/inputs).
 */
#include "net/models.h"

#include <stdio.h>

static tsr_status downsample(tsri_net *net, int *out, int x, int stream, int64_t stride,
                             const char *name)
{
    tsr_status st = TSR_OK;
    char n[TSRI_NAME];
    TSR_TRY(tsri_net_conv(net, out, x, stream, 1, stride, 0, false, 2.0,
                          tsri_module(n, name, "downsample.0")));
    TSR_TRY(tsri_net_norm(net, out, *out, tsri_module(n, name, "downsample.1")));
done:
    return st;
}

static tsr_status block(tsri_net *net, int *x, int number, int stream, int64_t stride,
                        const char *name)
{
    tsr_status st = TSR_OK;
    char n[TSRI_NAME];
    int inner, y, shortcut = *x;
    TSR_TRY(tsri_net_inner(net, &inner, net->axis[stream].full, number, stride != 1,
                           tsri_module(n, name, "inner")));
    if (net->value[*x].axis != stream)
        TSR_TRY(downsample(net, &shortcut, *x, stream, stride, name));
    TSR_TRY(
        tsri_net_conv(net, &y, *x, inner, 3, stride, 1, false, 2.0, tsri_module(n, name, "conv1")));
    TSR_TRY(tsri_net_norm(net, &y, y, tsri_module(n, name, "bn1")));
    TSR_TRY(tsri_net_relu(net, &y, y, tsri_module(n, name, "relu1")));
    TSR_TRY(tsri_net_conv(net, &y, y, stream, 3, 1, 1, false, 2.0, tsri_module(n, name, "conv2")));
    TSR_TRY(tsri_net_norm(net, &y, y, tsri_module(n, name, "bn2")));
    TSR_TRY(tsri_net_add(net, &y, y, shortcut, tsri_module(n, name, "add")));
    TSR_TRY(tsri_net_relu(net, x, y, tsri_module(n, name, "relu2")));
done:
    return st;
}

/* conv, norm, and ReLU unless it is the block's last: "conv<number>", "bn<number>". */
static tsr_status unit(tsri_net *net, int *x, int axis, int64_t size, int64_t stride, int number,
                       bool relu, const char *name)
{
    tsr_status st = TSR_OK;
    char n[TSRI_NAME], last[8];
    (void)snprintf(last, sizeof last, "conv%d", number);
    TSR_TRY(tsri_net_conv(net, x, *x, axis, size, stride, size / 2, false, 2.0,
                          tsri_module(n, name, last)));
    (void)snprintf(last, sizeof last, "bn%d", number);
    TSR_TRY(tsri_net_norm(net, x, *x, tsri_module(n, name, last)));
    (void)snprintf(last, sizeof last, "relu%d", number);
    if (relu)
        TSR_TRY(tsri_net_relu(net, x, *x, tsri_module(n, name, last)));
done:
    return st;
}

static tsr_status bottleneck(tsri_net *net, int *x, int number, int stream, int64_t filters,
                             int64_t stride, const char *name)
{
    tsr_status st = TSR_OK;
    char n[TSRI_NAME];
    int first, second, shortcut = *x, y = shortcut;
    TSR_TRY(
        tsri_net_inner(net, &first, filters, number, stride != 1, tsri_module(n, name, "inner1")));
    TSR_TRY(
        tsri_net_inner(net, &second, filters, number, stride != 1, tsri_module(n, name, "inner2")));
    if (net->value[*x].axis != stream)
        TSR_TRY(downsample(net, &shortcut, *x, stream, stride, name));
    TSR_TRY(unit(net, &y, first, 1, 1, 1, true, name));
    TSR_TRY(unit(net, &y, second, 3, stride, 2, true, name));
    TSR_TRY(unit(net, &y, stream, 1, 1, 3, false, name));
    TSR_TRY(tsri_net_add(net, &y, y, shortcut, tsri_module(n, name, "add")));
    TSR_TRY(tsri_net_relu(net, x, y, tsri_module(n, name, "relu3")));
done:
    return st;
}

static tsr_status stem(tsri_net *net, int *x, const tsr_config *config, int axis)
{
    tsr_status st = TSR_OK;
    bool large = tsri_large_stem(net, config);
    TSR_TRY(tsri_stem_conv(net, x, axis, large));
    TSR_TRY(tsri_net_norm(net, x, *x, "bn1"));
    TSR_TRY(tsri_net_relu(net, x, *x, "relu"));
    if (large)
        TSR_TRY(tsri_net_pool(net, x, *x, TSRI_MAXPOOL, 3, 2, 1, "maxpool"));
done:
    return st;
}

/* What tells the networks of this family apart. */
typedef struct family {
    int64_t blocks[4];
    int64_t wide; /* inner filters of a bottleneck over the stage's width; 0 = basic blocks */
} family;

static tsr_status one_block(tsri_net *net, int *x, const family *f, int stage, int64_t b,
                            int64_t width, int stream)
{
    char name[TSRI_NAME];
    int64_t stride = stage > 1 && b == 0 ? 2 : 1;
    (void)snprintf(name, sizeof name, "layer%d.%lld", stage, (long long)b);
    return f->wide > 0 ? bottleneck(net, x, stage, stream, f->wide * width, stride, name)
                       : block(net, x, stage, stream, stride, name);
}

static tsr_status four_stages(tsri_net *net, const tsr_config *config, const void *of)
{
    tsr_status st = TSR_OK;
    const family *f = of;
    int64_t width = tsri_config_int(config, "model.width");
    int stream, x = 0;
    TSR_TRY(tsri_net_stream(net, &stream, width, f->wide > 0 ? "stem" : "layer1.stream"));
    TSR_TRY(stem(net, &x, config, stream));
    for (int s = 1; s <= 4; s++, width *= 2) {
        if (s > 1 || f->wide > 0)
            TSR_TRY(tsri_net_stream(net, &stream, f->wide > 0 ? 4 * width : width, "layer%d.stream",
                                    s));
        for (int64_t b = 0; b < f->blocks[s - 1]; b++)
            TSR_TRY(one_block(net, &x, f, s, b, width, stream));
    }
    TSR_TRY(tsri_classifier(net, x, config, "fc"));
done:
    return st;
}

#define RESNET(id, text, widened, ...)                                                             \
    const tsri_model tsri_model_##id = {                                                           \
        .name = #id,                                                                               \
        .help = text ", as in torchvision",                                                        \
        .keys = "width stem bias widths",                                                          \
        .build = four_stages,                                                                      \
        .of = &(const family){.blocks = {__VA_ARGS__}, .wide = widened},                           \
        .first = "conv1",                                                                          \
        .last = "fc",                                                                              \
    }

RESNET(resnet18, "residual network, 18 layers", 0, 2, 2, 2, 2);
RESNET(resnet34, "residual network, 34 layers", 0, 3, 4, 6, 3);
RESNET(resnet50, "residual network of bottlenecks, 50 layers", 1, 3, 4, 6, 3);
RESNET(resnet101, "residual network of bottlenecks, 101 layers", 1, 3, 4, 23, 3);
RESNET(resnet152, "residual network of bottlenecks, 152 layers", 1, 3, 8, 36, 3);
RESNET(wide_resnet50_2, "resnet50 with twice the inner filters", 2, 3, 4, 6, 3);
RESNET(wide_resnet101_2, "resnet101 with twice the inner filters", 2, 3, 4, 23, 3);
