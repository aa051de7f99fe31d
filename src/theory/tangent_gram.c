/* tangent_gram.c - the products of all pairs of samples of two views.
 *
 * Squares of SIDE x SIDE pairs go to the pool; each thread multiplies in float, CHUNK numbers of a
 * row at a time, and adds up in double. So a sum of millions of products is as good as one of
 * thousands, and what is added in which order is decided by the shapes alone.
 */
#include "theory/tangent_parts.h"

#include "base/pieces.h"
#include "linalg/gemm.h"

#include <string.h>

enum { SIDE = 96, CHUNK = 4096 };

typedef struct desk {
    double a[SIDE * SIDE], d[SIDE * SIDE];
    float tile[SIDE * SIDE];
    float pa[TSRI_PATCH_PAIRS], pd[TSRI_PATCH_PAIRS];
} desk;

int64_t tsri_gram_bytes(const tsri_blocks *b)
{
    (void)b;
    return (int64_t)sizeof(desk);
}

/* sum [rows][SIDE] = x y^T for rows of `count` numbers. */
static void product(double *sum, float *tile, const float *x, int64_t rows, const float *y,
                    int64_t columns, int64_t count)
{
    memset(sum, 0, SIDE * SIDE * sizeof *sum);
    for (int64_t from = 0; from < count; from += CHUNK) {
        int64_t part = from + CHUNK < count ? CHUNK : count - from;
        tsri_gemm_tile(tile, SIDE, x + from, count, y + from, count, rows, columns, part, false);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                sum[i * SIDE + j] += (double)tile[i * SIDE + j];
    }
}

/* Patch form: sum over positions p of i and q of j of <A_ip, A_jq> <D_ip, D_jq>, i against as many
 * j at once as the buffers hold. */
static void patches(double *sum, desk *w, const tsri_block *b, const float *xa, const float *xd,
                    int64_t rows, const float *ya, const float *yd, int64_t columns, int64_t deep)
{
    int64_t P = b->positions, at_once = TSRI_PATCH_PAIRS / (P * P);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t from = 0; from < columns; from += at_once) {
            int64_t js = from + at_once < columns ? at_once : columns - from, wide = js * P;
            tsri_gemm_tile(w->pa, wide, xa + i * P * b->columns, b->columns,
                           ya + from * P * b->columns, b->columns, P, wide, b->columns, false);
            tsri_gemm_tile(w->pd, wide, xd + i * P * deep, deep, yd + from * P * deep, deep, P,
                           wide, deep, false);
            for (int64_t j = 0; j < js; j++) {
                double s = 0;
                for (int64_t p = 0; p < P; p++)
                    for (int64_t q = 0; q < P; q++)
                        s += (double)w->pa[p * wide + j * P + q] *
                             (double)w->pd[p * wide + j * P + q];
                sum[i * SIDE + from + j] = b->scale * s;
            }
        }
}

/* What block k adds to a square whose samples begin at i and j, in w->d. */
static void square_block(desk *w, const tsri_gram_job *job, int64_t k, int64_t i, int64_t rows,
                         int64_t j, int64_t columns)
{
    const tsri_block *b = &job->x->blocks->block[k];
    int64_t outputs = job->x->outputs, d_row = outputs * b->d_count;
    const float *xa = job->x->a[k] + i * b->a_count, *ya = job->y->a[k] + j * b->a_count;
    const float *xd = job->x->d[k] + i * d_row, *yd = job->y->d[k] + j * d_row;
    if (b->form == TSRI_BLOCK_FACTORS && b->positions > 1) {
        patches(w->d, w, b, xa, xd, rows, ya, yd, columns, outputs * b->rows);
        return;
    }
    product(w->d, w->tile, xd, rows, yd, columns, d_row);
    if (b->form == TSRI_BLOCK_SUMS)
        for (int64_t e = 0; e < SIDE * SIDE; e++)
            w->d[e] *= b->scale;
    if (b->form != TSRI_BLOCK_FACTORS || !b->weight)
        return;
    product(w->a, w->tile, xa, rows, ya, columns, b->a_count);
    for (int64_t e = 0; e < SIDE * SIDE; e++)
        w->d[e] *= b->scale * w->a[e] + (b->bias ? 1 : 0);
}

typedef struct crew {
    const tsri_gram_job *job;
    desk *desk; /* [threads] */
    int64_t across;
} crew;

static void run_square(void *context, int64_t s, int thread)
{
    const crew *c = context;
    const tsri_gram_job *job = c->job;
    int64_t i = s / c->across * SIDE, j = s % c->across * SIDE;
    bool same = job->x == job->y;
    if (same && j < i)
        return;
    int64_t rows = tsri_min(SIDE, job->rows - i), columns = tsri_min(SIDE, job->columns - j);
    desk *w = &c->desk[thread];
    for (int64_t k = 0; k < job->x->blocks->count; k++) {
        square_block(w, job, k, i, rows, j, columns);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t q = same && i == j ? r : 0; q < columns; q++)
                job->k[(job->i0 + i + r) * job->n + job->j0 + j + q] += w->d[r * SIDE + q];
    }
}

void tsri_gram_run(const tsri_gram_job *job, char *buffers, tsri_pool *pool)
{
    crew c = {job, (desk *)(void *)buffers, tsri_ceil_div(job->columns, SIDE)};
    tsri_pool_run(pool, run_square, &c, tsri_ceil_div(job->rows, SIDE) * c.across);
}
