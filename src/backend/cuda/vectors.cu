/* vectors.cu - vectors of parameters: an optimiser's step, clipping, averages.
 *
 * Each number is computed as backend/ref does it, operation by operation (nothing is contracted):
 * the same bits but for the order of a gradient's length. */
#include "backend/cuda/grid.cuh"
#include "backend/cuda/launch.h"

static __device__ inline void update_one(float *w, float *v, float dw, float rate,
                                         const tsri_cuda_sgd &u)
{
    float g = dw + u.decay * *w;
    *v = u.momentum * *v + g;
    *w -= rate * (u.nesterov ? g + u.momentum * *v : *v);
}

static __global__ void update(tsri_cuda_sgd u)
{
    float rate = (float)u.dials->rate;
    for (EACH(i, u.count))
        update_one(&u.w[i], &u.v[i], u.dw[i], rate, u);
}

/* ---- Gradients that are packed --------------------------------------------------------------- */

enum { PIECES = 2 * TSRI_CUDA_PACK + 1, CHUNK = 8 * TSRI_BLOCK };

/* The vector in pieces whose gradients are packed, one after the other, and those between. */
typedef struct pieces {
    int64_t first[PIECES + 1];
    const uint2 *packed[PIECES]; /* or NULL */
    int last[PIECES];            /* the first block behind a piece's */
    int count;
} pieces;

/* Four numbers at a time; dw is written for whoever looks at it later. */
static __device__ inline void update_packed(const tsri_cuda_sgd &u, const uint2 *packed,
                                            int64_t first, int64_t i, float rate)
{
    uint2 raw = packed[i / 4];
    float4 g = {__uint_as_float(raw.x << 16), __uint_as_float(raw.x & 0xffff0000u),
                __uint_as_float(raw.y << 16), __uint_as_float(raw.y & 0xffff0000u)};
    float4 *at_w = (float4 *)(u.w + first + i), *at_v = (float4 *)(u.v + first + i);
    float4 w = *at_w, v = *at_v;
    update_one(&w.x, &v.x, g.x, rate, u);
    update_one(&w.y, &v.y, g.y, rate, u);
    update_one(&w.z, &v.z, g.z, rate, u);
    update_one(&w.w, &v.w, g.w, rate, u);
    *at_w = w;
    *at_v = v;
    *(float4 *)(u.dw + first + i) = g;
}

static __global__ void __launch_bounds__(TSRI_BLOCK) update_pieces(tsri_cuda_sgd u, pieces p)
{
    float rate = (float)u.dials->rate;
    int k = 0;
    while ((int)blockIdx.x >= p.last[k])
        k++;
    int64_t first = p.first[k], count = p.first[k + 1] - first;
    int64_t from = ((int)blockIdx.x - (k ? p.last[k - 1] : 0)) * (int64_t)CHUNK;
    int64_t to = from + CHUNK < count ? from + CHUNK : count;
    if (p.packed[k]) {
#pragma unroll
        for (int64_t i = from + 4 * threadIdx.x; i < to; i += 4 * TSRI_BLOCK)
            update_packed(u, p.packed[k], first, i, rate);
        return;
    }
    for (int64_t i = from + threadIdx.x; i < to; i += TSRI_BLOCK)
        update_one(&u.w[first + i], &u.v[first + i], u.dw[first + i], rate, u);
}

static bool in_fours(const void *at)
{
    return (uintptr_t)at % sizeof(float4) == 0;
}

/* Lies it in the vector, without gaps? */
static bool is_part(const tsri_cuda_packed *v, const tsri_cuda_sgd *u)
{
    const float *to = (const float *)v->to;
    return v->c % 8 == 0 && in_fours(to) && in_fours(v->from) && to >= u->dw &&
           to + v->rows * v->c <= u->dw + u->count;
}

static void add_piece(pieces *p, const uint2 *packed, int64_t end)
{
    int64_t first = p->first[p->count];
    if (end == first)
        return;
    int blocks = (int)((end - first + CHUNK - 1) / CHUNK);
    p->packed[p->count] = packed;
    p->last[p->count] = blocks + (p->count ? p->last[p->count - 1] : 0);
    p->first[++p->count] = end;
}

/* In the order of the vector; false: it cannot be divided so. */
static bool divide(pieces *p, const tsri_cuda_sgd *u, const tsri_cuda_packing *packed)
{
    bool fit = in_fours(u->w) && in_fours(u->v) && in_fours(u->dw);
    for (int64_t k = 0; k < packed->count; k++)
        fit = fit && is_part(&packed->item[k], u);
    for (int64_t n = 0; fit && n < packed->count; n++) {
        const tsri_cuda_packed *next = NULL; /* the first that is not before the last piece's end */
        for (int64_t k = 0; k < packed->count; k++) {
            const tsri_cuda_packed *v = &packed->item[k];
            bool ahead = (float *)v->to >= u->dw + p->first[p->count];
            next = ahead && (!next || v->to < next->to) ? v : next;
        }
        if (!next)
            return false; /* one of them twice */
        int64_t first = (float *)next->to - u->dw;
        add_piece(p, NULL, first);
        add_piece(p, (const uint2 *)next->from, first + next->rows * next->c);
    }
    add_piece(p, NULL, u->count);
    return fit;
}

