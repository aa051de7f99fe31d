/* lapack.c - eigenvalues, factors and least squares: LAPACK, its codes made sentences. */
#include "linalg/lapack.h"

#include "base/alloc.h"
#include "base/narrow.h"
#include "linalg/blas.h"
#include "linalg/openblas.h"

#include <math.h>

/* Before each routine: a side as its int, and OpenBLAS ready for one thread. */
static tsr_status ready(int *size, int64_t n, const char *what)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_narrow_int(size, n, what));
    TSR_TRY(tsri_openblas_ready(1));
done:
    return st;
}

/* LAPACK's code as a sentence: 0 is success, below it an argument was refused. */
static tsr_status judge(int info, const char *routine, int64_t rows, int64_t columns)
{
    if (info == 0)
        return TSR_OK;
    return tsri_fail(TSR_FAILURE, "LAPACK's %s gave up on a %lld x %lld matrix (%d)", routine,
                     (long long)rows, (long long)columns, info);
}

/* LAPACK may never return when it meets a NaN. */
static tsr_status no_nan(bool found, const char *routine, int64_t rows, int64_t columns)
{
    if (!found)
        return TSR_OK;
    return tsri_fail(
        TSR_FAILURE,
        "LAPACK's %s gave up on a %lld x %lld matrix: it holds numbers that are not finite",
        routine, (long long)rows, (long long)columns);
}

static bool nan_among(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isnan(x[i]))
            return true;
    return false;
}

/* In the lower triangle of a [n, n]. */
static bool nan_below(const double *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (nan_among(a + i * n, i + 1))
            return true;
    return false;
}

/* Work space, of the sizes that a routine answered when it was asked. */
typedef struct space {
    int floats, ints;
    double *work;
    int *iwork;
} space;

static tsr_status make_space(space *s, double floats, int ints)
{
    tsr_status st = TSR_OK;
    *s = (space){.ints = ints};
    TSR_TRY(tsri_narrow_int(&s->floats, (int64_t)floats, "work space of LAPACK"));
    TSR_TRY(tsri_alloc(&s->work, s->floats, sizeof *s->work));
    TSR_TRY(tsri_alloc(&s->iwork, s->ints, sizeof *s->iwork));
done:
    return st;
}

static void space_fini(space *s)
{
    tsri_free(s->work);
    tsri_free(s->iwork);
}

static const int ASK = -1; /* as a size of work space: answer the best one, do nothing */

/* ---- Eigenvalues -------------------------------------------------------------------------- */

