/* vgg.c - plain convolutional networks (Simonyan, Zisserman 2015): 3x3 convolutions, each with ReLU
 * and mostly a norm before it, in five stages separated by 2x2 max pooling.
 *
 * vgg11 is the form that is common for CIFAR: configuration A and one linear layer. Images smaller
 * than 32 pixels are down to one pixel early: from there on the pooling, which has nothing left to
 * pool, is left out. Of larger ones the mean of the last pixels is taken, so that the classifier
 * has the same shape for all sizes.
 *
 * vgg11_bn to vgg19_bn are torchvision's, for images that five poolings bring down to 7x7 pixels
 * (224 to 255): their classifier has three linear layers, the first over all pixels. (torchvision's
 * dropout between them is left to the scheme.) vgg11_plain to vgg19_plain are the same without
 * norms, as the paper has them: torchvision calls them vgg11 to vgg19.
 *
 * Names are those of a torch.nn.Sequential called `features`, every module counted, and
 * `classifier`.
 *
 * Axes: the filters of each convolution ("features.4.filters") and the units of each hidden linear
 * layer ("classifier.0.units"), all of which may be cut. Neighbours within a stage are pairs, and
 * the filters of the first of the two are inner ones: cut alone, they leave what comes into the
 * pair and what goes out of it whole, like those of a residual block.
 */
#include "net/models.h"

#include <stdio.h>

enum { POOL = 0, ENTRIES = 22, LAST_PIXELS = 7 };

/* Filters in units of model.width, and where the pooling stands; -1 ends it. */
typedef int64_t layout[ENTRIES];

static const layout a_layout = {1, POOL, 2, POOL, 4, 4, POOL, 8, 8, POOL, 8, 8, POOL, -1};
static const layout b_layout = {1, 1, POOL, 2, 2, POOL, 4, 4, POOL, 8, 8, POOL, 8, 8, POOL, -1};
static const layout d_layout = {1, 1, POOL, 2,    2, POOL, 4, 4,    4, POOL,
                                8, 8, 8,    POOL, 8, 8,    8, POOL, -1};
static const layout e_layout = {1, 1, POOL, 2, 2,    POOL, 4, 4, 4, 4,    POOL,
                                8, 8, 8,    8, POOL, 8,    8, 8, 8, POOL, -1};

typedef struct variant {
    const int64_t *layout;
    bool norms;
} variant;

static const char *module_name(char name[TSRI_NAME], int *number)
{
    (void)snprintf(name, TSRI_NAME, "features.%d", (*number)++);
    return name;
}

/* The stage of entry i, from 1, and whether the pair that it belongs to begins with it. */
static int stage_of(const int64_t *of, size_t i, bool *first)
{
    int stage = 1;
    size_t begin = 0;
    for (size_t k = 0; k < i; k++)
        if (of[k] == POOL) {
            stage++;
            begin = k + 1;
        }
    *first = (i - begin) % 2 == 0 && of[i + 1] != POOL;
    return stage;
}

static tsr_status convolution(tsri_net *net, int *x, int *number, const variant *v, size_t i,
                              int64_t filters, bool bias)
{
    tsr_status st = TSR_OK;
    char name[TSRI_NAME];
    int axis;
    TSR_TRY(tsri_net_axis(net, &axis, filters, true, "features.%d.filters", *number));
    net->axis[axis].stage = stage_of(v->layout, i, &net->axis[axis].inner);
    TSR_TRY(tsri_net_conv(net, x, *x, axis, 3, 1, 1, bias, 2.0, module_name(name, number)));
    if (v->norms)
        TSR_TRY(tsri_net_norm(net, x, *x, module_name(name, number)));
    TSR_TRY(tsri_net_relu(net, x, *x, module_name(name, number)));
done:
    return st;
}

static tsr_status pooling(tsri_net *net, int *x, int *number)
{
    char name[TSRI_NAME];
    tsri_shape s = net->value[*x].shape;
    (void)module_name(name, number);
    return s.h < 2 || s.w < 2 ? TSR_OK : tsri_net_pool(net, x, *x, TSRI_MAXPOOL, 2, 2, 0, name);
}

