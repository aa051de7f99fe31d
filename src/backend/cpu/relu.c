/* relu.c - the activation alone, where it could not be fused into what comes before it. */
#include "backend/cpu/kernels.h"

#include "base/simd.h"

enum { PIECE = 16384 };

TSRI_CLONES
static void clip(float *y, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
}

TSRI_CLONES
static void gate(float *dx, const float *dy, const float *y, int64_t n, bool add)
{
    if (add)
        for (int64_t i = 0; i < n; i++)
            dx[i] += y[i] > 0 ? dy[i] : 0;
    else
        for (int64_t i = 0; i < n; i++)
            dx[i] = y[i] > 0 ? dy[i] : 0;
}

static int64_t piece_size(const tsri_op *op, int64_t i)
{
    int64_t all = op->n * tsri_shape_count(op->in), left = all - i * PIECE;
    return left < PIECE ? left : PIECE;
}

static void forward_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    clip((float *)op->y + i * PIECE, (const float *)op->x + i * PIECE, piece_size(op, i));
}

static void backward_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    gate((float *)op->dx + i * PIECE, (const float *)op->dy + i * PIECE,
         (const float *)op->y + i * PIECE, piece_size(op, i), op->dx_add);
}

static int64_t pieces(const tsri_op *op)
{
    return (op->n * tsri_shape_count(op->in) + PIECE - 1) / PIECE;
}

static tsr_status forward(tsri_op *op)
{
    tsri_pool_run(op->pool, forward_piece, op, pieces(op));
    return TSR_OK;
}

static tsr_status backward(tsri_op *op)
{
    if (op->need_dx)
        tsri_pool_run(op->pool, backward_piece, op, pieces(op));
    return TSR_OK;
}

const tsri_kernel tsri_cpu_relu = {.name = "simd",
                                   .kind = TSRI_RELU,
                                   .backward_needs_y = true,
                                   .forward = forward,
                                   .backward = backward};
