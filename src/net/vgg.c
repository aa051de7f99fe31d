/* vgg.c - a plain convolutional network: eight 3x3 convolutions, each with norm and ReLU, in five
 * stages parted by 2x2 max pooling, and one linear layer (Simonyan, Zisserman 2015, configuration
 * A, in the form that is common for CIFAR).
 *
 * Names are those of a torch.nn.Sequential called `features`, every module counted, and
 * `classifier`. Images smaller than 32 pixels are down to one pixel early: from there on the
 * pooling, which has nothing left to pool, is left out. Of larger ones the mean of the last pixels
 * is taken, so that the classifier has the same shape for all sizes.
 *
 * Axes: the filters of each convolution ("features.4.filters"), all of which may be cut. Neighbours
 * within a stage are pairs, and the filters of the first of the two are inner ones: cut alone, they
 * leave what comes into the pair and what goes out of it whole, like those of a residual block.
 */
#include "net/models.h"

#include <stdio.h>

enum { POOL = 0 };

/* Filters in units of model.width, and where the pooling stands. */
static const int64_t layout[] = {1, POOL, 2, POOL, 4, 4, POOL, 8, 8, POOL, 8, 8, POOL};

static const char *module_name(char name[TSRI_NAME], int *number)
{
    (void)snprintf(name, TSRI_NAME, "features.%d", (*number)++);
    return name;
}

/* The stage of entry i, from 1, and whether the pair that it belongs to begins with it. */
static int stage_of(size_t i, bool *first)
{
    int stage = 1;
    size_t begin = 0, last = sizeof layout / sizeof *layout - 1;
    for (size_t k = 0; k < i; k++)
        if (layout[k] == POOL) {
            stage++;
            begin = k + 1;
        }
    *first = (i - begin) % 2 == 0 && i < last && layout[i + 1] != POOL;
    return stage;
}

static tsr_status convolution(tsri_net *net, int *x, int *number, size_t i, int64_t filters,
                              bool bias)
{
    tsr_status st = TSR_OK;
    char name[TSRI_NAME];
    int axis;
    TSR_TRY(tsri_net_axis(net, &axis, filters, true, "features.%d.filters", *number));
    net->axis[axis].stage = stage_of(i, &net->axis[axis].inner);
    TSR_TRY(tsri_net_conv(net, x, *x, axis, 3, 1, 1, bias, 2.0, module_name(name, number)));
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

tsr_status tsri_build_vgg11(tsri_net *net, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    int64_t width = tsri_config_int(config, "model.width");
    bool bias = tsri_config_bool(config, "model.bias");
    int x = 0, number = 0;
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++) {
        if (layout[i] == POOL)
            TSR_TRY(pooling(net, &x, &number));
        else
            TSR_TRY(convolution(net, &x, &number, i, layout[i] * width, bias));
    }
    TSR_TRY(tsri_classifier(net, x, config, "classifier"));
done:
    return st;
}
