/* layers.c - layers without parameters, and norms: from ops to launches. */
#include "backend/cuda/cuda.h"

static int64_t inputs(const tsri_op *op)
{
    return op->n * tsri_shape_count(op->in);
}

static int64_t outputs(const tsri_op *op)
{
    return op->n * tsri_shape_count(op->out);
}

static cudaStream_t stream(const tsri_op *op)
{
    return tsri_cuda_stream(op->stream);
}

tsr_status tsri_cuda_mask_gradient(const tsri_op *op)
{
    return op->relu ? tsri_cuda_status(tsri_cuda_mask(stream(op), op->dy, op->y, outputs(op)),
                                       "a ReLU's gradient")
                    : TSR_OK;
}

/* ---- ReLU ---------------------------------------------------------------------------------- */

static tsr_status relu_forward(tsri_op *op)
{
    return tsri_cuda_status(tsri_cuda_relu(stream(op), op->y, op->x, inputs(op)), "a ReLU");
}

static tsr_status relu_backward(tsri_op *op)
{
    if (!op->need_dx)
        return TSR_OK;
    return tsri_cuda_status(
        tsri_cuda_relu_back(stream(op), op->dx, op->y, op->dy, inputs(op), op->dx_add),
        "a ReLU's gradient");
}

const tsri_kernel tsri_cuda_relu_kernel = {.name = "cuda",
                                           .kind = TSRI_RELU,
                                           .backward_needs_y = true,
                                           .forward = relu_forward,
                                           .backward = relu_backward};

/* ---- Sums ---------------------------------------------------------------------------------- */

static tsr_status add_forward(tsri_op *op)
{
    return tsri_cuda_status(tsri_cuda_add(stream(op), op->y, op->x, op->add, outputs(op), op->relu),
                            "a sum");
}

static tsr_status add_backward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_cuda_mask_gradient(op));
    if (op->need_dx)
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_copy(stream(op), op->dx, op->dy, outputs(op), op->dx_add), "a sum"));
    if (op->dadd)
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_copy(stream(op), op->dadd, op->dy, outputs(op), op->dadd_add), "a sum"));
done:
    return st;
}

const tsri_kernel tsri_cuda_add_kernel = {.name = "cuda",
                                          .kind = TSRI_ADD,
                                          .backward_needs_y = true,
                                          .forward = add_forward,
                                          .backward = add_backward};

/* ---- Gates --------------------------------------------------------------------------------- */

static tsr_status gate_forward(tsri_op *op)
{
    tsr_status st = TSR_OK;
    tsri_gates *g = op->gates;
    if (!g->given) {
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_gate_bits(stream(op), g->word, op->add, g->n, g->units, g->words), "gates"));
        g->stamp++;
    }
    TSR_TRY(tsri_cuda_status(
        tsri_cuda_gate(stream(op), op->y, op->x, g->word, g->n, g->units, g->words, false),
        "gates"));
done:
    return st;
}

static tsr_status gate_backward(tsri_op *op)
{
    const tsri_gates *g = op->gates;
    if (!op->need_dx)
        return TSR_OK;
    return tsri_cuda_status(
        tsri_cuda_gate(stream(op), op->dx, op->dy, g->word, g->n, g->units, g->words, op->dx_add),
        "gates");
}

const tsri_kernel tsri_cuda_gate_kernel = {
    .name = "cuda", .kind = TSRI_GATE, .forward = gate_forward, .backward = gate_backward};

/* ---- Images to vectors --------------------------------------------------------------------- */

static tsr_status global_forward(tsri_op *op)
{
    return tsri_cuda_status(
        tsri_cuda_global(stream(op), op->y, op->x, op->n, op->in.h * op->in.w, op->in.c),
        "a mean of pixels");
}

static tsr_status global_backward(tsri_op *op)
{
    if (!op->need_dx)
        return TSR_OK;
    return tsri_cuda_status(tsri_cuda_global_back(stream(op), op->dx, op->dy, op->n,
                                                  op->in.h * op->in.w, op->in.c, op->dx_add),
                            "a mean of pixels");
}

const tsri_kernel tsri_cuda_global_kernel = {.name = "cuda",
                                             .kind = TSRI_GLOBALPOOL,
                                             .forward = global_forward,
                                             .backward = global_backward};

static tsr_status flatten_forward(tsri_op *op)
{
    return tsri_cuda_status(
        tsri_cuda_turn(stream(op), op->y, op->x, op->n, op->in.h * op->in.w, op->in.c, false),
        "flattening");
}

static tsr_status flatten_backward(tsri_op *op)
{
    if (!op->need_dx)
        return TSR_OK;
    return tsri_cuda_status(tsri_cuda_turn(stream(op), op->dx, op->dy, op->n, op->in.c,
                                           op->in.h * op->in.w, op->dx_add),
                            "flattening");
}

const tsri_kernel tsri_cuda_flatten_kernel = {
    .name = "cuda", .kind = TSRI_FLATTEN, .forward = flatten_forward, .backward = flatten_backward};

/* ---- Norms --------------------------------------------------------------------------------- */

static tsr_status norm_setup(tsri_op *op)
{
    op->saved_bytes = 4 * op->in.c * (int64_t)sizeof(float);
    op->scratch_bytes = tsri_cuda_sums_bytes(op->n * op->in.h * op->in.w, op->in.c, 2);
    return TSR_OK;
}

static tsri_cuda_norm norm_of(const tsri_op *op)
{
    return (tsri_cuda_norm){.rows = op->n * op->in.h * op->in.w,
                            .c = op->in.c,
                            .x = op->x,
                            .add = op->add,
                            .w = op->w,
                            .b = op->b,
                            .y = op->virtual ? NULL : op->y,
                            .mean = op->mean,
                            .var = op->var,
                            .tracked = op->tracked,
                            .saved = op->saved,
                            .eps = op->eps,
                            .momentum = op->momentum,
                            .batch = op->training,
                            .relu = op->relu,
                            .dy = op->dy,
                            .dx = op->need_dx ? op->dx : NULL,
                            .dw = op->dw,
                            .db = op->db,
                            .more = op->dx_add,
                            .scratch = op->scratch};
}

static tsr_status norm_forward(tsri_op *op)
{
    tsri_cuda_norm norm = norm_of(op);
    return tsri_cuda_status(tsri_cuda_norm_forward(stream(op), &norm), "a norm");
}

static tsr_status norm_backward(tsri_op *op)
{
    tsri_cuda_norm norm = norm_of(op);
    return tsri_cuda_status(tsri_cuda_norm_backward(stream(op), &norm), "a norm's gradient");
}

const tsri_kernel tsri_cuda_norm_kernel = {.name = "cuda",
                                           .kind = TSRI_NORM,
                                           .backward_needs_x = true,
                                           .backward_needs_y = true,
                                           .setup = norm_setup,
                                           .forward = norm_forward,
                                           .backward = norm_backward};
