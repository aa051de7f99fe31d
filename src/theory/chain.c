/* chain.c - chains of weights and patterns applied to vectors, and power iteration on them. */
#include "theory/chain.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "base/rng.h"
#include "linalg/lapack.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, ROWS = 32, COLUMNS = 256 };

static const double LEVEL = 0.99, ROUNDING = 1e-12; /* of a square's eigenvalue: some n 1e-16 */

/* ---- Matrix and vector --------------------------------------------------------------------- */

typedef struct job {
    double *y;
    const double *x;
    const tsri_factor *f;
} job;

/* Eight sums side by side: as exact as one, in an order that does not depend on the processor. */
static double dot(const float *w, const double *x, int64_t n)
{
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += (double)w[i + k] * x[i + k];
    for (; i < n; i++)
        lane[0] += (double)w[i] * x[i];
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

static void rows_of(void *context, int64_t i, int thread)
{
    (void)thread;
    const job *j = context;
    int64_t end = (i + 1) * ROWS < j->f->rows ? (i + 1) * ROWS : j->f->rows;
    for (int64_t r = i * ROWS; r < end; r++)
        j->y[r] = dot(j->f->w + r * j->f->cols, j->x, j->f->cols);
}

static void columns_of(void *context, int64_t i, int thread)
{
    (void)thread;
    const job *j = context;
    int64_t from = i * COLUMNS, cols = j->f->cols;
    int64_t end = from + COLUMNS < cols ? from + COLUMNS : cols;
    for (int64_t c = from; c < end; c++)
        j->y[c] = 0;
    for (int64_t r = 0; r < j->f->rows; r++) {
        const float *w = j->f->w + r * cols;
        double x = j->x[r];
        for (int64_t c = from; x != 0 && c < end; c++)
            j->y[c] += x * (double)w[c];
    }
}

static void gate(double *y, const tsri_factor *f)
{
    for (int64_t r = 0; f->gate && r < f->rows; r++)
        y[r] = f->gate[r] > 0 ? y[r] : 0;
}

/* y = gate (w x);     adjoint: y = w^T (gate x), x is spoilt. */
static void apply_factor(double *y, double *x, const tsri_factor *f, bool adjoint, tsri_pool *pool)
{
    job j = {y, x, f};
    if (adjoint)
        gate(x, f);
    if (!f->w)
        memcpy(y, x, (size_t)f->rows * sizeof *y);
    else if (adjoint)
        tsri_pool_run(pool, columns_of, &j, tsri_ceil_div(f->cols, COLUMNS));
    else
        tsri_pool_run(pool, rows_of, &j, tsri_ceil_div(f->rows, ROWS));
    if (!adjoint)
        gate(y, f);
}

/* ---- Chains --------------------------------------------------------------------------------- */

static int64_t widest(const tsri_chain *a)
{
    int64_t most = 0;
    for (int64_t i = 0; i < a->count; i++) {
        most = a->factor[i].rows > most ? a->factor[i].rows : most;
        most = a->factor[i].cols > most ? a->factor[i].cols : most;
    }
    return most;
}

/* `spare` has room for the widest factor twice. */
static void apply(double *y, const double *x, const tsri_chain *a, bool adjoint, double *spare,
                  tsri_pool *pool)
{
    int64_t wide = widest(a), last = a->count - 1;
    double *from = spare, *to = spare + wide;
    int64_t in = adjoint ? a->factor[last].rows : a->factor[0].cols;
    int64_t out = adjoint ? a->factor[0].cols : a->factor[last].rows;
    memcpy(from, x, (size_t)in * sizeof *x);
    for (int64_t i = 0; i <= last; i++) {
        apply_factor(to, from, &a->factor[adjoint ? last - i : i], adjoint, pool);
        double *swap = from;
        from = to;
        to = swap;
    }
    memcpy(y, from, (size_t)out * sizeof *y);
}

tsr_status tsri_chain_apply(double *y, const double *x, const tsri_chain *a, bool adjoint,
                            tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    double *spare = NULL;
    TSR_TRY(tsri_alloc(&spare, 2 * widest(a), sizeof *spare));
    apply(y, x, a, adjoint, spare, pool);
done:
    tsri_free(spare);
    return st;
}

static double length(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void scale(double *x, int64_t n, double by)
{
    for (int64_t i = 0; i < n; i++)
        x[i] *= by;
}

/* y = a x - b x. */
static void apply_both(double *y, const double *x, const tsri_chain *a, const tsri_chain *b,
                       bool adjoint, double *spare, int64_t out, tsri_pool *pool)
{
    double *other = spare + 2 * widest(a);
    apply(y, x, a, adjoint, spare, pool);
    if (!b)
        return;
    apply(other, x, b, adjoint, spare, pool);
    for (int64_t i = 0; i < out; i++)
        y[i] -= other[i];
}

/* By the images of all unit vectors, on the narrower side: the root of the largest eigenvalue of
 * their products, right but for rounding. NaN where a number is not finite. */
static tsr_status exact_norm(double *value, const tsri_chain *a, const tsri_chain *b, bool adjoint,
                             tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    int64_t rows = a->factor[a->count - 1].rows, cols = a->factor[0].cols, wide = widest(a);
    int64_t n = adjoint ? rows : cols, m = adjoint ? cols : rows;
    double *unit = NULL, *image = NULL, *product = NULL, *square = NULL, *spare = NULL, sum = 0;
    TSR_TRY(tsri_alloc(&unit, wide, sizeof *unit));
    TSR_TRY(tsri_alloc(&image, n * m, sizeof *image));
    TSR_TRY(tsri_alloc(&product, n * n, sizeof *product));
    TSR_TRY(tsri_alloc(&square, n, sizeof *square));
    TSR_TRY(tsri_alloc(&spare, 3 * wide, sizeof *spare));
    for (int64_t i = 0; i < n; i++) {
        unit[i] = 1;
        apply_both(image + i * m, unit, a, b, adjoint, spare, m, pool);
        unit[i] = 0;
        for (int64_t j = 0; j <= i; j++) {
            double *at = product + i * n + j;
            for (int64_t k = 0; k < m; k++)
                *at += image[i * m + k] * image[j * m + k];
            product[j * n + i] = *at;
            sum += *at;
        }
    }
    *value = (double)NAN;
    if (!isfinite(sum))
        goto done;
    TSR_TRY(tsri_eigenvalues(square, product, n));
    *value = sqrt(fmax(square[n - 1], 0));
done:
    tsri_free(unit);
    tsri_free(image);
    tsri_free(product);
    tsri_free(square);
    tsri_free(spare);
    return st;
}

static tsr_status iterated_norm(double *value, const tsri_chain *a, const tsri_chain *b,
                                int64_t steps, uint64_t seed, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    int64_t rows = a->factor[a->count - 1].rows, cols = a->factor[0].cols, wide = widest(a);
    double *x = NULL, *y = NULL, *spare = NULL;
    *value = 0;
    TSR_TRY(tsri_alloc(&x, wide, sizeof *x));
    TSR_TRY(tsri_alloc(&y, wide, sizeof *y));
    TSR_TRY(tsri_alloc(&spare, 3 * wide, sizeof *spare));
    tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_THEORY, 1, 0, 0);
    for (int64_t i = 0; i < cols; i++)
        x[i] = tsri_rng_normal(&rng);
    for (int64_t k = 0; k < steps; k++) {
        double size = length(x, cols);
        if (!(size > 0))
            break; /* the map is zero */
        scale(x, cols, 1 / size);
        apply_both(y, x, a, b, false, spare, rows, pool);
        *value = length(y, rows);
        apply_both(x, y, a, b, true, spare, cols, pool);
    }
done:
    tsri_free(x);
    tsri_free(y);
    tsri_free(spare);
    return st;
}

tsr_status tsri_chain_norm(tsri_norm *out, const tsri_chain *a, const tsri_chain *b, int64_t steps,
                           uint64_t seed, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    int64_t rows = a->factor[a->count - 1].rows, cols = a->factor[0].cols;
    double value = 0;
    if (rows <= steps || cols <= steps) {
        TSR_TRY(exact_norm(&value, a, b, rows < cols, pool));
        *out = (tsri_norm){value, value * (1 + ROUNDING), 1};
        return TSR_OK;
    }
    TSR_TRY(iterated_norm(&value, a, b, steps, seed, pool));
    double miss = pow((1 - LEVEL) / (0.824 * sqrt((double)cols)), 1 / ((double)steps - 0.5));
    *out = (tsri_norm){value, value / sqrt(miss), LEVEL}; /* 1 - e = miss, of the norm's square */
done:
    return st;
}

/* ---- States --------------------------------------------------------------------------------- */

typedef struct product {
    float *z;
    const float *x, *w;
    int64_t rows, cols;
} product;

static void one_row(void *context, int64_t i, int thread)
{
    (void)thread;
    const product *p = context;
    const float *x = p->x + i * p->cols;
    for (int64_t r = 0; r < p->rows; r++) {
        const float *w = p->w + r * p->cols;
        double lane[LANES] = {0}, sum = 0;
        int64_t k = 0;
        for (; k + LANES <= p->cols; k += LANES)
            for (int l = 0; l < LANES; l++)
                lane[l] += (double)w[k + l] * (double)x[k + l];
        for (; k < p->cols; k++)
            lane[0] += (double)w[k] * (double)x[k];
        for (int l = 0; l < LANES; l++)
            sum += lane[l];
        p->z[i * p->rows + r] = (float)sum;
    }
}

void tsri_rows_product(float *z, const float *x, const float *w, int64_t n, int64_t rows,
                       int64_t cols, tsri_pool *pool)
{
    product p = {z, x, w, rows, cols};
    tsri_pool_run(pool, one_row, &p, n);
}

double tsri_length(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}
