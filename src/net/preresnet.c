/* preresnet.c - residual networks with pre-activation (He et al. 2016, "Identity mappings in deep
 * residual networks"), and the wide ones (Zagoruyko, Komodakis 2016).
 *
 * A block adds two convolutions, each after norm and ReLU, to its input; where the width or the
 * size of the image changes, a 1x1 convolution of the first activation stands for the input:
 *
 *     x ──┬─ bn1 relu ─┬─ conv1 3x3 ─ bn2 relu ─ conv2 3x3 ─┐
 *         └────────────┴─ [shortcut.0 1x1] ────────────────(+)──     layer<stage>.<block>
 *           stream                     inner                  stream
 *
 * Axes: the channels between blocks are the stage's stream ("layer2.stream"), those between the two
 * convolutions the block's inner axis ("layer2.1.inner"). Shares cut only inner axes: the sums tie
 * the stream of a whole stage together. A ticket may lose channels of a stream, in all layers at
 * once.
 *
 * Names and layers are those of the PreActResNet that is common for CIFAR in PyTorch, with the
 * paper's last norm and ReLU in front of the pooling, called `bn` (some versions leave it out).
 * ImageNet's stem is conv1 7x7 with stride 2 and 3x3 max pooling with stride 2; norm and ReLU come
 * with the first block. The wide ones have three stages and the same names.
 *
 * The shortcut stands before the block's convolutions, so that the plan can fuse the sum into
 * conv2. Weights start as N(0, 2/inputs), the last layer's as N(0, 1/inputs).
 */
#include "net/models.h"

#include <stdio.h>

static tsr_status block(tsri_net *net, int *x, int number, int stream, int64_t stride,
                        const char *name)
{
    tsr_status st = TSR_OK;
    char n[TSRI_NAME];
    int inner, y, shortcut = *x;
    bool project = net->value[*x].axis != stream;
    TSR_TRY(tsri_net_inner(net, &inner, net->axis[stream].full, number, stride != 1,
                           tsri_module(n, name, "inner")));
    TSR_TRY(tsri_net_norm(net, &y, *x, tsri_module(n, name, "bn1")));
    TSR_TRY(tsri_net_relu(net, &y, y, tsri_module(n, name, "relu1")));
    if (project)
        TSR_TRY(tsri_net_conv(net, &shortcut, y, stream, 1, stride, 0, false, 2.0,
                              tsri_module(n, name, "shortcut.0")));
    TSR_TRY(
        tsri_net_conv(net, &y, y, inner, 3, stride, 1, false, 2.0, tsri_module(n, name, "conv1")));
    TSR_TRY(tsri_net_norm(net, &y, y, tsri_module(n, name, "bn2")));
    TSR_TRY(tsri_net_relu(net, &y, y, tsri_module(n, name, "relu2")));
    TSR_TRY(tsri_net_conv(net, &y, y, stream, 3, 1, 1, false, 2.0, tsri_module(n, name, "conv2")));
    TSR_TRY(tsri_net_add(net, x, y, shortcut, tsri_module(n, name, "add")));
done:
    return st;
}

/* Stage `number` (from 1): `blocks` blocks, the first with `stride`. Where nothing changes its
 * stream is that of the layer before. */
static tsr_status stage(tsri_net *net, int *x, int number, int64_t width, int64_t blocks,
                        int64_t stride)
{
    tsr_status st = TSR_OK;
    int stream = net->value[*x].axis;
    if (stride != 1 || net->axis[stream].full != width)
        TSR_TRY(tsri_net_stream(net, &stream, width, "layer%d.stream", number));
    for (int64_t b = 0; b < blocks; b++) {
        char name[TSRI_NAME];
        (void)snprintf(name, sizeof name, "layer%d.%lld", number, (long long)b);
        TSR_TRY(block(net, x, number, stream, b == 0 ? stride : 1, name));
    }
done:
    return st;
}

static tsr_status finish(tsri_net *net, int x, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_net_norm(net, &x, x, "bn"));
    TSR_TRY(tsri_net_relu(net, &x, x, "relu"));
    TSR_TRY(tsri_classifier(net, x, config, "linear"));
done:
    return st;
}

static tsr_status four_stages(tsri_net *net, const tsr_config *config, const void *of)
{
    tsr_status st = TSR_OK;
    const int64_t *blocks = of; /* [4] */
    int64_t width = tsri_config_int(config, "model.width");
    bool large = tsri_large_stem(net, config);
    int axis, x = 0;
    TSR_TRY(tsri_net_stream(net, &axis, width, "layer1.stream"));
    TSR_TRY(tsri_stem_conv(net, &x, axis, large));
    if (large)
        TSR_TRY(tsri_net_pool(net, &x, x, TSRI_MAXPOOL, 3, 2, 1, "maxpool"));
    for (int s = 0; s < 4; s++)
        TSR_TRY(stage(net, &x, s + 1, width << s, blocks[s], s == 0 ? 1 : 2));
    TSR_TRY(finish(net, x, config));
done:
    return st;
}

static tsr_status three_stages(tsri_net *net, const tsr_config *config, const void *of)
{
    enum { STEM = 16 };
    tsr_status st = TSR_OK;
    (void)of;
    int64_t depth = tsri_config_int(config, "model.depth");
    int64_t factor = tsri_config_int(config, "model.factor");
    int axis, x = 0;
    TSR_CHECK(depth % 6 == 4, TSR_USAGE,
              "%s: model.depth of a wideresnet is 6n+4: 10, 16, 22, 28, 34, 40, ...; not %lld",
              tsri_config_place(config, "model.depth"), (long long)depth);
    TSR_TRY(tsri_net_stream(net, &axis, STEM, factor == 1 ? "layer1.stream" : "stem"));
    TSR_TRY(tsri_stem_conv(net, &x, axis, false));
    for (int s = 0; s < 3; s++)
        TSR_TRY(stage(net, &x, s + 1, (STEM << s) * factor, (depth - 4) / 6, s == 0 ? 1 : 2));
    TSR_TRY(finish(net, x, config));
done:
    return st;
}

#define PRERESNET(layers, ...)                                                                     \
    const tsri_model tsri_model_preresnet##layers = {                                              \
        .name = "preresnet" #layers,                                                               \
        .help = "residual network with pre-activation, " #layers " layers",                        \
        .keys = "width stem bias widths",                                                          \
        .build = four_stages,                                                                      \
        .of = (const int64_t[4]){__VA_ARGS__},                                                     \
        .first = "conv1",                                                                          \
        .last = "linear",                                                                          \
    }

PRERESNET(18, 2, 2, 2, 2);
PRERESNET(34, 3, 4, 6, 3);

const tsri_model tsri_model_wideresnet = {
    .name = "wideresnet",
    .help = "wide residual network, depth 6n+4, any factor",
    .keys = "depth factor bias widths",
    .build = three_stages,
};
