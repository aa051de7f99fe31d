/* lapack.h - dense linear algebra in double: the one home of LAPACK.
 *
 * OpenBLAS runs on one thread per call (gemm.h), so results do not depend on the number of threads.
 */
#ifndef TSRI_LAPACK_H
#define TSRI_LAPACK_H

#include "base/pool.h"

/* g[n, n] = x x^T in double, x [n, d] floats; both halves are written, in tiles on the pool. */
tsr_status tsri_gram64(double *g, const float *x, int64_t n, int64_t d, tsri_pool *pool);

/* value[n], ascending, of the symmetric matrix a [n, n], of which the lower triangle is read; a is
 * destroyed. FAILURE when LAPACK gives up or a number is not finite. */
tsr_status tsri_eigenvalues(double *value, double *a, int64_t n);

/* vector[k, n]: row e is a unit eigenvector of the e-th largest eigenvalue of a [n, n], which is
 * destroyed; 1 <= k <= n. */
tsr_status tsri_eigenvectors(double *vector, double *a, int64_t n, int64_t k);

/* Eigenvalues of a tridiagonal matrix: diagonal[k] becomes the values, vector[k, k] the vectors in
 * its columns; beside[k - 1] is destroyed. */
tsr_status tsri_eigen_tridiagonal(double *diagonal, double *beside, double *vector, int64_t k);

/* The lower factor of a positive definite a [n, n], in place. *definite = false when it is not
 * positive definite to working precision; a is destroyed then. */
tsr_status tsri_cholesky(double *a, int64_t n, bool *definite);

/* x[n] = the solution of L L^T x = x. */
void tsri_cholesky_solve(double *x, const double *l, int64_t n);

/* c[m, n] = op(a) op(b), all row-major without gaps: op(a) [m, k], op(b) [k, n]. */
typedef struct tsri_gemm64 {
    bool a_transposed, b_transposed; /* stored as [k, m], [n, k] */
    int64_t m, n, k;
    const double *a, *b;
    double *c;
} tsri_gemm64;

/* In tiles on the pool, by a rule of the shape alone. */
tsr_status tsri_gemm64_run(const tsri_gemm64 *g, tsri_pool *pool);

/* The x [m, k] of least norm among those that minimise |a x - b|, a [n, m] (destroyed), b
 * [max(n, m), k]: its first n rows on entry, its first m rows are x on return. By QR with column
 * pivoting; directions whose singular values are below `cut` times the largest (estimated) do not
 * count. *rank = how many do. */
tsr_status tsri_least_norm(double *b, double *a, int64_t n, int64_t m, int64_t k, double cut,
                           int64_t *rank);

#endif
