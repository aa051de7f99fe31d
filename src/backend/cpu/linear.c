/* linear.c - fully connected layers as three matrix products.
 *
 *     y = relu(s x W^T + b)      dx = s dy W      dW = s dy^T x      db = column sums of dy
 */
#include "backend/cpu/kernels.h"

#include "backend/cpu/gemm.h"
#include "backend/cpu/simd.h"

enum { COLUMNS = 64 }; /* of dy in one piece of the bias gradient */

int64_t tsri_cpu_linear_rows(const tsri_op *op, int64_t *in, int64_t *out)
{
    int64_t positions = op->positions ? op->positions : 1;
    *in = tsri_shape_count(op->in) / positions;
    *out = tsri_shape_count(op->out) / positions;
    return op->n * positions;
}

static tsr_status forward(tsri_op *op)
{
    int64_t in, out, rows = tsri_cpu_linear_rows(op, &in, &out);
    tsri_gemm g = {.b_transposed = true,
                   .m = rows,
                   .n = out,
                   .k = in,
                   .a = op->x,
                   .b = op->w,
                   .c = op->y,
                   .scale = op->scale,
                   .bias = op->b,
                   .relu = op->relu};
    return tsri_gemm_run(&g, op->pool);
}

/* dy = 0 where the unit was off, and the sum of each column, rows in order. */
TSRI_CLONES
static void mask_and_sum(float *dy, const float *y, float *sum, int64_t rows, int64_t cols,
                         int64_t stride)
{
    for (int64_t j = 0; sum && j < cols; j++)
        sum[j] = 0;
    for (int64_t r = 0; r < rows; r++) {
        float *d = dy + r * stride;
        if (y) {
            const float *v = y + r * stride;
            for (int64_t j = 0; j < cols; j++)
                d[j] = v[j] > 0 ? d[j] : 0;
        }
        for (int64_t j = 0; sum && j < cols; j++)
            sum[j] += d[j];
    }
}

static void mask_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t in, out, rows = tsri_cpu_linear_rows(op, &in, &out), from = i * COLUMNS;
    int64_t cols = from + COLUMNS < out ? COLUMNS : out - from;
    mask_and_sum((float *)op->dy + from, op->relu ? (const float *)op->y + from : NULL,
                 op->db ? (float *)op->db + from : NULL, rows, cols, out);
}

void tsri_cpu_linear_mask(tsri_op *op)
{
    int64_t in, out;
    (void)tsri_cpu_linear_rows(op, &in, &out);
    if (op->relu || op->db)
        tsri_pool_run(op->pool, mask_piece, op, (out + COLUMNS - 1) / COLUMNS);
}

static tsr_status backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    int64_t in, out, rows = tsri_cpu_linear_rows(op, &in, &out);
    tsri_cpu_linear_mask(op);
    tsri_gemm weight = {.a_transposed = true,
                        .m = out,
                        .n = in,
                        .k = rows,
                        .a = op->dy,
                        .b = op->x,
                        .c = op->dw,
                        .scale = op->scale};
    if (op->dw)
        TSR_TRY(tsri_gemm_run(&weight, op->pool));
    tsri_gemm input = {.m = rows,
                       .n = in,
                       .k = out,
                       .a = op->dy,
                       .b = op->w,
                       .c = op->dx,
                       .add = op->dx_add,
                       .scale = op->scale};
    if (op->need_dx)
        TSR_TRY(tsri_gemm_run(&input, op->pool));
done:
    return st;
}

const tsri_kernel tsri_cpu_linear = {.name = "openblas",
                                     .kind = TSRI_LINEAR,
                                     .backward_needs_x = true,
                                     .backward_needs_y = true,
                                     .forward = forward,
                                     .backward = backward};
