/* norm.cu - batch normalisation of x [rows, c], as backend/ref/norm.inc defines it.
 *
 * Forward: one pass for the sums of x and x^2 in double (x^2 of a float is exact there, so that the
 * variance loses rows x 1e-16 (mean/deviation)^2 of itself), a kernel over the channels, one pass to
 * apply. Backward likewise: sums of dy and dy xh, channels, apply. Where y is not stored the ReLU's
 * mask is scale x + shift > 0, the very expression that readers of the norm compute.
 */
#include "backend/cuda/sums.cuh"

#include "backend/cuda/launch.h"

/* ---- Forward ------------------------------------------------------------------------------- */

static __global__ void norm_sums(double *partial, tsri_cuda_norm v)
{
    int64_t column = (int64_t)blockIdx.x * SUM_COLUMNS + threadIdx.x;
    double sum = 0, squares = 0;
#pragma unroll 4
    for (int64_t r = band_begin(v.rows) + threadIdx.y; column < v.c && r < band_end(v.rows);
         r += SUM_ROWS) {
        double x = (double)v.x[r * v.c + column];
        sum += x;
        squares += x * x;
    }
    add_band(partial, sum, v.c, 2, 0);
    add_band(partial, squares, v.c, 2, 1);
}

/* Statistics of channel i, and the running ones. */
static __device__ inline void batch_statistics(const tsri_cuda_norm *v, const double *partial,
                                               int64_t bands, int64_t i, float *mu, float *s2)
{
    double count = (double)v->rows, a = v->momentum;
    double mean = all_bands(partial, bands, v->c, 2, 0, i) / count;
    double squared = all_bands(partial, bands, v->c, 2, 1, i) - count * mean * mean;
    squared = squared > 0 ? squared : 0;
    *mu = (float)mean;
    *s2 = (float)(squared / count);
    v->mean[i] = (float)((1 - a) * (double)v->mean[i] + a * mean);
    v->var[i] = (float)((1 - a) * (double)v->var[i] + a * (squared / (count - 1)));
}

static __global__ void norm_channels(const double *partial, tsri_cuda_norm v, int64_t bands)
{
    for (EACH(i, v.c)) {
        float mu = v.mean[i], s2 = v.var[i];
        if (v.batch)
            batch_statistics(&v, partial, bands, i, &mu, &s2);
        float r = (float)(1.0 / sqrt((double)s2 + v.eps));
        v.saved[i] = r * v.w[i];
        v.saved[v.c + i] = v.b[i] - mu * r * v.w[i];
        v.saved[2 * v.c + i] = mu;
        v.saved[3 * v.c + i] = r;
        if (i == 0 && v.batch && v.tracked)
            *v.tracked += 1;
    }
}

static __global__ void norm_apply(tsri_cuda_norm v)
{
    const float *mu = v.saved + 2 * v.c, *r = v.saved + 3 * v.c;
    for (EACH(i, v.rows * v.c)) {
        int64_t k = i % v.c;
        float y = (v.x[i] - mu[k]) * r[k] * v.w[k] + v.b[k] + (v.add ? v.add[i] : 0);
        v.y[i] = v.relu && y < 0 ? 0 : y;
    }
}

cudaError_t tsri_cuda_norm_forward(cudaStream_t s, const tsri_cuda_norm *norm)
{
    tsri_cuda_norm v = *norm;
    double *partial = (double *)v.scratch;
    v.batch = v.batch && v.rows > 0; /* a batch of nothing has no statistics */
    if (v.batch)
        LAUNCH_MEETING(norm_sums, sum_grid(v.rows, v.c), dim3(SUM_COLUMNS, SUM_ROWS, 1), s, partial,
                       v);
    LAUNCH_EACH(norm_channels, v.c, s, partial, v, bands_of(v.rows, v.c));
    if (v.y)
        LAUNCH_EACH(norm_apply, v.rows * v.c, s, v);
    return cudaGetLastError();
}

/* ---- Backward ------------------------------------------------------------------------------ */

/* Masks dy on the way: whoever shares its memory (a fused sum) reads it masked. A thread reads a
 * few rows before it works on the first: what it writes may not be what it reads next, but the
 * compiler does not know. */
static __global__ void norm_back_sums(double *partial, tsri_cuda_norm v)
{
    enum { AT_ONCE = 4 };
    int64_t column = (int64_t)blockIdx.x * SUM_COLUMNS + threadIdx.x, end = band_end(v.rows);
    bool there = column < v.c;
    float scale = there ? v.saved[column] : 0, shift = there ? v.saved[v.c + column] : 0;
    float mu = there ? v.saved[2 * v.c + column] : 0, r = there ? v.saved[3 * v.c + column] : 0;
    double sum = 0, dot = 0;
    for (int64_t row = band_begin(v.rows) + threadIdx.y; there && row < end;
         row += AT_ONCE * SUM_ROWS) {
        float x[AT_ONCE], y[AT_ONCE], dy[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            int64_t i = (row + k * SUM_ROWS) * v.c + column;
            bool inside = row + k * SUM_ROWS < end;
            x[k] = inside ? v.x[i] : 0;
            dy[k] = inside ? v.dy[i] : 0;
            y[k] = inside && v.y ? v.y[i] : scale * x[k] + shift;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (row + k * SUM_ROWS >= end)
                continue;
            if (v.relu && !(y[k] > 0))
                v.dy[(row + k * SUM_ROWS) * v.c + column] = dy[k] = 0;
            sum += (double)dy[k];
            dot += (double)dy[k] * (double)((x[k] - mu) * r);
        }
    }
    add_band(partial, sum, v.c, 2, 0);
    add_band(partial, dot, v.c, 2, 1);
}

/* db, dw, and what dx needs of them, which takes the place of the first band. */
static __global__ void norm_back_channels(double *partial, tsri_cuda_norm v, int64_t bands)
{
    for (EACH(i, v.c)) {
        double sum = all_bands(partial, bands, v.c, 2, 0, i);
        double dot = all_bands(partial, bands, v.c, 2, 1, i);
        if (v.db)
            v.db[i] = (float)sum;
        if (v.dw)
            v.dw[i] = (float)dot;
        partial[i] = v.batch ? sum / (double)v.rows : 0;
        partial[v.c + i] = v.batch ? dot / (double)v.rows : 0;
    }
}

static __global__ void norm_back_apply(const double *partial, tsri_cuda_norm v)
{
    const float *mu = v.saved + 2 * v.c, *r = v.saved + 3 * v.c;
    for (EACH(i, v.rows * v.c)) {
        int64_t k = i % v.c;
        double xh = (double)((v.x[i] - mu[k]) * r[k]);
        double g = (double)(v.w[k] * r[k]) * ((double)v.dy[i] - partial[k] - xh * partial[v.c + k]);
        v.dx[i] = (v.more ? v.dx[i] : 0) + (float)g;
    }
}

cudaError_t tsri_cuda_norm_backward(cudaStream_t s, const tsri_cuda_norm *norm)
{
    tsri_cuda_norm v = *norm;
    double *partial = (double *)v.scratch;
    LAUNCH_MEETING(norm_back_sums, sum_grid(v.rows, v.c), dim3(SUM_COLUMNS, SUM_ROWS, 1), s,
                   partial, v);
    LAUNCH_EACH(norm_back_channels, v.c, s, partial, v, bands_of(v.rows, v.c));
    if (v.dx)
        LAUNCH_EACH(norm_back_apply, v.rows * v.c, s, partial, v);
    return cudaGetLastError();
}
