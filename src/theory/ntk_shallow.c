/* ntk_shallow.c - kernels of networks with one hidden layer: closed form, and counts of bits. */
#include "theory/ntk_shallow.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "linalg/gemm.h"

#include <math.h>

#define PI 3.14159265358979323846

enum { ROWS = 256, TILE = 64 }; /* samples whose products are held at once; side of a mirror tile */

/* ---- Infinite width ----------------------------------------------------------------------- */

typedef struct closed {
    double *k;
    const double *gram;
    int64_t n;
    double scale;
} closed;

/* Rounding may bring a cosine past 1. */
static double angle(double c)
{
    return acos(c > 1 ? 1 : c < -1 ? -1 : c);
}

static void closed_row(void *context, int64_t i, int thread)
{
    const closed *p = context;
    const double *g = p->gram + i * p->n;
    (void)thread;
    for (int64_t j = 0; j < p->n; j++) {
        double norms = sqrt(g[i] * p->gram[j * p->n + j]);
        double a = i == j ? 0 : norms > 0 ? angle(g[j] / norms) : PI;
        p->k[i * p->n + j] = p->scale * g[j] * (PI - a) / (2 * PI);
    }
}

void tsri_kernel_infinite(double *k, const double *gram, int64_t n, double scale, tsri_pool *pool)
{
    closed p = {k, gram, n, scale};
    tsri_pool_run(pool, closed_row, &p, n);
}

/* ---- Patterns ----------------------------------------------------------------------------- */

typedef struct packing {
    tsri_signs *bits;
    const float *z; /* [rows, m] */
    int64_t from;
} packing;

static void pack_row(void *context, int64_t i, int thread)
{
    const packing *p = context;
    (void)thread;
    tsri_signs_sign(p->bits, p->from + i, 0, p->z + i * p->bits->m, p->bits->m);
}

tsr_status tsri_patterns(tsri_signs *bits, const float *x, int64_t n, int64_t d, const float *w,
                         int64_t m, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    float *z = NULL;
    TSR_TRY(tsri_signs_init(bits, n, m));
    TSR_TRY(tsri_alloc_raw(&z, tsri_min(n, ROWS) * m, sizeof *z));
    for (int64_t from = 0; from < n; from += ROWS) {
        int64_t rows = tsri_min(ROWS, n - from);
        tsri_gemm g = {.b_transposed = true, .m = rows, .n = m, .k = d, .b = w, .c = z};
        g.a = x + from * d;
        TSR_TRY(tsri_gemm_run(&g, pool));
        packing p = {bits, z, from};
        tsri_pool_run(pool, pack_row, &p, rows);
    }
done:
    tsri_free(z);
    if (st != TSR_OK)
        tsri_signs_fini(bits);
    return st;
}

/* ---- Counts times products ---------------------------------------------------------------- */

typedef struct scaled {
    double *k;
    const double *gram;
    int64_t n;
    double scale;
} scaled;

static void put_counts(void *context, int64_t i, int64_t from, int64_t count,
                       const uint32_t *counts)
{
    const scaled *s = context;
    double *k = s->k + i * s->n + from;
    const double *gram = s->gram + i * s->n + from;
    for (int64_t j = from < i ? i - from : 0; j < count; j++)
        k[j] = s->scale * gram[j] * (double)counts[j];
}

/* Row block b of the lower half, tile by tile. */
static void mirror_rows(void *context, int64_t b, int thread)
{
    const scaled *s = context;
    int64_t n = s->n, first = b * TILE, last = tsri_min(first + TILE, n);
    (void)thread;
    for (int64_t from = 0; from < last; from += TILE)
        for (int64_t i = first; i < last; i++)
            for (int64_t j = from; j < tsri_min(from + TILE, i); j++)
                s->k[i * n + j] = s->k[j * n + i];
}

void tsri_mirror(double *k, int64_t n, tsri_pool *pool)
{
    scaled s = {.k = k, .n = n};
    tsri_pool_run(pool, mirror_rows, &s, tsri_ceil_div(n, TILE));
}

tsr_status tsri_kernel_bits(double *k, const double *gram, const tsri_signs *bits, double scale,
                            tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    scaled s = {k, gram, bits->n, scale};
    TSR_TRY(tsri_signs_gram(bits, pool, put_counts, &s));
    tsri_mirror(k, bits->n, pool);
done:
    return st;
}

tsr_status tsri_kernel_share(double *k, const double *gram, const tsri_signs *bits,
                             const uint8_t *mark, double scale, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    tsri_signs mine = {0};
    uint64_t *row = NULL;
    TSR_TRY(tsri_alloc(&row, bits->words, sizeof *row));
    TSR_TRY(tsri_signs_init(&mine, bits->n, bits->m));
    tsri_signs_row(row, bits->words, mark, bits->m);
    tsri_signs_and(&mine, bits, row);
    TSR_TRY(tsri_kernel_bits(k, gram, &mine, scale, pool));
done:
    tsri_signs_fini(&mine);
    tsri_free(row);
    return st;
}
