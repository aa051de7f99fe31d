/* backend.h - the table of operations at the level the algorithms speak.
 *
 * `ref` is plain C: slow, obvious, permanent, the definition of every operation and the oracle of
 * every test; it exists in float and in double. `cpu` is the fast one, with channels last.
 */
#ifndef TSRI_BACKEND_H
#define TSRI_BACKEND_H

#include "backend/draw.h"
#include "backend/heap.h"
#include "backend/loss.h"
#include "backend/op.h"
#include "backend/samples.h"
#include "backend/slices.h"
#include "backend/tangents.h"
#include "backend/vectors.h"

/* The loss of a batch of outputs, and its gradient. Outputs may be those of several positions of a
 * sequence, one after the other; the loss of a sample is then the mean (where the kind is a sum,
 * the sum) over the positions from `first` to its end. A label holds at every position. */
typedef struct tsri_loss {
    const tsri_loss_kind *kind;
    int64_t n;         /* rows of x */
    int64_t valid;     /* samples among them; further rows do not count and get a zero gradient */
    int64_t outputs;   /* columns of x: positions x outputs of one position */
    int64_t positions; /* 0 = 1 */
    int64_t first;     /* position that counts, from 0 */
    const int32_t *length; /* [n] positions of each sample, or NULL: all */
    const void *x;         /* [n, outputs] */
    const int32_t *label;  /* [n], or NULL */
    const float *target;   /* [n, outputs], used when label is NULL */
    double smoothing; /* where the kind softens: part of each label given to all classes alike */
    const double *weight;      /* likewise: [outputs of one position] of the classes, or NULL: 1 */
    const double *weight_mean; /* with weights: their mean over the labels of the whole batch */
    void *dx;                  /* [n, outputs]; NULL when only the value is wanted */
    tsri_mem *tally;           /* a tsri_tally is written there, to be read later */
} tsri_loss;

/* What a loss comes to, in the device's memory until somebody reads it. */
typedef struct tsri_tally {
    double sum;   /* over the valid samples (see tsri_loss_value) */
    int64_t hits; /* samples whose largest output (at their last position) is their label; of one
                     output: whose margin is above 0 */
} tsri_tally;

/* The loss of the batch: its mean over the samples, or its sum where the kind says so. */
double tsri_loss_value(const tsri_loss *loss, const tsri_tally *tally);

/* The optimiser's numbers of one step, in memory that the device reads: a recorded step is replayed
 * with new ones (optim/optim.h makes them). */
typedef struct tsri_dials {
    double rate; /* of SGD */
    struct tsri_adam_factors {
        double shrink;            /* w is multiplied by it first */
        double decay;             /* of w, added to the gradient */
        double new1, keep2, new2; /* 1 - beta1, beta2, 1 - beta2 */
        double rate;              /* without the bias of v */
        double root;              /* what sqrt(s) is divided by: its bias */
        double epsilon;
    } adam;
} tsri_dials;

/* One step of SGD on `count` numbers, PyTorch's definition:
 *     g = dw + decay w;   v = momentum v + g;   w -= rate (nesterov ? g + momentum v : v)        */
typedef struct tsri_update {
    int64_t count;
    tsri_mem *w, *v;
    const tsri_mem *dw;
    const tsri_mem *dials; /* tsri_dials: the rate */
    double momentum, decay;
    bool nesterov;
} tsri_update;

/* A step of Adam on `count` numbers, PyTorch's definition; its factors follow from the rule and the
 * number of the step (optim/optim.h):
 *     g = dw + decay w                        decoupled (AdamW): g = dw, and w *= 1 - rate decay
 *     v += (1 - beta1) (g - v);   s = beta2 s + (1 - beta2) g^2
 *     w -= rate / (1 - beta1^step) v / (sqrt(s) / sqrt(1 - beta2^step) + epsilon)               */
typedef struct tsri_adam {
    int64_t count;
    tsri_mem *w, *v, *s;
    const tsri_mem *dw;
    const tsri_mem *dials; /* tsri_dials: the factors */
} tsri_adam;

/* What a backend's kernels can do beyond what each must: plans ask before they rely on it. */
typedef struct tsri_abilities {
    bool reads_host;    /* read the host's memory: batches need not be copied */
    bool channels_last; /* images are [N, H, W, C] */
    tsri_filter_order filters;
    bool virtual_norms; /* a conv reads through a norm and its ReLU that are not stored (op->pre) */
    bool fused_gates;   /* a linear layer applies the gates of its outputs itself */
    bool skips_zeros;   /* products skip what the gates of their inputs say is off */
    bool counts;        /* norms count batches themselves (op->tracked) */
    uint32_t narrow;    /* kinds (1 << kind) whose values may lie as bf16 under precision: bf16 */
    bool feeds;  /* the op that makes a narrow value makes the statistics of a norm after it */
    int lingers; /* ops that may follow in backward while x and dy are still read */
} tsri_abilities;

/* (optional) Work that is recorded instead of done, and can then be replayed any number of times:
 * with the same addresses, and whatever numbers are there by then. */
