/* space_parts.h - what the files of the space of samples share: space_make.c (when it fits, what it
 * is made of) and space.c (loss, weights, a round). See space.h. */
#ifndef TSRI_SPACE_PARTS_H
#define TSRI_SPACE_PARTS_H

#include "base/pieces.h"
#include "scheme/space.h"
#include "subnet/put.h"

/* Parameters of the network of this space. */
enum { TSRI_SPACE_Z, TSRI_SPACE_ALPHA, TSRI_SPACE_SIGN, TSRI_SPACE_PARAMS };

/* Sums and gradients over the samples, of one worker or of the whole. */
typedef struct tsri_space_scratch {
    float *f, *df;          /* [columns] outputs, gradient of the loss; after n zero */
    float *c;               /* [columns] */
    double *total;          /* [columns] */
    float *table;           /* NULL for the whole, which takes no step */
    int64_t chunks, *chunk; /* [chunks + 1] of units, as in tsri_samples */
} tsri_space_scratch;

/* One worker of a round. */
typedef struct tsri_space_member {
    tsri_space *space;
    tsri_share share; /* those of its units that are awake */
    int64_t drawn;    /* units of its share, asleep ones too */
    tsri_net *net;    /* as large as the whole when made; resized in every round */
    tsri_store store;
    tsri_space_scratch s;
    double *loss; /* [local_steps] */
    bool idle;
    tsr_status st;
} tsri_space_member;

struct tsri_space {
    tsri_run *run;
    const tsri_draw *draw;
    const tsri_samples_ops *ops;
    int64_t n, d, columns, groups;
    float *x;       /* [n, d] */
    float *gram;    /* [columns, columns] <x_i, x_j> */
    float *first;   /* [m, d] weights at the start */
    uint8_t *awake; /* [m] 0 = off for every sample: a unit that will never move again */
    double scale;   /* 1/sqrt(m), of a share's outputs */
    double whole;   /* the same of the whole network: with its factor xi */
    tsri_net *net;  /* z, alpha, sign */
    tsri_store store;
    tsri_space_member *member; /* [workers] */
    tsri_put put;
    tsri_owner *owner;
    tsri_space_scratch s;
};

static inline int64_t tsri_space_chunks(int64_t units)
{
    return tsri_ceil_div(units, TSRI_SAMPLES_CHUNK);
}

/* z, alpha or sign of the space: stores of the host's own memory. */
static inline float *tsri_space_numbers(const tsri_store *store, int64_t p)
{
    return tsri_mem_bind(tsri_store_at(store, store->w, p));
}

/* The host's own, for a backend of this machine's processors: the only ones with such steps. */
static inline tsri_mem *tsri_space_mem(void *host)
{
    return tsri_mem_bound(host);
}

/* Units whose z is not above 0 for any sample get awake = 0. */
static inline void tsri_space_find_sleepers(tsri_space *space)
{
    space->ops->awake(space->awake, tsri_space_numbers(&space->store, TSRI_SPACE_Z),
                      space->net->param[TSRI_SPACE_SIGN].count, space->columns);
}

#endif
