/* conv_dnn.c - convolutions through cuDNN (dnn.h), of floats and of bf16.
 *
 * Images and filters lie as cuDNN wants them, so that f32 needs no copies. Under bf16 the weights
 * are packed once before a pass (tsri_cuda_pack_weights), channels filled up to a multiple of 8; an
 * image that comes in as floats is packed before its convolution. The gradient of the weights is
 * computed beside the chain of gradients of inputs (late.c): summed in f32 and rounded to bf16 once,
 * as PyTorch's autocast does. TESSERA_CUDA_DW=f32 asks for engines that do not round it: on an H200
 * they take twenty times as long for large images.
 *
 * TESSERA_CUDNN=none leaves all of it to our own kernels.
 */
#include "backend/cuda/dnn.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

typedef struct found {
    const tsri_cuda_dnn *forward, *input, *weight;
    unsigned *slot[TSRI_CUDA_PASSES]; /* of workspaces that are small enough, or NULL */
    bool wide;                        /* dw is floats */
} found;

static int64_t channels(const tsri_op *op, int64_t c)
{
    return op->bf16 ? tsri_narrow_channels(c) : c;
}

static tsri_cuda_dnn_shape shape_of(const tsri_op *op, tsri_cuda_pass pass, bool wide)
{
    return (tsri_cuda_dnn_shape){.n = op->n,
                                 .c = channels(op, op->in.c),
                                 .h = op->in.h,
                                 .w = op->in.w,
                                 .k = channels(op, op->out.c),
                                 .out_h = op->out.h,
                                 .out_w = op->out.w,
                                 .size = op->size,
                                 .stride = op->stride,
                                 .pad = op->pad,
                                 .pass = pass,
                                 .bf16 = op->bf16,
                                 .wide = wide,
                                 .crowd = op->crowd > 1};
}

static const tsri_cuda_dnn *find(const tsri_op *op, tsri_cuda_pass pass, bool wide)
{
    tsri_cuda_dnn_shape shape = shape_of(op, pass, wide);
    return tsri_cuda_dnn_find(&shape);
}

/* The gradient of a window of one pixel is a product, which is then spread over x: cuDNN would
 * write the zeros between, too, and somebody read them again to add them to dx. */
static bool is_pixel(const tsri_op *op)
{
    return op->bf16 && op->narrow_x && op->size == 1 && op->stride > 1 && op->pad == 0 &&
           tsri_cuda_rows_out(op) <= INT32_MAX;
}

static found find_all(const tsri_op *op)
{
    const char *dw = secure_getenv("TESSERA_CUDA_DW");
    found f = {.forward = find(op, TSRI_CUDA_FORWARD, false)};
    if (f.forward && op->training && op->need_dx && !is_pixel(op))
        f.input = find(op, TSRI_CUDA_INPUT, false);
    if (f.forward && op->training && op->bf16 && dw && strcmp(dw, "f32") == 0) {
        f.weight = find(op, TSRI_CUDA_WEIGHT, true);
        f.wide = f.weight != NULL;
    }
    if (f.forward && op->training && !f.weight) {
        f.weight = find(op, TSRI_CUDA_WEIGHT, false);
        f.wide = !op->bf16;
    }
    return f;
}

/* Floats all over, or bf16 behind it; engines for all passes. */
static bool has_engines(const tsri_op *op)
{
    bool floats = !op->bf16 && !op->narrow_x && !op->narrow_y, narrow = op->bf16 && op->narrow_y;
    if (op->pre || !(floats || narrow) || op->n == 0)
        return false;
    found f = find_all(op);
    return f.forward && (!op->training || (f.weight && (f.input || !op->need_dx || is_pixel(op))));
}

/* ---- Memory -------------------------------------------------------------------------------- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t aligned(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static int64_t real(const tsri_op *op)
{
    return op->bf16 ? 2 : (int64_t)sizeof(float);
}

/* Of gradients of x that are not spread yet. */
static int64_t pixels_bytes(const tsri_op *op)
{
    return tsri_cuda_rows_out(op) * channels(op, op->in.c) * real(op);
}

/* Numbers of the filters as cuDNN sees them. */
static int64_t weights_of(const tsri_op *op)
{
    return channels(op, op->out.c) * op->size * op->size * channels(op, op->in.c);
}

/* Do the store's numbers lie as cuDNN wants them? */
static bool lies_right(const tsri_op *op, const void *numbers, bool floats)
{
    return floats && op->in.c == channels(op, op->in.c) && op->out.c == channels(op, op->out.c) &&
           (uintptr_t)numbers % 16 == 0;
}

/* x where it comes in as floats. */
static bool packs_x(const tsri_op *op)
{
    return op->bf16 && !op->narrow_x;
}

/* A gradient of bf16 waits for all others (late.c) behind the packed weights. */
static bool waits(const tsri_op *op, const found *f)
{
    return op->bf16 && op->training && !f->wide;
}

