/* emulator.cpp - CUDA's runtime and cuBLAS on this machine's processors (cuda_runtime_api.h).
 *
 * Threads of a block that meet are fibers: each runs to its next __syncthreads, then the next one
 * does, so that all have reached it before any goes on. Memory begins as bytes 0xff, which are NaN:
 * whoever reads what nobody wrote shows it.
 *
 * Calls fail as TESSERA_EMULATED_FAULT says: "driver" (there is none), "old" (too old a one),
 * "device" (none is seen), "memory" (none is left), "launch" (a kernel fails).
 */
#include "cublas_v2.h"
#include "cuda_runtime.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <vector>

thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

static bool fails(const char *name)
{
    const char *fault = getenv("TESSERA_EMULATED_FAULT");
    return fault && strcmp(fault, name) == 0;
}

/* ---- Threads of a block --------------------------------------------------------------------- */

enum { STACK = 64 << 10 };

struct fiber {
    ucontext_t context; /* to begin it; from then on `at` is where it stands */
    jmp_buf at;
    std::vector<char> stack;
    dim3 place;
    bool begun, done;
};

static thread_local std::vector<fiber> fibers;
static thread_local ucontext_t first; /* of the scheduler: never gone back to */
static thread_local jmp_buf scheduler;
static thread_local fiber *running;
static thread_local const std::function<void()> *body;

static void begin_fiber(void)
{
    (*body)();
    running->done = true;
    _longjmp(scheduler, 1);
}

/* Jumps, not swaps of contexts: those call the kernel for the mask of signals. */
void __syncthreads(void)
{
    if (_setjmp(running->at) == 0)
        _longjmp(scheduler, 1);
}

static void resume(fiber &f)
{
    running = &f;
    threadIdx = f.place;
    if (_setjmp(scheduler) != 0)
        return;
    if (running->begun)
        _longjmp(running->at, 1);
    running->begun = true;
    swapcontext(&first, &running->context);
}

static void run_meeting(dim3 block, const std::function<void()> &thread)
{
    size_t count = (size_t)block.x * block.y * block.z;
    body = &thread;
    if (fibers.size() < count)
        fibers.resize(count);
    for (size_t i = 0; i < count; i++) {
        fiber &f = fibers[i];
        f.stack.resize(STACK);
        f.begun = f.done = false;
        f.place = dim3((unsigned)i % block.x, (unsigned)i / block.x % block.y,
                       (unsigned)i / block.x / block.y);
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack.data();
        f.context.uc_stack.ss_size = STACK;
        f.context.uc_link = NULL;
        makecontext(&f.context, begin_fiber, 0);
    }
    bool going = true;
    while (going) {
        going = false;
        for (size_t i = 0; i < count; i++)
            if (!fibers[i].done) {
                resume(fibers[i]);
                going = true;
            }
    }
}

static void run_alone(dim3 block, const std::function<void()> &thread)
{
    for (unsigned z = 0; z < block.z; z++)
        for (unsigned y = 0; y < block.y; y++)
            for (unsigned x = 0; x < block.x; x++) {
                threadIdx = dim3(x, y, z);
                thread();
            }
}

void emulated_grid(dim3 grid, dim3 block, bool meeting, const std::function<void()> &thread)
{
    gridDim = grid;
    blockDim = block;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = dim3(x, y, z);
                (meeting ? run_meeting : run_alone)(block, thread);
            }
}

/* ---- Streams and graphs --------------------------------------------------------------------- */

struct emulated_graph {
    std::vector<std::function<void()>> work;
};

static thread_local emulated_graph *recorded; /* where work is written down, or NULL */
static thread_local bool spoilt;              /* something that cannot be recorded was called */
static thread_local cudaError_t last_error;

void emulated_do(std::function<void()> work)
{
    if (fails("launch"))
        last_error = cudaErrorIllegalAddress;
    else if (recorded)
        recorded->work.push_back(work);
    else
        work();
}

static cudaError_t refuse_recording(void)
{
    spoilt = spoilt || recorded;
    return recorded ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode)
{
    if (recorded)
        return cudaErrorInvalidValue;
    recorded = new emulated_graph;
    spoilt = false;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    *graph = recorded;
    recorded = NULL;
    if (*graph && !spoilt)
        return cudaSuccess;
    delete *graph;
    *graph = NULL;
    return cudaErrorInvalidValue;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long)
{
    *made = new emulated_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t)
{
    for (auto &work : graph->work)
        work();
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = (cudaStream_t)malloc(1);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    free(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return refuse_recording();
}

/* ---- The device ----------------------------------------------------------------------------- */

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorNoDevice         ? "no CUDA-capable device is detected"
           : error == cudaErrorIllegalAddress ? "an illegal memory access was encountered"
                                              : "an emulated error";
}

const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaErrorEmulated";
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = fails("driver") ? 0 : fails("old") ? 12080 : CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = fails("device") ? 0 : 1;
    return fails("device") ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *chip, int)
{
    *chip = cudaDeviceProp{"emulated", 9, 0};
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}

/* ---- Memory --------------------------------------------------------------------------------- */

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
    *pool = NULL;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void *)
{
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (*memory)
        memset(*memory, 0xff, bytes);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t)
{
    if (refuse_recording() != cudaSuccess)
        return cudaErrorInvalidValue;
    return fails("memory") ? cudaErrorMemoryAllocation : cudaMalloc(memory, bytes);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t)
{
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *available = 1 << 20;
    *total = 1 << 30;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t)
{
    if (kind != cudaMemcpyDeviceToDevice && refuse_recording() != cudaSuccess)
        return cudaErrorInvalidValue;
    emulated_do([=] { memmove(to, from, bytes); });
    return cudaGetLastError();
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t)
{
    emulated_do([=] { memset(to, value, bytes); });
    return cudaGetLastError();
}

/* ---- cuBLAS --------------------------------------------------------------------------------- */

const char *cublasGetStatusString(cublasStatus_t)
{
    return "an emulated error";
}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    *handle = NULL;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int *version)
{
    *version = 0;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *, size_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

/* Columns one after the other. What beta = 0 multiplies is not read. */
static void product(bool a_turned, bool b_turned, int m, int n, int k, float alpha, const float *a,
                    int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            float sum = 0, *to = c + (size_t)j * (size_t)ldc + i;
            for (int l = 0; l < k; l++) {
                float x =
                    a_turned ? a[(size_t)i * (size_t)lda + l] : a[(size_t)l * (size_t)lda + i];
                float y =
                    b_turned ? b[(size_t)l * (size_t)ldb + j] : b[(size_t)j * (size_t)ldb + l];
                sum += x * y;
            }
            *to = alpha * sum + (beta == 0 ? 0 : beta * *to);
        }
}

cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t a_as, cublasOperation_t b_as, int m,
                           int n, int k, const float *alpha, const float *a, int lda,
                           const float *b, int ldb, const float *beta, float *c, int ldc)
{
    float by = *alpha, keep = *beta;
    emulated_do([=] {
        product(a_as == CUBLAS_OP_T, b_as == CUBLAS_OP_T, m, n, k, by, a, lda, b, ldb, keep, c,
                ldc);
    });
    return CUBLAS_STATUS_SUCCESS;
}
