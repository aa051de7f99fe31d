/* products.c - linear layers, convolutions and recurrences. */
#include "backend/cuda/cuda.h"

static cudaStream_t stream(const tsri_op *op)
{
    return tsri_cuda_stream(op->stream);
}

static float scale_of(const tsri_op *op)
{
    return op->scale == 0 ? 1 : (float)op->scale;
}

/* Products take their sizes as int. */
static tsr_status fits(int64_t size)
{
    return size <= INT32_MAX ? TSR_OK
                             : tsri_fail(TSR_RESOURCES,
                                         "backend: cuda multiplies at most 2147483647 rows or "
                                         "columns, and a layer has %lld: use a smaller batch",
                                         (long long)size);
}

static bool in_f32(const tsri_op *op)
{
    return !op->bf16;
}

/* ---- Linear: y = s x W^T + b ---------------------------------------------------------------- */

typedef struct rows {
    int64_t count, in, out; /* of sequences, one of each position */
} rows;

static rows rows_of(const tsri_op *op)
{
    int64_t positions = op->positions ? op->positions : 1;
    return (rows){op->n * positions, tsri_shape_count(op->in) / positions,
                  tsri_shape_count(op->out) / positions};
}

static tsr_status linear_setup(tsri_op *op)
{
    rows r = rows_of(op);
    op->scratch_bytes = op->db ? tsri_cuda_sums_bytes(r.count, r.out, 1) : 0;
    tsr_status st = fits(r.count);
    st = st == TSR_OK ? fits(r.in) : st;
    return st == TSR_OK ? fits(r.out) : st;
}

static tsr_status linear_forward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    rows r = rows_of(op);
    TSR_TRY(tsri_cuda_multiply(&(tsri_cuda_product){.m = r.count,
                                                    .n = r.out,
                                                    .k = r.in,
                                                    .a = op->x,
                                                    .b = op->w,
                                                    .b_turned = true,
                                                    .c = op->y,
                                                    .alpha = scale_of(op)},
                               op->stream));
    TSR_TRY(tsri_cuda_status(tsri_cuda_bias(stream(op), op->y, op->b, r.count, r.out, op->relu),
                             "a bias"));
done:
    return st;
}

static tsr_status linear_backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    rows r = rows_of(op);
    TSR_TRY(tsri_cuda_mask_gradient(op));
    if (op->dw)
        TSR_TRY(tsri_cuda_multiply(&(tsri_cuda_product){.m = r.out,
                                                        .n = r.in,
                                                        .k = r.count,
                                                        .a = op->dy,
                                                        .a_turned = true,
                                                        .b = op->x,
                                                        .c = op->dw,
                                                        .alpha = scale_of(op)},
                                   op->stream));
    if (op->db)
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_column_sums(stream(op), op->db, op->dy, r.count, r.out, op->scratch),
            "a bias's gradient"));
    if (op->need_dx)
        TSR_TRY(tsri_cuda_multiply(&(tsri_cuda_product){.m = r.count,
                                                        .n = r.in,
                                                        .k = r.out,
                                                        .a = op->dy,
                                                        .b = op->w,
                                                        .c = op->dx,
                                                        .alpha = scale_of(op),
                                                        .beta = op->dx_add ? 1 : 0},
                                   op->stream));
done:
    return st;
}

const tsri_kernel tsri_cuda_linear = {.name = "cublas",
                                      .kind = TSRI_LINEAR,
                                      .backward_needs_x = true,
                                      .backward_needs_y = true,
                                      .applicable = in_f32,
                                      .setup = linear_setup,
                                      .forward = linear_forward,
                                      .backward = linear_backward};

/* ---- Convolutions and poolings -------------------------------------------------------------- */

