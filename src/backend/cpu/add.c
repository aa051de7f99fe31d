/* add.c - a sum that could not be fused into what comes before it:  y = relu(x + add). */
#include "backend/cpu/kernels.h"

#include "base/simd.h"

#include <math.h>

enum { PIECE = 16384 };

TSRI_CLONES
static void sum(float *y, const float *x, const float *add, int64_t n, float floor)
{
    for (int64_t i = 0; i < n; i++) {
        float v = x[i] + add[i];
        y[i] = v > floor ? v : floor;
    }
}

TSRI_CLONES
static void mask(float *dy, const float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

TSRI_CLONES
static void pass(float *to, const float *dy, int64_t n, bool add)
{
    if (add)
        for (int64_t i = 0; i < n; i++)
            to[i] += dy[i];
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = dy[i];
}

static int64_t numbers(const tsri_op *op)
{
    return op->n * tsri_shape_count(op->out);
}

static void forward_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t at = i * PIECE, left = numbers(op) - at;
    sum((float *)op->y + at, (const float *)op->x + at, (const float *)op->add + at,
        left < PIECE ? left : PIECE, op->relu ? 0.0f : -INFINITY);
}

static void backward_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t at = i * PIECE, left = numbers(op) - at, n = left < PIECE ? left : PIECE;
    float *dy = (float *)op->dy + at;
    if (op->relu)
        mask(dy, (const float *)op->y + at, n);
    if (op->need_dx)
        pass((float *)op->dx + at, dy, n, op->dx_add);
    if (op->dadd)
        pass((float *)op->dadd + at, dy, n, op->dadd_add);
}

static tsr_status forward(tsri_op *op)
{
    tsri_pool_run(op->pool, forward_piece, op, (numbers(op) + PIECE - 1) / PIECE);
    return TSR_OK;
}

static tsr_status backward(tsri_op *op)
{
    tsri_pool_run(op->pool, backward_piece, op, (numbers(op) + PIECE - 1) / PIECE);
    return TSR_OK;
}

const tsri_kernel tsri_cpu_add = {.name = "simd",
                                  .kind = TSRI_ADD,
                                  .backward_needs_y = true,
                                  .forward = forward,
                                  .backward = backward};
