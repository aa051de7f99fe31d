/* gemm64.c - matrix products in double on the pool, tile by tile. */
#include "linalg/gemm64.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "linalg/blas.h"
#include "linalg/openblas.h"

enum { TILE = 256 };

/* ---- Any two matrices ---------------------------------------------------------------------- */

static void gemm64_tile(void *context, int64_t t, int thread)
{
    const tsri_gemm64 *g = context;
    (void)thread;
    int64_t first = t * TILE, rows = tsri_min(TILE, g->m - first);
    tsri_blas.cblas_dgemm(
        CblasRowMajor, g->a_transposed ? CblasTrans : CblasNoTrans,
        g->b_transposed ? CblasTrans : CblasNoTrans, (int)rows, (int)g->n, (int)g->k, 1.0,
        g->a + (g->a_transposed ? first : first * g->k), (int)(g->a_transposed ? g->m : g->k), g->b,
        (int)(g->b_transposed ? g->k : g->n), 0.0, g->c + first * g->n, (int)g->n);
}

tsr_status tsri_gemm64_run(const tsri_gemm64 *g, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_openblas_takes(g->m, g->n, g->k, tsri_pool_threads(pool)));
    tsri_gemm64 copy = *g;
    tsri_pool_run(pool, gemm64_tile, &copy, tsri_ceil_div(g->m, TILE));
done:
    return st;
}

/* ---- A matrix and itself ------------------------------------------------------------------- */

typedef struct gram {
    double *g;
    const double *x;
    int64_t n, d;
} gram;

/* Tile (i, j), j <= i, of the lower half, and its mirror image. */
static void gram_tile(void *context, int64_t t, int thread)
{
    const gram *p = context;
    (void)thread;
    int64_t row = 0;
    while (t > row)
        t -= ++row;
    int64_t i = row * TILE, j = t * TILE;
    int64_t rows = tsri_min(TILE, p->n - i), columns = tsri_min(TILE, p->n - j);
    double *c = p->g + i * p->n + j;
    tsri_blas.cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)columns,
                          (int)p->d, 1.0, p->x + i * p->d, (int)p->d, p->x + j * p->d, (int)p->d,
                          0.0, c, (int)p->n);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t s = 0; s < columns; s++)
            if (j + s < i + r)
                p->g[(j + s) * p->n + i + r] = c[r * p->n + s];
}

tsr_status tsri_gram64(double *g, const float *x, int64_t n, int64_t d, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    double *wide = NULL;
    TSR_TRY(tsri_openblas_takes(n, n, d, tsri_pool_threads(pool)));
    TSR_TRY(tsri_alloc_raw(&wide, n * d, sizeof *wide));
    for (int64_t i = 0; i < n * d; i++)
        wide[i] = (double)x[i];
    gram p = {g, wide, n, d};
    int64_t side = tsri_ceil_div(n, TILE);
    tsri_pool_run(pool, gram_tile, &p, side * (side + 1) / 2);
done:
    tsri_free(wide);
    return st;
}
