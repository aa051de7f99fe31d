/* linear.c - fully connected layers as three matrix products.
 *
 *     y = relu(s x W^T + b)      dx = s dy W      dW = s dy^T x      db = column sums of dy
 *
 * Where the gates of x or y are known (op->x_gates, op->gates), products skip what is zero
 * (skip.h) if that is faster: the layer is large and enough gates are off.
 */
#include "backend/cpu/kernels.h"

#include "backend/cpu/gates.h"
#include "backend/cpu/packed.h"
#include "base/simd.h"
#include "linalg/gemm.h"

enum {
    COLUMNS = 64,       /* of dy in one piece of the bias gradient */
    LEAST_SAMPLES = 32, /* smaller products are dense: panels of V would be packed for too little */
    LEAST_UNITS = 128,
    FEW_SAMPLES = 8 /* inference: one after the other, rows that are off left out */
};

int64_t tsri_cpu_linear_rows(const tsri_op *op, int64_t *in, int64_t *out)
{
    int64_t positions = op->positions ? op->positions : 1;
    *in = tsri_shape_count(op->in) / positions;
    *out = tsri_shape_count(op->out) / positions;
    return op->n * positions;
}

/* ---- Which way ----------------------------------------------------------------------------- */

static bool large(const tsri_op *op)
{
    return op->n >= LEAST_SAMPLES && tsri_shape_count(op->in) >= LEAST_UNITS &&
           tsri_shape_count(op->out) >= LEAST_UNITS;
}

/* A sample that nobody trains on is the prediction of a program that waits for it. */
static bool single(const tsri_op *op)
{
    return op->n == 1 && !op->training && op->positions <= 1 && !op->gates;
}

/* The weights of inputs that are not 0 are read, input after input (skip_columns.c). */
static bool by_columns(const tsri_op *op)
{
    return single(op) && op->steady && tsri_shape_count(op->in) >= LEAST_UNITS &&
           tsri_shape_count(op->out) >= LEAST_UNITS;
}

/* Answers to many: each sample goes through the same steps, wherever it lies and whatever lies
 * beside it. BLAS rounds otherwise at the edges of its blocks, and zeros are skipped for several
 * rows at once. */
static bool by_panels(const tsri_op *op)
{
    return op->steady && !op->training && op->n > 1;
}

static tsr_status setup(tsri_op *op)
{
    tsr_status st = TSR_OK;
    int threads = tsri_pool_threads(op->pool);
    int64_t in, out;
    (void)tsri_cpu_linear_rows(op, &in, &out);
    if (by_columns(op)) {
        op->packed_bytes = in * out * (int64_t)sizeof(float);
        op->scratch_bytes = tsri_columns_room(in) * (int64_t)sizeof(int32_t);
    }
    if (by_panels(op))
        op->packed_bytes = tsri_packed_size(in, out) * (int64_t)sizeof(float);
    if (!large(op))
        return TSR_OK;
    if (op->x_gates)
        TSR_TRY(tsri_cpu_gates_setup(&op->scratch_bytes, op->x_gates, threads));
    if (op->gates && op->gates->skip && op->training)
        TSR_TRY(tsri_cpu_gates_setup(&op->scratch_bytes, op->gates, threads));
done:
    return st;
}

static const tsri_pattern *pattern_of(const tsri_op *op, tsri_gates *gates, bool by_units)
{
    return large(op) ? tsri_cpu_gates_pattern(gates, by_units, op->pool) : NULL;
}

/* ---- Forward ------------------------------------------------------------------------------- */

TSRI_CLONES
static void finish(float *y, const float *b, int64_t out, bool relu)
{
    for (int64_t j = 0; j < out; j++) {
        float v = b ? y[j] + b[j] : y[j];
        y[j] = relu && !(v > 0) ? 0 : v;
    }
}

static void finish_row(void *context, int64_t i, int thread)
{
    (void)thread;
    const tsri_op *op = context;
    int64_t in, out;
    (void)tsri_cpu_linear_rows(op, &in, &out);
    finish((float *)op->y + i * out, op->b, out, op->relu);
}

static void run_by_panels(tsri_op *op)
{
    int64_t in, out, rows = tsri_cpu_linear_rows(op, &in, &out);
    tsri_packed k = {.rows = rows,
                     .n = out,
                     .k = in,
                     .a = op->x,
                     .lda = in,
                     .b = op->packed,
                     .scale = (float)op->scale,
                     .c = op->y};
    tsri_packed_run(&k, op->pool);
    if (op->b || op->relu)
        tsri_pool_run(op->pool, finish_row, op, rows);
}

static tsr_status product(tsri_op *op)
{
    if (by_panels(op)) {
        run_by_panels(op);
        return TSR_OK;
    }
    int64_t in, out, rows = tsri_cpu_linear_rows(op, &in, &out);
    const tsri_pattern *p = pattern_of(op, op->x_gates, false);
    op->skipped = p != NULL;
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
    if (!p)
        return tsri_gemm_run(&g, op->pool);
    tsri_skip k = {.pattern = p,
                   .s = op->x,
                   .v = op->w,
                   .v_item = 1,
                   .v_col = in,
                   .c = op->y,
                   .cols = out,
                   .scale = op->scale,
                   .scratch = op->scratch};
    tsri_skip_run_all(&k, op->pool);
    if (op->b || op->relu)
        tsri_pool_run(op->pool, finish_row, op, rows);
    return TSR_OK;
}

