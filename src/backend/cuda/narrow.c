/* narrow.c - ops whose values lie as bf16 (backend/op.h): from ops to launches.
 *
 * Norms, sums, ReLUs and means have kernels of their own. What is left (poolings, flattening, and
 * convolutions that cuDNN does not compute) goes by way of floats: x becomes floats, the f32 kernel
 * computes, y becomes bf16 again.
 */
#include "backend/cuda/cuda.h"
#include "base/alloc.h"

enum { MOST_CHANNELS = 1 << 16 }; /* of a norm: narrow_norm.cu */

int64_t tsri_cuda_rows_in(const tsri_op *op)
{
    return op->n * op->in.h * op->in.w;
}

int64_t tsri_cuda_rows_out(const tsri_op *op)
{
    return op->n * op->out.h * op->out.w;
}

static int64_t bytes_of(const tsri_op *op, tsri_shape s, bool narrow)
{
    return narrow ? tsri_narrow_bytes(op->n, s)
                  : op->n * tsri_shape_count(s) * (int64_t)sizeof(float);
}

int64_t tsri_cuda_bytes_in(const tsri_op *op)
{
    return bytes_of(op, op->in, op->narrow_x);
}

int64_t tsri_cuda_bytes_out(const tsri_op *op)
{
    return bytes_of(op, op->out, op->narrow_y);
}

static bool is_narrow(const tsri_op *op)
{
    return op->narrow_x && op->narrow_y;
}

/* dy = 0 where the fused ReLU was off. */
static tsr_status mask_gradient(const tsri_op *op)
{
    return op->relu ? tsri_cuda_status(tsri_cuda_narrow_mask(tsri_cuda_op_stream(op), op->dy,
                                                             op->dy, op->y, tsri_cuda_rows_out(op),
                                                             op->out.c, false),
                                       "a ReLU's gradient")
                    : TSR_OK;
}

/* ---- ReLU ---------------------------------------------------------------------------------- */

static tsr_status relu_forward(tsri_op *op)
{
    return tsri_cuda_status(tsri_cuda_narrow_relu(tsri_cuda_op_stream(op), op->y, op->x,
                                                  tsri_cuda_rows_in(op), op->in.c),
                            "a ReLU");
}

static tsr_status relu_backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    if (!op->need_dx)
        return TSR_OK;
    TSR_TRY(tsri_cuda_settle_op(op));
    TSR_TRY(tsri_cuda_status(tsri_cuda_narrow_mask(tsri_cuda_op_stream(op), op->dx, op->dy, op->y,
                                                   tsri_cuda_rows_in(op), op->in.c, op->dx_add),
                             "a ReLU's gradient"));
done:
    return st;
}

const tsri_kernel tsri_cuda_relu_narrow = {.name = "bf16",
                                           .kind = TSRI_RELU,
                                           .backward_needs_y = true,
                                           .applicable = is_narrow,
                                           .forward = relu_forward,
                                           .backward = relu_backward};

/* ---- Norms --------------------------------------------------------------------------------- */

static tsr_status norm_setup(tsri_op *op)
{
    if (op->in.c > MOST_CHANNELS)
        return tsri_fail(TSR_USAGE,
                         "backend: cuda: under precision: bf16 a norm has at most %d channels, and "
                         "one has %lld: use precision: f32",
                         MOST_CHANNELS, (long long)op->in.c);
    op->saved_bytes = 7 * op->in.c * (int64_t)sizeof(float);
    op->scratch_bytes = tsri_cuda_narrow_norm_bytes(tsri_cuda_rows_in(op), op->in.c);
    op->state = tsri_cuda_counter_take();
    return op->state ? TSR_OK
                     : tsri_fail(TSR_RESOURCES, "backend: cuda: too many norms at once: use fewer "
                                                "workers");
}

static void norm_teardown(tsri_op *op)
{
    tsri_cuda_counter_drop(op->state);
}

/* With the scratch of whoever computes it. */
static tsri_cuda_narrow_norm norm_of(const tsri_op *op, void *scratch)
{
    return (tsri_cuda_narrow_norm){.rows = tsri_cuda_rows_in(op),
                                   .c = op->in.c,
                                   .x = op->x,
                                   .add = op->add,
                                   .y = op->y,
                                   .w = op->w,
                                   .b = op->b,
                                   .mean = op->mean,
                                   .var = op->var,
                                   .tracked = op->tracked,
                                   .saved = op->saved,
                                   .eps = op->eps,
                                   .momentum = op->momentum,
                                   .part = 1 / (double)tsri_cuda_rows_in(op),
                                   .part_less = 1 / ((double)tsri_cuda_rows_in(op) - 1),
                                   .batch = op->training,
                                   .relu = op->relu,
                                   .dy = op->dy,
                                   .dx = op->need_dx ? op->dx : NULL,
                                   .dw = op->dw,
                                   .db = op->db,
                                   .more = op->dx_add,
                                   .scratch = scratch,
                                   .counter = op->state,
                                   .crowd = op->crowd};
}

