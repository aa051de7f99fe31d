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

#include "backend/device.h"
#include "io/safetensors.h"
#include "net/net.h"

#include <assert.h>

/* The vectors. The first three go with a unit: in shares, on the wire. */
typedef enum tsri_vector {
    TSRI_WEIGHTS,
    TSRI_MOMENTUM,
    TSRI_VARIANCE,
    TSRI_VECTORS,
    TSRI_GRADIENT = TSRI_VECTORS
} tsri_vector;

typedef struct tsri_store {
    const tsri_net *net;
    const tsri_backend *backend; /* that computes with it */
    const tsri_heap *heap;       /* of the backend, or the host's */
    int64_t real_bytes;          /* 4, or 8 for the gradient tests */
    tsri_mem *w, *g, *v;         /* g and v NULL when only inference is wanted */
    tsri_mem *s;                 /* NULL without Adam */
    int64_t room, room_trained;  /* numbers for which w, and g, v and s, have memory */
} tsri_store;

/* Zeroed vectors; `training` also makes g and v. */
tsr_status tsri_store_init(tsri_store *store, const tsri_net *net, const tsri_backend *backend,
                           bool training);
/* A store in the host's own memory, of floats, for inference: for host code that needs one. */
tsr_status tsri_store_init_host(tsri_store *store, const tsri_net *net);
/* Gives a store for training s, zeroed. */
tsr_status tsri_store_add_variance(tsri_store *store);
void tsri_store_fini(tsri_store *store);

/* Fits the store to a network whose size has changed (subnet/cut.h): takes more memory if there is
 * too little. The numbers are undefined afterwards. */
tsr_status tsri_store_fit(tsri_store *store);

/* Sets momentum and variance back to zero. */
tsr_status tsri_store_forget(tsri_store *store);

/* The initial weights of `seed`: parameter p from the stream (INIT, p). */
tsr_status tsri_store_fill(tsri_store *store, uint64_t seed);

static inline tsri_mem *tsri_store_vector(const tsri_store *store, tsri_vector which)
{
    tsri_mem *const vector[] = {store->w, store->v, store->s, store->g};
    return vector[which];
}

/* Where parameter p's numbers are in one of the vectors. */
tsri_mem *tsri_store_at(const tsri_store *store, tsri_mem *vector, int64_t p);

/* to = the numbers of `from`, a store of the same network: weights, statistics, counts. */
tsr_status tsri_store_copy(tsri_store *to, const tsri_store *from);

/* ---- Seen from the host -------------------------------------------------------------------- */

/* The vectors of a store as the host sees them, until they are closed. */
typedef struct tsri_opened {
    const tsri_net *net;
    int64_t real_bytes;
    void *w, *v, *s, *g; /* NULL = not asked for, or the store has none */
    tsri_mapping mapping[TSRI_VECTORS + 1];
} tsri_opened;

enum {
    TSRI_OPEN_WEIGHTS = 1 << TSRI_WEIGHTS,
    TSRI_OPEN_GRADIENT = 1 << TSRI_GRADIENT,
    TSRI_OPEN_STATE = 1 << TSRI_MOMENTUM | 1 << TSRI_VARIANCE, /* of the optimiser */
    TSRI_OPEN_UNITS = TSRI_OPEN_WEIGHTS | TSRI_OPEN_STATE
};

/* The vectors of `which`, an or of the above. Changes of the host reach the device with save. Close
 * after a failure of open, too. */
tsr_status tsri_store_open(tsri_opened *host, const tsri_store *store, int which);
tsr_status tsri_store_save(const tsri_opened *host);
void tsri_store_close(tsri_opened *host);

/* Where parameter p's numbers are in one of the host's vectors. */
static inline void *tsri_opened_at(const tsri_opened *host, void *vector, int64_t p)
{
    return (char *)vector + host->net->param[p].offset * host->real_bytes;
}

static inline void *tsri_opened_vector(const tsri_opened *host, tsri_vector which)
{
    return host->mapping[which].host;
}

/* The weights of a store that is the host's own (tsri_store_init_host). */
static inline float *tsri_store_own(const tsri_store *store)
{
    assert(store->heap == &tsri_heap_host);
    return tsri_mem_bind(store->w);
}

/* to [total or trained] = one of the vectors, and back. */
tsr_status tsri_store_read(void *to, const tsri_store *store, tsri_vector which);
tsr_status tsri_store_write(tsri_store *store, tsri_vector which, const void *from);

/* The first number of w that is not finite, as parameter and index. */
tsr_status tsri_store_nonfinite(bool *found, const tsri_store *store, int64_t *p, int64_t *index);

/* ---- From files ---------------------------------------------------------------------------- */

/* Does the file hold this network? Names and shapes only, as tsri_store_load wants them: what fits
 * takes no more memory than the file. BAD_FILE otherwise. */
tsr_status tsri_store_check(const tsri_net *net, const tsri_tensors *file, const char *prefix,
                            const char *path);

/* Reads a model from a file (image.h writes them): every parameter must be there with its shape
 * (F32, F64, BF16 and F16 are converted); a name that starts with `prefix` and is not the model's
 * is refused. num_batches_tracked may be missing. `path` is for messages. */
tsr_status tsri_store_load(tsri_store *store, const tsri_tensors *file, const char *prefix,
                           const char *path);

/* The same for parameter p alone, from a tensor of its shape. */
tsr_status tsri_store_load_param(tsri_store *store, int64_t p, const tsri_tensor *tensor,
                                 const char *path);

/* The same for momentum or variance: "<prefix><name>" of every trained parameter. */
tsr_status tsri_store_load_trained(tsri_store *store, tsri_vector which, const tsri_tensors *file,
                                   const char *prefix, const char *path);

#endif