static unsigned *slot_for(const tsri_cuda_dnn *dnn)
{
    int64_t bytes = tsri_cuda_dnn_bytes(dnn);
    return bytes > 0 && bytes <= TSRI_CUDA_SLOT ? tsri_cuda_slot_take() : NULL;
}

static tsr_status setup(tsri_op *op)
{
    tsr_status st = TSR_OK;
    found *f = NULL;
    TSR_TRY(tsri_alloc(&f, 1, sizeof *f));
    op->state = f;
    *f = find_all(op);
    f->slot[TSRI_CUDA_FORWARD] = slot_for(f->forward);
    f->slot[TSRI_CUDA_INPUT] = slot_for(f->input);
    f->slot[TSRI_CUDA_WEIGHT] = slot_for(f->weight);
    int64_t dw = waits(op, f) ? 0 : aligned(weights_of(op) * (int64_t)sizeof(float));
    int64_t dx = !op->need_dx   ? 0
                 : is_pixel(op) ? pixels_bytes(op)
                 : op->dx_add   ? aligned(tsri_cuda_bytes_in(op))
                                : 0;
    op->scratch_bytes = larger(tsri_cuda_dnn_bytes(f->forward), tsri_cuda_finish_bytes(op));
    op->scratch_bytes = larger(op->scratch_bytes, dx + tsri_cuda_dnn_bytes(f->input));
    if (op->db && !op->bf16)
        op->scratch_bytes =
            larger(op->scratch_bytes, tsri_cuda_sums_bytes(tsri_cuda_rows_out(op), op->out.c, 1));
    op->late_bytes = op->training ? dw + tsri_cuda_dnn_bytes(f->weight) : 0;
    if (op->bf16 || !lies_right(op, op->w, true))
        op->packed_bytes = weights_of(op) * real(op);
    if (waits(op, f))
        op->packed_bytes = 2 * aligned(op->packed_bytes);
    if (packs_x(op))
        op->saved_bytes = tsri_narrow_bytes(op->n, op->in);
done:
    return st;
}

static void teardown(tsri_op *op)
{
    found *f = op->state;
    for (int i = 0; f && i < TSRI_CUDA_PASSES; i++)
        tsri_cuda_slot_drop(f->slot[i]);
    tsri_free(f);
}

static void *workspace_of(const tsri_op *op, tsri_cuda_pass pass, void *otherwise)
{
    const found *f = op->state;
    return f->slot[pass] ? f->slot[pass] : otherwise;
}

static const void *weights_at(const tsri_op *op)
{
    return op->packed_bytes > 0 ? op->packed : op->w;
}

static const void *x_at(const tsri_op *op)
{
    return packs_x(op) ? op->saved : op->x;
}

/* ---- Forward ------------------------------------------------------------------------------- */

static tsr_status finish_floats(const tsri_op *op, cudaStream_t s)
{
    tsr_status st = TSR_OK;
    int64_t rows = tsri_cuda_rows_out(op);
    TSR_TRY(tsri_cuda_status(tsri_cuda_bias(s, op->y, op->b, rows, op->out.c, op->relu && !op->add),
                             "a bias"));
    if (op->add)
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_add(s, op->y, op->y, op->add, rows * op->out.c, op->relu), "a sum"));
done:
    return st;
}

static tsr_status forward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    const found *f = op->state;
    cudaStream_t s = tsri_cuda_op_stream(op);
    if (packs_x(op))
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_narrow_rows(s, op->saved, op->x, tsri_cuda_rows_in(op), op->in.c),
            "floats to bf16"));
    TSR_TRY(tsri_cuda_dnn_run(f->forward, x_at(op), weights_at(op), op->y,
                              workspace_of(op, TSRI_CUDA_FORWARD, op->scratch), s));
    TSR_TRY(op->bf16 ? tsri_cuda_finish_product(op, true) : finish_floats(op, s));
done:
    return st;
}

/* ---- Backward ------------------------------------------------------------------------------ */

static tsr_status mask(const tsri_op *op, cudaStream_t s)
{
    int64_t rows = tsri_cuda_rows_out(op);
    if (!op->relu)
        return TSR_OK;
    return tsri_cuda_status(
        op->bf16 ? tsri_cuda_narrow_mask(s, op->dy, op->dy, op->y, rows, op->out.c, false)
                 : tsri_cuda_mask(s, op->dy, op->y, rows * op->out.c),
        "a ReLU's gradient");
}

static tsr_status bias_gradient(const tsri_op *op, cudaStream_t s)
{
    int64_t rows = tsri_cuda_rows_out(op);
    if (!op->db)
        return TSR_OK;
    return tsri_cuda_status(
        op->bf16 ? tsri_cuda_narrow_column_sums(s, op->db, op->dy, rows, op->out.c)
                 : tsri_cuda_column_sums(s, op->db, op->dy, rows, op->out.c, op->scratch),
        "a bias's gradient");
}