/* A row-major lower triangle is a column-major upper one: no copy is made. */
tsr_status tsri_eigenvalues(double *value, double *a, int64_t n)
{
    tsr_status st = TSR_OK;
    space s = {0};
    int size, info, ints = 0;
    double floats = 0;
    TSR_TRY(ready(&size, n, "side of a symmetric matrix"));
    TSR_TRY(no_nan(nan_below(a, n), "dsyevd", n, n));
    int lda = size > 1 ? size : 1;
    tsri_blas.dsyevd_("N", "U", &size, a, &lda, value, &floats, &ASK, &ints, &ASK, &info, 1, 1);
    TSR_TRY(judge(info, "dsyevd", n, n));
    TSR_TRY(make_space(&s, floats, ints));
    tsri_blas.dsyevd_("N", "U", &size, a, &lda, value, s.work, &s.floats, s.iwork, &s.ints, &info,
                      1, 1);
    TSR_TRY(judge(info, "dsyevd", n, n));
done:
    space_fini(&s);
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

/* The eigenvectors `first` to n, with the work space as it is or, when there is none, its size. */
static int dsyevr(space *s, double *answer, double *vector, double *a, int n, int first, int *found,
                  double *value, int *support)
{
    static const double unused = 0, best = 0; /* bounds of values; the tolerance LAPACK chooses */
    int info, ints = 0;
    bool ask = !s->work;
    tsri_blas.dsyevr_("V", "I", "U", &n, a, &n, &unused, &unused, &first, &n, &best, found, value,
                      vector, &n, support, ask ? answer : s->work, ask ? &ASK : &s->floats,
                      ask ? &ints : s->iwork, ask ? &ASK : &s->ints, &info, 1, 1, 1);
    s->ints = ask ? ints : s->ints;
    return info;
}

tsr_status tsri_eigenvectors(double *vector, double *a, int64_t n, int64_t k)
{
    tsr_status st = TSR_OK;
    space s = {0};
    int size, first, found = 0, *support = NULL;
    double *value = NULL, floats = 0;
    TSR_TRY(ready(&size, n, "side of a symmetric matrix"));
    TSR_TRY(tsri_narrow_int(&first, n - k + 1, "number of an eigenvalue"));
    TSR_TRY(no_nan(nan_below(a, n), "dsyevr", n, n));
    TSR_TRY(tsri_alloc(&value, n, sizeof *value));
    TSR_TRY(tsri_alloc(&support, 2 * n, sizeof *support));
    TSR_TRY(
        judge(dsyevr(&s, &floats, vector, a, size, first, &found, value, support), "dsyevr", n, n));
    TSR_TRY(make_space(&s, floats, s.ints));
    TSR_TRY(
        judge(dsyevr(&s, NULL, vector, a, size, first, &found, value, support), "dsyevr", n, n));
    TSR_CHECK(found == k, TSR_FAILURE, "LAPACK's dsyevr found %d eigenvectors of %lld", found,
              (long long)k);
    largest_first(vector, n, k);
done:
    space_fini(&s);
    tsri_free(value);
    tsri_free(support);
    return st;
}

/* to[columns, rows] = from[rows, columns] turned: LAPACK has columns first. */
static void turn(double *to, const double *from, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[j * rows + i] = from[i * columns + j];
}

tsr_status tsri_eigen_tridiagonal(double *diagonal, double *beside, double *vector, int64_t k)
{
    tsr_status st = TSR_OK;
    double *columns = NULL, *work = NULL;
    int size, info;
    TSR_TRY(ready(&size, k, "side of a tridiagonal matrix"));
    TSR_TRY(no_nan(nan_among(diagonal, k) || nan_among(beside, k - 1), "dstev", k, k));
    TSR_TRY(tsri_alloc(&columns, k * k, sizeof *columns));
    TSR_TRY(tsri_alloc(&work, k > 1 ? 2 * k - 2 : 1, sizeof *work));
    int ldv = size > 1 ? size : 1;
    tsri_blas.dstev_("V", &size, diagonal, beside, columns, &ldv, work, &info, 1);
    TSR_TRY(judge(info, "dstev", k, k));
    turn(vector, columns, k, k);
done:
    tsri_free(columns);
    tsri_free(work);
    return st;
}

/* ---- Cholesky ----------------------------------------------------------------------------- */

tsr_status tsri_cholesky(double *a, int64_t n, bool *definite)
{
    tsr_status st = TSR_OK;
    int size, info;
    TSR_TRY(ready(&size, n, "side of a symmetric matrix"));
    TSR_TRY(no_nan(nan_below(a, n), "dpotrf", n, n));
    int lda = size > 1 ? size : 1;
    tsri_blas.dpotrf_("U", &size, a, &lda, &info, 1);
    TSR_TRY(judge(info < 0 ? info : 0, "dpotrf", n, n)); /* above 0: not definite */
    *definite = info == 0;
done:
    return st;
}

void tsri_cholesky_solve(double *x, const double *l, int64_t n)
{
    int side = (int)n;
    tsri_blas.cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, side, l, side, x, 1);
    tsri_blas.cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, side, l, side, x,
                          1);
}

/* ---- Least squares ------------------------------------------------------------------------ */

/* A problem with its matrices turned for LAPACK. */
typedef struct squares {
    int rows, columns, sides, tall; /* tall: rows of b, for what comes in and what goes out */
    double cut, *a, *b;
    int *pivot, rank;
} squares;

/* With the work space as it is or, when there is none, its size. */
static int dgelsy(space *s, double *answer, squares *q)
{
    int info, lda = q->rows > 1 ? q->rows : 1, ldb = q->tall > 1 ? q->tall : 1;
    bool ask = !s->work;
    tsri_blas.dgelsy_(&q->rows, &q->columns, &q->sides, q->a, &lda, q->b, &ldb, q->pivot, &q->cut,
                      &q->rank, ask ? answer : s->work, ask ? &ASK : &s->floats, &info);
    return info;
}

tsr_status tsri_least_norm(double *b, double *a, int64_t n, int64_t m, int64_t k, double cut,
                           int64_t *rank)
{
    tsr_status st = TSR_OK;
    space s = {0};
    squares q = {.cut = cut};
    double floats = 0;
    int64_t tall = n > m ? n : m;
    TSR_TRY(ready(&q.rows, n, "rows of a least-squares problem"));
    TSR_TRY(tsri_narrow_int(&q.columns, m, "columns of a least-squares problem"));
    TSR_TRY(tsri_narrow_int(&q.sides, k, "right sides of a least-squares problem"));
    TSR_TRY(no_nan(nan_among(a, n * m) || nan_among(b, tall * k), "dgelsy", n, m));
    q.tall = tall == n ? q.rows : q.columns;
    TSR_TRY(tsri_alloc_raw(&q.a, n * m, sizeof *q.a));
    TSR_TRY(tsri_alloc_raw(&q.b, tall * k, sizeof *q.b));
    TSR_TRY(tsri_alloc(&q.pivot, m, sizeof *q.pivot));
    turn(q.a, a, n, m);
    turn(q.b, b, tall, k);
    TSR_TRY(judge(dgelsy(&s, &floats, &q), "dgelsy", n, m));
    TSR_TRY(make_space(&s, floats, 0));
    TSR_TRY(judge(dgelsy(&s, NULL, &q), "dgelsy", n, m));
    turn(b, q.b, k, tall);
    *rank = q.rank;
done:
    space_fini(&s);
    tsri_free(q.pivot);
    tsri_free(q.a);
    tsri_free(q.b);
    return st;
}
