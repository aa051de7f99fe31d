/* tangent_parts.h - a tangent kernel from the inside.
 *
 *     tangent_blocks.c   which numbers of a layer are kept for each sample, and how they get there
 *     tangent_gram.c     the products of all pairs of two views
 *     tangent_device.c   both on a device that has the verbs for it (backend/tangents.h)
 *     tangent.c          tiles, passes, memory
 */
#ifndef TSRI_TANGENT_PARTS_H
#define TSRI_TANGENT_PARTS_H

#include "theory/tangent.h"

enum { TSRI_PATCH_PAIRS = 1 << 16 }; /* pairs of positions that the patch form can hold */

typedef struct tsri_blocks {
    tsri_block *block;
    int64_t count, room;
    int64_t patches, scratch; /* floats of patches that a thread needs */
} tsri_blocks;

tsr_status tsri_blocks_init(tsri_blocks *b, const tsri_net *net);
void tsri_blocks_fini(tsri_blocks *b);

/* What is kept of `room` samples for `outputs` outputs: of block k
 *     a[k] [room][a_count]        d[k] [room][positions][outputs][d_count / positions]          */
typedef struct tsri_tangent_view {
    const tsri_blocks *blocks;
    int64_t room, outputs;
    float **a, **d;
} tsri_tangent_view;

tsr_status tsri_view_init(tsri_tangent_view *v, const tsri_blocks *b, int64_t room,
                          int64_t outputs);
void tsri_view_fini(tsri_tangent_view *v);

/* Floats of one sample in a view. */
int64_t tsri_blocks_floats(const tsri_blocks *b, int64_t outputs);

/* Copies what the blocks of `layer` keep: samples from .. from+count-1 of the view are rows 0 ..
 * count-1 of the op, for output number `slot`. `scratch` [threads][blocks->scratch]. */
void tsri_view_fill(tsri_tangent_view *v, const tsri_op *op, const tsri_layer *layer,
                    bool channels_last, int64_t from, int64_t count, int64_t slot, float *scratch,
                    tsri_pool *pool);

/* k[(i0 + i) n + j0 + j] += product of sample i of x and j of y, for all pairs; only i <= j when x
 * is y (then i0 = j0). */
typedef struct tsri_gram_job {
    double *k;
    int64_t n, i0, j0;
    const tsri_tangent_view *x, *y;
    int64_t rows, columns; /* samples in x and y */
} tsri_gram_job;

/* Bytes of one thread's buffers. */
int64_t tsri_gram_bytes(const tsri_blocks *b);

void tsri_gram_run(const tsri_gram_job *job, char *buffers, tsri_pool *pool);

/* ---- On a device --------------------------------------------------------------------------- */

/* A view in the device's memory. */
typedef struct tsri_device_view {
    const tsri_blocks *blocks;
    tsri_device device;
    int64_t outputs;
    tsri_mem **a, **d; /* [blocks] */
} tsri_device_view;

tsr_status tsri_device_view_init(tsri_device_view *v, const tsri_blocks *b, tsri_device device,
                                 int64_t room, int64_t outputs);
void tsri_device_view_fini(tsri_device_view *v);

/* As tsri_view_fill and tsri_gram_run; of the job x and y are not looked at. */
tsr_status tsri_device_view_fill(const tsri_device_view *v, const tsri_op *op,
                                 const tsri_layer *layer, int64_t from, int64_t count,
                                 int64_t slot);
tsr_status tsri_device_gram(tsri_mem *k, const tsri_gram_job *job, const tsri_device_view *x,
                            const tsri_device_view *y);

#endif
