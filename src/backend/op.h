/* op.h - one operation of a network, planned: what it computes, on which buffers, by which kernel.
 *
 * The plan (net/plan.h) fills in an op for every layer, asks the backend for a kernel, lays out the
 * memory the kernel asked for, and then only calls forward and backward, thousands of times.
 *
 * Letters: N batch, C channels (or features), H x W pixels. Tensors hold `real` elements: float, or
 * double on the reference backend of the gradient tests.
 */
#ifndef TSRI_OP_H
#define TSRI_OP_H

#include "backend/queue.h"

/* One row per kind of layer: a name, and what others must know of it (tsri_kind_row).
 *
 *     LINEAR      y = scale x W^T + b       W [out, in], b [out] or NULL
 *     CONV        cross-correlation         W by the backend's tsri_filter_order, b or NULL
 *     NORM        y = (x - mean) / sqrt(var + eps) * w + b, per channel
 *     RELU        y = max(x, 0)
 *     ADD         y = x + add
 *     MAXPOOL     largest of each window of size x size
 *     AVGPOOL     mean of each window; padding counts as zeros, as in PyTorch
 *     GLOBALPOOL  mean over all pixels
 *     FLATTEN     [C, H, W] to a vector of C H W, channels outermost
 *     RECURRENT   y_l = max(scale W y_(l-1) + x_l, 0), y_0 = 0; W [C, C]
 *     LAST        the last position of each sequence
 *     TURN        [T, N, C], as sequences are inside a network, to [N, T, C]
 *     GATE        y = x where `add`, the value of its gate, is above 0; else 0
 */
#define TSRI_KIND_LIST(X)                                                                          \
    X(LINEAR, "linear", .torch = "@(#.flatten(1))", .onnx = "Gemm(~, @) alpha=* transB=1")         \
    X(CONV, "conv", .torch = "@(#)", .onnx = "Conv(#, @) %")                                       \
    X(NORM, "norm", .operations = 2, .torch = "@(#)",                                              \
      .onnx = "BatchNormalization(#, @) epsilon=!")                                                \
    X(RELU, "relu", .operations = 1, .pointwise = true, .torch = "F.relu(#)", .onnx = "Relu(#)")   \
    X(ADD, "add", .operations = 1, .torch = "# + &", .onnx = "Add(#, &)")                          \
    X(MAXPOOL, "maxpool", .torch = "F.max_pool2d(#, %)", .onnx = "MaxPool(#) %")                   \
    X(AVGPOOL, "avgpool", .torch = "F.avg_pool2d(#, %)",                                           \
      .onnx = "AveragePool(#) % count_include_pad=1")                                              \
    X(GLOBALPOOL, "global", .torch = "#.mean((2, 3))", .onnx = "GlobalAveragePool(#)")             \
    X(FLATTEN, "flatten", .torch = "#.flatten(1)", .onnx = "Flatten(#)")                           \
    X(RECURRENT, "recurrent", .torch = NULL)                                                       \
    X(LAST, "last", .torch = NULL)                                                                 \
    X(TURN, "turn", .torch = NULL, .onnx = "Transpose(#) perm=1,0,2")                              \
    X(GATE, "gate", .operations = 1, .onnx = "Greater(&, 0); Where(^, #, 0)")

typedef enum tsri_kind {
#define X(kind, ...) TSRI_##kind,
    TSRI_KIND_LIST(X)
#undef X
        TSRI_OP_KINDS
} tsri_kind;

typedef struct tsri_kind_row {
    const char *name;
    double operations; /* for each number that it makes; of products, windows and means another
                          count (tsri_op_flops) */
    bool pointwise;    /* y[i] follows from x[i] alone: any layout will do, and a backend without a
                          kernel of its own takes the reference's */
    const char *torch; /* how PyTorch writes it: # is x, & the second value, @ the layer's module,
                          % size, stride and padding; NULL: it cannot be written */
    const char *onnx;  /* the nodes of ONNX that compute it, "Op(inputs) attributes; ...": # is x,
                          ~ the same as [n, C], & the second value, ^ the node before, @ the layer's
                          parameters, 0 a zero; among the attributes % the window, * the layer's
                          scale, ! its eps. NULL: more than its row is needed (export/sequence.c) */
} tsri_kind_row;

