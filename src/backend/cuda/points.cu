/* points.cu - what happens to each number on its own: ReLUs, sums, gates, other orders. */
#include "backend/cuda/grid.cuh"
#include "backend/cuda/launch.h"

/* ---- ReLU and sums ------------------------------------------------------------------------- */

static __global__ void relu(float *y, const float *x, int64_t count)
{
    for (EACH(i, count))
        y[i] = x[i] > 0 ? x[i] : 0;
}

static __global__ void relu_back(float *dx, const float *y, const float *dy, int64_t count,
                                 bool more)
{
    for (EACH(i, count))
        dx[i] = (more ? dx[i] : 0) + (y[i] > 0 ? dy[i] : 0);
}

static __global__ void add_up(float *y, const float *x, const float *add, int64_t count, bool relu_)
{
    for (EACH(i, count)) {
        float v = x[i] + add[i];
        y[i] = relu_ && v < 0 ? 0 : v;
    }
}

static __global__ void mask(float *dy, const float *y, int64_t count)
{
    for (EACH(i, count))
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

static __global__ void copy(float *to, const float *from, int64_t count, bool more)
{
    for (EACH(i, count))
        to[i] = (more ? to[i] : 0) + from[i];
}

static __global__ void bias(float *y, const float *b, int64_t count, int64_t columns, bool relu_)
{
    for (EACH(i, count)) {
        float v = b ? y[i] + b[i % columns] : y[i];
        y[i] = relu_ && v < 0 ? 0 : v;
    }
}

cudaError_t tsri_cuda_relu(cudaStream_t s, float *y, const float *x, int64_t count)
{
    LAUNCH_EACH(relu, count, s, y, x, count);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_relu_back(cudaStream_t s, float *dx, const float *y, const float *dy,
                                int64_t count, bool more)
{
    LAUNCH_EACH(relu_back, count, s, dx, y, dy, count, more);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_add(cudaStream_t s, float *y, const float *x, const float *add, int64_t count,
                          bool relu_)
{
    LAUNCH_EACH(add_up, count, s, y, x, add, count, relu_);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_mask(cudaStream_t s, float *dy, const float *y, int64_t count)
{
    LAUNCH_EACH(mask, count, s, dy, y, count);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_copy(cudaStream_t s, float *to, const float *from, int64_t count, bool more)
{
    LAUNCH_EACH(copy, count, s, to, from, count, more);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_bias(cudaStream_t s, float *y, const float *b, int64_t rows, int64_t columns,
                           bool relu_)
{
    if (b || relu_)
        LAUNCH_EACH(bias, rows * columns, s, y, b, rows * columns, columns, relu_);
    return cudaGetLastError();
}

/* ---- Other orders -------------------------------------------------------------------------- */

static __global__ void turn(float *to, const float *from, int64_t count, int64_t rows,
                            int64_t columns, bool more)
{
    for (EACH(i, count)) { /* i counts what is written */
        int64_t image = i / (rows * columns), column = i / rows % columns, row = i % rows;
        to[i] = (more ? to[i] : 0) + from[(image * rows + row) * columns + column];
    }
}

cudaError_t tsri_cuda_turn(cudaStream_t s, float *to, const float *from, int64_t n, int64_t rows,
                           int64_t columns, bool more)
{
    LAUNCH_EACH(turn, n * rows * columns, s, to, from, n * rows * columns, rows, columns, more);
    return cudaGetLastError();
}

static __global__ void swap(float *to, const float *from, int64_t count, int64_t a, int64_t b,
                            int64_t c, bool more)
{
    for (EACH(i, count)) { /* i counts what is written, [b, a, c] */
        int64_t outer = i / (a * c), inner = i / c % a;
        to[i] = (more ? to[i] : 0) + from[(inner * b + outer) * c + i % c];
    }
}

cudaError_t tsri_cuda_swap(cudaStream_t s, float *to, const float *from, int64_t a, int64_t b,
                           int64_t c, bool more)
{
    LAUNCH_EACH(swap, a * b * c, s, to, from, a * b * c, a, b, c, more);
    return cudaGetLastError();
}

/* ---- Gates --------------------------------------------------------------------------------- */

static __global__ void gate_bits(uint64_t *word, const float *z, int64_t count, int64_t units,
                                 int64_t words)
{
    for (EACH(i, count)) {
        int64_t n = i / words, first = i % words * 64;
        uint64_t bits = 0;
        for (int64_t u = first; u < first + 64 && u < units; u++)
            bits |= (uint64_t)(z[n * units + u] > 0) << (u - first);
        word[i] = bits;
    }
}

static __global__ void gate(float *y, const float *x, const uint64_t *word, int64_t count,
                            int64_t units, int64_t words, bool more)
{
    for (EACH(i, count)) {
        int64_t u = i % units;
        bool on = word[i / units * words + u / 64] >> u % 64 & 1;
        y[i] = (more ? y[i] : 0) + (on ? x[i] : 0);
    }
}

cudaError_t tsri_cuda_gate_bits(cudaStream_t s, uint64_t *word, const float *z, int64_t n,
                                int64_t units, int64_t words)
{
    LAUNCH_EACH(gate_bits, n * words, s, word, z, n * words, units, words);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_gate(cudaStream_t s, float *y, const float *x, const uint64_t *word,
                           int64_t n, int64_t units, int64_t words, bool more)
{
    LAUNCH_EACH(gate, n * units, s, y, x, word, n * units, units, words, more);
    return cudaGetLastError();
}
