/* vectors.cu - vectors of parameters: an optimiser's step, clipping, averages.
 *
 * Each number is computed as backend/ref does it, operation by operation (nothing is contracted):
 * the same bits but for the order of a gradient's length. */
#include "backend/cuda/grid.cuh"
#include "backend/cuda/launch.h"

static __global__ void update(float *w, float *v, const float *dw, int64_t count,
                              const tsri_cuda_dials *dials, float momentum, float decay,
                              bool nesterov)
{
    float rate = (float)dials->rate;
    for (EACH(i, count)) {
        float g = dw[i] + decay * w[i];
        v[i] = momentum * v[i] + g;
        w[i] -= rate * (nesterov ? g + momentum * v[i] : v[i]);
    }
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

cudaError_t tsri_cuda_update(cudaStream_t s, float *w, float *v, const float *dw, int64_t count,
                             const tsri_cuda_dials *dials, float momentum, float decay,
                             bool nesterov)
{
    LAUNCH_EACH(update, count, s, w, v, dw, count, dials, momentum, decay, nesterov);
    return cudaGetLastError();
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
