/* recurrent_bf16.c - the recurrence under bf16: one launch for all positions (recurrent.cu), and one
 * product for the gradient of W. Wider ones, and chips with few multiprocessors, take a product of
 * cuBLAS for each position.
 *
 * States, and the gradients of what comes in, are kept as floats and as bf16, [T, N, C filled up to a
 * multiple of 8]: those are what is multiplied.
 */
#include "backend/cuda/cuda.h"

static int64_t aligned(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static int64_t pitch_of(const tsri_op *op)
{
    return tsri_narrow_channels(op->in.c);
}

static int64_t states_bytes(const tsri_op *op)
{
    return aligned(op->in.h * op->n * pitch_of(op) * 2);
}

static bool at_once(const tsri_op *op)
{
    return op->in.c <= TSRI_CUDA_RECURRENT_MOST && tsri_cuda_gates() > 0;
}

static bool in_bf16(const tsri_op *op)
{
    return op->bf16 && op->in.h * op->n <= INT32_MAX;
}

static tsr_status setup(tsri_op *op)
{
    op->saved_bytes = states_bytes(op);
    op->scratch_bytes = states_bytes(op);
    op->packed_bytes =
        at_once(op) ? tsri_cuda_recurrent_bytes(op->in.c) : op->in.c * pitch_of(op) * 2;
    return TSR_OK;
}

static float scale_of(const tsri_op *op)
{
    return op->scale == 0 ? 1 : (float)op->scale;
}

tsr_status tsri_cuda_recurrent_pack_op(const tsri_op *op, cudaStream_t s)
{
    int64_t c = op->in.c;
    return tsri_cuda_status(at_once(op) ? tsri_cuda_recurrent_pack(s, op->packed, op->w, c)
                                        : tsri_cuda_narrow_rows(s, op->packed, op->w, c, c),
                            "packing weights");
}

static tsr_status by_products(const tsri_op *op, const tsri_cuda_recurrence *r)
{
    tsr_status st = TSR_OK;
    cudaStream_t s = tsri_cuda_stream(op->stream);
    int64_t block = r->n * r->c, pitch = pitch_of(op), way = r->back ? -1 : 1;
    for (int64_t i = 0; i < r->t; i++) {
        int64_t l = r->back ? r->t - 1 - i : i;
        if (i > 0)
            TSR_TRY(
                tsri_cuda_multiply(&(tsri_cuda_product){.m = r->n,
                                                        .n = r->c,
                                                        .k = r->c,
                                                        .a = r->narrow + (l - way) * r->n * pitch,
                                                        .a_row = pitch,
                                                        .b = op->packed,
                                                        .b_row = pitch,
                                                        .b_turned = !r->back,
                                                        .c = r->to + l * block,
                                                        .alpha = r->scale,
                                                        .narrow = true},
                                   op->stream));
        TSR_TRY(tsri_cuda_status(tsri_cuda_recurrent_step(s, r, l, i == 0), "a recurrence"));
    }
done:
    return st;
}

/* It leaves a few multiprocessors to what was to wait for room (late.c). */
static tsr_status run(const tsri_op *op, const tsri_cuda_recurrence *r, cudaStream_t s)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_cuda_status(tsri_cuda_recurrent_clear(s, r), "a recurrence"));
    TSR_TRY(tsri_cuda_late_now(s));
    TSR_TRY(tsri_cuda_gate_enter(op->stream, s));
    st = tsri_cuda_status(tsri_cuda_recurrent_run(s, r), "a recurrence");
    tsr_status left = tsri_cuda_gate_leave(op->stream, s);
    st = st == TSR_OK ? left : st;
done:
    return st;
}

static tsr_status forward(tsri_op *op)
{
    tsri_cuda_recurrence r = {.n = op->n,
                              .c = op->in.c,
                              .t = op->in.h,
                              .scale = scale_of(op),
                              .start = op->x,
                              .length = op->length,
                              .to = op->y,
                              .narrow = op->saved,
                              .packed = op->packed};
    return at_once(op) ? run(op, &r, tsri_cuda_stream(op->stream)) : by_products(op, &r);
}

static tsr_status backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    int64_t pitch = pitch_of(op);
    tsri_cuda_recurrence r = {.n = op->n,
                              .c = op->in.c,
                              .t = op->in.h,
                              .scale = scale_of(op),
                              .start = op->dy,
                              .mask = op->y,
                              .to = op->dx,
                              .narrow = op->scratch,
                              .packed = op->packed,
                              .back = true};
    if (at_once(op)) {
        TSR_TRY(tsri_cuda_settle(op->dx, tsri_cuda_bytes_in(op)));
        TSR_TRY(tsri_cuda_settle(op->scratch, op->scratch_bytes));
        TSR_TRY(run(op, &r, tsri_cuda_op_stream(op)));
    } else {
        TSR_TRY(by_products(op, &r));
    }
    if (op->dw)
        TSR_TRY(tsri_cuda_multiply(&(tsri_cuda_product){.m = r.c,
                                                        .n = r.c,
                                                        .k = (r.t - 1) * r.n,
                                                        .a = r.narrow + r.n * pitch,
                                                        .a_row = pitch,
                                                        .a_turned = true,
                                                        .b = op->saved,
                                                        .b_row = pitch,
                                                        .c = op->dw,
                                                        .alpha = r.scale,
                                                        .narrow = true},
                                   op->stream));
done:
    return st;
}

const tsri_kernel tsri_cuda_recurrent_bf16 = {.name = "bf16",
                                              .kind = TSRI_RECURRENT,
                                              .backward_needs_y = true,
                                              .applicable = in_bf16,
                                              .setup = setup,
                                              .forward = forward,
                                              .backward = backward};
