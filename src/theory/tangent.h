/* tangent.h - the exact empirical tangent kernel of any network that a plan can run.
 *
 *     K_ij = sum over trained numbers theta of  d f_o(x_i)/d theta  d f_o(x_j)/d theta
 *
 * for one output o, or summed over all. Gradients of single samples are not stored where that can
 * be avoided. The gradient of a layer's weights is a sum over positions p of D_ip (x) A_ip, where A
 * are the layer's inputs and D the gradients of its outputs, so that
 *
 *     dense layer     <grad_i, grad_j> = <A_i, A_j> <D_i, D_j>                     one position
 *     convolution     = sum over p, q of <A_ip, A_jq> <D_ip, D_jq>                 A = patches
 *                     or the product of the sums themselves, whichever is cheaper for its shape
 *     recurrence      the same, with p and q positions of the two sequences: A is the state before,
 *                     D the gradient before the ReLU, through time
 *     bias, norm      the product of the gradients, which are short
 *
 * Batch norm is in inference mode: with batch statistics a sample has no gradient of its own.
 *
 * Samples go through in tiles of as many as `memory` holds. When that is not all of them, tiles are
 * computed again for each pair, which costs passes through the network but no accuracy.
 */
#ifndef TSRI_TANGENT_H
#define TSRI_TANGENT_H

#include "net/plan.h"

typedef struct tsri_tangent {
    int64_t output;        /* which output; -1 = the sum over all */
    int64_t memory;        /* most bytes of gradients held at once; 0 = 2 GiB */
    const int32_t *length; /* [n] positions of each sequence, or NULL: all; outputs after its end
                              have no gradient */
    bool stops;            /* INTERRUPTED when asked to stop; false: the kernel is finished */
} tsri_tangent;

/* What it takes, known before anything is computed. */
typedef struct tsri_tangent_cost {
    int64_t tile;    /* samples held at once: n, or fewer when memory does not hold them */
    int64_t bytes;   /* of gradients, buffers and plan; the kernel's own 8 n^2 not counted */
    double flops;    /* of the products of pairs and of all passes through the network */
    int64_t patches; /* layers with positions in patch form; the others multiply sums */
} tsri_tangent_cost;

/* RESOURCES when memory does not hold even two samples. */
tsr_status tsri_tangent_estimate(tsri_tangent_cost *cost, tsri_store *store, tsri_device device,
                                 int64_t n, const tsri_tangent *options);

/* k [n, n], both halves, for x [n, input] as the loader gives it. The store is not changed, and
 * needs no gradients; floats only. Products of floats are summed in double every few thousand: the
 * error is some 1e-6 of the largest entries. The same bits for any number of threads. */
tsr_status tsri_tangent_kernel(double *k, tsri_store *store, tsri_device device, const float *x,
                               int64_t n, const tsri_tangent *options);

#endif
