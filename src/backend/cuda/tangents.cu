/* tangents.cu - what stands beside the products of a tangent kernel (tangents.c). */
#include "backend/cuda/grid.cuh"
#include "backend/cuda/launch.h"

/* to[i][p][c] = from[i][p][c], each with steps of its own. */
static __global__ void spread(tsri_cuda_spread v)
{
    for (EACH(e, v.n * v.p * v.c)) {
        int64_t i = e / (v.p * v.c), p = e / v.c % v.p, c = e % v.c;
        v.to[i * v.to_i + p * v.to_p + c] = v.from[i * v.from_i + p * v.from_p + c];
    }
}

cudaError_t tsri_cuda_tangent_spread(cudaStream_t s, const tsri_cuda_spread *v)
{
    LAUNCH_EACH(spread, v->n * v->p * v->c, s, *v);
    return cudaGetLastError();
}

/* to [n][pixels of y][size size c] = x around each pixel; zeros outside. */
static __global__ void windows(float *to, int64_t to_i, const float *x, tsri_cuda_window w)
{
    int64_t depth = (int64_t)w.size * w.size * w.in.c, pixels = (int64_t)w.out.h * w.out.w;
    for (EACH(e, w.n * pixels * depth)) {
        int64_t i = e / (pixels * depth), p = e / depth % pixels, d = e % depth;
        int64_t c = d % w.in.c, tap = d / w.in.c;
        int64_t row = p / w.out.w * w.stride + tap / w.size - w.pad;
        int64_t column = p % w.out.w * w.stride + tap % w.size - w.pad;
        bool inside = row >= 0 && row < w.in.h && column >= 0 && column < w.in.w;
        to[i * to_i + p * depth + d] =
            inside ? x[((i * w.in.h + row) * w.in.w + column) * w.in.c + c] : 0;
    }
}

cudaError_t tsri_cuda_tangent_windows(cudaStream_t s, float *to, int64_t to_i, const float *x,
                                      const tsri_cuda_window *w)
{
    int64_t count = (int64_t)w->n * w->out.h * w->out.w * w->size * w->size * w->in.c;
    LAUNCH_EACH(windows, count, s, to, to_i, x, *w);
    return cudaGetLastError();
}

/* Of each sample: the sums over pixels of dy, and of dy (x - mu) r where x is given. */
static __global__ void pixel_sums(float *to, int64_t to_i, const float *dy, const float *x,
                                  const float *saved, int64_t n, int64_t pixels, int64_t c)
{
    for (EACH(e, n * c)) {
        int64_t i = e / c, at = e % c;
        double sum = 0, dot = 0, mu = x ? saved[2 * c + at] : 0, r = x ? saved[3 * c + at] : 0;
        for (int64_t p = 0; p < pixels; p++) {
            int64_t k = (i * pixels + p) * c + at;
            sum += dy[k];
            dot += x ? dy[k] * ((double)x[k] - mu) * r : 0;
        }
        to[i * to_i + at + (x ? c : 0)] = (float)sum;
        if (x)
            to[i * to_i + at] = (float)dot;
    }
}

cudaError_t tsri_cuda_tangent_sums(cudaStream_t s, float *to, int64_t to_i, const float *dy,
                                   const float *x, const float *saved, int64_t n, int64_t pixels,
                                   int64_t c)
{
    LAUNCH_EACH(pixel_sums, n * c, s, to, to_i, dy, x, saved, n, pixels, c);
    return cudaGetLastError();
}

static __global__ void collect(double *sum, const float *part, int64_t count, bool first)
{
    for (EACH(i, count))
        sum[i] = (first ? 0 : sum[i]) + (double)part[i];
}

cudaError_t tsri_cuda_tangent_collect(cudaStream_t s, double *sum, const float *part, int64_t count,
                                      bool first)
{
    LAUNCH_EACH(collect, count, s, sum, part, count, first);
    return cudaGetLastError();
}

/* k [rows, columns] of rows n apart += d (scale a + bias); a NULL: d scale. */
static __global__ void fold(double *k, int64_t n, const double *d, const double *a, int64_t rows,
                            int64_t columns, double scale, double bias)
{
    for (EACH(e, rows * columns))
        k[e / columns * n + e % columns] += d[e] * (a ? scale * a[e] + bias : scale);
}

cudaError_t tsri_cuda_tangent_fold(cudaStream_t s, double *k, int64_t n, const double *d,
                                   const double *a, int64_t rows, int64_t columns, double scale,
                                   double bias)
{
    LAUNCH_EACH(fold, rows * columns, s, k, n, d, a, rows, columns, scale, bias);
    return cudaGetLastError();
}

/* k_ij += scale sum over p, q of a_(ip)(jq) d_(ip)(jq): a block for each pair. */
static __global__ void fold_positions(double *k, int64_t n, const float *a, const float *d,
                                      int64_t columns, int64_t positions, double scale)
{
    __shared__ double part[TSRI_BLOCK];
    int64_t i = blockIdx.y, j = blockIdx.x, wide = columns * positions;
    double sum = 0;
    for (int64_t e = threadIdx.x; e < positions * positions; e += TSRI_BLOCK) {
        int64_t at = (i * positions + e / positions) * wide + j * positions + e % positions;
        sum += (double)a[at] * (double)d[at];
    }
    part[threadIdx.x] = sum;
    for (int half = TSRI_BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        k[i * n + j] += scale * part[0];
}

cudaError_t tsri_cuda_tangent_positions(cudaStream_t s, double *k, int64_t n, const float *a,
                                        const float *d, int64_t rows, int64_t columns,
                                        int64_t positions, double scale)
{
    if (rows > 0 && columns > 0)
        LAUNCH_MEETING(fold_positions, dim3((unsigned)columns, (unsigned)rows), TSRI_BLOCK, s, k, n,
                       a, d, columns, positions, scale);
    return cudaGetLastError();
}
