/* global.c - from images to vectors: the mean over all pixels, or all pixels with channels
 * outermost. */
#include "backend/cpu/kernels.h"

#include <string.h>

/* ---- The mean over all pixels ------------------------------------------------------------- */

static void mean_image(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t C = op->in.c, pixels = op->in.h * op->in.w;
    const float *x = (const float *)op->x + i * pixels * C;
    float *y = (float *)op->y + i * C, scale = 1.0f / (float)pixels;
    memset(y, 0, (size_t)C * sizeof *y);
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t c = 0; c < C; c++)
            y[c] += x[p * C + c];
    for (int64_t c = 0; c < C; c++)
        y[c] *= scale;
}

static void spread_image(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t C = op->in.c, pixels = op->in.h * op->in.w;
    const float *dy = (const float *)op->dy + i * C;
    float *dx = (float *)op->dx + i * pixels * C, scale = 1.0f / (float)pixels;
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t c = 0; c < C; c++)
            dx[p * C + c] = (op->dx_add ? dx[p * C + c] : 0) + dy[c] * scale;
}

static tsr_status global_forward(tsri_op *op)
{
    tsri_pool_run(op->pool, mean_image, op, op->n);
    return TSR_OK;
}

static tsr_status global_backward(tsri_op *op)
{
    if (op->need_dx)
        tsri_pool_run(op->pool, spread_image, op, op->n);
    return TSR_OK;
}

const tsri_kernel tsri_cpu_globalpool = {.name = "simd",
                                         .kind = TSRI_GLOBALPOOL,
                                         .forward = global_forward,
                                         .backward = global_backward};

/* ---- [H, W, C] to [C, H, W] --------------------------------------------------------------- */

static void flatten_image(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t C = op->in.c, pixels = op->in.h * op->in.w;
    const float *x = (const float *)op->x + i * pixels * C;
    float *y = (float *)op->y + i * pixels * C;
    for (int64_t c = 0; c < C; c++)
        for (int64_t p = 0; p < pixels; p++)
            y[c * pixels + p] = x[p * C + c];
}

static void unflatten_image(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t C = op->in.c, pixels = op->in.h * op->in.w;
    const float *dy = (const float *)op->dy + i * pixels * C;
    float *dx = (float *)op->dx + i * pixels * C;
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t c = 0; c < C; c++)
            dx[p * C + c] = (op->dx_add ? dx[p * C + c] : 0) + dy[c * pixels + p];
}

static tsr_status flatten_forward(tsri_op *op)
{
    tsri_pool_run(op->pool, flatten_image, op, op->n);
    return TSR_OK;
}

static tsr_status flatten_backward(tsri_op *op)
{
    if (op->need_dx)
        tsri_pool_run(op->pool, unflatten_image, op, op->n);
    return TSR_OK;
}

const tsri_kernel tsri_cpu_flatten = {
    .name = "simd", .kind = TSRI_FLATTEN, .forward = flatten_forward, .backward = flatten_backward};
