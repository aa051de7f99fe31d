/* slices.cu - numbers of a parameter between the whole and shares; slices.c makes the tables. */
#include "backend/cuda/grid.cuh"
#include "backend/cuda/launch.h"

static __global__ void take(float *to, const float *from, const int64_t *line, int64_t lines,
                            int64_t pieces, int64_t size, int64_t grain)
{
    const int64_t *piece = line + lines;
    for (EACH(i, lines * pieces * grain)) {
        int64_t g = i % grain, p = i / grain % pieces, j = i / grain / pieces;
        to[i] = from[(line[j] * size + piece[p]) * grain + g];
    }
}

cudaError_t tsri_cuda_take(cudaStream_t s, float *to, const float *from, const int64_t *table,
                           int64_t lines, int64_t pieces, int64_t size, int64_t grain)
{
    LAUNCH_EACH(take, lines * pieces * grain, s, to, from, table, lines, pieces, size, grain);
    return cudaGetLastError();
}

/* One owner: a copy. Several: their sum in double, in their order, times 1/N. None: as it was. */
static __global__ void put(float *whole, const int64_t *table, int64_t owners, int64_t lines,
                           int64_t size, int64_t grain)
{
    const int64_t *tables = table + owners * TSRI_CUDA_OWNER;
    for (EACH(i, lines * size * grain)) {
        int64_t g = i % grain, piece = i / grain % size, line = i / grain / size, n = 0;
        double sum = 0;
        for (int64_t o = 0; o < owners; o++) {
            const float *numbers = (const float *)(uintptr_t)table[o * TSRI_CUDA_OWNER];
            int64_t pieces = table[o * TSRI_CUDA_OWNER + 1];
            int64_t j = tables[o * (lines + size) + line];
            int64_t p = tables[o * (lines + size) + lines + piece];
            if (j < 0 || p < 0)
                continue;
            double number = (double)numbers[(j * pieces + p) * grain + g];
            sum = n++ == 0 ? number : sum + number;
        }
        if (n > 0)
            whole[i] = (float)(n == 1 ? sum : sum * (1 / (double)n));
    }
}

cudaError_t tsri_cuda_put(cudaStream_t s, float *whole, const int64_t *table, int64_t owners,
                          int64_t lines, int64_t size, int64_t grain)
{
    LAUNCH_EACH(put, lines * size * grain, s, whole, table, owners, lines, size, grain);
    return cudaGetLastError();
}