/* Into dw where it lies as cuDNN writes it, else beside it and then there. */
static tsr_status weight_gradient(const tsri_op *op, cudaStream_t s)
{
    tsr_status st = TSR_OK;
    const found *f = op->state;
    bool straight = lies_right(op, op->dw, f->wide);
    int64_t room = waits(op, f) ? 0 : aligned(weights_of(op) * (int64_t)sizeof(float));
    void *own = (char *)op->packed + op->packed_bytes / 2;
    tsri_cuda_packed packed = {.from = own,
                               .to = op->dw,
                               .rows = op->out.c * op->size * op->size,
                               .rows_to = op->out.c * op->size * op->size,
                               .c = op->in.c};
    void *to = waits(op, f) ? own : straight ? op->dw : op->late;
    void *workspace = workspace_of(op, TSRI_CUDA_WEIGHT, (char *)op->late + room);
    TSR_TRY(tsri_cuda_dnn_run(f->weight, x_at(op), to, op->dy, workspace, s));
    if (waits(op, f))
        TSR_TRY(tsri_cuda_unpack_late(&packed, s));
    else if (!straight && op->bf16)
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_unpack(s, op->dw, to, f->wide, op->out.c * op->size * op->size, op->in.c),
            "a filter's gradient"));
    else if (!straight)
        TSR_TRY(tsri_cuda_status(tsri_cuda_copy(s, op->dw, to, weights_of(op), false),
                                 "a filter's gradient"));
    TSR_TRY(tsri_cuda_late_end(x_at(op), channels(op, op->in.c) * tsri_cuda_rows_in(op) * real(op),
                               op->dy, tsri_cuda_bytes_out(op)));
done:
    return st;
}

/* dy w, a row for each pixel of y, and then to where it stands in dx. */
static tsr_status pixel_gradient(const tsri_op *op, cudaStream_t s)
{
    tsr_status st = TSR_OK;
    tsri_cuda_window window = tsri_cuda_window_of(op);
    TSR_TRY(tsri_cuda_multiply_op(&(tsri_cuda_product){.m = tsri_cuda_rows_out(op),
                                                       .n = channels(op, op->in.c),
                                                       .k = channels(op, op->out.c),
                                                       .a = op->dy,
                                                       .b = op->packed,
                                                       .c = op->scratch,
                                                       .alpha = 1,
                                                       .narrow = true,
                                                       .narrow_c = true},
                                  op));
    TSR_TRY(tsri_cuda_status(tsri_cuda_narrow_spread(s, op->dx, op->scratch, &window, op->dx_add),
                             "a convolution's gradient"));
done:
    return st;
}

/* A gradient that another op wrote before is added to. */
static tsr_status input_gradient(const tsri_op *op, cudaStream_t s)
{
    tsr_status st = TSR_OK;
    const found *f = op->state;
    int64_t rows = tsri_cuda_rows_in(op), room = op->dx_add ? aligned(tsri_cuda_bytes_in(op)) : 0;
    void *to = op->dx_add ? op->scratch : op->dx;
    TSR_TRY(tsri_cuda_dnn_run(f->input, to, weights_at(op), op->dy,
                              workspace_of(op, TSRI_CUDA_INPUT, (char *)op->scratch + room), s));
    if (op->dx_add)
        TSR_TRY(tsri_cuda_status(op->bf16
                                     ? tsri_cuda_narrow_copy(s, op->dx, to, rows, op->in.c, true)
                                     : tsri_cuda_copy(s, op->dx, to, rows * op->in.c, true),
                                 "a convolution's gradient"));
done:
    return st;
}

/* Of what is ready at once a recording begins with what came first: under bf16 the gradient of x,
 * which the chain waits for. */
static tsr_status backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    cudaStream_t s = tsri_cuda_op_stream(op), beside = s;
    TSR_TRY(tsri_cuda_settle_op(op));
    TSR_TRY(mask(op, s));
    TSR_TRY(bias_gradient(op, s));
    bool last = !op->bf16;
    if (op->dw)
        TSR_TRY(tsri_cuda_late_begin(&beside, s));
    if (op->dw && last)
        TSR_TRY(weight_gradient(op, beside));
    if (op->need_dx)
        TSR_TRY(is_pixel(op) ? pixel_gradient(op, s) : input_gradient(op, s));
    if (op->dw && !last)
        TSR_TRY(weight_gradient(op, beside));
done:
    return st;
}

const tsri_kernel tsri_cuda_conv_dnn = {.name = "cudnn",
                                        .kind = TSRI_CONV,
                                        .backward_needs_x = true,
                                        .backward_needs_y = true,
                                        .applicable = has_engines,
                                        .setup = setup,
                                        .forward = forward,
                                        .backward = backward,
                                        .teardown = teardown};
