/* convert.h - a gated net made into a ReLU net that is equal on given points (Theorem 2).
 *
 * Let h_0 = [C x]+ and h_k = D_k W_k h_(k-1) be the gated features of the n points. The ReLU net
 * u_0 = C x, u_k = W~_k [u_(k-1)]+, y = B [u_L]+ is to have
 *
 *     u_k = h_k for k < L          u_L = t,  B [t]+ = B h_L
 *
 * Layer by layer, W~_k is the solution of least norm of W~_k [u_(k-1)]+ = h_k (equation 49 of the
 * paper has its factors the wrong way round), by rank-revealing QR in double. It exists when the n
 * columns [u_(k-1)]+ are independent, so n <= m.
 *
 * The paper is silent on the last step: B sees [u_L]+, and h_L has negative entries. We take the t
 * whose positive part is the vector nearest to h_L among those that are not negative and give the
 * same output:
 *
 *     minimise |a - h_L|^2  over a >= 0, B a = B h_L       =>  a = [t]+,  t = h_L + B^T mu
 *
 * with mu, one number an output, from B [h_L + B^T mu]+ = B h_L: the gradient of a convex function
 * is zero, found by Newton's method.
 *
 * W~_k is rounded to float before layer k + 1 is solved, from the features that the rounded layers
 * really give: errors do not add up over the layers.
 */
#ifndef TSRI_CONVERT_H
#define TSRI_CONVERT_H

#include "net/gate_table.h"

/* Below it, times the largest, a direction of the features is noise: float weights have 24 bits. */
#define TSRI_CONVERT_CUT 1e-9

typedef struct tsri_conversion {
    int64_t n, width, layers;
    int64_t least_rank;  /* of the features, over the layers; n when all are independent */
    int64_t short_layer; /* the layer before which the matrix rank was least; 0 = none was short */
    double worst;        /* over points and layers, |u_k - wanted| / |wanted|; for the output, which
                            may be nearly 0 at a point, over its root mean square if that is
                            larger */
    int64_t worst_layer; /* where; layers + 1 = the output */
    double norm_before, norm_after; /* Frobenius, of all W and all W~ */
} tsri_conversion;

/* relu: the store of a relu_twin as wide and deep as grelu's; its W are written, C and B copied.
 * x [n, inputs] as the net sees them; `gates` of these points. USAGE when n > m, when the rank is
 * too small, or when `worst` is not below `tolerance`, unless `least_squares`. *out is filled in
 * even then. */
tsr_status tsri_convert_to_relu(tsri_conversion *out, tsri_store *relu, const tsri_store *grelu,
                                const float *x, const tsri_gate_table *gates, double tolerance,
                                bool least_squares, tsri_pool *pool);

#endif