tsri_cuda_window tsri_cuda_window_of(const tsri_op *op)
{
    return (tsri_cuda_window){.n = (int)op->n,
                              .size = (int)op->size,
                              .stride = (int)op->stride,
                              .pad = (int)op->pad,
                              .in = {(int)op->in.c, (int)op->in.h, (int)op->in.w},
                              .out = {(int)op->out.c, (int)op->out.h, (int)op->out.w}};
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static tsr_status conv_setup(tsri_op *op)
{
    tsr_status st = TSR_OK;
    int64_t from = op->n * op->in.h * op->in.w, to = op->n * op->out.h * op->out.w;
    TSR_TRY(fits(larger(from, to)));
    TSR_TRY(fits(op->size * op->size * larger(op->in.c, op->out.c)));
    tsri_cuda_window window = tsri_cuda_window_of(op);
    if (op->dw)
        op->scratch_bytes = tsri_cuda_conv_bytes(&window);
    if (op->db)
        op->scratch_bytes = larger(op->scratch_bytes, tsri_cuda_sums_bytes(to, op->out.c, 1));
done:
    return st;
}

static tsri_cuda_conv conv_of(const tsri_op *op)
{
    return (tsri_cuda_conv){.window = tsri_cuda_window_of(op),
                            .x = op->x,
                            .w = op->w,
                            .pre = op->pre,
                            .b = op->b,
                            .add = op->add,
                            .relu = op->relu,
                            .round = op->bf16,
                            .y = op->y,
                            .dy = op->dy,
                            .dx = op->dx,
                            .dw = op->dw,
                            .more = op->dx_add,
                            .scratch = op->scratch};
}

static tsr_status conv_forward(tsri_op *op)
{
    tsri_cuda_conv conv = conv_of(op);
    return tsri_cuda_status(tsri_cuda_conv_forward(stream(op), &conv), "a convolution");
}

static tsr_status conv_backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    tsri_cuda_conv conv = conv_of(op);
    TSR_TRY(tsri_cuda_mask_gradient(op));
    if (op->db)
        TSR_TRY(tsri_cuda_status(tsri_cuda_column_sums(stream(op), op->db, op->dy,
                                                       op->n * op->out.h * op->out.w, op->out.c,
                                                       op->scratch),
                                 "a bias's gradient"));
    if (op->dw)
        TSR_TRY(tsri_cuda_status(tsri_cuda_conv_weight(stream(op), &conv), "a filter's gradient"));
    if (op->need_dx)
        TSR_TRY(
            tsri_cuda_status(tsri_cuda_conv_input(stream(op), &conv), "a convolution's gradient"));
done:
    return st;
}

const tsri_kernel tsri_cuda_conv_kernel = {.name = "implicit product",
                                           .kind = TSRI_CONV,
                                           .backward_needs_x = true,
                                           .backward_needs_y = true,
                                           .setup = conv_setup,
                                           .forward = conv_forward,
                                           .backward = conv_backward};

static tsr_status maxpool_setup(tsri_op *op)
{
    if (op->training)
        op->saved_bytes = op->n * tsri_shape_count(op->out) * (int64_t)sizeof(int32_t);
    return TSR_OK;
}

static tsr_status maxpool_forward(tsri_op *op)
{
    tsri_cuda_window window = tsri_cuda_window_of(op);
    return tsri_cuda_status(
        tsri_cuda_maxpool(stream(op), op->y, op->training ? op->saved : NULL, op->x, &window),
        "a pooling");
}

static tsr_status maxpool_backward(tsri_op *op)
{
    tsri_cuda_window window = tsri_cuda_window_of(op);
    if (!op->need_dx)
        return TSR_OK;
    return tsri_cuda_status(
        tsri_cuda_maxpool_back(stream(op), op->dx, op->saved, op->dy, &window, op->dx_add),
        "a pooling's gradient");
}

const tsri_kernel tsri_cuda_maxpool_kernel = {.name = "cuda",
                                              .kind = TSRI_MAXPOOL,
                                              .setup = maxpool_setup,
                                              .forward = maxpool_forward,
                                              .backward = maxpool_backward};

static tsr_status avgpool_forward(tsri_op *op)
{
    tsri_cuda_window window = tsri_cuda_window_of(op);
    return tsri_cuda_status(tsri_cuda_avgpool(stream(op), op->y, op->x, &window), "a pooling");
}

static tsr_status avgpool_backward(tsri_op *op)
{
    tsri_cuda_window window = tsri_cuda_window_of(op);
    if (!op->need_dx)
        return TSR_OK;
    return tsri_cuda_status(tsri_cuda_avgpool_back(stream(op), op->dx, op->dy, &window, op->dx_add),
                            "a pooling's gradient");
}

const tsri_kernel tsri_cuda_avgpool_kernel = {
    .name = "cuda", .kind = TSRI_AVGPOOL, .forward = avgpool_forward, .backward = avgpool_backward};
