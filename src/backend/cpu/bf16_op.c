/* bf16_op.c - convolution and linear layers under `precision: bf16`. A linear layer is a 1x1
 * convolution of 1x1 images whose filters lie the other way round. */
#include "backend/cpu/bf16.h"
#include "backend/cpu/kernels.h"

static bool applicable(const tsri_op *op)
{
    return op->bf16;
}

static tsri_bf16_team team_of(const tsri_op *op)
{
    return (tsri_bf16_team){tsri_bf16_best(), op->pool, op->scratch};
}

static tsri_bf16_finish gradient_of(const tsri_op *op, float scale)
{
    return (tsri_bf16_finish){.scale = scale, .add = op->dx_add ? op->dx : NULL};
}

/* ---- Convolutions -------------------------------------------------------------------------- */

static tsr_status conv_setup(tsri_op *op)
{
    tsri_conv_shape s = tsri_cpu_conv_shape(op);
    tsr_status st = tsri_cpu_conv_check(op);
    if (st == TSR_OK)
        op->scratch_bytes = tsri_bf16_work(&s, tsri_pool_threads(op->pool));
    return st;
}

static tsri_preop pre_of(const tsri_op *op)
{
    const float *pre = op->pre;
    return (tsri_preop){pre, pre ? pre + op->in.c : NULL};
}

static tsr_status conv_forward(tsri_op *op)
{
    tsri_conv_shape s = tsri_cpu_conv_shape(op);
    tsri_bf16_team team = team_of(op);
    tsri_bf16_forward(op->y, op->x, (tsri_bf16_filters){op->w, false}, &s, pre_of(op),
                      (tsri_bf16_finish){.scale = 1, .bias = op->b, .add = op->add}, &team);
    return TSR_OK;
}

static tsr_status conv_backward(tsri_op *op)
{
    tsri_conv_shape s = tsri_cpu_conv_shape(op);
    tsri_bf16_team team = team_of(op);
    tsri_cpu_conv_bias_gradient(op);
    if (op->dw)
        tsri_bf16_backward_weights(op->dw, op->x, op->dy, &s, pre_of(op), 1, &team);
    if (op->need_dx)
        tsri_bf16_backward_data(op->dx, op->dy, (tsri_bf16_filters){op->w, false}, &s,
                                gradient_of(op, 1), &team);
    return TSR_OK;
}

const tsri_kernel tsri_cpu_conv_bf16 = {.name = "bf16",
                                        .kind = TSRI_CONV,
                                        .backward_needs_x = true,
                                        .applicable = applicable,
                                        .setup = conv_setup,
                                        .forward = conv_forward,
                                        .backward = conv_backward};

/* ---- Linear layers ------------------------------------------------------------------------- */

static tsri_conv_shape flat(const tsri_op *op)
{
    int64_t in, out, rows = tsri_cpu_linear_rows(op, &in, &out);
    return (tsri_conv_shape){.n = rows, .h = 1, .w = 1, .c = in, .k = out, .size = 1, .stride = 1};
}

/* dW [out][in] is the gradient of filters with `out` inputs and `in` outputs. */
static tsri_conv_shape swapped(tsri_conv_shape s)
{
    int64_t c = s.c;
    s.c = s.k;
    s.k = c;
    return s;
}

static float scale_of(const tsri_op *op)
{
    return op->scale == 0 ? 1 : (float)op->scale;
}

static tsr_status linear_setup(tsri_op *op)
{
    tsri_conv_shape s = flat(op), t = swapped(s);
    int threads = tsri_pool_threads(op->pool);
    int64_t pass = tsri_bf16_pass_work(&s, threads), weights = tsri_bf16_weights_work(&t, threads);
    op->scratch_bytes = pass > weights ? pass : weights;
    return TSR_OK;
}

static tsr_status linear_forward(tsri_op *op)
{
    tsri_conv_shape s = flat(op);
    tsri_bf16_team team = team_of(op);
    tsri_bf16_finish finish = {.scale = scale_of(op), .bias = op->b, .relu = op->relu};
    tsri_bf16_forward(op->y, op->x, (tsri_bf16_filters){op->w, true}, &s, (tsri_preop){0}, finish,
                      &team);
    return TSR_OK;
}

static tsr_status linear_backward(tsri_op *op)
{
    tsri_conv_shape s = flat(op), t = swapped(s);
    tsri_bf16_team team = team_of(op);
    tsri_cpu_linear_mask(op);
    if (op->dw)
        tsri_bf16_backward_weights(op->dw, op->dy, op->x, &t, (tsri_preop){0}, scale_of(op), &team);
    if (op->need_dx)
        tsri_bf16_backward_data(op->dx, op->dy, (tsri_bf16_filters){op->w, true}, &s,
                                gradient_of(op, scale_of(op)), &team);
    return TSR_OK;
}

const tsri_kernel tsri_cpu_linear_bf16 = {.name = "bf16",
                                          .kind = TSRI_LINEAR,
                                          .backward_needs_x = true,
                                          .backward_needs_y = true,
                                          .applicable = applicable,
                                          .setup = linear_setup,
                                          .forward = linear_forward,
                                          .backward = linear_backward};
