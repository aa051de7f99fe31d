/* gate.c - a gate alone, where it could not be fused into the linear layer before it. */
#include "backend/cpu/gates.h"
#include "backend/cpu/kernels.h"

#include <string.h>

static tsr_status forward(tsri_op *op)
{
    int64_t units = tsri_shape_count(op->in);
    if (!op->gates->given)
        tsri_cpu_gates_take(op->gates, op->add, op->pool);
    memcpy(op->y, op->x, (size_t)(op->n * units) * sizeof(float));
    tsri_bits_mask(op->y, op->gates->word, op->n, units, op->pool);
    return TSR_OK;
}

static tsr_status backward(tsri_op *op)
{
    int64_t units = tsri_shape_count(op->in);
    const float *dy = op->dy;
    float *dx = op->dx;
    if (!op->need_dx)
        return TSR_OK;
    tsri_bits_mask(op->dy, op->gates->word, op->n, units, op->pool);
    for (int64_t i = 0; i < op->n * units; i++)
        dx[i] = (op->dx_add ? dx[i] : 0) + dy[i];
    return TSR_OK;
}

const tsri_kernel tsri_cpu_gate = {
    .name = "simd", .kind = TSRI_GATE, .forward = forward, .backward = backward};
