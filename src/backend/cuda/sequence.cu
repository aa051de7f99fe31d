/* sequence.cu - sequences, [T, N, C] inside a network: what stands beside a recurrence's products,
 * and the last position of each. */
#include "backend/cuda/grid.cuh"
#include "backend/cuda/launch.h"

static __device__ inline int64_t end_of(const int32_t *length, int64_t n, int64_t t)
{
    return length ? length[n] : t;
}

static __global__ void recur(float *y, const float *x, const int32_t *length, int64_t l,
                             int64_t count, int64_t c)
{
    for (EACH(i, count)) {
        float v = (l > 0 ? y[i] : 0) + x[i];
        y[i] = l < end_of(length, i / c, l + 1) && v > 0 ? v : 0;
    }
}

static __global__ void recur_back(float *dx, const float *dy, const float *y, int64_t count,
                                  bool last)
{
    for (EACH(i, count)) {
        float v = (last ? 0 : dx[i]) + dy[i];
        dx[i] = y[i] > 0 ? v : 0;
    }
}

cudaError_t tsri_cuda_recur(cudaStream_t s, float *y, const float *x, const int32_t *length,
                            int64_t l, int64_t n, int64_t c)
{
    LAUNCH_EACH(recur, n * c, s, y, x, length, l, n * c, c);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_recur_back(cudaStream_t s, float *dx, const float *dy, const float *y,
                                 int64_t count, bool last)
{
    LAUNCH_EACH(recur_back, count, s, dx, dy, y, count, last);
    return cudaGetLastError();
}

static __global__ void last_of(float *y, const float *x, const int32_t *length, int64_t t,
                               int64_t count, int64_t c)
{
    for (EACH(i, count)) {
        int64_t end = end_of(length, i / c, t);
        y[i] = end > 0 ? x[(end - 1) * count + i] : 0;
    }
}

/* Numbers before the last position get nothing; dx was cleared, or holds what others wrote. */
static __global__ void last_back(float *dx, const float *dy, const int32_t *length, int64_t t,
                                 int64_t count, int64_t c)
{
    for (EACH(i, count)) {
        int64_t end = end_of(length, i / c, t);
        if (end > 0)
            dx[(end - 1) * count + i] += dy[i];
    }
}

cudaError_t tsri_cuda_last(cudaStream_t s, float *y, const float *x, const int32_t *length,
                           int64_t t, int64_t n, int64_t c)
{
    LAUNCH_EACH(last_of, n * c, s, y, x, length, t, n * c, c);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_last_back(cudaStream_t s, float *dx, const float *dy, const int32_t *length,
                                int64_t t, int64_t n, int64_t c)
{
    LAUNCH_EACH(last_back, n * c, s, dx, dy, length, t, n * c, c);
    return cudaGetLastError();
}
