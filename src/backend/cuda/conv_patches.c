/* conv_patches.c - the first convolution under bf16, as a product.
 *
 * Three channels fill a small part of what matrix units read at once: with them filled up to eight
 * cuDNN takes 22 us and 50 us for the first layer of a ResNet on an H200, for 0.7 % of its work. Its
 * patches, 27 numbers around each pixel, are few enough to be stored as the rows of a matrix: y is
 * their product with the filters, and the gradient of the filters one with dy. Nobody wants dx.
 */
#include "backend/cuda/cuda.h"

enum { MOST = 64 }; /* numbers of a patch */

static int64_t patch_of(const tsri_op *op)
{
    return op->size * op->size * op->in.c;
}

static bool small_patches(const tsri_op *op)
{
    return op->bf16 && op->narrow_y && !op->narrow_x && !op->need_dx && !op->pre &&
           patch_of(op) <= MOST && tsri_cuda_rows_out(op) <= INT32_MAX / MOST;
}

static tsr_status setup(tsri_op *op)
{
    int64_t row = tsri_narrow_channels(patch_of(op));
    op->saved_bytes = tsri_cuda_rows_out(op) * row * 2;
    op->packed_bytes = tsri_narrow_channels(op->out.c) * row * 2;
    int64_t dw = op->out.c * row * (int64_t)sizeof(float), after = tsri_cuda_finish_bytes(op);
    op->scratch_bytes = dw > after ? dw : after;
    return TSR_OK;
}

static tsr_status forward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    tsri_cuda_window window = tsri_cuda_window_of(op);
    TSR_TRY(tsri_cuda_status(tsri_cuda_patches(tsri_cuda_op_stream(op), op->saved, op->x, &window),
                             "patches"));
    TSR_TRY(tsri_cuda_multiply_op(&(tsri_cuda_product){.m = tsri_cuda_rows_out(op),
                                                       .n = tsri_narrow_channels(op->out.c),
                                                       .k = tsri_narrow_channels(patch_of(op)),
                                                       .a = op->saved,
                                                       .b = op->packed,
                                                       .b_turned = true,
                                                       .c = op->y,
                                                       .alpha = 1,
                                                       .narrow = true,
                                                       .narrow_c = true},
                                  op));
    TSR_TRY(tsri_cuda_finish_product(op, true));
done:
    return st;
}

/* Rows of a multiple of 16 bytes, which cuBLAS is fast for, and then without what fills them up. */
static tsr_status weight_gradient(const tsri_op *op, cudaStream_t s)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_cuda_multiply_op(&(tsri_cuda_product){.m = op->out.c,
                                                       .n = tsri_narrow_channels(patch_of(op)),
                                                       .k = tsri_cuda_rows_out(op),
                                                       .a = op->dy,
                                                       .a_turned = true,
                                                       .a_row = tsri_narrow_channels(op->out.c),
                                                       .b = op->saved,
                                                       .c = op->scratch,
                                                       .alpha = 1,
                                                       .narrow = true},
                                  op));
    TSR_TRY(
        tsri_cuda_status(tsri_cuda_unpack(s, op->dw, op->scratch, true, op->out.c, patch_of(op)),
                         "a filter's gradient"));
done:
    return st;
}

static tsr_status backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    cudaStream_t s = tsri_cuda_op_stream(op);
    int64_t rows = tsri_cuda_rows_out(op);
    TSR_TRY(tsri_cuda_settle_op(op));
    if (op->relu)
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_narrow_mask(s, op->dy, op->dy, op->y, rows, op->out.c, false),
            "a ReLU's gradient"));
    if (op->db)
        TSR_TRY(tsri_cuda_status(tsri_cuda_narrow_column_sums(s, op->db, op->dy, rows, op->out.c),
                                 "a bias's gradient"));
    if (op->dw)
        TSR_TRY(weight_gradient(op, s));
done:
    return st;
}

const tsri_kernel tsri_cuda_conv_patches = {.name = "patches",
                                            .kind = TSRI_CONV,
                                            .backward_needs_y = true,
                                            .applicable = small_patches,
                                            .setup = setup,
                                            .forward = forward,
                                            .backward = backward};
