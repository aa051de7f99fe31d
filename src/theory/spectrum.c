/* spectrum.c - eigenvalues: LAPACK for all, Lanczos for the ends.
 *
 * Lanczos (1950) builds an orthonormal basis q_1, q_2, ... of span(v, Kv, K^2 v, ...) in which K is
 * tridiagonal, T = Q^T K Q. An eigenpair (theta, s) of T gives the Ritz value theta with residual
 * ||K Q s - theta Q s|| = beta_k |s_k|, beta_k being the next off-diagonal number and s_k the last
 * of the vector; K being symmetric, an eigenvalue lies within that of theta. Without
 * reorthogonalisation the basis decays and ghosts appear; at some hundred steps of n numbers it
 * costs less than the products with K.
 */
#include "theory/spectrum.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "linalg/lapack.h"

#include <math.h>
#include <string.h>

enum { EXACT = 1500, STEPS = 400, CHECK = 10 };

tsr_status tsri_spectrum(double *value, double *work, const double *k, int64_t n)
{
    if (work != k)
        memcpy(work, k, (size_t)n * (size_t)n * sizeof *work);
    return tsri_eigenvalues(value, work, n);
}

/* ---- Vectors ------------------------------------------------------------------------------ */

/* Sums in four parts, always the same four: the compiler may use vectors and nobody else chooses
 * the order. */
static double dot(const double *a, const double *b, int64_t n)
{
    double s[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int64_t l = 0; l < 4; l++)
            s[l] += a[i + l] * b[i + l];
    for (; i < n; i++)
        s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

typedef struct lanczos {
    const double *k;
    const double *factor; /* Cholesky's of k: then its inverse is what multiplies; or NULL */
    int64_t n;
    double *q;       /* [steps + 1][n] */
    double *a, *b;   /* diagonal, off-diagonal [steps] */
    double *d, *e;   /* copies of them for LAPACK */
    double *vector;  /* [steps][steps] */
    const double *v; /* the vector that is multiplied */
    double *w;       /* its product [n] */
} lanczos;

static void product_row(void *context, int64_t i, int thread)
{
    const lanczos *l = context;
    (void)thread;
    l->w[i] = dot(l->k + i * l->n, l->v, l->n);
}

static void fini(lanczos *l)
{
    tsri_free(l->q);
    tsri_free(l->a);
    tsri_free(l->b);
    tsri_free(l->d);
    tsri_free(l->e);
    tsri_free(l->vector);
    tsri_free(l->w);
}

static tsr_status init(lanczos *l, const double *k, int64_t n, int64_t steps)
{
    tsr_status st = TSR_OK;
    *l = (lanczos){.k = k, .n = n};
    TSR_TRY(tsri_alloc(&l->q, (steps + 1) * n, sizeof(double)));
    TSR_TRY(tsri_alloc(&l->a, steps, sizeof(double)));
    TSR_TRY(tsri_alloc(&l->b, steps, sizeof(double)));
    TSR_TRY(tsri_alloc(&l->d, steps, sizeof(double)));
    TSR_TRY(tsri_alloc(&l->e, steps, sizeof(double)));
    TSR_TRY(tsri_alloc(&l->vector, steps * steps, sizeof(double)));
    TSR_TRY(tsri_alloc(&l->w, n, sizeof(double)));
    tsri_rng rng = tsri_rng_stream(0, TSRI_FOR_TEST, 1, 0, 0);
    for (int64_t i = 0; i < n; i++)
        l->q[i] = tsri_rng_normal(&rng);
    double norm = sqrt(dot(l->q, l->q, n));
    for (int64_t i = 0; i < n; i++)
        l->q[i] /= norm;
done:
    return st;
}

/* One more vector of the basis: w = K q_j, made orthogonal to all before it, twice (Kahan: twice is
 * enough). */
static void extend(lanczos *l, int64_t j, tsri_pool *pool)
{
    l->v = l->q + j * l->n;
    if (l->factor) {
        memcpy(l->w, l->v, (size_t)l->n * sizeof *l->w);
        tsri_cholesky_solve(l->w, l->factor, l->n);
    } else {
        tsri_pool_run(pool, product_row, l, l->n);
    }
    l->a[j] = dot(l->w, l->v, l->n);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i <= j; i++) {
            const double *q = l->q + i * l->n;
            double c = dot(l->w, q, l->n);
            for (int64_t r = 0; r < l->n; r++)
                l->w[r] -= c * q[r];
        }
    l->b[j] = sqrt(dot(l->w, l->w, l->n));
    double *next = l->q + (j + 1) * l->n;
    for (int64_t r = 0; r < l->n; r++)
        next[r] = l->b[j] > 0 ? l->w[r] / l->b[j] : 0;
}

