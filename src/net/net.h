/* net.h - the description of a network: axes, parameters, layers. No numbers yet.
 *
 * Every dimension of every parameter belongs to an axis: the input, the hidden units of layer 2,
 * the inner filters of block 5. Picking indices on some axes picks, in every tensor that touches
 * them, the rows, columns or channels that stay; that is all a subnetwork is (subnet/).
 *
 * A network is a list of layers over values (tensors per sample), in the order in which they run:
 *
 *     value 0 --linear--> value 1 --norm--> value 2 --relu--> value 3 --linear--> value 4 = output
 *
 * The numbers live in a store (store.h); plan.h lays out one forward and backward in memory.
 */
#ifndef TSRI_NET_H
#define TSRI_NET_H

#include "backend/loss.h"
#include "backend/op.h"
#include "data/dataset.h"
#include "io/config.h"

enum { TSRI_PARAM_DIMS = 4, TSRI_NAME = 64 };

typedef struct tsri_axis {
    char name[TSRI_NAME]; /* "input", "hidden.0", "output" */
    int64_t size;
    int64_t full;  /* as the model makes it; more than `size` in a pruned network (widths.h) */
    bool cuttable; /* shares may pick on it: not the input, not the output */
    bool stream;   /* between the blocks of a residual net, where sums tie all layers of a stage
                      together: tickets may cut it, workers' shares keep it whole */
    int stage;     /* of a convolutional model, from 1; 0 = belongs to none */
    bool inner;    /* between the two convolutions of a pair: a residual block, or two neighbours of
                      a plain net. What LoFT cuts and tickets prune (subnet/filters.h) */
    bool strided;  /* the first of the pair has a stride above 1 */
} tsri_axis;

typedef enum tsri_role {
    TSRI_TRAINED, /* has a gradient and momentum */
    TSRI_FIXED,   /* part of the model, never changed */
    TSRI_BUFFER,  /* running statistics: changed by forward */
    TSRI_COUNT    /* norm's num_batches_tracked: one number, I64 in files (PyTorch's layout) */
} tsri_role;

typedef enum tsri_init {
    TSRI_INIT_ZERO,
    TSRI_INIT_ONE,
    TSRI_INIT_NORMAL, /* N(0, sigma^2) from the stream (INIT, number of the parameter) */
    TSRI_INIT_SIGN,   /* sigma or -sigma, each with chance 1/2, from the same stream */
    TSRI_INIT_HALVES /* of each row half are sigma, half -sigma, in an order from the same stream */
} tsri_init;

typedef struct tsri_param {
    char name[TSRI_NAME]; /* PyTorch's: "layers.0.weight" */
    tsri_role role;
    int dims;
    int64_t shape[TSRI_PARAM_DIMS];
    int axis[TSRI_PARAM_DIMS];      /* axis of each dimension; -1 = none (a kernel's height) */
    int64_t inner[TSRI_PARAM_DIMS]; /* dimension = axis size x inner (flattened pixels); else 1 */
    int64_t count;                  /* product of the shape */
    int64_t offset;                 /* into the store's vector */
    tsri_filter_order filters;      /* how it lies in memory; in files as TSRI_OIHW */
    tsri_init init;
    double sigma;
    int64_t stream; /* of its random numbers: its number among the parameters, unless set */
} tsri_param;

typedef struct tsri_value {
    tsri_shape shape;
    int axis; /* of its channels */
} tsri_value;

typedef struct tsri_layer {
    tsri_kind kind;
    char name[TSRI_NAME];                 /* "layers.0" */
    int in, out;                          /* values */
    int add;                              /* add, gate: the second value; -1 = none */
    int weight, bias, mean, var, tracked; /* parameters; -1 = none */
    double eps, momentum;                 /* norm */
    int64_t size, stride, pad;            /* conv and pooling */
    double scale;                         /* linear: y = scale x W^T + b; recurrent likewise */
    bool each;                            /* linear: at each position of a sequence */
    double
        share_scale; /* the same in a share; 0 = scale / xi, see subnet/cut.h. A builder sets both;
                           the whole's own factor comes later (tsri_net_expect) */
} tsri_layer;

