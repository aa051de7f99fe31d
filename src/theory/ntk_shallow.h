/* ntk_shallow.h - kernels of networks with one hidden layer, from activation patterns.
 *
 *     H_inf   = xi <x_i, x_j> P(w x_i >= 0 and w x_j >= 0)                    w ~ N(0, I)
 *             = xi <x_i, x_j> (pi - angle(x_i, x_j)) / (2 pi)                 closed form
 *     H(k)    = xi/m <x_i, x_j> |{r : w_r x_i >= 0 and w_r x_j >= 0}|         finite width
 *     m o H   = 1/m  <x_i, x_j> |{r in the share : the same}|                 of a share
 *
 * (masked-neurons, section 4 and Definition 1). Each is the Gram matrix times counts of bits, so a
 * kernel costs n^2 m / 64 words and no product of floats except <x_i, x_j>, which is computed once.
 *
 *     TSR_TRY(tsri_gram64(gram, x, n, d, pool));                       linalg/gemm64.h
 *     TSR_TRY(tsri_patterns(&bits, x, n, d, w, m, pool));              tsri_signs_fini
 *     TSR_TRY(tsri_kernel_bits(H, gram, &bits, xi / m, pool));
 *
 * Kernels are doubles [n, n], both halves.
 */
#ifndef TSRI_NTK_SHALLOW_H
#define TSRI_NTK_SHALLOW_H

#include "theory/signs.h"

/* k = scale gram_ij (pi - angle_ij) / (2 pi); rows of any length, zero rows give zero. */
void tsri_kernel_infinite(double *k, const double *gram, int64_t n, double scale, tsri_pool *pool);

/* bits = 1[<w_r, x_i> >= 0] of samples x [n, d] and units w [m, d]. The caller calls fini. The
 * products are floats, as the network computes them: a sign is uncertain only where |<w, x>| is of
 * the size of the rounding error. */
tsr_status tsri_patterns(tsri_signs *bits, const float *x, int64_t n, int64_t d, const float *w,
                         int64_t m, tsri_pool *pool);

/* k = scale gram_ij |row_i AND row_j|. */
tsr_status tsri_kernel_bits(double *k, const double *gram, const tsri_signs *bits, double scale,
                            tsri_pool *pool);

/* The same for the units in mark[m] alone: m o H with scale = 1/m. */
tsr_status tsri_kernel_share(double *k, const double *gram, const tsri_signs *bits,
                             const uint8_t *mark, double scale, tsri_pool *pool);

/* The lower half of k becomes the mirror image of the upper one. */
void tsri_mirror(double *k, int64_t n, tsri_pool *pool);

#endif