static tsr_status norm_forward(tsri_op *op)
{
    tsri_cuda_narrow_norm norm = norm_of(op, op->scratch);
    return tsri_cuda_status(tsri_cuda_narrow_norm_forward(tsri_cuda_op_stream(op), &norm, op->fed),
                            "a norm");
}

static tsr_status norm_backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    tsri_cuda_narrow_norm norm = norm_of(op, op->scratch);
    TSR_TRY(tsri_cuda_settle_op(op));
    TSR_TRY(tsri_cuda_status(tsri_cuda_narrow_norm_backward(tsri_cuda_op_stream(op), &norm),
                             "a norm's gradient"));
done:
    return st;
}

const tsri_kernel tsri_cuda_norm_narrow = {.name = "bf16",
                                           .kind = TSRI_NORM,
                                           .backward_needs_x = true,
                                           .backward_needs_y = true,
                                           .applicable = is_narrow,
                                           .setup = norm_setup,
                                           .forward = norm_forward,
                                           .backward = norm_backward,
                                           .teardown = norm_teardown};

/* ---- Behind products ------------------------------------------------------------------------ */

int64_t tsri_cuda_finish_bytes(const tsri_op *op)
{
    return op->feeds ? tsri_cuda_narrow_norm_bytes(tsri_cuda_rows_out(op), op->out.c) : 0;
}

tsr_status tsri_cuda_finish_product(const tsri_op *op, bool bias)
{
    tsri_cuda_finish finish = {.y = op->y,
                               .add = op->add,
                               .b = bias ? op->b : NULL,
                               .rows = tsri_cuda_rows_out(op),
                               .c = op->out.c,
                               .relu = op->relu};
    tsri_cuda_narrow_norm norm = {0};
    if (op->feeds)
        norm = norm_of(op->feeds, op->scratch);
    return tsri_cuda_status(
        tsri_cuda_narrow_finish(tsri_cuda_op_stream(op), &finish, op->feeds ? &norm : NULL),
        "what stands behind a product");
}

/* ---- Sums ---------------------------------------------------------------------------------- */

static tsr_status add_setup(tsri_op *op)
{
    op->scratch_bytes = tsri_cuda_finish_bytes(op);
    return TSR_OK;
}

static tsr_status add_forward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_cuda_status(tsri_cuda_narrow_copy(tsri_cuda_op_stream(op), op->y, op->x,
                                                   tsri_cuda_rows_in(op), op->in.c, false),
                             "a sum"));
    TSR_TRY(tsri_cuda_finish_product(op, false));
done:
    return st;
}

static tsr_status add_backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    cudaStream_t s = tsri_cuda_op_stream(op);
    int64_t rows = tsri_cuda_rows_out(op);
    TSR_TRY(tsri_cuda_settle_op(op));
    TSR_TRY(mask_gradient(op));
    if (op->need_dx)
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_narrow_copy(s, op->dx, op->dy, rows, op->out.c, op->dx_add), "a sum"));
    if (op->dadd)
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_narrow_copy(s, op->dadd, op->dy, rows, op->out.c, op->dadd_add), "a sum"));
done:
    return st;
}

const tsri_kernel tsri_cuda_add_narrow = {.name = "bf16",
                                          .kind = TSRI_ADD,
                                          .backward_needs_y = true,
                                          .applicable = is_narrow,
                                          .setup = add_setup,
                                          .forward = add_forward,
                                          .backward = add_backward};

/* ---- Means of images ------------------------------------------------------------------------ */

static tsr_status global_forward(tsri_op *op)
{
    return tsri_cuda_status(tsri_cuda_narrow_global(tsri_cuda_op_stream(op), op->y, op->x, op->n,
                                                    op->in.h * op->in.w, op->in.c),
                            "a mean of pixels");
}

static tsr_status global_backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    if (!op->need_dx)
        return TSR_OK;
    TSR_TRY(tsri_cuda_settle_op(op));
    TSR_TRY(tsri_cuda_status(tsri_cuda_narrow_global_back(tsri_cuda_op_stream(op), op->dx, op->dy,
                                                          op->n, op->in.h * op->in.w, op->in.c,
                                                          op->dx_add),
                             "a mean of pixels"));
done:
    return st;
}

const tsri_kernel tsri_cuda_global_narrow = {.name = "bf16",
                                             .kind = TSRI_GLOBALPOOL,
                                             .applicable = is_narrow,
                                             .forward = global_forward,
                                             .backward = global_backward};

/* ---- By way of floats ------------------------------------------------------------------------ */

/* The f32 kernel's op, and where its floats are in the scratch: its own scratch lies behind
 * them. */
typedef struct by_floats {
    tsri_op op;
    int64_t out_at, scratch_at;
} by_floats;

