/* tangents.h - what an exact tangent kernel keeps of a layer, and who multiplies it on a device.
 *
 * Of each sample a view has the inputs of a layer and the gradients behind it, or the gradient of its
 * weights itself (theory/tangent.h says why). A device that has the verbs below keeps views in its own
 * memory, fills them from its ops as backward passes them, and multiplies all pairs: nothing but the
 * finished kernel comes back to the host.
 */
#ifndef TSRI_TANGENTS_H
#define TSRI_TANGENTS_H

#include "backend/heap.h"
#include "backend/op.h"

typedef enum tsri_block_form {
    TSRI_BLOCK_FACTORS, /* A [positions, columns] and D [positions, rows] of a matrix of weights */
    TSRI_BLOCK_SUMS,    /* rows first .. first+rows-1 of the gradient of a convolution's filters */
    TSRI_BLOCK_BIAS,    /* gradient of a convolution's bias */
    TSRI_BLOCK_NORM     /* gradients of a norm's scale and shift */
} tsri_block_form;

/* Some trained numbers of one layer. For each sample a view keeps a_count numbers that do not
 * depend on the output and, for each output, d_count that do. */
typedef struct tsri_block {
    const struct tsri_layer *layer;
    tsri_block_form form;
    int64_t positions, rows, columns, first;
    double scale; /* of the layer, squared */
    bool bias;    /* factors of one position: the layer's bias with them */
    bool weight;  /* factors: the matrix is trained (else only the bias) */
    int64_t a_count, d_count;
    double pair_flops;
} tsri_block;

/* Samples from .. from+count-1 of a view are rows 0 .. count-1 of the op, which backward has just
 * passed, for output number `slot` of `outputs`:
 *     a [samples][a_count]        d [samples][positions][outputs][d_count / positions]          */
typedef struct tsri_tangent_fill {
    const tsri_block *block;
    const tsri_op *op; /* its addresses are the device's */
    bool sequence;     /* positions are those of a sequence, [T, N, C] */
    tsri_mem *a, *d;
    int64_t outputs, slot, from, count;
} tsri_tangent_fill;

/* k [n, n] of doubles, from (i0, j0) on, += the products of block's numbers of `rows` samples of x
 * and `columns` of y; of the same view only pairs i <= j matter. */
typedef struct tsri_tangent_gram {
    const tsri_block *block;
    const tsri_mem *xa, *xd, *ya, *yd;
    int64_t outputs, rows, columns, n, i0, j0;
    tsri_mem *k;
} tsri_tangent_gram;

typedef struct tsri_tangent_ops {
    tsr_status (*fill)(const tsri_tangent_fill *fill, tsri_device device);
    tsr_status (*gram)(const tsri_tangent_gram *gram, tsri_device device);
} tsri_tangent_ops;

#endif