static __global__ void adam(float *w, float *v, float *square, const float *dw, int64_t count,
                            const tsri_cuda_dials *dials)
{
    tsri_cuda_dials f = *dials;
    for (EACH(i, count)) {
        float g = dw[i] + (float)f.decay * w[i];
        v[i] += (float)f.new1 * (g - v[i]);
        square[i] = (float)f.keep2 * square[i] + (float)f.new2 * (g * g);
        float size = (float)sqrt((double)square[i]) / (float)f.root + (float)f.epsilon;
        w[i] = (float)f.shrink * w[i] - (float)f.adam_rate * (v[i] / size);
    }
}

cudaError_t tsri_cuda_update(cudaStream_t s, const tsri_cuda_sgd *u,
                             const tsri_cuda_packing *packed)
{
    pieces p = {};
    if (packed->count > 0 && divide(&p, u, packed)) {
        LAUNCH(update_pieces, (unsigned)p.last[p.count - 1], TSRI_BLOCK, s, *u, p);
        return cudaGetLastError();
    }
    cudaError_t error = tsri_cuda_unpack_all(s, packed);
    if (error == cudaSuccess)
        LAUNCH_EACH(update, u->count, s, *u);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

cudaError_t tsri_cuda_adam(cudaStream_t s, float *w, float *v, float *square, const float *dw,
                           int64_t count, const tsri_cuda_dials *dials)
{
    LAUNCH_EACH(adam, count, s, w, v, square, dw, count, dials);
    return cudaGetLastError();
}

/* ---- Clipping ------------------------------------------------------------------------------ */

/* A block sums the squares of its part: thread by thread, then the threads in pairs. */
static __global__ void square_parts(double *part, const float *g, int64_t count)
{
    __shared__ double mine[TSRI_BLOCK];
    int64_t from = blockIdx.x * count / gridDim.x, to = (blockIdx.x + 1) * count / gridDim.x;
    double sum = 0;
    for (int64_t i = from + threadIdx.x; i < to; i += TSRI_BLOCK)
        sum += (double)g[i] * (double)g[i];
    mine[threadIdx.x] = sum;
    __syncthreads();
    for (int half = TSRI_BLOCK / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half)
            mine[threadIdx.x] += mine[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        part[blockIdx.x] = mine[0];
}

/* Every thread adds up the parts, in order: they are few, and nobody waits for the host. */
static __global__ void shorten(float *g, int64_t count, const double *part, double longest)
{
    double sum = 0;
    for (int i = 0; i < TSRI_CUDA_PARTS; i++)
        sum += part[i];
    double factor = longest / (sqrt(sum) + 1e-6);
    if (!isfinite(sum) || factor >= 1)
        return;
    for (EACH(i, count))
        g[i] *= (float)factor;
}

cudaError_t tsri_cuda_clip(cudaStream_t s, float *g, int64_t count, double longest, double *part)
{
    LAUNCH_MEETING(square_parts, TSRI_CUDA_PARTS, TSRI_BLOCK, s, part, g, count);
    LAUNCH_EACH(shorten, count, s, g, count, part, longest);
    return cudaGetLastError();
}

/* ---- Averages, micro-batches, counts ------------------------------------------------------- */

static __global__ void blend(float *a, const float *w, int64_t count, double part)
{
    for (EACH(i, count)) {
        double was = (double)a[i];
        a[i] = part == 1 ? w[i] : (float)(was + part * ((double)w[i] - was));
    }
}

static __global__ void gather(float *sum, float *g, int64_t count, bool first, bool last,
                              float scale)
{
    for (EACH(i, count)) {
        sum[i] = first ? g[i] : sum[i] + g[i];
        if (last)
            g[i] = sum[i] * scale;
    }
}

static __global__ void count_up(float *counter)
{
    *counter += 1;
}

cudaError_t tsri_cuda_blend(cudaStream_t s, float *a, const float *w, int64_t count, double part)
{
    LAUNCH_EACH(blend, count, s, a, w, count, part);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_gather(cudaStream_t s, float *sum, float *g, int64_t count, bool first,
                             bool last, float scale)
{
    LAUNCH_EACH(gather, count, s, sum, g, count, first, last, scale);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_count(cudaStream_t s, float *counter)
{
    LAUNCH(count_up, 1, 1, s, counter);
    return cudaGetLastError();
}