static int64_t aligned(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static bool some_narrow(const tsri_op *op)
{
    return op->narrow_x || op->narrow_y;
}

static tsr_status floats_setup(tsri_op *op, const tsri_kernel *kernel)
{
    tsr_status st = TSR_OK;
    by_floats *f = NULL;
    TSR_TRY(tsri_alloc(&f, 1, sizeof *f));
    op->state = f;
    f->op = *op;
    f->op.kernel = kernel;
    f->op.narrow_x = f->op.narrow_y = f->op.relu = f->op.dx_add = false;
    f->op.feeds = NULL;
    if (kernel->setup)
        TSR_TRY(kernel->setup(&f->op));
    f->out_at = aligned(tsri_cuda_bytes_in(&f->op));
    f->scratch_at = f->out_at + aligned(tsri_cuda_bytes_out(&f->op));
    op->saved_bytes = f->op.saved_bytes;
    op->scratch_bytes = f->scratch_at + f->op.scratch_bytes;
    if (op->scratch_bytes < tsri_cuda_finish_bytes(op))
        op->scratch_bytes = tsri_cuda_finish_bytes(op);
done:
    return st;
}

static void floats_teardown(tsri_op *op)
{
    tsri_free(op->state);
}

/* Its f32 op, with the buffers that the plan gave. */
static tsri_op *floats_of(const tsri_op *op)
{
    by_floats *f = op->state;
    char *scratch = op->scratch;
    f->op.x = f->op.dx = scratch;
    f->op.y = f->op.dy = scratch + f->out_at;
    f->op.scratch = scratch + f->scratch_at;
    f->op.saved = op->saved;
    f->op.add = NULL;
    f->op.pool = op->pool;
    f->op.stream = op->stream;
    return &f->op;
}

/* x of the op as floats where the f32 kernel reads them. */
static tsr_status widen_x(const tsri_op *op, tsri_op *wide)
{
    wide->x = op->narrow_x ? wide->x : op->x;
    return op->narrow_x
               ? tsri_cuda_status(tsri_cuda_widen_rows(tsri_cuda_op_stream(op), wide->dx, op->x,
                                                       tsri_cuda_rows_in(op), op->in.c, false),
                                  "bf16 to floats")
               : TSR_OK;
}

static tsr_status floats_forward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    tsri_op *wide = floats_of(op);
    TSR_TRY(widen_x(op, wide));
    TSR_TRY(wide->kernel->forward(wide));
    TSR_TRY(tsri_cuda_status(tsri_cuda_narrow_rows(tsri_cuda_op_stream(op), op->y, wide->y,
                                                   tsri_cuda_rows_out(op), op->out.c),
                             "floats to bf16"));
    TSR_TRY(tsri_cuda_finish_product(op, false));
done:
    return st;
}

static tsr_status floats_backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    tsri_op *wide = floats_of(op);
    cudaStream_t s = tsri_cuda_op_stream(op);
    TSR_TRY(tsri_cuda_settle_op(op));
    TSR_TRY(mask_gradient(op));
    TSR_TRY(tsri_cuda_status(
        tsri_cuda_widen_rows(s, wide->dy, op->dy, tsri_cuda_rows_out(op), op->out.c, false),
        "bf16 to floats"));
    if (wide->kernel->backward_needs_x && op->dw)
        TSR_TRY(widen_x(op, wide));
    TSR_TRY(wide->kernel->backward(wide));
    if (op->need_dx && op->dx_add) {
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_widen_rows(s, wide->dx, op->dx, tsri_cuda_rows_in(op), op->in.c, true),
            "bf16 to floats"));
    }
    if (op->need_dx)
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_narrow_rows(s, op->dx, wide->dx, tsri_cuda_rows_in(op), op->in.c),
            "floats to bf16"));
done:
    return st;
}

#define BY_FLOATS(row, kind_, needs_x)                                                             \
    static tsr_status row##_setup(tsri_op *op)                                                     \
    {                                                                                              \
        return floats_setup(op, &tsri_cuda_##row##_kernel);                                        \
    }                                                                                              \
                                                                                                   \
    const tsri_kernel tsri_cuda_##row##_floats = {.name = "by floats",                             \
                                                  .kind = kind_,                                   \
                                                  .backward_needs_x = needs_x,                     \
                                                  .backward_needs_y = true,                        \
                                                  .applicable = some_narrow,                       \
                                                  .setup = row##_setup,                            \
                                                  .forward = floats_forward,                       \
                                                  .backward = floats_backward,                     \
                                                  .teardown = floats_teardown}

BY_FLOATS(conv, TSRI_CONV, true);
BY_FLOATS(maxpool, TSRI_MAXPOOL, false);
BY_FLOATS(avgpool, TSRI_AVGPOOL, false);
BY_FLOATS(flatten, TSRI_FLATTEN, false);
