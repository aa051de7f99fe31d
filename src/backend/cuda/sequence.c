/* sequence.c - networks of sequences, [T, N, C] inside: the recurrence, the last position, the turn
 * to [N, T, C]. */
#include "backend/cuda/cuda.h"

static cudaStream_t stream(const tsri_op *op)
{
    return tsri_cuda_stream(op->stream);
}

static float scale_of(const tsri_op *op)
{
    return op->scale == 0 ? 1 : (float)op->scale;
}

/* ---- y_l = max(s W y_(l-1) + x_l, 0) -------------------------------------------------------- */

static tsr_status recurrent_forward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    int64_t c = op->in.c, block = op->n * c;
    const float *x = op->x;
    float *y = op->y;
    for (int64_t l = 0; l < op->in.h; l++) {
        if (l > 0)
            TSR_TRY(tsri_cuda_multiply(&(tsri_cuda_product){.m = op->n,
                                                            .n = c,
                                                            .k = c,
                                                            .a = y + (l - 1) * block,
                                                            .b = op->w,
                                                            .b_turned = true,
                                                            .c = y + l * block,
                                                            .alpha = scale_of(op)},
                                       op->stream));
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_recur(stream(op), y + l * block, x + l * block, op->length, l, op->n, c),
            "a recurrence"));
    }
done:
    return st;
}

/* dx_l = D_l (dy_l + s W^T dx_(l+1)); dW is one product over all positions. */
static tsr_status recurrent_backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    int64_t c = op->in.c, block = op->n * c, last = op->in.h - 1;
    const float *y = op->y, *dy = op->dy;
    float *dx = op->dx;
    for (int64_t l = last; l >= 0; l--) {
        if (l < last)
            TSR_TRY(tsri_cuda_multiply(&(tsri_cuda_product){.m = op->n,
                                                            .n = c,
                                                            .k = c,
                                                            .a = dx + (l + 1) * block,
                                                            .b = op->w,
                                                            .c = dx + l * block,
                                                            .alpha = scale_of(op)},
                                       op->stream));
        TSR_TRY(tsri_cuda_status(tsri_cuda_recur_back(stream(op), dx + l * block, dy + l * block,
                                                      y + l * block, block, l == last),
                                 "a recurrence's gradient"));
    }
    if (op->dw)
        TSR_TRY(tsri_cuda_multiply(&(tsri_cuda_product){.m = c,
                                                        .n = c,
                                                        .k = last > 0 ? last * op->n : 0,
                                                        .a = dx + block,
                                                        .a_turned = true,
                                                        .b = y,
                                                        .c = op->dw,
                                                        .alpha = scale_of(op)},
                                   op->stream));
done:
    return st;
}

const tsri_kernel tsri_cuda_recurrent_kernel = {.name = "cublas",
                                                .kind = TSRI_RECURRENT,
                                                .backward_needs_y = true,
                                                .forward = recurrent_forward,
                                                .backward = recurrent_backward};

/* ---- The two ends --------------------------------------------------------------------------- */

static tsr_status last_forward(tsri_op *op)
{
    return tsri_cuda_status(
        tsri_cuda_last(stream(op), op->y, op->x, op->length, op->in.h, op->n, op->in.c),
        "the last position");
}

static tsr_status last_backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    size_t bytes = (size_t)(op->n * tsri_shape_count(op->in)) * sizeof(float);
    if (!op->dx_add)
        TSR_TRY(tsri_cuda_status(cudaMemsetAsync(op->dx, 0, bytes, stream(op)), "a gradient"));
    TSR_TRY(tsri_cuda_status(
        tsri_cuda_last_back(stream(op), op->dx, op->dy, op->length, op->in.h, op->n, op->in.c),
        "the last position"));
done:
    return st;
}

const tsri_kernel tsri_cuda_last_kernel = {
    .name = "cuda", .kind = TSRI_LAST, .forward = last_forward, .backward = last_backward};

static tsr_status turn_forward(tsri_op *op)
{
    return tsri_cuda_status(
        tsri_cuda_swap(stream(op), op->y, op->x, op->in.h, op->n, op->in.c, false),
        "turning sequences");
}

static tsr_status turn_backward(tsri_op *op)
{
    return tsri_cuda_status(
        tsri_cuda_swap(stream(op), op->dx, op->dy, op->n, op->in.h, op->in.c, op->dx_add),
        "turning sequences");
}

const tsri_kernel tsri_cuda_turn_kernel = {
    .name = "cuda", .kind = TSRI_TURN, .forward = turn_forward, .backward = turn_backward};