static tsr_status features(tsri_net *net, int *x, const tsr_config *config, const variant *v)
{
    tsr_status st = TSR_OK;
    const int64_t *of = v->layout;
    int64_t width = tsri_config_int(config, "model.width");
    bool bias = tsri_config_bool(config, "model.bias");
    int number = 0;
    for (size_t i = 0; of[i] >= 0; i++) {
        if (of[i] == POOL)
            TSR_TRY(pooling(net, x, &number));
        else
            TSR_TRY(convolution(net, x, &number, v, i, of[i] * width, bias));
    }
done:
    return st;
}

static tsr_status one_layer(tsri_net *net, const tsr_config *config, const void *of)
{
    tsr_status st = TSR_OK;
    int x = 0;
    TSR_TRY(features(net, &x, config, of));
    TSR_TRY(tsri_classifier(net, x, config, "classifier"));
done:
    return st;
}

/* ---- torchvision's -------------------------------------------------------------------------- */

static tsr_status hidden_layer(tsri_net *net, int *x, int64_t units, bool bias, int number)
{
    tsr_status st = TSR_OK;
    char name[TSRI_NAME];
    int axis;
    TSR_TRY(tsri_net_axis(net, &axis, units, true, "classifier.%d.units", number));
    (void)snprintf(name, sizeof name, "classifier.%d", number);
    TSR_TRY(tsri_net_linear(net, x, *x, axis, bias, 2.0, name));
    (void)snprintf(name, sizeof name, "classifier.%d", number + 1);
    TSR_TRY(tsri_net_relu(net, x, *x, name));
done:
    return st;
}

static tsr_status three_layers(tsri_net *net, const tsr_config *config, const void *of)
{
    tsr_status st = TSR_OK;
    int64_t units = 64 * tsri_config_int(config, "model.width");
    bool bias = tsri_config_bool(config, "model.bias");
    int x = 0, axis;
    TSR_TRY(features(net, &x, config, of));
    tsri_shape s = net->value[x].shape;
    TSR_CHECK(
        s.h == LAST_PIXELS && s.w == LAST_PIXELS, TSR_USAGE,
        "%s: this model takes images of 224 to 255 pixels, which come down to 7x7; these come "
        "down to %lldx%lld",
        net->place, (long long)s.h, (long long)s.w);
    TSR_TRY(tsri_net_flatten(net, &x, x, "flatten"));
    TSR_TRY(hidden_layer(net, &x, units, bias, 0));
    TSR_TRY(hidden_layer(net, &x, units, bias, 3));
    TSR_TRY(tsri_net_axis(net, &axis, net->outputs, false, "output"));
    TSR_TRY(tsri_net_linear(net, &x, x, axis, bias, 1.0, "classifier.6"));
done:
    return st;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

const tsri_model tsri_model_vgg11 = {
    .name = "vgg11",
    .help = "plain convolutional network with batch norm",
    .keys = "width bias widths",
    .build = one_layer,
    .of = &(const variant){a_layout, true},
    .first = "features.0",
    .last = "classifier",
};

#define VGG(layers, ending, how, layout_, norms_)                                                  \
    const tsri_model tsri_model_vgg##layers##ending = {                                            \
        .name = "vgg" #layers #ending,                                                             \
        .help = "VGG " how " batch norm, " #layers " layers, for 224x224 pixels, as in "           \
                "torchvision",                                                                     \
        .keys = "width bias widths",                                                               \
        .build = three_layers,                                                                     \
        .of = &(const variant){layout_, norms_},                                                   \
        .first = "features.0",                                                                     \
        .last = "classifier.6",                                                                    \
        .side = 224,                                                                               \
    }

VGG(11, _bn, "with", a_layout, true);
VGG(13, _bn, "with", b_layout, true);
VGG(16, _bn, "with", d_layout, true);
VGG(19, _bn, "with", e_layout, true);
VGG(11, _plain, "without", a_layout, false);
VGG(13, _plain, "without", b_layout, false);
VGG(16, _plain, "without", d_layout, false);
VGG(19, _plain, "without", e_layout, false);
