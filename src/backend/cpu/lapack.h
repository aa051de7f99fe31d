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

/* The same of a tridiagonal matrix: diagonal[k] becomes the values, vector[k, k] the vectors in its
 * columns; beside[k - 1] is destroyed. */
tsr_status tsri_eigen_tridiagonal(double *diagonal, double *beside, double *vector, int64_t k);

/* The lower factor of a positive definite a [n, n], in place. *definite = false when it is not
 * positive definite to working precision; a is destroyed then. */
tsr_status tsri_cholesky(double *a, int64_t n, bool *definite);

/* x[n] = the solution of L L^T x = x. */
void tsri_cholesky_solve(double *x, const double *l, int64_t n);

#endif