const tsri_kind_row *tsri_kind_of(tsri_kind kind);
const char *tsri_kind_name(tsri_kind kind);

/* Of one sample. A vector of features is {C, 1, 1}, a sequence of T positions {C, T, 1}; inside a
 * network sequences have the positions outermost, [T, N, C], so that all that happens at one
 * position is one block of memory. */
typedef struct tsri_shape {
    int64_t c, h, w;
} tsri_shape;

static inline int64_t tsri_shape_count(tsri_shape s)
{
    return s.c * s.h * s.w;
}

/* Values inside a network may lie as bf16 (tsri_abilities: narrow). Their pixels then have channels
 * up to the next multiple of 8, zeros after the last: a pixel begins at a multiple of 16 bytes. */
static inline int64_t tsri_narrow_channels(int64_t c)
{
    return (c + 7) / 8 * 8;
}

static inline int64_t tsri_narrow_bytes(int64_t n, tsri_shape s)
{
    return n * s.h * s.w * tsri_narrow_channels(s.c) * 2;
}

/* How a batch lies in memory when it comes into a network. */
typedef enum tsri_layout {
    TSRI_AS_GIVEN,       /* [N, C, H, W], as the loader makes it */
    TSRI_CHANNELS_LAST,  /* [N, H, W, C] */
    TSRI_POSITIONS_FIRST /* sequences: [T, N, C] of [N, T, C] */
} tsri_layout;

/* How filters lie in memory: out, in, height, width; in files as the first. */
typedef enum tsri_filter_order { TSRI_OIHW, TSRI_HWIO, TSRI_OHWI } tsri_filter_order;

/* How a convolution is computed: by a rule of its shape, or as the run file says. */
typedef enum tsri_conv_choice {
    TSRI_CONV_AUTO,
    TSRI_CONV_DIRECT,
    TSRI_CONV_WINOGRAD
} tsri_conv_choice;

typedef struct tsri_kernel tsri_kernel;

/* Which numbers of a value are on: those of a gate, or those that a ReLU left above 0. Made by the
 * op that makes the value, read by those that may skip what is off. */
typedef struct tsri_gates {
    int64_t n, units, words; /* bit u of sample i is bit u % 64 of word[i * words + u / 64] */
    uint64_t *word;          /* bits after the last unit are 0; for backends only */
    tsri_mem *mem;           /* where the words are */
    bool given;              /* the plan filled them in before forward: the op does not */
    bool entered;            /* the value may come from outside: its reader makes them */
    uint64_t stamp;          /* another one whenever a bit changed; 0 = there are none yet */
    bool skip;               /* products may skip what is off */
    bool dry;                /* to be measured: nothing is taken but what describes them */
    int64_t bytes;           /* of the words and of what the backend knows of them */
    void *inspected;         /* what the backend knows of them */
    void (*forget)(void *inspected);
} tsri_gates;