/* The Ritz values of the first k steps and their residuals. */
static tsr_status ritz(tsri_eigen *smallest, tsri_eigen *largest, lanczos *l, int64_t k)
{
    tsr_status st = TSR_OK;
    memcpy(l->d, l->a, (size_t)k * sizeof(double));
    memcpy(l->e, l->b, (size_t)k * sizeof(double));
    TSR_TRY(tsri_eigen_tridiagonal(l->d, l->e, l->vector, k));
    const double *last = l->vector + (k - 1) * k;
    double scale = fabs(l->d[0]) > fabs(l->d[k - 1]) ? fabs(l->d[0]) : fabs(l->d[k - 1]);
    double rounding = (double)l->n * 2.3e-16 * scale; /* of the products themselves */
    *smallest = (tsri_eigen){l->d[0], l->b[k - 1] * fabs(last[0]) + rounding};
    *largest = (tsri_eigen){l->d[k - 1], l->b[k - 1] * fabs(last[k - 1]) + rounding};
done:
    return st;
}

/* `smallest` NULL = only the largest is waited for. */
static tsr_status iterate(tsri_eigen *smallest, tsri_eigen *largest, const double *k,
                          const double *factor, int64_t n, int64_t steps, double tolerance,
                          tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    lanczos l = {0};
    tsri_eigen low = {0};
    steps = steps < n ? steps : n;
    TSR_TRY(init(&l, k, n, steps));
    l.factor = factor;
    for (int64_t j = 0; j < steps; j++) {
        extend(&l, j, pool);
        bool spent = l.b[j] <= 1e-14 * fabs(l.a[0]); /* the space is invariant: all is found */
        if ((j + 1) % CHECK && j + 1 < steps && !spent)
            continue;
        TSR_TRY(ritz(&low, largest, &l, j + 1));
        double enough = tolerance * fabs(largest->value);
        if (spent || ((!smallest || low.error <= enough) && largest->error <= enough))
            break;
    }
    if (smallest)
        *smallest = low;
done:
    fini(&l);
    return st;
}

tsr_status tsri_lanczos(tsri_eigen *smallest, tsri_eigen *largest, const double *k, int64_t n,
                        int64_t steps, double tolerance, tsri_pool *pool)
{
    return iterate(smallest, largest, k, NULL, n, steps, tolerance, pool);
}

static tsr_status all_values(tsri_eigen *smallest, tsri_eigen *largest, double *work,
                             const double *k, int64_t n)
{
    tsr_status st = TSR_OK;
    double *value = NULL;
    TSR_TRY(tsri_alloc_raw(&value, n, sizeof *value));
    TSR_TRY(tsri_spectrum(value, work, k, n));
    double rounding = (double)n * 2.3e-16 * fabs(value[n - 1]);
    *smallest = (tsri_eigen){value[0], rounding};
    *largest = (tsri_eigen){value[n - 1], rounding};
done:
    tsri_free(value);
    return st;
}

tsr_status tsri_spectrum_ends(tsri_eigen *smallest, tsri_eigen *largest, const double *k, int64_t n,
                              tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    double *work = NULL;
    if (n > EXACT)
        return tsri_lanczos(smallest, largest, k, n, STEPS, 1e-10, pool);
    TSR_TRY(tsri_alloc_raw(&work, n * n, sizeof *work));
    TSR_TRY(all_values(smallest, largest, work, k, n));
done:
    tsri_free(work);
    return st;
}

tsr_status tsri_spectrum_above(bool *above, double *work, const double *k, int64_t n, double bound)
{
    tsr_status st = TSR_OK;
    memcpy(work, k, (size_t)(n * n) * sizeof *work);
    for (int64_t i = 0; i < n; i++)
        work[i * n + i] -= bound;
    TSR_TRY(tsri_cholesky(work, n, above));
done:
    return st;
}

/* The smallest eigenvalue is the largest one of the inverse, which stands far from most others
 * there: some dozen solutions find it, where Lanczos on k itself takes hundreds of products. */
tsr_status tsri_spectrum_proven(tsri_eigen *smallest, tsri_eigen *largest, double *work,
                                const double *k, int64_t n, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    bool above = false;
    tsri_eigen inverse;
    if (n <= EXACT)
        return all_values(smallest, largest, work, k, n);
    TSR_TRY(iterate(NULL, largest, k, NULL, n, STEPS, 1e-10, pool));
    TSR_TRY(tsri_spectrum_above(&above, work, k, n, 0));
    if (above) {
        TSR_TRY(iterate(NULL, &inverse, k, work, n, STEPS, 1e-9, pool));
        double rounding = (double)n * 2.3e-16 * largest->value, value = 1 / inverse.value;
        *smallest = (tsri_eigen){value, value * value * inverse.error + rounding};
        TSR_TRY(tsri_spectrum_above(&above, work, k, n, value - smallest->error));
    }
    if (!above)
        TSR_TRY(all_values(smallest, largest, work, k, n));
done:
    return st;
}