typedef struct tsri_net {
    tsri_axis *axis;
    tsri_param *param; /* in the order of the layers */
    tsri_value *value; /* value 0 is the input, the last one the output */
    tsri_layer *layer;
    int64_t axes, params, values, layers;
    int64_t axes_room, params_room, values_room, layers_room;
    int64_t trained; /* numbers with a gradient: the first ones of the store's vector */
    int64_t total;   /* all numbers */
    tsri_shape input;
    int entry; /* the value that comes from outside: 0, except in a part cut off by depth (depth.h) */
    bool entry_relu; /* of a part: a linear layer and its ReLU made that value */
    bool entry_gate; /* or a gate */
    bool gated;      /* has gates, or is a part of a net that has */
    int64_t outputs; /* of a sample: of a sequence that is read at every position, those of all */
    int64_t first;   /* position whose outputs the loss sees first, from 0 */
    tsri_filter_order filters; /* how they lie in memory: the backend's choice */
    tsri_conv_choice conv;
    bool bf16; /* operands of convolutions and linear layers are rounded (backend/bf16.h) */
    bool skip_relu, skip_gates; /* products skip what these left at 0 */
    const char *place; /* of the model's name in the run file, for messages while it is built */
    const char *widths, *widths_place; /* model.widths and where it stands, likewise */
} tsri_net;

/* The network that config's `model:` section describes, for samples of shape `input`, its filters
 * in memory as the backend wants them (backend->can.filters). The caller destroys *out. USAGE
 * with the place in the run file when it cannot be. */
tsr_status tsri_net_create(tsri_net **out, const tsr_config *config, tsri_shape input,
                           int64_t outputs, tsri_filter_order filters);
void tsri_net_destroy(tsri_net *net);

/* A copy, to be changed. The caller destroys *out. */
tsr_status tsri_net_copy(tsri_net **out, const tsri_net *net);

/* Scales layers with a share_scale so that the whole computes what shares compute on average, when
 * each unit is in a share with this chance. */
void tsri_net_expect(tsri_net *net, double chance);

/* The same with a builder of the caller's own instead of a model's: for tests. */
tsr_status tsri_net_build(tsri_net **out, const tsr_config *config, tsri_shape input,
                          int64_t outputs, tsri_filter_order filters,
                          tsr_status (*build)(tsri_net *net));

/* Gives every parameter its place in the store, by shapes and roles: the last step of building a
 * net. */
void tsri_net_finish(tsri_net *net);

/* The op of layer i for a batch of n: kind, shapes, window. The plan fills in the rest. */
tsri_op tsri_net_op(const tsri_net *net, int64_t i, int64_t n);

/* Floating-point operations (multiply and add count as two) of one sample's forward pass. */
double tsri_net_flops(const tsri_net *net);

/* The same of a training step, forward and backward; with `gates_known` of a gated net whose gates
 * come from a table (gate_table.h). */
tsr_status tsri_net_step_flops(double *flops, const tsri_net *net, bool gates_known);

/* The parameter with that name, or -1. */
int64_t tsri_net_param(const tsri_net *net, const char *name);

/* ---- For models --------------------------------------------------------------------------- */

/* One model, or family of models, per file, which ends with its row; a line of io/names.h makes it
 * known. What other code must know about a model is a field here: nobody compares its name. */
typedef struct tsri_model {
    const char *name;
    const char *help;
    const char *keys; /* those of `model:` that it reads, between spaces; others must not be set */
    /* Appends axes and layers. */
    tsr_status (*build)(tsri_net *net, const tsr_config *config, const void *of);
    const void *of; /* (optional) what tells it from the others of its family: for its builder */

    /* Of its data and loss. */
    bool sequences;             /* reads sequences, and nothing else */
    const char *normalize;      /* what data.normalize: auto means; NULL: as the data say */
    bool separate;              /* a point that has two labels is refused */
    const tsri_loss_kind *loss; /* what loss: auto means; NULL: cross_entropy for classes, for real
                                   targets the next */
    const tsri_loss_kind *target_loss; /* NULL: mse */
    bool keeps_best;                   /* optim.keep: auto means best when batches are drawn */

    /* Of its form. */
    bool one_hidden;  /* one hidden layer, linear or a convolution, the second fixed: its kernel of
                         infinite width is known */
    bool gated;       /* has fixed gates */
    const char *twin; /* (optional) the gated model of the same form, or the one with ReLUs */
    /* (optional, both or none) its first convolution and its last linear layer, as files of other
     * tools call them too: from their shapes an import tells width, stem and outputs */
    const char *first, *last;
    int64_t side; /* of the images that an import takes it for; 0 = as its stem says */

    const char *paper; /* (optional) whose theorems speak of it: name of a tsri_paper */
} tsri_model;

