/* lapack.h - dense linear algebra in double: eigenvalues, Cholesky's factor, least squares.
 *
 * LAPACK's work is OpenBLAS's products on one thread, so results do not depend on the number of
 * threads. All fail with RESOURCES when a side does not fit LAPACK's int or its work space cannot
 * be had, and with FAILURE when LAPACK gives up or a number of the matrix is not finite.
 */
#ifndef TSRI_LAPACK_H
#define TSRI_LAPACK_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* value[n], ascending, of the symmetric matrix a [n, n], of which the lower triangle is read; a is
 * destroyed. */
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

/* x[n] = the solution of L L^T x = x, with l from tsri_cholesky. */
void tsri_cholesky_solve(double *x, const double *l, int64_t n);

/* The x [m, k] of least norm among those that minimise |a x - b|, a [n, m] (destroyed), b
 * [max(n, m), k]: its first n rows on entry, its first m rows are x on return. By QR with column
 * pivoting; directions whose singular values are below `cut` times the largest (estimated) do not
 * count. *rank = how many do. */
tsr_status tsri_least_norm(double *b, double *a, int64_t n, int64_t m, int64_t k, double cut,
                           int64_t *rank);

#endif
