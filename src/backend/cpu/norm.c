/* norm.c - batch normalisation of [rows, C], channels innermost, fused with the ReLU after it.
 *
 * The rows are cut into blocks by a rule of the shape alone. Within a block sums run in float, row
 * after row (a block fits the cache, so that its variance takes a second pass for free); blocks are
 * merged in order in double (Chan, Golub, LeVeque 1979: means and squared deviations of two sets).
 *
 *     saved    scale, shift, mu, r (norm.h)
 *     scratch  per block: two sums [2][C] of float
 */
#include "backend/cpu/kernels.h"

#include "backend/cpu/norm.h"
#include "base/simd.h"

#include <math.h>

enum { BLOCK = 32768 }; /* numbers in a block: 128 kB */

static int64_t rows_of(const tsri_op *op)
{
    return op->n * op->in.h * op->in.w;
}

static int64_t block_rows(const tsri_op *op)
{
    return op->in.c >= BLOCK ? 1 : BLOCK / op->in.c;
}

static int64_t blocks_of(const tsri_op *op)
{
    return (rows_of(op) + block_rows(op) - 1) / block_rows(op);
}

static tsr_status setup(tsri_op *op)
{
    op->saved_bytes = TSRI_NORM_SAVED * op->in.c * (int64_t)sizeof(float);
    op->scratch_bytes = blocks_of(op) * 2 * op->in.c * (int64_t)sizeof(float);
    return TSR_OK;
}

typedef struct span {
    int64_t from, rows;
    float *sum; /* [2][C] */
} span;

static span span_of(const tsri_op *op, int64_t i)
{
    int64_t step = block_rows(op), from = i * step, left = rows_of(op) - from;
    return (span){from, left < step ? left : step, (float *)op->scratch + i * 2 * op->in.c};
}

/* ---- Forward ------------------------------------------------------------------------------- */

/* mean[c] and deviations m2[c] = sum (x - mean)^2 of a block. */
TSRI_CLONES
static void block_moments(float *mean, float *m2, const float *x, int64_t rows, int64_t C)
{
    for (int64_t c = 0; c < C; c++)
        mean[c] = m2[c] = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < C; c++)
            mean[c] += x[r * C + c];
    float scale = 1.0f / (float)rows;
    for (int64_t c = 0; c < C; c++)
        mean[c] *= scale;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < C; c++) {
            float d = x[r * C + c] - mean[c];
            m2[c] += d * d;
        }
}

static void moments_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    span s = span_of(op, i);
    block_moments(s.sum, s.sum + op->in.c, (const float *)op->x + s.from * op->in.c, s.rows,
                  op->in.c);
}

/* Merges the blocks of channel c in order. */
static void merge(const tsri_op *op, int64_t c, double *mean, double *m2)
{
    double count = 0;
    *mean = *m2 = 0;
    for (int64_t i = 0; i < blocks_of(op); i++) {
        span s = span_of(op, i);
        double nb = (double)s.rows, delta = (double)s.sum[c] - *mean, all = count + nb;
        *mean += delta * nb / all;
        *m2 += (double)s.sum[op->in.c + c] + delta * delta * count * nb / all;
        count = all;
    }
}

static void batch_statistics(tsri_op *op)
{
    double count = (double)rows_of(op);
    for (int64_t c = 0; c < op->in.c; c++) {
        double mean, m2;
        merge(op, c, &mean, &m2);
        tsri_norm_from_batch(op, c, mean, m2 / count, count);
    }
}

TSRI_CLONES
static void normalise(float *y, const float *x, const float *mu, const float *scale, const float *b,
                      int64_t rows, int64_t C, float floor)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < C; c++) {
            float v = (x[i * C + c] - mu[c]) * scale[c] + b[c];
            y[i * C + c] = v > floor ? v : floor;
        }
}

TSRI_CLONES
static void normalise_add(float *y, const float *x, const float *add, const float *mu,
                          const float *scale, const float *b, int64_t rows, int64_t C, float floor)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < C; c++) {
            float v = (x[i * C + c] - mu[c]) * scale[c] + b[c] + add[i * C + c];
            y[i * C + c] = v > floor ? v : floor;
        }
}

