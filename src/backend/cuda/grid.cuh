/* grid.cuh - how kernels are launched: over numbers, or as blocks of threads that meet.
 *
 *     LAUNCH(kernel, grid, block, stream, arguments)         threads that never meet
 *     LAUNCH_MEETING(kernel, grid, block, stream, arguments) threads that call __syncthreads
 *     LAUNCH_ROOM(kernel, grid, block, bytes, stream, ...)   and that have a SHARED_ROOM of `bytes`
 *
 * To CUDA the two are the same. tests/cuda/ runs kernels on this machine's processors, and threads
 * that never meet are a plain loop there.
 */
#ifndef TSRI_CUDA_GRID_CUH
#define TSRI_CUDA_GRID_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#ifndef LAUNCH
#define LAUNCH(kernel, grid, block, stream, ...)                                                   \
    do {                                                                                           \
        kernel<<<grid, block, 0, stream>>>(__VA_ARGS__);                                           \
    } while (0)
#define LAUNCH_MEETING LAUNCH
/* Shared memory that a launch gives: more than 48 KB are to be asked for. */
#define SHARED_ROOM(name, bytes) extern __shared__ uint4 name[]
#define LAUNCH_ROOM(kernel, grid, block, bytes, stream, ...)                                       \
    do {                                                                                           \
        auto *called = kernel;                                                                     \
        cudaError_t given = cudaFuncSetAttribute(                                                  \
            (const void *)called, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);             \
        if (given != cudaSuccess)                                                                  \
            return given;                                                                          \
        called<<<grid, block, bytes, stream>>>(__VA_ARGS__);                                       \
    } while (0)
#endif

enum { TSRI_BLOCK = 256 };

/* Blocks for `count` numbers; a kernel's loop takes what is left (EACH). */
static inline unsigned blocks_for(int64_t count)
{
    const int64_t most = 132 * 16; /* some 16 blocks on each multiprocessor of an H200 */
    int64_t wanted = (count + TSRI_BLOCK - 1) / TSRI_BLOCK;
    return (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

/* for (i of the numbers that are this thread's) */
#define EACH(i, count)                                                                             \
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                                    \
    i < (count);                                                                                   \
    i += (int64_t)gridDim.x * blockDim.x

/* Work on nothing is no launch: CUDA refuses empty grids. */
#define LAUNCH_EACH(kernel, count, stream, ...)                                                    \
    do {                                                                                           \
        if ((count) > 0)                                                                           \
            LAUNCH(kernel, blocks_for(count), TSRI_BLOCK, stream, __VA_ARGS__);                    \
    } while (0)

#endif