typedef struct tsri_op {
    /* What is computed. */
    tsri_kind kind;
    int64_t n;                 /* samples in the batch */
    tsri_shape in, out;        /* of x and y           */
    bool training;             /* norm: batch statistics, not running ones, forward and backward */
    bool relu;                 /* y = max(., 0) of the result, fused */
    bool gate;                 /* linear: y = 0 where the gates are off, fused */
    int64_t size, stride, pad; /* of the window of a convolution or pooling */
    tsri_conv_choice conv;
    bool bf16;     /* linear, conv, recurrent: operands are rounded to bf16 (backend/bf16.h) */
    bool narrow_x; /* x and dx lie as bf16, their channels filled up (tsri_narrow_channels) */
    bool narrow_y; /* likewise y, dy, add and dadd */
    bool virtual;  /* norm: y is not stored; its reader applies scale and shift (below) */
    double eps, momentum; /* norm */
    double scale;         /* linear, recurrent; 0 = 1 */
    int64_t positions;    /* linear: the same at each of that many positions; 0 = no sequence */
    bool need_dx;         /* false for the first layer */
    bool dx_add;          /* dx += instead of dx = (another op wrote it before) */
    bool dadd_add;        /* likewise for dadd, which is written after dx */

    /* On which buffers; bound by the plan. */
    const void *x; /* [N, in]: [N, C, H, W], or [N, H, W, C] on a backend with channels last */
    const void
        *add;   /* [N, out] or NULL: y = ... + add (before the ReLU). Its gradient is dy, masked by
                   the ReLU: the plan lets the two share memory, so that backward must leave dy
                   masked and otherwise unchanged; or, for TSRI_ADD alone, it goes to dadd */
    void *y;    /* [N, out] */
    void *dx;   /* [N, in]  */
    void *dy;   /* [N, out]; may be overwritten by backward (but see add) */
    void *dadd; /* [N, out] or NULL: gradient of add, where it has memory of its own */
    const void *w, *b;     /* parameters */
    void *dw, *db;         /* their gradients, written, not added to; NULL = not wanted */
    void *mean, *var;      /* norm: running statistics */
    void *tracked;         /* norm: batches seen, counted by forward; NULL: the plan counts */
    struct tsri_op *feeds; /* conv, add: a norm that reads y; forward makes its statistics on the
                              way, into the norm's `saved` */
    bool fed;              /* norm: its statistics are there */
    const struct tsri_op *source; /* the recurrence that made x, or NULL: its `saved` is there */
    const struct tsri_op *reader; /* the recurrence that alone reads y, or NULL: backward, what it
                                     left in `scratch` is there */
    const int32_t *length;        /* [N] positions of each sequence; NULL = all T */
    const void *pre; /* conv: scale [C] and shift [C] of a virtual norm and its ReLU in front:
                            * the input is max(scale x + shift, 0), 0 in the padding; dx is the
                            * gradient of that */

    tsri_gates *gates;   /* of y, or NULL; of a gate, or of a ReLU whose zeros may be skipped */
    tsri_gates *x_gates; /* of x, or NULL */
    bool skipped;        /* out: the last forward skipped what x_gates say is 0 */

    /* By which kernel, with what memory of its own. */
    const tsri_kernel *kernel;
    int64_t saved_bytes; /* asked for by setup: kept from forward to backward. A norm's begins with
                            scale [C] and shift [C]: y = scale x + shift */
    int64_t scratch_bytes; /* asked for by setup: free for others between two calls */
    int64_t packed_bytes;  /* asked for by setup: weights as products want them. The backend's
                              `pack` fills them before a pass, for all ops at once; of steady
                              weights once, before the first pass */
    int64_t late_bytes;    /* asked for by setup: scratch of work that runs beside what follows */
    void *saved, *scratch, *packed, *late;
    void *state; /* made by setup, freed by teardown */
    tsri_pool *pool;
    void *stream; /* of the device: backend/queue.h */
    int crowd;    /* likewise */
    bool steady;  /* w stays as it is: it was packed before the first pass */
} tsri_op;

/* One implementation of one kind of operation. A backend lists them fastest first; the first that
 * is applicable is used. */
struct tsri_kernel {
    const char *name;
    tsri_kind kind;
    bool backward_needs_x;                 /* x must live until backward */
    bool backward_needs_y;                 /* y must, when there is a ReLU whose mask it is */
    bool (*applicable)(const tsri_op *op); /* (optional) NULL = always */
    tsr_status (*setup)(tsri_op *op);      /* (optional) */
    tsr_status (*forward)(tsri_op *op);
    tsr_status (*backward)(tsri_op *op);
    void (*teardown)(tsri_op *op); /* (optional) */
};

/* Floating-point operations of the forward pass of the whole batch (multiply and add count as
 * two). */
double tsri_op_flops(const tsri_op *op);

#endif
