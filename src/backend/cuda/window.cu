/* window.cu - poolings of images [N, H, W, C], as backend/ref defines them.
 *
 * Backward asks for every pixel which windows cover it, row by row, so that a pixel of several
 * windows is added up in ref's order, without atomics. */
#include "backend/cuda/grid.cuh"
#include "backend/cuda/launch.h"

typedef tsri_cuda_window window;

/* A place in a tensor [N, H, W, C]. */
typedef struct place {
    int n, h, w, c;
} place;

static __device__ inline place place_of(int64_t i, int h, int w, int c)
{
    int64_t pixel = i / c;
    return place{(int)(pixel / ((int64_t)h * w)), (int)(pixel / w % h), (int)(pixel % w),
                 (int)(i % c)};
}

static __device__ inline int64_t pixel_at(const window *v, int n, int h, int w, int c)
{
    return (((int64_t)n * v->in.h + h) * v->in.w + w) * v->in.c + c;
}

static __device__ inline int64_t output_at(const window *v, int n, int h, int w, int c)
{
    return (((int64_t)n * v->out.h + h) * v->out.w + w) * v->out.c + c;
}

/* Positions [from, to) along one side. */
typedef struct range {
    int from, to;
} range;

/* The pixels of window q that lie inside `side`. */
static __device__ inline range inside(const window *v, int q, int side)
{
    int first = q * v->stride - v->pad, last = first + v->size;
    return range{first < 0 ? 0 : first, last < side ? last : side};
}

/* The windows, of `windows`, that cover pixel p. */
static __device__ inline range covering(const window *v, int p, int windows)
{
    int last = (p + v->pad) / v->stride + 1, before = p + v->pad - v->size + 1;
    return range{before <= 0 ? 0 : (before + v->stride - 1) / v->stride,
                 last < windows ? last : windows};
}

static int64_t inputs_of(const window *v)
{
    return (int64_t)v->n * v->in.h * v->in.w * v->in.c;
}

static int64_t outputs_of(const window *v)
{
    return (int64_t)v->n * v->out.h * v->out.w * v->out.c;
}

/* ---- The largest --------------------------------------------------------------------------- */

static __global__ void maxpool(float *y, int32_t *taken, const float *x, window v, int64_t count)
{
    for (EACH(i, count)) {
        place at = place_of(i, v.out.h, v.out.w, v.out.c);
        range rows = inside(&v, at.h, v.in.h), columns = inside(&v, at.w, v.in.w);
        float best = 0;
        int32_t from = -1;
        for (int h = rows.from; h < rows.to; h++)
            for (int w = columns.from; w < columns.to; w++) {
                float now = x[pixel_at(&v, at.n, h, w, at.c)];
                if (from < 0 || now > best) {
                    best = now;
                    from = h * v.in.w + w;
                }
            }
        y[i] = best;
        if (taken)
            taken[i] = from;
    }
}

static __global__ void maxpool_back(float *dx, const int32_t *taken, const float *dy, window v,
                                    int64_t count, bool more)
{
    for (EACH(i, count)) {
        place at = place_of(i, v.in.h, v.in.w, v.in.c);
        range rows = covering(&v, at.h, v.out.h), columns = covering(&v, at.w, v.out.w);
        float sum = more ? dx[i] : 0;
        for (int h = rows.from; h < rows.to; h++)
            for (int w = columns.from; w < columns.to; w++) {
                int64_t from = output_at(&v, at.n, h, w, at.c);
                if (taken[from] == at.h * v.in.w + at.w)
                    sum += dy[from];
            }
        dx[i] = sum;
    }
}

cudaError_t tsri_cuda_maxpool(cudaStream_t s, float *y, int32_t *taken, const float *x,
                              const window *v)
{
    LAUNCH_EACH(maxpool, outputs_of(v), s, y, taken, x, *v, outputs_of(v));
    return cudaGetLastError();
}

cudaError_t tsri_cuda_maxpool_back(cudaStream_t s, float *dx, const int32_t *taken, const float *dy,
                                   const window *v, bool more)
{
    LAUNCH_EACH(maxpool_back, inputs_of(v), s, dx, taken, dy, *v, inputs_of(v), more);
    return cudaGetLastError();
}

/* ---- The mean ------------------------------------------------------------------------------ */

static __global__ void avgpool(float *y, const float *x, window v, int64_t count)
{
    for (EACH(i, count)) {
        place at = place_of(i, v.out.h, v.out.w, v.out.c);
        range rows = inside(&v, at.h, v.in.h), columns = inside(&v, at.w, v.in.w);
        float sum = 0;
        for (int h = rows.from; h < rows.to; h++)
            for (int w = columns.from; w < columns.to; w++)
                sum += x[pixel_at(&v, at.n, h, w, at.c)];
        y[i] = sum / (float)(v.size * v.size);
    }
}

static __global__ void avgpool_back(float *dx, const float *dy, window v, int64_t count, bool more)
{
    for (EACH(i, count)) {
        place at = place_of(i, v.in.h, v.in.w, v.in.c);
        range rows = covering(&v, at.h, v.out.h), columns = covering(&v, at.w, v.out.w);
        float sum = more ? dx[i] : 0;
        for (int h = rows.from; h < rows.to; h++)
            for (int w = columns.from; w < columns.to; w++)
                sum += dy[output_at(&v, at.n, h, w, at.c)] / (float)(v.size * v.size);
        dx[i] = sum;
    }
}

cudaError_t tsri_cuda_avgpool(cudaStream_t s, float *y, const float *x, const window *v)
{
    LAUNCH_EACH(avgpool, outputs_of(v), s, y, x, *v, outputs_of(v));
    return cudaGetLastError();
}

cudaError_t tsri_cuda_avgpool_back(cudaStream_t s, float *dx, const float *dy, const window *v,
                                   bool more)
{
    LAUNCH_EACH(avgpool_back, inputs_of(v), s, dx, dy, *v, inputs_of(v), more);
    return cudaGetLastError();
}
