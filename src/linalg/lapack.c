/* lapack.c - eigenvalues, factors and least squares: LAPACK, its codes made sentences. */
#include "linalg/lapack.h"

#include "base/alloc.h"
#include "base/narrow.h"
#include "linalg/openblas.h"

#include <cblas.h>
#include <lapacke.h>

/* Before each routine: a side as its int, and OpenBLAS ready for one thread. */
static tsr_status ready(int *size, int64_t n, const char *what)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_narrow_int(size, n, what));
    TSR_TRY(tsri_openblas_ready(1));
done:
    return st;
}

/* LAPACK's code as a sentence: 0 is success, below it an argument was refused, which of ours only
 * numbers that are not finite can be, or work space was not to be had. */
static tsr_status judge(int info, const char *routine, int64_t rows, int64_t columns)
{
    if (info == 0)
        return TSR_OK;
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        return tsri_fail(TSR_RESOURCES, "out of memory for LAPACK's %s of a %lld x %lld matrix",
                         routine, (long long)rows, (long long)columns);
    return tsri_fail(TSR_FAILURE, "LAPACK's %s gave up on a %lld x %lld matrix (%d)%s", routine,
                     (long long)rows, (long long)columns, info,
                     info < 0 ? ": it holds numbers not finite" : "");
}

/* ---- Eigenvalues -------------------------------------------------------------------------- */

/* A row-major lower triangle is a column-major upper one: no copy is made. */
tsr_status tsri_eigenvalues(double *value, double *a, int64_t n)
{
    tsr_status st = TSR_OK;
    int size;
    TSR_TRY(ready(&size, n, "side of a symmetric matrix"));
    int info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'U', size, a, size, value);
    TSR_TRY(judge(info, "dsyevd", n, n));
done:
    return st;
}

/* LAPACK writes them ascending, one a column: turned round in place. */
static void largest_first(double *vector, int64_t n, int64_t k)
{
    for (int64_t e = 0; e < k / 2; e++)
        for (int64_t i = 0; i < n; i++) {
            double swap = vector[e * n + i];
            vector[e * n + i] = vector[(k - 1 - e) * n + i];
            vector[(k - 1 - e) * n + i] = swap;
        }
}

tsr_status tsri_eigenvectors(double *vector, double *a, int64_t n, int64_t k)
{
    tsr_status st = TSR_OK;
    int size, first, found = 0, *support = NULL;
    double *value = NULL;
    TSR_TRY(ready(&size, n, "side of a symmetric matrix"));
    TSR_TRY(tsri_narrow_int(&first, n - k + 1, "number of an eigenvalue"));
    TSR_TRY(tsri_alloc(&value, n, sizeof *value));
    TSR_TRY(tsri_alloc(&support, 2 * n, sizeof *support));
    int info = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'U', size, a, size, 0, 0, first, size, 0,
                              &found, value, vector, size, support);
    TSR_TRY(judge(info, "dsyevr", n, n));
    TSR_CHECK(found == k, TSR_FAILURE, "LAPACK's dsyevr found %d eigenvectors of %lld", found,
              (long long)k);
    largest_first(vector, n, k);
done:
    tsri_free(value);
    tsri_free(support);
    return st;
}

tsr_status tsri_eigen_tridiagonal(double *diagonal, double *beside, double *vector, int64_t k)
{
    tsr_status st = TSR_OK;
    int size;
    TSR_TRY(ready(&size, k, "side of a tridiagonal matrix"));
    int info = LAPACKE_dstev(LAPACK_ROW_MAJOR, 'V', size, diagonal, beside, vector, size);
    TSR_TRY(judge(info, "dstev", k, k));
done:
    return st;
}

/* ---- Cholesky ----------------------------------------------------------------------------- */

tsr_status tsri_cholesky(double *a, int64_t n, bool *definite)
{
    tsr_status st = TSR_OK;
    int size;
    TSR_TRY(ready(&size, n, "side of a symmetric matrix"));
    int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', size, a, size);
    TSR_TRY(judge(info < 0 ? info : 0, "dpotrf", n, n)); /* above 0: not definite */
    *definite = info == 0;
done:
    return st;
}

void tsri_cholesky_solve(double *x, const double *l, int64_t n)
{
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, (int)n, l, (int)n, x, 1);
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)n, l, (int)n, x, 1);
}

/* ---- Least squares ------------------------------------------------------------------------ */

tsr_status tsri_least_norm(double *b, double *a, int64_t n, int64_t m, int64_t k, double cut,
                           int64_t *rank)
{
    tsr_status st = TSR_OK;
    lapack_int *pivot = NULL, found = 0;
    int rows, columns, sides;
    TSR_TRY(ready(&rows, n, "rows of a least-squares problem"));
    TSR_TRY(tsri_narrow_int(&columns, m, "columns of a least-squares problem"));
    TSR_TRY(tsri_narrow_int(&sides, k, "right sides of a least-squares problem"));
    TSR_TRY(tsri_alloc(&pivot, m, sizeof *pivot));
    int info = LAPACKE_dgelsy(LAPACK_ROW_MAJOR, rows, columns, sides, a, columns, b, sides, pivot,
                              cut, &found);
    TSR_TRY(judge(info, "dgelsy", n, m));
    *rank = found;
done:
    tsri_free(pivot);
    return st;
}
