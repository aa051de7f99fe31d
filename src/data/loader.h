/* loader.h - batches of a part, prepared ahead.
 *
 * Batch number `step` is a pure function of (seed, step, worker): epoch = step / steps per epoch,
 * and the order of an epoch is a permutation drawn from (ORDER, epoch, worker). A thread may
 * prepare batches ahead; the bytes are the same with and without it. The last samples of an epoch
 * that do not fill a batch wait for another epoch (they are not the same ones each time).
 * With `replacement` every sample of every batch is drawn on its own, uniformly from all: number
 * `row` of (ORDER, step, worker). An epoch is then as many steps as one of a permutation has.
 * Which sample belongs to which shard is drawn from (ORDER, seed), the same for every worker; how
 * an image is changed as augment.h says. Nothing is allocated after create.
 *
 *     TSR_TRY(tsri_loader_create(&loader, data, &data->train, &options));
 *     for (int64_t step = 0; step < steps; step++) {
 *         const tsri_batch *b = NULL;
 *         TSR_TRY(tsri_loader_get(loader, &b, step));       valid until the next get
 *         ...
 *     }
 */
#ifndef TSRI_LOADER_H
#define TSRI_LOADER_H

#include "data/sample.h"

typedef struct tsri_loader_options {
    int64_t batch;        /* samples in a batch; at most n when shuffled */
    uint64_t seed;        /* of the order and of changes   */
    int64_t worker;       /* whose order                   */
    int64_t shard;        /* this worker sees the samples of shard `shard` */
    int64_t shards;       /* of this many (0 of 1 = all); sizes differ by at most one */
    bool shuffle;         /* false: in the order of the data */
    bool replacement;     /* shuffle by independent draws, not by permutations */
    bool prefetch;        /* prepare ahead on a thread     */
    tsri_augment augment; /* of images             */
    bool bare; /* batches say which samples and how they are moved, and have no x: a device that
                  holds the samples makes it (backend/draw.h); not with RandAugment or cutout */
} tsri_loader_options;

typedef struct tsri_batch {
    int64_t n;      /* samples; = options.batch except in the last batch of unshuffled evaluation */
    float *x;       /* [batch, dim]; rows after n are zero; NULL of bare ones */
    int32_t *label; /* [batch] or NULL */
    float *target;  /* [batch, targets] or NULL */
    int32_t *length; /* [batch] or NULL */
    int64_t *index;  /* [batch] which samples; -1 after n */
    int32_t *move;   /* of bare ones that are augmented: [batch, 3] pixels down, pixels right, 1 =
                        mirrored after that; else NULL */
} tsri_batch;

typedef struct tsri_loader tsri_loader;

/* `data` must outlive the loader. USAGE when a batch is more than the shard has, or augmentation is
 * asked for data that is not images. Destroy stops the thread and frees everything; NULL is fine.
 * */
tsr_status tsri_loader_create(tsri_loader **out, const tsr_data *data, const tsri_part *part,
                              const tsri_loader_options *options);
void tsri_loader_destroy(tsri_loader *loader);

/* Bytes that a loader of these options takes: its batches and orders. */
int64_t tsri_loader_bytes(const tsr_data *data, const tsri_part *part,
                          const tsri_loader_options *options);

/* Samples that a worker with these options sees of n. */
int64_t tsri_shard_size(int64_t n, const tsri_loader_options *options);

/* Full batches in an epoch when shuffled; batches in one pass, the last one perhaps short, when
 * not. */
int64_t tsri_loader_steps(const tsri_loader *loader);

/* *out = the batch of step >= 0, valid until the next get. Steps may come in any order; one after
 * the other is fast. */
tsr_status tsri_loader_get(tsri_loader *loader, const tsri_batch **out, int64_t step);

/* How the images of a batch were changed; 0 in rows after the last. */
typedef struct tsri_changed {
    int64_t *crop;   /* [batch][2] pixels down and right                                       */
    int64_t *flip;   /* [batch] 1: the moved image was mirrored                                */
    int64_t *op;     /* [batch][ops][2] which operation (tsri_image_op); 1: the other way      */
    int64_t *cutout; /* [batch][2] row and column of the square's middle                       */
} tsri_changed;

/* Fills in how the images of batch `b`, of `step`, were changed; arrays that are NULL are left
 * out. */
void tsri_loader_changed(const tsri_changed *out, const tsri_loader *loader, const tsri_batch *b,
                         int64_t step);

#endif
