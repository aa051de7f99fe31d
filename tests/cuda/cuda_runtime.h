/* cuda_runtime.h - CUDA's words for kernels, as a host compiler reads them (cuda_runtime_api.h). */
#ifndef TSRI_EMULATED_KERNELS_H
#define TSRI_EMULATED_KERNELS_H

#include "cuda_runtime_api.h"

#include <functional>
#include <math.h>
#include <string.h>
#include <tuple>

#define __global__
#define __device__
#define __host__
#define __shared__   static thread_local /* blocks run one after the other, threads by turns */
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

extern thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

void __syncthreads(void);

struct uint4 {
    unsigned x, y, z, w;
};

struct uint2 {
    unsigned x, y;
};

struct float4 {
    float x, y, z, w;
};

struct float2 {
    float x, y;
};

static inline float2 make_float2(float x, float y)
{
    return float2{x, y};
}

static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}

static inline float __uint_as_float(unsigned bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline unsigned __float_as_uint(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Blocks run one after the other. */
static inline void __threadfence(void)
{
}

static inline unsigned atomicInc(unsigned *counter, unsigned most)
{
    unsigned was = *counter;
    *counter = was >= most ? 0 : was + 1;
    return was;
}

template <class T> static inline T __ldcg(const T *at)
{
    return *at;
}

/* Does it, or writes it down while a step is recorded. */
void emulated_do(cudaStream_t stream, std::function<void()> work);
void emulated_grid(dim3 grid, dim3 block, bool meeting, const std::function<void()> &thread);

/* Arguments are what they are now, as CUDA copies them at a launch. */
template <class... P, class... A>
void emulated_launch(cudaStream_t stream, void (*kernel)(P...), dim3 grid, dim3 block, bool meeting,
                     A... arguments)
{
    std::tuple<P...> all(arguments...);
    emulated_do(stream,
                [=] { emulated_grid(grid, block, meeting, [=] { std::apply(kernel, all); }); });
}

#define LAUNCH(kernel, grid, block, stream, ...)                                                   \
    emulated_launch(stream, kernel, grid, block, false, __VA_ARGS__)
#define LAUNCH_MEETING(kernel, grid, block, stream, ...)                                           \
    emulated_launch(stream, kernel, grid, block, true, __VA_ARGS__)
#define SHARED_ROOM(name, bytes) static thread_local uint4 name[(bytes) / sizeof(uint4)]
#define LAUNCH_ROOM(kernel, grid, block, bytes, stream, ...)                                       \
    LAUNCH_MEETING((kernel), grid, block, stream, __VA_ARGS__)

#endif