typedef struct tsri_tape_ops {
    tsr_status (*begin)(tsri_device device);
    tsr_status (*end)(void **tape, tsri_device device); /* also after a failure in between */
    tsr_status (*play)(void *tape, tsri_device device);
    void (*forget)(void *tape);
} tsri_tape_ops;

/* (optional) Queues beside the one that all share, for work that does not depend on each other:
 *
 *     TSR_TRY(ops->enter(queue));    what this thread calls now goes there, after all that was called
 *     ...                            on the shared queue before
 *     TSR_TRY(ops->leave(queue));    and what is called on the shared one next comes after it
 */
typedef struct tsri_queue_ops {
    tsr_status (*make)(void **queue);
    void (*drop)(void *queue); /* NULL is fine */
    tsr_status (*enter)(void *queue);
    tsr_status (*leave)(void *queue);
} tsri_queue_ops;

struct tsri_backend {
    const char *name;
    int64_t real_bytes; /* 4 or 8 */
    const tsri_heap *heap;
    tsri_abilities can;
    const tsri_kernel *const *kernels; /* fastest first, NULL at the end */
    /* (optional) Before a pass: the packed weights of the ops that asked for some. */
    tsr_status (*pack)(tsri_op *const *op, int64_t count, tsri_device device);
    /* (optional) Computes what there is no kernel for: a backend of this machine's processors, with
     * the same type and layout. */
    const struct tsri_backend *lender;
    tsr_status (*loss)(const tsri_loss *loss, tsri_device device);
    tsr_status (*update)(const tsri_update *update, tsri_device device);
    tsr_status (*adam)(const tsri_adam *adam, tsri_device device);
    const tsri_vector_ops *vectors;
    const tsri_slices_ops *slices;
    tsr_status (*input)(tsri_mem *to, const float *x, int64_t n, tsri_shape shape,
                        tsri_layout layout, tsri_device device);
    tsr_status (*count)(tsri_mem *counter, tsri_device device);
    tsr_status (*draw)(const tsri_drawing *drawing, tsri_device device); /* (optional) */
    const tsri_tape_ops *tape;                                           /* (optional) */
    const tsri_queue_ops *queues;                                        /* (optional) */
    tsr_status (*wait)(tsri_device device); /* (optional) until all that was called is done */
    const tsri_samples_ops *samples;        /* (optional) */
    const tsri_tangent_ops *tangents;       /* (optional) */
    tsr_status (*start)(int threads); /* (optional) checks of the vendor's library, once per run */
    const char *(*vendor)(void);      /* (optional) library and kernel class, for checkpoints */
    const char *(*chip)(void);        /* (optional) the name of a chip of its own */
    const char *(*lacks_bf16)(void);  /* (optional) why bf16 is of no use here, as the end of
                                         "precision: bf16 ..."; NULL = it is */
};

#define X(name) extern const tsri_backend tsri_backend_##name;
TSRI_BACKEND_NAMES(X)
#undef X
extern const tsri_backend tsri_backend_ref64; /* double: for finite differences */

/* input and count of backends on this machine (device.h). */
tsr_status tsri_input_float(tsri_mem *to, const float *x, int64_t n, tsri_shape s,
                            tsri_layout layout, tsri_device device);
tsr_status tsri_input_double(tsri_mem *to, const float *x, int64_t n, tsri_shape s,
                             tsri_layout layout, tsri_device device);
tsr_status tsri_count_float(tsri_mem *counter, tsri_device device);
tsr_status tsri_count_double(tsri_mem *counter, tsri_device device);

/* Makes a backend from outside (a module, a test) known by its name, ahead of our own; NULL takes
 * it back. Only before the first run: threads of runs may be looking names up. */
void tsri_backend_offer(const tsri_backend *backend);

/* By its name in the run file: one of the library's own, or a module's, which is then loaded
 * (module.h). It is not started; `auto` is (auto.c). */
tsr_status tsri_backend_find(const tsri_backend **out, const char *name);

/* What `backend: auto` means in this process: the first module whose device answers, started, or
 * cpu. It is found out, and reported, once. *why (may be NULL) = the reason, as a clause of a
 * sentence; it belongs to the library. */
const tsri_backend *tsri_backend_auto(const char **why);

/* Is it the name of that choice? */
bool tsri_backend_is_auto(const char *name);

/* Is it the name of a module, which not every machine has? */
bool tsri_backend_is_module(const char *name);

/* Chooses a kernel for op->kind and sets it up: the backend's own, or, of a kind that is pointwise,
 * the reference's. */
tsr_status tsri_op_setup(tsri_op *op, const tsri_backend *backend);
void tsri_op_teardown(tsri_op *op);

/* "ref", or the backend's name with what its library says of itself: two runs with the same text
 * give the same bits. The text belongs to the backend. */
const char *tsri_backend_vendor(const tsri_backend *backend);

/* The chip that computes, by its maker's name; NULL: this machine's processors. */
const char *tsri_backend_chip(const tsri_backend *backend);

#endif
