/* chain.c - chains of weights and patterns applied to vectors, and power iteration on them. */
#include "theory/chain.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "base/rng.h"
#include "base/simd.h"
#include "base/stop.h"
#include "linalg/lapack.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, ROWS = 32, COLUMNS = 256 };

static const double LEVEL = 0.99, ROUNDING = 1e-12; /* of a square's eigenvalue: some n 1e-16 */

/* ---- Matrix and vector --------------------------------------------------------------------- */

/* Vectors that go through a factor together: y[k] = f x[k]. */
typedef struct job {
    double *const *y, *const *x;
    int64_t n;
    const tsri_factor *f;
} job;

/* Eight sums side by side: as exact as one, in an order that does not depend on the processor. */
TSRI_CLONES
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

TSRI_CLONES
static void add_row(double *restrict y, double x, const float *restrict w, int64_t n)
{
    for (int64_t c = 0; c < n; c++)
        y[c] += x * (double)w[c];
}

static void rows_of(void *context, int64_t i, int thread)
{
    (void)thread;
    const job *j = context;
    int64_t end = (i + 1) * ROWS < j->f->rows ? (i + 1) * ROWS : j->f->rows;
    for (int64_t r = i * ROWS; r < end; r++)
        for (int64_t k = 0; k < j->n; k++)
            j->y[k][r] = dot(j->f->w + r * j->f->cols, j->x[k], j->f->cols);
}

static void columns_of(void *context, int64_t i, int thread)
{
    (void)thread;
    const job *j = context;
    int64_t from = i * COLUMNS, cols = j->f->cols;
    int64_t count = from + COLUMNS < cols ? COLUMNS : cols - from;
    for (int64_t k = 0; k < j->n; k++)
        memset(j->y[k] + from, 0, (size_t)count * sizeof **j->y);
    for (int64_t r = 0; r < j->f->rows; r++)
        for (int64_t k = 0; k < j->n; k++)
            if (j->x[k][r] != 0)
                add_row(j->y[k] + from, j->x[k][r], j->f->w + r * cols + from, count);
}

static void gate(double *y, const tsri_factor *f)
{
    for (int64_t r = 0; f->gate && r < f->rows; r++)
        y[r] = f->gate[r] > 0 ? y[r] : 0;
}

