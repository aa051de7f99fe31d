/* linear_bf16.c - linear layers under bf16: products of bf16 with sums in f32, and the packing of
 * the weights of all layers.
 *
 * x and y are bf16 or floats, as the plan says. Floats that are multiplied become bf16 first: x when
 * it comes in (kept for backward), dy before its products; not where a recurrence before or behind
 * this layer has them as bf16 already (op->source, op->reader). Rows are filled up to a multiple of 8.
 */
#include "backend/cuda/cuda.h"

static int64_t aligned(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static float scale_of(const tsri_op *op)
{
    return op->scale == 0 ? 1 : (float)op->scale;
}

typedef struct rows {
    int64_t count, in, out;  /* of sequences, one of each position */
    int64_t in_row, out_row; /* numbers from row to row, as bf16 */
} rows;

static rows rows_of(const tsri_op *op)
{
    int64_t positions = op->positions ? op->positions : 1;
    rows r = {.count = op->n * positions,
              .in = tsri_shape_count(op->in) / positions,
              .out = tsri_shape_count(op->out) / positions};
    r.in_row = tsri_narrow_channels(r.in);
    r.out_row = tsri_narrow_channels(r.out);
    return r;
}

static bool in_bf16(const tsri_op *op)
{
    return op->bf16 && rows_of(op).count <= INT32_MAX;
}

static bool is_narrow_recurrence(const tsri_op *op)
{
    return op && op->kernel == &tsri_cuda_recurrent_bf16;
}

/* The recurrence behind it leaves room on the chip for the gradient of its weights. What that reads
 * must not lie in `scratch`, then, which is the recurrence's as well. */
static bool waits(const tsri_op *op)
{
    return is_narrow_recurrence(op->source) && !is_narrow_recurrence(op->reader) && !op->narrow_y;
}

static void *packed_gradient(const tsri_op *op)
{
    return waits(op) ? op->late : op->scratch;
}

static tsr_status setup(tsri_op *op)
{
    rows r = rows_of(op);
    bool there = op->narrow_x || is_narrow_recurrence(op->source);
    op->packed_bytes = r.out_row * r.in_row * 2;
    op->saved_bytes = there ? 0 : r.count * r.in_row * 2;
    op->scratch_bytes = op->narrow_y ? 0 : aligned(r.count * r.out_row * 2);
    op->late_bytes = waits(op) ? op->scratch_bytes : 0;
    if (op->db && !op->narrow_y)
        op->scratch_bytes += tsri_cuda_sums_bytes(r.count, r.out, 1);
    return TSR_OK;
}

static const void *x_at(const tsri_op *op)
{
    if (op->narrow_x)
        return op->x;
    return is_narrow_recurrence(op->source) ? op->source->saved : op->saved;
}

static tsr_status forward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    rows r = rows_of(op);
    cudaStream_t s = tsri_cuda_op_stream(op);
    if (op->saved_bytes > 0)
        TSR_TRY(tsri_cuda_status(tsri_cuda_narrow_rows(s, op->saved, op->x, r.count, r.in),
                                 "floats to bf16"));
    TSR_TRY(tsri_cuda_multiply_op(&(tsri_cuda_product){.m = r.count,
                                                       .n = op->narrow_y ? r.out_row : r.out,
                                                       .k = r.in_row,
                                                       .a = x_at(op),
                                                       .b = op->packed,
                                                       .b_turned = true,
                                                       .c = op->y,
                                                       .alpha = scale_of(op),
                                                       .narrow = true,
                                                       .narrow_c = op->narrow_y},
                                  op));
    TSR_TRY(op->narrow_y
                ? tsri_cuda_finish_product(op, true)
                : tsri_cuda_status(tsri_cuda_bias(s, op->y, op->b, r.count, r.out, op->relu),
                                   "a bias"));
done:
    return st;
}

/* dy as the products read it, a fused ReLU in it, and the gradient of the bias. */
static tsr_status take_gradient(const void **dy, const tsri_op *op, rows r, cudaStream_t s)
{
    tsr_status st = TSR_OK;
    void *packed = packed_gradient(op),
         *sums = (char *)op->scratch + aligned(r.count * r.out_row * 2);
    *dy = op->narrow_y ? op->dy : packed;
    if (op->relu)
        TSR_TRY(tsri_cuda_status(
            op->narrow_y ? tsri_cuda_narrow_mask(s, op->dy, op->dy, op->y, r.count, r.out, false)
                         : tsri_cuda_mask(s, op->dy, op->y, r.count * r.out),
            "a ReLU's gradient"));
    if (op->db)
        TSR_TRY(tsri_cuda_status(
            op->narrow_y ? tsri_cuda_narrow_column_sums(s, op->db, op->dy, r.count, r.out)
                         : tsri_cuda_column_sums(s, op->db, op->dy, r.count, r.out, sums),
            "a bias's gradient"));
    if (!op->narrow_y && !is_narrow_recurrence(op->reader))
        TSR_TRY(tsri_cuda_status(tsri_cuda_narrow_rows(s, packed, op->dy, r.count, r.out),
                                 "floats to bf16"));
done:
    return st;
}

