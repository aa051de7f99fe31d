/* norm_virtual.c - batch norm with the ReLU after it where nobody needs its output in memory.
 *
 * Forward is one reading of x for the statistics: the convolution after it computes relu(scale x +
 * shift) as it reads. Backward is one reading of dy and x for two sums per channel, and one more
 * that writes dx. All of it is bound by memory.
 *
 *     h      = dy where scale x + shift > 0                     through the ReLU
 *     db     = sum h,   dw = r sum h (x - mu)
 *     dx     = scale (h - db / N - (x - mu) r dw / N)
 *
 *     saved    scale [C], shift [C], mu [C], r = 1/sqrt(var + eps) [C]
 *     scratch  two sums per block of pixels and channel; two coefficients per channel
 */
#include "backend/cpu/kernels.h"

#include "backend/cpu/loops.h"
#include "backend/cpu/norm.h"

enum { BLOCK_FLOATS = 1 << 14 }; /* 64 kB of pixels a block */

static int64_t pixels_of(const tsri_op *op)
{
    return op->n * op->in.h * op->in.w;
}

static int64_t block_of(const tsri_op *op)
{
    return op->in.c < BLOCK_FLOATS ? BLOCK_FLOATS / op->in.c : 1;
}

static int64_t blocks_of(const tsri_op *op)
{
    return (pixels_of(op) + block_of(op) - 1) / block_of(op);
}

static int64_t length(const tsri_op *op, int64_t i)
{
    int64_t left = pixels_of(op) - i * block_of(op);
    return left < block_of(op) ? left : block_of(op);
}

static bool applicable(const tsri_op *op)
{
    return op->virtual;
}

static tsr_status setup(tsri_op *op)
{
    op->saved_bytes = TSRI_NORM_SAVED * op->in.c * (int64_t)sizeof(float);
    op->scratch_bytes = (blocks_of(op) + 1) * 2 * op->in.c * (int64_t)sizeof(float);
    return TSR_OK;
}

static float *sums_at(const tsri_op *op, int64_t i)
{
    return (float *)op->scratch + i * 2 * op->in.c;
}

/* Column c of the sums over all blocks, in order. */
static double total(const tsri_op *op, int64_t column)
{
    double s = 0;
    for (int64_t b = 0; b < blocks_of(op); b++)
        s += (double)sums_at(op, b)[column];
    return s;
}

/* ---- Forward ------------------------------------------------------------------------------ */

/* The first pixel serves as origin: sums of squares of differences do not cancel. */
static void moments_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    const float *x = op->x;
    tsri_loops_best()->moments(sums_at(op, i), x + i * block_of(op) * op->in.c, x, length(op, i),
                               op->in.c);
}

static tsr_status forward(tsri_op *op)
{
    int64_t C = op->in.c;
    if (!op->training || pixels_of(op) == 0) {
        tsri_norm_from_running(op);
        return TSR_OK;
    }
    tsri_pool_run(op->pool, moments_piece, op, blocks_of(op));
    double count = (double)pixels_of(op);
    for (int64_t c = 0; c < C; c++) {
        double d = total(op, c) / count, v = total(op, C + c) / count - d * d;
        tsri_norm_from_batch(op, c, (double)((const float *)op->x)[c] + d, v > 0 ? v : 0, count);
    }
    return TSR_OK;
}

/* ---- Backward ----------------------------------------------------------------------------- */

static tsri_preop pre_of(const tsri_op *op)
{
    tsri_norm_saved s = tsri_norm_saved_of(op);
    return (tsri_preop){s.scale, s.shift};
}

static void sums_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t at = i * block_of(op) * op->in.c;
    tsri_loops_best()->norm_sums(sums_at(op, i), (const float *)op->dy + at,
                                 (const float *)op->x + at, tsri_norm_saved_of(op).mu, pre_of(op),
                                 length(op, i), op->in.c);
}

static void input_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t at = i * block_of(op) * op->in.c;
    float *dx = (float *)op->dx + at;
    tsri_loops_best()->norm_backward(dx, (const float *)op->dy + at, (const float *)op->x + at,
                                     sums_at(op, blocks_of(op)), pre_of(op), op->dx_add ? dx : NULL,
                                     length(op, i), op->in.c);
}

static tsr_status backward(tsri_op *op)
{
    int64_t C = op->in.c;
    if (pixels_of(op) == 0) {
        tsri_norm_no_gradient(op);
        return TSR_OK;
    }
    tsri_norm_saved s = tsri_norm_saved_of(op);
    float *coefficient = sums_at(op, blocks_of(op)), *db = op->db, *dw = op->dw;
    double count = (double)pixels_of(op);
    tsri_pool_run(op->pool, sums_piece, op, blocks_of(op));
    for (int64_t c = 0; c < C; c++) {
        double r = (double)s.r[c], scale = (double)s.scale[c];
        double sum = total(op, c), dot = total(op, C + c) * r, slope = -scale * r * dot / count;
        if (db)
            db[c] = (float)sum;
        if (dw)
            dw[c] = (float)dot;
        coefficient[c] = (float)slope;
        coefficient[C + c] = (float)(-scale * sum / count - slope * (double)s.mu[c]);
    }
    if (op->need_dx)
        tsri_pool_run(op->pool, input_piece, op, blocks_of(op));
    return TSR_OK;
}

const tsri_kernel tsri_cpu_norm_virtual = {.name = "virtual",
                                           .kind = TSRI_NORM,
                                           .backward_needs_x = true,
                                           .applicable = applicable,
                                           .setup = setup,
                                           .forward = forward,
                                           .backward = backward};