/* y = gate (w x);     adjoint: y = w^T (gate x), x is spoilt. */
static void apply_factor(job *j, bool adjoint, tsri_pool *pool)
{
    const tsri_factor *f = j->f;
    for (int64_t k = 0; adjoint && k < j->n; k++)
        gate(j->x[k], f);
    if (!f->w)
        for (int64_t k = 0; k < j->n; k++)
            memcpy(j->y[k], j->x[k], (size_t)f->rows * sizeof **j->y);
    else if (adjoint)
        tsri_pool_run(pool, columns_of, j, tsri_ceil_div(f->cols, COLUMNS));
    else
        tsri_pool_run(pool, rows_of, j, tsri_ceil_div(f->rows, ROWS));
    for (int64_t k = 0; !adjoint && k < j->n; k++)
        gate(j->y[k], f);
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

/* Vectors on their way through the beginnings of a chain, vector k through its first count[k]
 * factors; counts do not fall. Where several go through a factor its weights are read once. */
typedef struct travellers {
    const tsri_chain *a;
    const int64_t *count;
    int64_t n;
    double **at, **next; /* [n], each with room for the widest factor */
    double *room;
} travellers;

static void travellers_fini(travellers *t)
{
    tsri_free(t->at);
    tsri_free(t->next);
    tsri_free(t->room);
}

static tsr_status travellers_init(travellers *t, const tsri_chain *a, const int64_t *count,
                                  int64_t n)
{
    tsr_status st = TSR_OK;
    int64_t wide = widest(a);
    *t = (travellers){.a = a, .count = count, .n = n};
    TSR_TRY(tsri_alloc(&t->at, n, sizeof *t->at));
    TSR_TRY(tsri_alloc(&t->next, n, sizeof *t->next));
    TSR_TRY(tsri_alloc(&t->room, 2 * n * wide, sizeof *t->room));
    for (int64_t k = 0; k < n; k++) {
        t->at[k] = t->room + 2 * k * wide;
        t->next[k] = t->at[k] + wide;
    }
done:
    return st;
}

/* Numbers of vector k at the beginning of its way, or at its end. */
static int64_t size_of(const travellers *t, int64_t k, bool end)
{
    return end ? t->a->factor[t->count[k] - 1].rows : t->a->factor[0].cols;
}

static void depart(travellers *t, int64_t k, const double *x, bool adjoint)
{
    memcpy(t->at[k], x, (size_t)size_of(t, k, adjoint) * sizeof *x);
}

static void arrive(double *y, const travellers *t, int64_t k, bool adjoint)
{
    memcpy(y, t->at[k], (size_t)size_of(t, k, !adjoint) * sizeof *y);
}

static void travel(travellers *t, bool adjoint, tsri_pool *pool)
{
    int64_t last = t->count[t->n - 1] - 1;
    for (int64_t i = 0; i <= last; i++) {
        int64_t factor = adjoint ? last - i : i, first = 0;
        while (t->count[first] <= factor)
            first++;
        job j = {t->next + first, t->at + first, t->n - first, &t->a->factor[factor]};
        apply_factor(&j, adjoint, pool);
        for (int64_t k = first; k < t->n; k++) {
            double *swap = t->at[k];
            t->at[k] = t->next[k];
            t->next[k] = swap;
        }
    }
}

tsr_status tsri_chain_apply(double *y, const double *x, const tsri_chain *a, bool adjoint,
                            tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    travellers t;
    TSR_TRY(travellers_init(&t, a, &a->count, 1));
    depart(&t, 0, x, adjoint);
    travel(&t, adjoint, pool);
    arrive(y, &t, 0, adjoint);
done:
    travellers_fini(&t);
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

/* Maps whose norms are looked for: the beginnings of a, or a - b. */
typedef struct maps {
    travellers a, b; /* b.n = 0: there is none */
    int64_t wide;
} maps;

static void maps_fini(maps *m)
{
    travellers_fini(&m->a);
    travellers_fini(&m->b);
}

static tsr_status maps_init(maps *m, const tsri_chain *a, const tsri_chain *b, const int64_t *count,
                            int64_t n)
{
    tsr_status st = TSR_OK;
    *m = (maps){.wide = widest(a)};
    TSR_TRY(travellers_init(&m->a, a, count, n));
    if (b)
        TSR_TRY(travellers_init(&m->b, b, &b->count, 1));
done:
    return st;
}

/* y[k] = a x[k] - b x[k]; vectors lie `wide` apart. */
static void apply(double *y, const double *x, maps *m, bool adjoint, tsri_pool *pool)
{
    for (int64_t k = 0; k < m->a.n; k++)
        depart(&m->a, k, x + k * m->wide, adjoint);
    travel(&m->a, adjoint, pool);
    for (int64_t k = 0; k < m->a.n; k++)
        arrive(y + k * m->wide, &m->a, k, adjoint);
    if (m->b.n == 0)
        return;
    depart(&m->b, 0, x, adjoint);
    travel(&m->b, adjoint, pool);
    for (int64_t i = 0; i < size_of(&m->b, 0, !adjoint); i++)
        y[i] -= m->b.at[0][i];
}

/* By the images of all unit vectors, on the narrower side: the root of the largest eigenvalue of
 * their products, right but for rounding. NaN where a number is not finite. */
static tsr_status exact_norm(double *value, const tsri_chain *a, const tsri_chain *b, int64_t count,
                             bool adjoint, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    maps map;
    double *unit = NULL, *image = NULL, *product = NULL, *square = NULL, sum = 0;
    TSR_TRY(maps_init(&map, a, b, &count, 1));
    int64_t n = size_of(&map.a, 0, adjoint), m = size_of(&map.a, 0, !adjoint);
    TSR_TRY(tsri_alloc(&unit, map.wide, sizeof *unit));
    TSR_TRY(tsri_alloc(&image, n * m, sizeof *image));
    TSR_TRY(tsri_alloc(&product, n * n, sizeof *product));
    TSR_TRY(tsri_alloc(&square, n, sizeof *square));
    for (int64_t i = 0; i < n; i++) {
        unit[i] = 1;
        apply(image + i * m, unit, &map, adjoint, pool);
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
    maps_fini(&map);
    tsri_free(unit);
    tsri_free(image);
    tsri_free(product);
    tsri_free(square);
    return st;
}

/* To length 1. False: the map is zero, or a number is not finite. */
static bool normalise(double *x, int64_t n)
{
    double size = length(x, n);
    if (size > 0)
        scale(x, n, 1 / size);
    return size > 0;
}

typedef struct iteration {
    int64_t steps;
    uint64_t seed;
    tsri_pool *pool;
    bool stops; /* between steps, when asked to */
} iteration;

/* Of n maps at once, by power iteration from one start. */
static tsr_status iterated_norms(double *value, const tsri_chain *a, const tsri_chain *b,
                                 const int64_t *count, int64_t n, const iteration *how)
{
    tsr_status st = TSR_OK;
    maps map;
    double *x = NULL, *y = NULL;
    bool *over = NULL;
    int64_t cols = a->factor[0].cols;
    TSR_TRY(maps_init(&map, a, b, count, n));
    TSR_TRY(tsri_alloc(&x, n * map.wide, sizeof *x));
    TSR_TRY(tsri_alloc(&y, n * map.wide, sizeof *y));
    TSR_TRY(tsri_alloc(&over, n, sizeof *over));
    for (int64_t k = 0; k < n; k++) {
        tsri_rng rng = tsri_rng_stream(how->seed, TSRI_FOR_THEORY, 1, 0, 0);
        for (int64_t i = 0; i < cols; i++)
            x[k * map.wide + i] = tsri_rng_normal(&rng);
        value[k] = 0;
    }
    for (int64_t step = 0; step < how->steps; step++) {
        TSR_TRY(how->stops ? tsri_stop_heed() : TSR_OK);
        for (int64_t k = 0; k < n; k++)
            over[k] = over[k] || !normalise(x + k * map.wide, cols);
        apply(y, x, &map, false, how->pool);
        for (int64_t k = 0; k < n; k++)
            if (!over[k])
                value[k] = length(y + k * map.wide, size_of(&map.a, k, true));
        apply(x, y, &map, true, how->pool);
    }
done:
    maps_fini(&map);
    tsri_free(x);
    tsri_free(y);
    tsri_free(over);
    return st;
}

/* As tsri_chain_norms, `b` only where n is 1. */
static tsr_status norms_of(tsri_norm *out, const tsri_chain *a, const tsri_chain *b,
                           const int64_t *count, int64_t n, const iteration *how)
{
    tsr_status st = TSR_OK;
    int64_t cols = a->factor[0].cols, many = 0, *wide = NULL;
    double *value = NULL;
    TSR_TRY(tsri_alloc(&value, n, sizeof *value));
    TSR_TRY(tsri_alloc(&wide, n, sizeof *wide));
    for (int64_t k = 0; k < n; k++) {
        int64_t rows = a->factor[count[k] - 1].rows;
        bool exact = rows <= how->steps || cols <= how->steps;
        out[k] = (tsri_norm){.level = exact ? 1 : LEVEL};
        if (!exact) {
            wide[many++] = count[k];
            continue;
        }
        TSR_TRY(exact_norm(&out[k].value, a, b, count[k], rows < cols, how->pool));
        out[k].high = out[k].value * (1 + ROUNDING);
    }
    if (many > 0)
        TSR_TRY(iterated_norms(value, a, b, wide, many, how));
    double miss = pow((1 - LEVEL) / (0.824 * sqrt((double)cols)), 1 / ((double)how->steps - 0.5));
    for (int64_t k = 0, i = 0; k < n; k++)
        if (out[k].level < 1) { /* 1 - e = miss, of the norm's square */
            out[k].value = value[i++];
            out[k].high = out[k].value / sqrt(miss);
        }
done:
    tsri_free(value);
    tsri_free(wide);
    return st;
}

tsr_status tsri_chain_norm(tsri_norm *out, const tsri_chain *a, const tsri_chain *b, int64_t steps,
                           uint64_t seed, tsri_pool *pool)
{
    return norms_of(out, a, b, &a->count, 1, &(iteration){steps, seed, pool, false});
}

tsr_status tsri_chain_norms(tsri_norm *out, const tsri_chain *a, const int64_t *count, int64_t n,
                            int64_t steps, uint64_t seed, tsri_pool *pool)
{
    return norms_of(out, a, NULL, count, n, &(iteration){steps, seed, pool, true});
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