static tsr_status weight_gradient(const tsri_op *op, cudaStream_t s)
{
    rows r = rows_of(op);
    return tsri_cuda_multiply_on(
        &(tsri_cuda_product){.m = r.out,
                             .n = r.in,
                             .k = r.count,
                             .a = op->narrow_y ? op->dy : packed_gradient(op),
                             .a_turned = true,
                             .a_row = r.out_row,
                             .b = x_at(op),
                             .b_row = r.in_row,
                             .c = op->dw,
                             .alpha = scale_of(op),
                             .narrow = true},
        op, s);
}

static tsr_status backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    rows r = rows_of(op);
    const void *dy = NULL;
    TSR_TRY(tsri_cuda_settle_op(op));
    TSR_TRY(tsri_cuda_settle(op->late, op->late_bytes));
    TSR_TRY(take_gradient(&dy, op, r, tsri_cuda_op_stream(op)));
    if (op->dw)
        TSR_TRY(waits(op) ? tsri_cuda_late_postpone(weight_gradient, op)
                          : weight_gradient(op, tsri_cuda_op_stream(op)));
    if (op->need_dx)
        TSR_TRY(tsri_cuda_multiply_op(&(tsri_cuda_product){.m = r.count,
                                                           .n = op->narrow_x ? r.in_row : r.in,
                                                           .k = r.out_row,
                                                           .a = dy,
                                                           .b = op->packed,
                                                           .b_row = r.in_row,
                                                           .c = op->dx,
                                                           .alpha = scale_of(op),
                                                           .beta = op->dx_add ? 1 : 0,
                                                           .narrow = true,
                                                           .narrow_c = op->narrow_x},
                                      op));
done:
    return st;
}

const tsri_kernel tsri_cuda_linear_bf16 = {.name = "cublas bf16",
                                           .kind = TSRI_LINEAR,
                                           .backward_needs_x = true,
                                           .backward_needs_y = true,
                                           .applicable = in_bf16,
                                           .setup = setup,
                                           .forward = forward,
                                           .backward = backward};

/* ---- Packing ------------------------------------------------------------------------------- */

/* Filters are rows of channels, one for each output and tap. */
static tsri_cuda_packed packed_of(const tsri_op *op)
{
    rows r = rows_of(op);
    int64_t taps = op->size * op->size;
    if (op->kernel == &tsri_cuda_conv_patches) /* a row holds all taps */
        return (tsri_cuda_packed){.from = op->w,
                                  .to = op->packed,
                                  .rows = op->out.c,
                                  .rows_to = tsri_narrow_channels(op->out.c),
                                  .c = taps * op->in.c};
    if (op->kind == TSRI_LINEAR)
        return (tsri_cuda_packed){
            .from = op->w, .to = op->packed, .rows = r.out, .rows_to = r.out_row, .c = r.in};
    return (tsri_cuda_packed){.from = op->w,
                              .to = op->packed,
                              .rows = op->out.c * taps,
                              .rows_to = tsri_narrow_channels(op->out.c) * taps,
                              .c = op->in.c};
}

/* Floats that only lie badly are copied. */
static tsr_status copy_weights(const tsri_op *op, cudaStream_t s)
{
    int64_t bytes = op->packed_bytes;
    return tsri_cuda_status(
        cudaMemcpyAsync(op->packed, op->w, (size_t)bytes, cudaMemcpyDeviceToDevice, s), "weights");
}

/* What comes before a recurrence does not wait for it. */
static tsr_status pack_beside(const tsri_op *op, cudaStream_t s)
{
    tsr_status st = TSR_OK;
    cudaStream_t beside = s;
    int64_t bytes = op->in.c * op->in.c * (int64_t)sizeof(float);
    TSR_TRY(tsri_cuda_late_begin(&beside, s));
    TSR_TRY(tsri_cuda_recurrent_pack_op(op, beside));
    TSR_TRY(tsri_cuda_late_end(op->w, bytes, op->w, bytes));
done:
    return st;
}

tsr_status tsri_cuda_pack_weights(tsri_op *const *op, int64_t count, tsri_device device)
{
    tsr_status st = TSR_OK;
    cudaStream_t s = tsri_cuda_stream(device.stream);
    tsri_cuda_packing all = {.count = 0};
    for (int64_t i = 0; i < count; i++) {
        if (op[i]->kind == TSRI_RECURRENT)
            TSR_TRY(pack_beside(op[i], s));
        else if (op[i]->bf16)
            all.item[all.count++] = packed_of(op[i]);
        else
            TSR_TRY(copy_weights(op[i], s));
        if (all.count == TSRI_CUDA_PACK || (i == count - 1 && all.count > 0)) {
            TSR_TRY(tsri_cuda_status(tsri_cuda_pack(s, &all), "packing weights"));
            all.count = 0;
        }
    }
done:
    return st;
}