extern const tsri_model *const tsri_models[]; /* NULL at the end */

/* The one that the config names. */
const tsri_model *tsri_model_of(const tsr_config *config);

/* By its name; NULL when there is none. */
const tsri_model *tsri_model_named(const char *name);

/* What the config's model and loss want of data. */
tsri_wants tsri_model_wants(const tsr_config *config);

tsr_status tsri_net_axis(tsri_net *net, int *axis, int64_t size, bool cuttable, const char *fmt,
                         ...) TSR_PRINTF(5, 6);

/* Can a ticket lose units on it? */
static inline bool tsri_axis_prunable(const tsri_axis *axis)
{
    return axis->cuttable || axis->stream;
}

/* The same for a stream between blocks. */
tsr_status tsri_net_stream(tsri_net *net, int *axis, int64_t size, const char *fmt, ...)
    TSR_PRINTF(4, 5);

/* The same for an axis between the two convolutions of a pair, which may be cut. */
tsr_status tsri_net_inner(tsri_net *net, int *axis, int64_t size, int stage, bool strided,
                          const char *name);

/* Each appends one layer after value `in` and gives its output value. Weights start as
 * N(0, gain / inputs), biases as 0. */
tsr_status tsri_net_linear(tsri_net *net, int *out, int in, int axis, bool bias, double gain,
                           const char *name);

/* A linear layer of weights +-scale that are never trained, without bias. (With signs as many plus
 * as minus in each row: set the last parameter's init to TSRI_INIT_HALVES.) */
tsr_status tsri_net_fixed(tsri_net *net, int *out, int in, int axis, double scale,
                          const char *name);

/* For sequences: a linear layer without bias at each position, its parameter called `name`; the
 * recurrence over its outputs; and the two ways out of a sequence, the last position or all of
 * them. Weights start as N(0, variance), those not `trained` are fixed. */
tsr_status tsri_net_each(tsri_net *net, int *out, int in, int axis, double variance, bool trained,
                         const char *name);
tsr_status tsri_net_recurrent(tsri_net *net, int *out, int in, double variance, const char *name);
tsr_status tsri_net_last(tsri_net *net, int *out, int in, const char *name);
tsr_status tsri_net_turn(tsri_net *net, int *out, int in, const char *name);

tsr_status tsri_net_norm(tsri_net *net, int *out, int in, const char *name);
tsr_status tsri_net_relu(tsri_net *net, int *out, int in, const char *name);

/* Any kind that is pointwise (backend/op.h): no parameters, the shape stays. */
tsr_status tsri_net_pointwise(tsri_net *net, int *out, int in, tsri_kind kind, const char *name);

/* x where `gate` is above 0, else 0. */
tsr_status tsri_net_gate(tsri_net *net, int *out, int in, int gate, const char *name);
tsr_status tsri_net_conv(tsri_net *net, int *out, int in, int axis, int64_t size, int64_t stride,
                         int64_t pad, bool bias, double gain, const char *name);
tsr_status tsri_net_add(tsri_net *net, int *out, int in, int add, const char *name);
tsr_status tsri_net_pool(tsri_net *net, int *out, int in, tsri_kind kind, int64_t size,
                         int64_t stride, int64_t pad, const char *name); /* MAXPOOL or AVGPOOL */
tsr_status tsri_net_global(tsri_net *net, int *out, int in, const char *name);
tsr_status tsri_net_flatten(tsri_net *net, int *out, int in, const char *name);

#endif
