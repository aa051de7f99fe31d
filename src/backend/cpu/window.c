/* window.c - max and average pooling, channels innermost, one image at a time.
 *
 * Max pooling keeps, for every output, which of the size x size pixels won (the first of equals, as
 * in PyTorch). Average pooling counts padding as zeros.
 */
#include "backend/cpu/kernels.h"

#include "base/simd.h"

#include <string.h>

/* The pixels of one window that lie inside the image. */
typedef struct window {
    int64_t r0, r1, c0, c1;
} window;

static int64_t clamp(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

static window window_at(const tsri_op *op, int64_t row, int64_t col)
{
    int64_t r = row * op->stride - op->pad, c = col * op->stride - op->pad;
    return (window){clamp(r, 0, op->in.h), clamp(r + op->size, 0, op->in.h), clamp(c, 0, op->in.w),
                    clamp(c + op->size, 0, op->in.w)};
}

static void images(tsri_op *op, tsri_pool_body body)
{
    tsri_pool_run(op->pool, body, op, op->n);
}

/* Where dx of image i begins, zeroed unless it is added to. */
static float *begin_gradient(const tsri_op *op, int64_t i)
{
    int64_t in = tsri_shape_count(op->in);
    float *dx = (float *)op->dx + i * in;
    if (!op->dx_add)
        memset(dx, 0, (size_t)in * sizeof *dx);
    return dx;
}

/* ---- Max ---------------------------------------------------------------------------------- */

static tsr_status max_setup(tsri_op *op)
{
    op->saved_bytes = op->n * tsri_shape_count(op->out) * (int64_t)sizeof(int32_t);
    return TSR_OK;
}

/* One more pixel of a window. Without branches, so that it runs on vectors. */
TSRI_CLONES
static void max_pixel(float *restrict y, int32_t *restrict won, const float *restrict x, int64_t C,
                      int32_t pixel)
{
    for (int64_t c = 0; c < C; c++) {
        bool wins = x[c] > y[c];
        y[c] = wins ? x[c] : y[c];
        won[c] = wins ? pixel : won[c];
    }
}

static void first_pixel(float *y, int32_t *won, const float *x, int64_t C, int32_t pixel)
{
    memcpy(y, x, (size_t)C * sizeof *y);
    for (int64_t c = 0; c < C; c++)
        won[c] = pixel;
}

static void max_forward_image(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t C = op->in.c, out = tsri_shape_count(op->out);
    const float *x = (const float *)op->x + i * tsri_shape_count(op->in);
    float *y = (float *)op->y + i * out;
    int32_t *won = (int32_t *)op->saved + i * out;
    for (int64_t row = 0; row < op->out.h; row++)
        for (int64_t col = 0; col < op->out.w; col++, y += C, won += C) {
            window w = window_at(op, row, col);
            for (int64_t r = w.r0; r < w.r1; r++)
                for (int64_t k = w.c0; k < w.c1; k++) {
                    int64_t pixel = r * op->in.w + k;
                    bool first = r == w.r0 && k == w.c0;
                    (first ? first_pixel : max_pixel)(y, won, x + pixel * C, C, (int32_t)pixel);
                }
        }
}

static void max_backward_image(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t C = op->in.c, out = tsri_shape_count(op->out);
    const float *dy = (const float *)op->dy + i * out;
    const int32_t *won = (const int32_t *)op->saved + i * out;
    float *dx = begin_gradient(op, i);
    for (int64_t o = 0; o < out; o++)
        dx[won[o] * C + o % C] += dy[o];
}

static tsr_status max_forward(tsri_op *op)
{
    images(op, max_forward_image);
    return TSR_OK;
}

static tsr_status max_backward(tsri_op *op)
{
    if (op->need_dx)
        images(op, max_backward_image);
    return TSR_OK;
}

const tsri_kernel tsri_cpu_maxpool = {.name = "simd",
                                      .kind = TSRI_MAXPOOL,
                                      .setup = max_setup,
                                      .forward = max_forward,
                                      .backward = max_backward};

/* ---- Average ------------------------------------------------------------------------------ */

static void average_forward_image(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t C = op->in.c;
    float scale = 1.0f / (float)(op->size * op->size);
    const float *x = (const float *)op->x + i * tsri_shape_count(op->in);
    float *y = (float *)op->y + i * tsri_shape_count(op->out);
    for (int64_t row = 0; row < op->out.h; row++)
        for (int64_t col = 0; col < op->out.w; col++, y += C) {
            window w = window_at(op, row, col);
            memset(y, 0, (size_t)C * sizeof *y);
            for (int64_t r = w.r0; r < w.r1; r++)
                for (int64_t k = w.c0; k < w.c1; k++)
                    for (int64_t c = 0; c < C; c++)
                        y[c] += x[(r * op->in.w + k) * C + c];
            for (int64_t c = 0; c < C; c++)
                y[c] *= scale;
        }
}

static void average_backward_image(void *context, int64_t i, int thread)
{
    (void)thread;
    tsri_op *op = context;
    int64_t C = op->in.c;
    float scale = 1.0f / (float)(op->size * op->size);
    const float *dy = (const float *)op->dy + i * tsri_shape_count(op->out);
    float *dx = begin_gradient(op, i);
    for (int64_t row = 0; row < op->out.h; row++)
        for (int64_t col = 0; col < op->out.w; col++, dy += C) {
            window w = window_at(op, row, col);
            for (int64_t r = w.r0; r < w.r1; r++)
                for (int64_t k = w.c0; k < w.c1; k++)
                    for (int64_t c = 0; c < C; c++)
                        dx[(r * op->in.w + k) * C + c] += dy[c] * scale;
        }
}

static tsr_status average_forward(tsri_op *op)
{
    images(op, average_forward_image);
    return TSR_OK;
}

static tsr_status average_backward(tsri_op *op)
{
    if (op->need_dx)
        images(op, average_backward_image);
    return TSR_OK;
}

const tsri_kernel tsri_cpu_avgpool = {
    .name = "simd", .kind = TSRI_AVGPOOL, .forward = average_forward, .backward = average_backward};
