/* sequence.c - the two ends of a network of sequences: their last positions, or all of them turned
 * from [T, N, C] to [N, T, C]. */
#include "backend/cpu/kernels.h"

#include <string.h>

static int64_t length_of(const tsri_op *op, int64_t n)
{
    return op->length ? op->length[n] : op->in.h;
}

static size_t row_bytes(const tsri_op *op)
{
    return (size_t)op->in.c * sizeof(float);
}

/* Row n of position l of a [T, N, C]. */
static int64_t row_at(const tsri_op *op, int64_t l, int64_t n)
{
    return (l * op->n + n) * op->in.c;
}

static void add_row(float *to, const float *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += from[i];
}

static void clear(tsri_op *op)
{
    if (!op->dx_add)
        memset(op->dx, 0, (size_t)(op->n * op->in.h) * row_bytes(op));
}

/* ---- Last --------------------------------------------------------------------------------- */

static tsr_status last_forward(tsri_op *op)
{
    for (int64_t n = 0; n < op->n; n++) {
        float *y = (float *)op->y + n * op->in.c;
        int64_t end = length_of(op, n);
        if (end > 0)
            memcpy(y, (const float *)op->x + row_at(op, end - 1, n), row_bytes(op));
        else
            memset(y, 0, row_bytes(op));
    }
    return TSR_OK;
}

static tsr_status last_backward(tsri_op *op)
{
    clear(op);
    for (int64_t n = 0; n < op->n; n++) {
        int64_t end = length_of(op, n);
        if (end > 0)
            add_row((float *)op->dx + row_at(op, end - 1, n), (const float *)op->dy + n * op->in.c,
                    op->in.c);
    }
    return TSR_OK;
}

const tsri_kernel tsri_cpu_last = {
    .name = "rows", .kind = TSRI_LAST, .forward = last_forward, .backward = last_backward};

/* ---- Turn --------------------------------------------------------------------------------- */

static tsr_status turn_forward(tsri_op *op)
{
    for (int64_t n = 0; n < op->n; n++)
        for (int64_t l = 0; l < op->in.h; l++)
            memcpy((float *)op->y + (n * op->in.h + l) * op->in.c,
                   (const float *)op->x + row_at(op, l, n), row_bytes(op));
    return TSR_OK;
}

static tsr_status turn_backward(tsri_op *op)
{
    clear(op);
    for (int64_t n = 0; n < op->n; n++)
        for (int64_t l = 0; l < op->in.h; l++)
            add_row((float *)op->dx + row_at(op, l, n),
                    (const float *)op->dy + (n * op->in.h + l) * op->in.c, op->in.c);
    return TSR_OK;
}

const tsri_kernel tsri_cpu_turn = {
    .name = "rows", .kind = TSRI_TURN, .forward = turn_forward, .backward = turn_backward};