/* Few samples are bound by reading W: what is off is not read. */
static bool by_rows(const tsri_op *op)
{
    return single(op) || (op->gate && op->x_gates && op->n <= FEW_SAMPLES);
}

static void run_by_rows(tsri_op *op)
{
    tsri_rows r = {.n = op->n,
                   .inputs = tsri_shape_count(op->in),
                   .outputs = tsri_shape_count(op->out),
                   .w = op->w,
                   .x = op->x,
                   .b = op->b,
                   .y = op->y,
                   .gates = op->gate ? op->gates->word : NULL,
                   .scale = op->scale,
                   .relu = op->relu};
    tsri_rows_run(&r, op->pool);
    op->skipped = op->gate;
}

static void run_by_columns(tsri_op *op)
{
    tsri_columns c = {.inputs = tsri_shape_count(op->in),
                      .outputs = tsri_shape_count(op->out),
                      .w = op->packed,
                      .x = op->x,
                      .b = op->b,
                      .y = op->y,
                      .at = op->scratch,
                      .scale = op->scale,
                      .relu = op->relu};
    tsri_columns_run(&c, op->pool);
}

void tsri_cpu_linear_pack(tsri_op *op)
{
    int64_t in, out;
    (void)tsri_cpu_linear_rows(op, &in, &out);
    if (by_panels(op))
        tsri_pack(op->packed, op->w, in, out, true, op->pool);
    else
        tsri_columns_pack(op->packed, op->w, in, out, op->pool);
}

static tsr_status forward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    if (by_columns(op)) {
        run_by_columns(op);
        return TSR_OK;
    }
    if (op->x_gates && op->x_gates->entered && large(op))
        tsri_cpu_gates_take(op->x_gates, op->x, op->pool);
    if (op->gate && !op->gates->given)
        tsri_cpu_gates_take(op->gates, op->add, op->pool);
    if (by_rows(op)) {
        run_by_rows(op);
        return TSR_OK;
    }
    TSR_TRY(product(op));
    if (op->gate) {
        tsri_bits_mask(op->y, op->gates->word, op->n, op->gates->units, op->pool);
    } else if (op->gates) {
        tsri_cpu_gates_take(op->gates, op->y, op->pool);
    }
done:
    return st;
}

/* ---- Backward ------------------------------------------------------------------------------ */

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

static tsr_status weight_gradient(tsri_op *op)
{
    int64_t in, out, rows = tsri_cpu_linear_rows(op, &in, &out);
    const tsri_pattern *p = pattern_of(op, op->gates, true);
    tsri_gemm g = {.a_transposed = true,
                   .m = out,
                   .n = in,
                   .k = rows,
                   .a = op->dy,
                   .b = op->x,
                   .c = op->dw,
                   .scale = op->scale};
    if (!p)
        return tsri_gemm_run(&g, op->pool);
    tsri_skip k = {.pattern = p,
                   .s = op->dy,
                   .v = op->x,
                   .v_item = in,
                   .v_col = 1,
                   .c = op->dw,
                   .cols = in,
                   .scale = op->scale,
                   .scratch = op->scratch};
    tsri_skip_run_all(&k, op->pool);
    return TSR_OK;
}

static tsr_status input_gradient(tsri_op *op)
{
    int64_t in, out, rows = tsri_cpu_linear_rows(op, &in, &out);
    const tsri_pattern *p = pattern_of(op, op->gates, false);
    tsri_gemm g = {.m = rows,
                   .n = in,
                   .k = out,
                   .a = op->dy,
                   .b = op->w,
                   .c = op->dx,
                   .add = op->dx_add,
                   .scale = op->scale};
    if (!p)
        return tsri_gemm_run(&g, op->pool);
    tsri_skip k = {.pattern = p,
                   .s = op->dy,
                   .v = op->w,
                   .v_item = in,
                   .v_col = 1,
                   .c = op->dx,
                   .cols = in,
                   .add = op->dx_add,
                   .scale = op->scale,
                   .scratch = op->scratch};
    tsri_skip_run_all(&k, op->pool);
    return TSR_OK;
}

static tsr_status backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    int64_t in, out, rows = tsri_cpu_linear_rows(op, &in, &out);
    if (op->gate)
        tsri_bits_mask(op->dy, op->gates->word, rows, out, op->pool);
    tsri_cpu_linear_mask(op);
    if (op->dw)
        TSR_TRY(weight_gradient(op));
    if (op->need_dx)
        TSR_TRY(input_gradient(op));
done:
    return st;
}

const tsri_kernel tsri_cpu_linear = {.name = "openblas",
                                     .kind = TSRI_LINEAR,
                                     .backward_needs_x = true,
                                     .backward_needs_y = true,
                                     .setup = setup,
                                     .forward = forward,
                                     .backward = backward};