static void normalise_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    span s = span_of(op, i);
    int64_t at = s.from * op->in.c;
    tsri_norm_saved saved = tsri_norm_saved_of(op);
    float floor = op->relu ? 0.0f : -INFINITY, *y = (float *)op->y + at;
    const float *x = (const float *)op->x + at;
    if (op->add)
        normalise_add(y, x, (const float *)op->add + at, saved.mu, saved.scale, op->b, s.rows,
                      op->in.c, floor);
    else
        normalise(y, x, saved.mu, saved.scale, op->b, s.rows, op->in.c, floor);
}

static tsr_status forward(tsri_op *op)
{
    if (op->training && rows_of(op) > 0) {
        tsri_pool_run(op->pool, moments_piece, op, blocks_of(op));
        batch_statistics(op);
    } else {
        tsri_norm_from_running(op);
    }
    tsri_pool_run(op->pool, normalise_piece, op, blocks_of(op));
    return TSR_OK;
}

/* ---- Backward ------------------------------------------------------------------------------ */

/* dy = 0 where the unit was off; sum = sum dy, dot = sum dy (x - mu) r. */
TSRI_CLONES
static void block_sums(float *sum, float *dot, float *dy, const float *y, const float *x,
                       const float *mu, const float *r, int64_t rows, int64_t C)
{
    for (int64_t c = 0; c < C; c++)
        sum[c] = dot[c] = 0;
    for (int64_t i = 0; i < rows; i++) {
        float *d = dy + i * C;
        if (y)
            for (int64_t c = 0; c < C; c++)
                d[c] = y[i * C + c] > 0 ? d[c] : 0;
        for (int64_t c = 0; c < C; c++) {
            sum[c] += d[c];
            dot[c] += d[c] * ((x[i * C + c] - mu[c]) * r[c]);
        }
    }
}

static void sums_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    span s = span_of(op, i);
    int64_t C = op->in.c;
    tsri_norm_saved saved = tsri_norm_saved_of(op);
    block_sums(s.sum, s.sum + C, (float *)op->dy + s.from * C,
               op->relu ? (const float *)op->y + s.from * C : NULL,
               (const float *)op->x + s.from * C, saved.mu, saved.r, s.rows, C);
}

/* Sums over the blocks in order; afterwards the first block's scratch holds the two means that the
 * gradient of the input needs: of batch statistics, which the inputs move; running ones stand. */
static void add_blocks(tsri_op *op)
{
    int64_t C = op->in.c, blocks = blocks_of(op);
    float *db = op->db, *dw = op->dw, *first = op->scratch;
    double count = (double)rows_of(op);
    for (int64_t c = 0; c < C; c++) {
        double sum = 0, dot = 0;
        for (int64_t i = 0; i < blocks; i++) {
            span s = span_of(op, i);
            sum += (double)s.sum[c];
            dot += (double)s.sum[C + c];
        }
        if (db)
            db[c] = (float)sum;
        if (dw)
            dw[c] = (float)dot;
        first[c] = op->training ? (float)(sum / count) : 0;
        first[C + c] = op->training ? (float)(dot / count) : 0;
    }
}

TSRI_CLONES
static void input_gradient(float *dx, const float *dy, const float *x, const float *mu,
                           const float *r, const float *scale, const float *mean_dy,
                           const float *mean_dot, int64_t rows, int64_t C, bool add)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < C; c++) {
            float xh = (x[i * C + c] - mu[c]) * r[c];
            float g = (dy[i * C + c] - mean_dy[c] - xh * mean_dot[c]) * scale[c];
            dx[i * C + c] = add ? dx[i * C + c] + g : g;
        }
}

static void input_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    span s = span_of(op, i);
    int64_t C = op->in.c, at = s.from * C;
    tsri_norm_saved saved = tsri_norm_saved_of(op);
    const float *means = op->scratch;
    input_gradient((float *)op->dx + at, (const float *)op->dy + at, (const float *)op->x + at,
                   saved.mu, saved.r, saved.scale, means, means + C, s.rows, C, op->dx_add);
}

static tsr_status backward(tsri_op *op)
{
    if (rows_of(op) == 0) {
        tsri_norm_no_gradient(op);
        return TSR_OK;
    }
    tsri_pool_run(op->pool, sums_piece, op, blocks_of(op));
    add_blocks(op);
    if (op->need_dx)
        tsri_pool_run(op->pool, input_piece, op, blocks_of(op));
    return TSR_OK;
}

const tsri_kernel tsri_cpu_norm = {.name = "simd",
                                   .kind = TSRI_NORM,
                                   .backward_needs_x = true,
                                   .backward_needs_y = true,
                                   .setup = setup,
                                   .forward = forward,
                                   .backward = backward};
