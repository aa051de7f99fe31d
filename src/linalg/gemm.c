/* gemm.c - matrix products on the pool, tile by tile. */
#include "linalg/gemm.h"

#include "base/pieces.h"
#include "base/simd.h"
#include "linalg/blas.h"
#include "linalg/openblas.h"

enum {
    GRAIN = 64, /* tiles end at multiples of it: whole register blocks of every OpenBLAS kernel */
    MOST = 64,  /* tiles of one product */
    SMALL = 1 << 22 /* multiply-adds below which cutting costs more than it brings */
};

typedef struct tiling {
    const tsri_gemm *g;
    bool by_rows; /* the longer side of c is cut */
    int64_t step; /* rows or columns of a tile */
} tiling;

static tiling cut(const tsri_gemm *g, int64_t *tiles)
{
    tiling t = {g, g->m >= g->n, 0};
    int64_t side = t.by_rows ? g->m : g->n;
    t.step = side;
    if (g->m * g->n * g->k >= SMALL && side >= 2 * GRAIN) {
        int64_t pieces = tsri_min(side / (2 * GRAIN), MOST);
        t.step = tsri_round_up(tsri_ceil_div(side, pieces), GRAIN);
    }
    *tiles = t.step > 0 ? tsri_ceil_div(side, t.step) : 0;
    return t;
}

TSRI_CLONES
static void finish_rows(float *c, int64_t rows, int64_t cols, int64_t stride, const float *bias,
                        bool relu)
{
    for (int64_t r = 0; r < rows; r++) {
        float *row = c + r * stride;
        if (bias && relu)
            for (int64_t j = 0; j < cols; j++) {
                float v = row[j] + bias[j];
                row[j] = v > 0 ? v : 0;
            }
        else if (bias)
            for (int64_t j = 0; j < cols; j++)
                row[j] += bias[j];
        else
            for (int64_t j = 0; j < cols; j++)
                row[j] = row[j] > 0 ? row[j] : 0;
    }
}

static void run_tile(void *context, int64_t i, int thread)
{
    (void)thread;
    const tiling *t = context;
    const tsri_gemm *g = t->g;
    int64_t from = i * t->step, side = t->by_rows ? g->m : g->n;
    int64_t size = from + t->step < side ? t->step : side - from;
    int64_t rows = t->by_rows ? size : g->m, cols = t->by_rows ? g->n : size;
    int64_t row = t->by_rows ? from : 0, col = t->by_rows ? 0 : from;
    const float *a = g->a + (g->a_transposed ? row : row * g->k);
    const float *b = g->b + (g->b_transposed ? col * g->k : col);
    float *c = g->c + row * g->n + col;
    tsri_blas.cblas_sgemm(CblasRowMajor, g->a_transposed ? CblasTrans : CblasNoTrans,
                          g->b_transposed ? CblasTrans : CblasNoTrans, (int)rows, (int)cols,
                          (int)g->k, g->scale == 0 ? 1.0f : (float)g->scale, a,
                          (int)(g->a_transposed ? g->m : g->k), b,
                          (int)(g->b_transposed ? g->k : g->n), g->add ? 1.0f : 0.0f, c, (int)g->n);
    if (g->bias || g->relu)
        finish_rows(c, rows, cols, g->n, g->bias ? g->bias + col : NULL, g->relu);
}

tsr_status tsri_gemm_run(const tsri_gemm *g, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_openblas_takes(g->m, g->n, g->k, tsri_pool_threads(pool)));
    int64_t tiles;
    tiling t = cut(g, &tiles);
    tsri_pool_run(pool, run_tile, &t, tiles);
done:
    return st;
}

void tsri_gemm_tile(float *c, int64_t ldc, const float *a, int64_t lda, const float *b, int64_t ldb,
                    int64_t m, int64_t n, int64_t k, bool transposed)
{
    tsri_blas.cblas_sgemm(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans,
                          transposed ? CblasNoTrans : CblasTrans, (int)m, (int)n, (int)k, 1.0f, a,
                          (int)lda, b, (int)ldb, 0.0f, c, (int)ldc);
}
