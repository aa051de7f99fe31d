/* backend.h - the table of operations at the level the algorithms speak.
 *
 * `ref` is plain C: slow, obvious, permanent, the definition of every operation and the oracle of
 * every test; it exists in float and in double. `cpu` is the fast one, with channels last.
 */
#ifndef TSRI_BACKEND_H
#define TSRI_BACKEND_H

#include "backend/heap.h"
#include "backend/loss.h"
#include "backend/op.h"
#include "backend/samples.h"
#include "backend/vectors.h"

/* The loss of a batch of outputs, and its gradient. Outputs may be those of several positions of a
 * sequence, one after the other; the loss of a sample is then the mean (where the kind is a sum,
 * the sum) over the positions from `first` to its end. A label holds at every position. */
typedef struct tsri_loss {
    const tsri_loss_kind *kind;
    int64_t n;         /* rows of x */
    int64_t valid;     /* samples among them; rows behind do not count and get a zero gradient */
    int64_t outputs;   /* columns of x: positions x outputs of one position */
    int64_t positions; /* 0 = 1 */
    int64_t first;     /* position that counts, from 0 */
    const int32_t *length; /* [n] positions of each sample, or NULL: all */
    const void *x;         /* [n, outputs] */
    const int32_t *label;  /* [n], or NULL */
    const float *target;   /* [n, outputs], used when label is NULL */
    double smoothing; /* where the kind softens: part of each label given to all classes alike */
    const double *weight; /* likewise: [outputs of one position] of the classes, or NULL: 1 */
    double weight_mean;   /* with weights: their mean over the labels of the whole batch */
    void *dx;             /* [n, outputs]; NULL when only the value is wanted */
    double sum;           /* out: loss summed over the valid samples (see tsri_loss_value) */
    int64_t hits;         /* out: samples whose largest output (at their last position) is their
                             label; of one output: whose margin is above 0 */
} tsri_loss;

/* The loss of the batch: its mean over the samples, or its sum where the kind says so. */
double tsri_loss_value(const tsri_loss *loss);

/* One step of SGD on `count` numbers, PyTorch's definition:
 *     g = dw + decay w;   v = momentum v + g;   w -= rate (nesterov ? g + momentum v : v)        */
typedef struct tsri_update {
    int64_t count;
    tsri_mem *w, *v;
    const tsri_mem *dw;
    double rate, momentum, decay;
    bool nesterov;
} tsri_update;

/* Step `step` (the first is 1) of Adam on `count` numbers, PyTorch's definition:
 *     g = dw + decay w                        decoupled (AdamW): g = dw, and w *= 1 - rate decay
 *     v += (1 - beta1) (g - v);   s = beta2 s + (1 - beta2) g^2
 *     w -= rate / (1 - beta1^step) v / (sqrt(s) / sqrt(1 - beta2^step) + epsilon)               */
typedef struct tsri_adam {
    int64_t count;
    tsri_mem *w, *v, *s;
    const tsri_mem *dw;
    double rate, beta1, beta2, epsilon, decay;
    bool decoupled;
    int64_t step;
} tsri_adam;

/* What the numbers have in common: computed in double, once, the same for every backend. */
typedef struct tsri_adam_factors {
    double shrink;            /* w is multiplied by it first */
    double decay;             /* of w, added to the gradient */
    double new1, keep2, new2; /* 1 - beta1, beta2, 1 - beta2 */
    double rate;              /* without the bias of v */
    double root;              /* what sqrt(s) is divided by: its bias */
    double epsilon;
} tsri_adam_factors;

tsri_adam_factors tsri_adam_factors_of(const tsri_adam *adam);

/* How a batch lies in memory when it comes into a network. */
typedef enum tsri_layout {
    TSRI_AS_GIVEN,       /* [N, C, H, W], as the loader makes it */
    TSRI_CHANNELS_LAST,  /* [N, H, W, C] */
    TSRI_POSITIONS_FIRST /* sequences: [T, N, C] of [N, T, C] */
} tsri_layout;

typedef struct tsri_backend {
    const char *name;
    int64_t real_bytes; /* 4 or 8 */
    const tsri_heap *heap;
    bool reads_host;    /* kernels can read the host's memory: batches need not be copied */
    bool skips;         /* linear layers take gates fused, and skip what is off */
    bool channels_last; /* images are [N, H, W, C], filters [size, size, in, out]; and a
                           conv can read through a virtual norm */
    const tsri_kernel *const *kernels; /* fastest first, NULL at the end */
    tsr_status (*loss)(tsri_loss *loss, tsri_pool *pool);
    tsr_status (*update)(const tsri_update *update, tsri_pool *pool);
    tsr_status (*adam)(const tsri_adam *adam, tsri_pool *pool);
    const tsri_vector_ops *vectors;
    tsr_status (*input)(tsri_mem *to, const float *x, int64_t n, tsri_shape shape,
                        tsri_layout layout);
    tsr_status (*count)(tsri_mem *counter);
    const tsri_samples_ops *samples;  /* (optional) */
    tsr_status (*start)(int threads); /* (optional) checks of the vendor's library, once per run */
    const char *(*vendor)(void);      /* (optional) library and kernel class, for checkpoints */
    bool (*bf16)(void); /* (optional) is training with bf16 worth while here? NULL = it is */
} tsri_backend;

extern const tsri_backend tsri_backend_ref;
extern const tsri_backend tsri_backend_ref64; /* double: for finite differences */
extern const tsri_backend tsri_backend_cpu;

/* input and count of backends on this machine (device.h). */
tsr_status tsri_input_float(tsri_mem *to, const float *x, int64_t n, tsri_shape s,
                            tsri_layout layout);
tsr_status tsri_input_double(tsri_mem *to, const float *x, int64_t n, tsri_shape s,
                             tsri_layout layout);
tsr_status tsri_count_float(tsri_mem *counter);
tsr_status tsri_count_double(tsri_mem *counter);

/* By its name in the run file; NULL when there is none. */
const tsri_backend *tsri_backend_find(const char *name);

/* Chooses a kernel for op->kind and sets it up. */
tsr_status tsri_op_setup(tsri_op *op, const tsri_backend *backend);
void tsri_op_teardown(tsri_op *op);

/* "ref", or the backend's name with what its library says of itself: two runs with the same text
 * give the same bits. The text belongs to the backend. */
const char *tsri_backend_vendor(const tsri_backend *backend);

#endif
