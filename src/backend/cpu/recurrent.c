/* recurrent.c - the recurrence of a sequence, one fused product per position.
 *
 *     forward     y_l  = relu(s W y_(l-1) + x_l)                W^T packed once
 *     backward    dx_l = D_l (dy_l + s W^T dx_(l+1))            W packed once
 *                 dW   = s sum_l dx_l y_(l-1)^T                 one product over all positions
 *
 * Sequences are [T, N, m], so the rows of all positions but the first lie one after the other, and
 * beside them those of the positions before.
 */
#include "backend/cpu/kernels.h"

#include "backend/cpu/counts.h"
#include "backend/cpu/packed.h"
#include "linalg/gemm.h"

#include <assert.h>

/* Scratch: W in panels, then the states of two positions with rows that are spread. */
static tsr_status setup(tsri_op *op)
{
    int64_t states = 2 * op->n * tsri_spread(op->in.c);
    op->scratch_bytes = (tsri_packed_size(op->in.c, op->in.c) + states) * (int64_t)sizeof(float);
    return TSR_OK;
}

static float *spread_states(const tsri_op *op, int64_t position)
{
    return (float *)op->scratch + tsri_packed_size(op->in.c, op->in.c) +
           (position & 1) * op->n * tsri_spread(op->in.c);
}

static tsri_packed product(const tsri_op *op)
{
    return (tsri_packed){.rows = op->n,
                         .n = op->in.c,
                         .k = op->in.c,
                         .b = op->scratch,
                         .lda = tsri_spread(op->in.c),
                         .scale = op->scale == 0 ? 1.0f : (float)op->scale};
}

static tsr_status forward(tsri_op *op)
{
    int64_t step = op->n * op->in.c;
    tsri_packed p = product(op);
    tsri_pack(op->scratch, op->w, op->in.c, op->in.c, true, op->pool);
    p.length = op->length;
    for (int64_t l = 0; l < op->in.h; l++) {
        p.start = (const float *)op->x + l * step;
        p.a = l > 0 ? spread_states(op, l - 1) : NULL;
        p.copy = spread_states(op, l);
        p.c = (float *)op->y + l * step;
        p.position = l;
        tsri_packed_run(&p, op->pool);
    }
    return TSR_OK;
}

static tsr_status backward(tsri_op *op)
{
    int64_t m = op->in.c, step = op->n * m, T = op->in.h;
    tsri_packed p = product(op);
    assert(op->need_dx && !op->dx_add); /* what it reads is a product of its own */
    tsri_pack(op->scratch, op->w, m, m, false, op->pool);
    for (int64_t l = T - 1; l >= 0; l--) {
        p.start = (const float *)op->dy + l * step;
        p.mask = (const float *)op->y + l * step;
        p.a = l + 1 < T ? spread_states(op, l + 1) : NULL;
        p.copy = spread_states(op, l);
        p.c = (float *)op->dx + l * step;
        tsri_packed_run(&p, op->pool);
    }
    tsri_gemm weight = {.a_transposed = true,
                        .m = m,
                        .n = m,
                        .k = (T - 1) * op->n,
                        .a = (const float *)op->dx + step,
                        .b = op->y,
                        .c = op->dw,
                        .scale = op->scale};
    return op->dw ? tsri_gemm_run(&weight, op->pool) : TSR_OK;
}

const tsri_kernel tsri_cpu_recurrent = {.name = "packed",
                                        .kind = TSRI_RECURRENT,
                                        .backward_needs_y = true,
                                        .setup = setup,
                                        .forward = forward,
                                        .backward = backward};
