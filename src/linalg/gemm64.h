/* gemm64.h - matrix products in double on the pool, for theory and conversions.
 *
 * The output is cut into tiles by a rule of the shape alone, each one single-threaded product of
 * OpenBLAS, as in gemm.h.
 */
#ifndef TSRI_GEMM64_H
#define TSRI_GEMM64_H

#include "base/pool.h"

/* c[m, n] = op(a) op(b), all row-major without gaps: op(a) [m, k], op(b) [k, n]. */
typedef struct tsri_gemm64 {
    bool a_transposed, b_transposed; /* stored as [k, m], [n, k] */
    int64_t m, n, k;
    const double *a, *b;
    double *c;
} tsri_gemm64;

/* RESOURCES when a side does not fit the int of BLAS or its buffers cannot be mapped. */
tsr_status tsri_gemm64_run(const tsri_gemm64 *g, tsri_pool *pool);

/* g[n, n] = x x^T in double, x [n, d] floats; both halves are written. RESOURCES as above, or
 * when there is no memory for x in double. */
tsr_status tsri_gram64(double *g, const float *x, int64_t n, int64_t d, tsri_pool *pool);

#endif
