/* store.h - the numbers of a network: one vector each for parameters, gradients, momentum
 * and, of Adam, the running mean of squared gradients.
 *
 *     w | trained ............ | fixed, running statistics, counts |      net->total
 *     g | trained ............ |                                          net->trained
 *     v | trained ............ |                                          net->trained
 *     s | trained ............ |                                          net->trained
 */
#ifndef TSRI_STORE_H
#define TSRI_STORE_H

#include "io/safetensors.h"
#include "net/net.h"

typedef struct tsri_store {
    const tsri_net *net;
    int64_t real_bytes;         /* 4, or 8 for the gradient tests */
    void *w, *g, *v;            /* g and v NULL when only inference is wanted */
    void *s;                    /* NULL without Adam */
    int64_t room, room_trained; /* numbers for which w, and g, v and s, have memory */
} tsri_store;

/* Zeroed vectors; `training` also makes g and v. */
tsr_status tsri_store_init(tsri_store *store, const tsri_net *net, int64_t real_bytes,
                           bool training);
/* Gives a store for training s, zeroed. */
tsr_status tsri_store_add_variance(tsri_store *store);
void tsri_store_fini(tsri_store *store);

/* The network has another size now (subnet/cut.h): keeps the memory when it is large enough and
 * takes more otherwise. The numbers are whatever they are. */
tsr_status tsri_store_fit(tsri_store *store);

/* Momentum and variance are zero again. */
void tsri_store_forget(tsri_store *store);

/* The initial weights of `seed`: parameter p from the stream (INIT, p). */
void tsri_store_fill(tsri_store *store, uint64_t seed);

/* What numbers go with a unit: in shares, on the wire. */
typedef enum tsri_vector { TSRI_WEIGHTS, TSRI_MOMENTUM, TSRI_VARIANCE, TSRI_VECTORS } tsri_vector;

static inline void *tsri_store_vector(const tsri_store *store, tsri_vector which)
{
    return which == TSRI_WEIGHTS ? store->w : which == TSRI_MOMENTUM ? store->v : store->s;
}

/* Where parameter p's numbers are in one of the vectors. */
void *tsri_store_at(const tsri_store *store, void *vector, int64_t p);

/* Does the file hold this network? Names and shapes only, as tsri_store_load wants them: what fits
 * takes no more memory than the file. BAD_FILE otherwise. */
tsr_status tsri_store_check(const tsri_net *net, const tsri_tensors *file, const char *prefix,
                            const char *path);

/* Reads a model from a file (image.h writes them): every parameter must be there with its shape
 * (F32, F64, BF16 and F16 are converted); a name that starts with `prefix` and is not the model's
 * is refused. num_batches_tracked may be missing. `path` is for messages. */
tsr_status tsri_store_load(tsri_store *store, const tsri_tensors *file, const char *prefix,
                           const char *path);

/* The same for v or s: "<prefix><name>" of every trained parameter. */
tsr_status tsri_store_load_trained(tsri_store *store, void *vector, const tsri_tensors *file,
                                   const char *prefix, const char *path);

/* The first number of w that is not finite, as parameter and index; false when all are finite. */
bool tsri_store_nonfinite(const tsri_store *store, int64_t *p, int64_t *index);

#endif
