/* backend.h - the table of operations at the level the algorithms speak.
 *
 * `ref` is plain C: slow, obvious, permanent, the definition of every operation and the oracle of
 * every test; it exists in float and in double. `cpu` is the fast one, with channels last.
 */
#ifndef TSRI_BACKEND_H
#define TSRI_BACKEND_H

#include "backend/op.h"
#include "backend/samples.h"

typedef enum tsri_loss_kind {
    TSRI_CROSS_ENTROPY, /* mean over samples of -log softmax(x)[label]; with smoothing and weights
                           of classes as in PyTorch: weights divided by their mean          */
    TSRI_MSE,           /* mean over samples and outputs of (x - target)^2; labels one-hot   */
    TSRI_HALF_SQUARES,  /* 1/2 sum over samples and outputs of the same: a sum, not a mean, and so
                           is its gradient                                                   */
    TSRI_HUBER,         /* mse's mean of d^2/2 where |d| <= 1, of |d| - 1/2 beyond           */

    /* Losses l(z) of the margin z = y x, y = +-1: the mean over samples of the sum over outputs.
     * With one output, class 1 is y = +1 and class 0 is y = -1; with several, one against the rest:
     * y = +1 for the output of the sample's class. Targets, where there are no labels, are y
     * themselves. */
    TSRI_HINGE,         /* max(0, 1 - z)                                                     */
    TSRI_SQUARED_HINGE, /* max(0, 1 - z)^2                                                   */
    TSRI_EXPONENTIAL,   /* e^-z; below z = -80, where no float could hold it, its tangent    */
    TSRI_LOGISTIC       /* log(1 + e^-z)                                                     */
} tsri_loss_kind;

/* Is it a function of margins? */
static inline bool tsri_loss_of_margin(tsri_loss_kind kind)
{
    return kind >= TSRI_HINGE;
}

/* l(z) of such a kind, and *slope = l'(z) unless it is NULL. Finite for every finite z. */
double tsri_margin_loss(tsri_loss_kind kind, double z, double *slope);

/* The loss of a batch of outputs, and its gradient. Outputs may be those of several positions of a
 * sequence, one after the other; the loss of a sample is then the mean (of half squares the sum)
 * over the positions from `first` to its end. A label holds at every position. */
typedef struct tsri_loss {
    tsri_loss_kind kind;
    int64_t n;         /* rows of x */
    int64_t valid;     /* samples among them; rows behind do not count and get a zero gradient */
    int64_t outputs;   /* columns of x: positions x outputs of one position */
    int64_t positions; /* 0 = 1 */
    int64_t first;     /* position that counts, from 0 */
    const int32_t *length; /* [n] positions of each sample, or NULL: all */
    const void *x;         /* [n, outputs] */
    const int32_t *label;  /* [n], or NULL */
    const float *target;   /* [n, outputs], used when label is NULL */
    double smoothing;      /* cross entropy: part of each label given to all classes alike */
    const double *weight;  /* cross entropy: [outputs of one position] of the classes, or NULL: 1 */
    double weight_mean;    /* with weights: their mean over the labels of the whole batch */
    void *dx;              /* [n, outputs]; NULL when only the value is wanted */
    double sum;            /* out: loss summed over the valid samples (see tsri_loss_value) */
    int64_t hits;          /* out: samples whose largest output (at their last position) is their
                              label; of one output: whose margin is above 0 */
} tsri_loss;

/* The loss of the batch: its mean over the samples, or its sum where the kind says so. */
double tsri_loss_value(const tsri_loss *loss);

/* One step of SGD on `count` numbers, PyTorch's definition:
 *     g = dw + decay w;   v = momentum v + g;   w -= rate (nesterov ? g + momentum v : v)        */
typedef struct tsri_update {
    int64_t count;
    void *w, *v;
    const void *dw;
    double rate, momentum, decay;
    bool nesterov;
} tsri_update;

/* Step `step` (the first is 1) of Adam on `count` numbers, PyTorch's definition:
 *     g = dw + decay w                        decoupled (AdamW): g = dw, and w *= 1 - rate decay
 *     v += (1 - beta1) (g - v);   s = beta2 s + (1 - beta2) g^2
 *     w -= rate / (1 - beta1^step) v / (sqrt(s) / sqrt(1 - beta2^step) + epsilon)               */
typedef struct tsri_adam {
    int64_t count;
    void *w, *v, *s;
    const void *dw;
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

typedef struct tsri_backend {
    const char *name;
    int64_t real_bytes; /* 4 or 8 */
    bool skips;         /* linear layers take gates fused, and skip what is off */
    bool channels_last; /* images are [N, H, W, C], filters [size, size, in, out]; and a
                           conv can read through a virtual norm */
    const tsri_kernel *const *kernels; /* fastest first, NULL at the end */
    tsr_status (*loss)(tsri_loss *loss, tsri_pool *pool);
    tsr_status (*update)(const tsri_update *update, tsri_pool *pool);
    tsr_status (*adam)(const tsri_adam *adam, tsri_pool *pool);
    const tsri_samples_ops *samples;  /* (optional) */
    tsr_status (*start)(int threads); /* (optional) checks of the vendor's library, once per run */
    const char *(*vendor)(void);      /* (optional) library and kernel class, for checkpoints */
    bool (*bf16)(void); /* (optional) is training with bf16 worth while here? NULL = it is */
} tsri_backend;

extern const tsri_backend tsri_backend_ref;
extern const tsri_backend tsri_backend_ref64; /* double: for finite differences */
extern const tsri_backend tsri_backend_cpu;

/* By its name in the run file; NULL when there is none. */
const tsri_backend *tsri_backend_find(const char *name);

/* Chooses a kernel for op->kind and sets it up. */
tsr_status tsri_op_setup(tsri_op *op, const tsri_backend *backend);
void tsri_op_teardown(tsri_op *op);

/* "ref", or the backend's name with what its library says of itself: two runs with the same text
 * give the same bits. The text belongs to the backend. */
const char *tsri_backend_vendor(const tsri_backend *backend);

#endif
