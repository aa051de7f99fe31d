/* cuda_runtime.h - CUDA's words for kernels, as a host compiler reads them (cuda_runtime_api.h). */
#ifndef TSRI_EMULATED_KERNELS_H
#define TSRI_EMULATED_KERNELS_H

#include "cuda_runtime_api.h"

#include <functional>
#include <math.h>
#include <tuple>

#define __global__
#define __device__
#define __shared__   static thread_local /* blocks run one after the other, threads by turns */
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(n)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

extern thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

void __syncthreads(void);

/* Does it, or writes it down while a step is recorded. */
void emulated_do(std::function<void()> work);
void emulated_grid(dim3 grid, dim3 block, bool meeting, const std::function<void()> &thread);

/* Arguments are what they are now, as CUDA copies them at a launch. */
template <class... P, class... A>
void emulated_launch(void (*kernel)(P...), dim3 grid, dim3 block, bool meeting, A... arguments)
{
    std::tuple<P...> all(arguments...);
    emulated_do([=] { emulated_grid(grid, block, meeting, [=] { std::apply(kernel, all); }); });
}

#define LAUNCH(kernel, grid, block, stream, ...)                                                   \
    ((void)(stream), emulated_launch(kernel, grid, block, false, __VA_ARGS__))
#define LAUNCH_MEETING(kernel, grid, block, stream, ...)                                           \
    ((void)(stream), emulated_launch(kernel, grid, block, true, __VA_ARGS__))

#endif
