/* gemm.h - matrix products on the pool.
 *
 * The output is cut into tiles by a rule of the shape alone; each tile is one single-threaded
 * product of OpenBLAS, followed by what comes after it (bias, ReLU) while the tile is in the cache.
 * So the bits do not depend on the number of threads.
 */
#ifndef TSRI_GEMM_H
#define TSRI_GEMM_H

#include "base/pool.h"

/* c = scale op(a) op(b), or c += when `add`;  then c += bias (per column) and c = max(c, 0).
 * op(a) is [m, k], op(b) is [k, n], c is [m, n], all row-major without gaps. */
typedef struct tsri_gemm {
    bool a_transposed, b_transposed; /* stored as [k, m], [n, k] */
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    bool add;
    double scale;      /* 0 = 1 */
    const float *bias; /* [n] or NULL */
    bool relu;
} tsri_gemm;

/* RESOURCES when a side does not fit the int of BLAS or its buffers cannot be mapped. */
tsr_status tsri_gemm_run(const tsri_gemm *g, tsri_pool *pool);

/* One tile on the calling thread: c [m, n] = a b^T or, when `transposed`, a^T b; a [m, k], b [n, k]
 * (or [k, m], [k, n]), rows `lda`, `ldb`, `ldc` apart. Sides fit an int; a product has run before,
 * or tsri_openblas_start. */
void tsri_gemm_tile(float *c, int64_t ldc, const float *a, int64_t lda, const float *b, int64_t ldb,
                    int64_t m, int64_t n, int64_t k, bool transposed);

#endif
