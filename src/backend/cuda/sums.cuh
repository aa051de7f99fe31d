/* sums.cuh - sums over the rows of a matrix, each in one order.
 *
 * A matrix [rows, c] is cut into bands of rows; a block sums one band of 32 columns: its 8 rows of
 * threads each take every eighth row, and are then added up in order. A second kernel adds the
 * bands, in order. Bands follow from the shape alone. All in double: of a million numbers of one
 * size the rounding is some 1e-10 of the sum.
 *
 *     partial [bands][sums][c]
 */
#ifndef TSRI_CUDA_SUMS_CUH
#define TSRI_CUDA_SUMS_CUH

#include "backend/cuda/grid.cuh"

enum { SUM_COLUMNS = 32, SUM_ROWS = 8 };

/* Enough blocks to fill a large chip, at least 64 rows each. */
static inline int64_t bands_of(int64_t rows, int64_t columns)
{
    int64_t tiles = (columns + SUM_COLUMNS - 1) / SUM_COLUMNS;
    int64_t bands = (1056 + tiles - 1) / tiles, most = (rows + 63) / 64;
    bands = bands < most ? bands : most;
    return bands < 1 ? 1 : bands;
}

static inline dim3 sum_grid(int64_t rows, int64_t columns)
{
    return dim3((unsigned)((columns + SUM_COLUMNS - 1) / SUM_COLUMNS),
                (unsigned)bands_of(rows, columns), 1);
}

/* The rows of this block. */
static __device__ inline int64_t band_begin(int64_t rows)
{
    return rows * blockIdx.y / gridDim.y;
}

static __device__ inline int64_t band_end(int64_t rows)
{
    return rows * (blockIdx.y + 1) / gridDim.y;
}

/* partial[band][which of sums][column] = the sum of `mine` over the block's rows of threads. All
 * threads of the block must come here. */
static __device__ inline void add_band(double *partial, double mine, int64_t c, int sums, int which)
{
    __shared__ double part[SUM_ROWS][SUM_COLUMNS];
    int64_t column = (int64_t)blockIdx.x * SUM_COLUMNS + threadIdx.x;
    __syncthreads();
    part[threadIdx.y][threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.y == 0 && column < c) {
        double sum = 0;
        for (int i = 0; i < SUM_ROWS; i++)
            sum += part[i][threadIdx.x];
        partial[((int64_t)blockIdx.y * sums + which) * c + column] = sum;
    }
}

/* The sum of the bands, in order; a thread reads many before it adds the first. */
static __device__ inline double all_bands(const double *partial, int64_t bands, int64_t c, int sums,
                                          int which, int64_t column)
{
    double sum = 0;
#pragma unroll 16
    for (int64_t band = 0; band < bands; band++)
        sum += partial[(band * sums + which) * c + column];
    return sum;
}

#endif
