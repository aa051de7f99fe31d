/* recurrent.c - the recurrence of a sequence, one fused product per position.
 *
 *     forward     y_l  = relu(s W y_(l-1) + x_l)                W^T packed once
 *     backward    dx_l = D_l (dy_l + s W^T dx_(l+1))            W packed once
 *                 dW   = s sum_l dx_l y_(l-1)^T                 one product over all positions
 *
 * Sequences are [T, N, m], so the rows of all positions but the first lie one after the other, and
 * beside them those of the positions before. Under bf16 what is multiplied is rounded first: the
 * panels, the states that the next position reads, copies of dx and y.
 */
#include "backend/cpu/kernels.h"

#include "backend/bf16.h"
#include "backend/cpu/counts.h"
#include "backend/cpu/packed.h"
#include "linalg/gemm.h"

#include <assert.h>

/* Scratch: W in panels, then the states of two positions with rows that are spread, then, under
 * bf16, dx and y. */
static int64_t states_size(const tsri_op *op)
{
    return 2 * op->n * tsri_spread(op->in.c);
}

static tsr_status setup(tsri_op *op)
{
    int64_t size = tsri_packed_size(op->in.c, op->in.c) + states_size(op);
    if (op->bf16 && op->training)
        size += 2 * op->n * tsri_shape_count(op->in);
    op->scratch_bytes = size * (int64_t)sizeof(float);
    return TSR_OK;
}

typedef struct rounding {
    float *to;
    const float *from;
    int64_t count, apart; /* in a row, from row to row */
} rounding;

static void round_row(void *context, int64_t row, int thread)
{
    const rounding *r = context;
    (void)thread;
    for (int64_t i = row * r->apart; i < row * r->apart + r->count; i++)
        r->to[i] = tsri_bf16_round(r->from[i]);
}

/* Only under bf16. `from` may be `to`. */
static void round_rows(float *to, const float *from, int64_t rows, int64_t count, int64_t apart,
                       const tsri_op *op)
{
    rounding r = {to, from, count, apart};
    if (op->bf16)
        tsri_pool_run(op->pool, round_row, &r, rows);
}

/* The panels of W, or of W^T. */
static void pack(const tsri_op *op, bool turned)
{
    int64_t m = op->in.c;
    tsri_pack(op->scratch, op->w, m, m, turned, op->pool);
    round_rows(op->scratch, op->scratch, m, tsri_packed_size(m, m) / m, tsri_packed_size(m, m) / m,
               op);
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
    pack(op, true);
    p.length = op->length;
    for (int64_t l = 0; l < op->in.h; l++) {
        p.start = (const float *)op->x + l * step;
        p.a = l > 0 ? spread_states(op, l - 1) : NULL;
        p.copy = spread_states(op, l);
        p.c = (float *)op->y + l * step;
        p.position = l;
        tsri_packed_run(&p, op->pool);
        round_rows(p.copy, p.copy, op->n, op->in.c, p.lda, op);
    }
    return TSR_OK;
}

static tsr_status weight_gradient(const tsri_op *op)
{
    int64_t m = op->in.c, rows = (op->in.h - 1) * op->n, step = op->n * m;
    const float *dx = (const float *)op->dx + step, *y = op->y;
    float *rounded = (float *)op->scratch + tsri_packed_size(m, m) + states_size(op);
    round_rows(rounded, dx, rows, m, m, op);
    round_rows(rounded + rows * m, y, rows, m, m, op);
    tsri_gemm weight = {.a_transposed = true,
                        .m = m,
                        .n = m,
                        .k = rows,
                        .a = op->bf16 ? rounded : dx,
                        .b = op->bf16 ? rounded + rows * m : y,
                        .c = op->dw,
                        .scale = op->scale};
    return tsri_gemm_run(&weight, op->pool);
}

static tsr_status backward(tsri_op *op)
{
    int64_t m = op->in.c, step = op->n * m, T = op->in.h;
    tsri_packed p = product(op);
    assert(op->need_dx && !op->dx_add); /* what it reads is a product of its own */
    pack(op, false);
    for (int64_t l = T - 1; l >= 0; l--) {
        p.start = (const float *)op->dy + l * step;
        p.mask = (const float *)op->y + l * step;
        p.a = l + 1 < T ? spread_states(op, l + 1) : NULL;
        p.copy = spread_states(op, l);
        p.c = (float *)op->dx + l * step;
        tsri_packed_run(&p, op->pool);
        round_rows(p.copy, p.copy, op->n, m, p.lda, op);
    }
    return op->dw ? weight_gradient(op) : TSR_OK;
}

const tsri_kernel tsri_cpu_recurrent = {.name = "packed",
                                        .kind = TSRI_RECURRENT,
                                        .backward_needs_y = true,
                                        .setup = setup,
                                        .forward = forward,
                                        .backward = backward};
