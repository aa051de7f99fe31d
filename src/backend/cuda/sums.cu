/* sums.cu - sums of columns, of floats and of narrow values, and means of images. */
#include "backend/cuda/sums.cuh"

#include "backend/cuda/launch.h"
#include "backend/cuda/narrow.cuh"

int64_t tsri_cuda_sums_bytes(int64_t rows, int64_t columns, int sums)
{
    return bands_of(rows, columns) * columns * sums * (int64_t)sizeof(double);
}

/* ---- Columns ------------------------------------------------------------------------------- */

static __global__ void sum_bands(double *partial, const float *x, int64_t rows, int64_t c)
{
    int64_t column = (int64_t)blockIdx.x * SUM_COLUMNS + threadIdx.x;
    double sum = 0;
    for (int64_t r = band_begin(rows) + threadIdx.y; column < c && r < band_end(rows);
         r += SUM_ROWS)
        sum += (double)x[r * c + column];
    add_band(partial, sum, c, 1, 0);
}

static __global__ void sum_all(float *to, const double *partial, int64_t bands, int64_t c)
{
    for (EACH(i, c))
        to[i] = (float)all_bands(partial, bands, c, 1, 0, i);
}

cudaError_t tsri_cuda_column_sums(cudaStream_t s, float *to, const float *x, int64_t rows,
                                  int64_t columns, void *scratch)
{
    double *partial = (double *)scratch;
    LAUNCH_MEETING(sum_bands, sum_grid(rows, columns), dim3(SUM_COLUMNS, SUM_ROWS, 1), s, partial,
                   x, rows, columns);
    LAUNCH_EACH(sum_all, columns, s, to, partial, bands_of(rows, columns), columns);
    return cudaGetLastError();
}

/* ---- Means of images ----------------------------------------------------------------------- */

static __global__ void global(float *y, const float *x, int64_t count, int64_t pixels, int64_t c)
{
    for (EACH(i, count)) {
        const float *from = x + i / c * pixels * c + i % c;
        double sum = 0;
        for (int64_t p = 0; p < pixels; p++)
            sum += (double)from[p * c];
        y[i] = (float)(sum / (double)pixels);
    }
}

static __global__ void global_back(float *dx, const float *dy, int64_t count, int64_t pixels,
                                   int64_t c, bool more)
{
    for (EACH(i, count))
        dx[i] = (more ? dx[i] : 0) + dy[i / (pixels * c) * c + i % c] / (float)pixels;
}

cudaError_t tsri_cuda_global(cudaStream_t s, float *y, const float *x, int64_t n, int64_t pixels,
                             int64_t c)
{
    LAUNCH_EACH(global, n * c, s, y, x, n * c, pixels, c);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_global_back(cudaStream_t s, float *dx, const float *dy, int64_t n,
                                  int64_t pixels, int64_t c, bool more)
{
    LAUNCH_EACH(global_back, n * pixels * c, s, dx, dy, n * pixels * c, pixels, c, more);
    return cudaGetLastError();
}

/* ---- Columns of narrow values --------------------------------------------------------------- */

static __global__ void sum_channel(float *to, const uint16_t *x, int64_t rows, int64_t c)
{
    __shared__ double part[TSRI_BLOCK];
    double sum = 0;
    for (int64_t r = threadIdx.x; r < rows; r += TSRI_BLOCK)
        sum += (double)__uint_as_float((unsigned)x[r * pitch_of(c) + blockIdx.x] << 16);
    part[threadIdx.x] = sum;
    for (int half = TSRI_BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        to[blockIdx.x] = (float)part[0];
}

cudaError_t tsri_cuda_narrow_column_sums(cudaStream_t s, float *to, const tsri_cuda_bf16 *x,
                                         int64_t rows, int64_t c)
{
    LAUNCH_MEETING(sum_channel, dim3((unsigned)c, 1, 1), TSRI_BLOCK, s, to, x, rows, c);
    return cudaGetLastError();
}
