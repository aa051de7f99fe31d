/* resnet.c - residual networks (He et al. 2015), torchvision's layers and names.
 *
 *     x ──┬─ conv1 3x3 ─ bn1 relu ─ conv2 3x3 ─ bn2 ─┐
 *         └─ [downsample.0 1x1, downsample.1 norm] ─(+)─ relu ──     layer<stage>.<block>
 *     stream            inner                      stream
 *
 * Axes as in preresnet.c: a stage's stream, a block's inner axis; only inner axes may be cut. The
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
    TSR_TRY(tsri_net_inner(net, &inner, net->axis[stream].size, number, stride != 1,
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

static tsr_status four_stages(tsri_net *net, const tsr_config *config, const int64_t blocks[4])
{
    tsr_status st = TSR_OK;
    int64_t width = tsri_config_int(config, "model.width");
    int stream, x = 0;
    TSR_TRY(tsri_net_axis(net, &stream, width, false, "layer1.stream"));
    TSR_TRY(stem(net, &x, config, stream));
    for (int s = 1; s <= 4; s++) {
        if (s > 1)
            TSR_TRY(tsri_net_axis(net, &stream, width << (s - 1), false, "layer%d.stream", s));
        for (int64_t b = 0; b < blocks[s - 1]; b++) {
            char name[TSRI_NAME];
            (void)snprintf(name, sizeof name, "layer%d.%lld", s, (long long)b);
            TSR_TRY(block(net, &x, s, stream, s > 1 && b == 0 ? 2 : 1, name));
        }
    }
    TSR_TRY(tsri_classifier(net, x, config, "fc"));
done:
    return st;
}

tsr_status tsri_build_resnet18(tsri_net *net, const tsr_config *config)
{
    return four_stages(net, config, (const int64_t[]){2, 2, 2, 2});
}

tsr_status tsri_build_resnet34(tsri_net *net, const tsr_config *config)
{
    return four_stages(net, config, (const int64_t[]){3, 4, 6, 3});
}
