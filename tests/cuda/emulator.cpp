/* emulator.cpp - CUDA's runtime and cuBLAS on this machine's processors (cuda_runtime_api.h).
 *
 * Threads of a block that meet are fibers: each runs to its next __syncthreads, then the next one
 * does, so that all have reached it before any goes on. Memory begins as bytes 0xff, which are NaN:
 * whoever reads what nobody wrote shows it.
 *
 * Calls fail as TESSERA_EMULATED_FAULT says: "driver" (there is none), "old" (too old a one),
 * "device" (none is seen), "memory" (none is left), "launch" (a kernel fails). From the launch
 * TESSERA_EMULATED_LOST=N on it has fallen off the bus: everything fails.
 *
 * TESSERA_EMULATED_GPUS=N: there are so many. As with CUDA each thread begins on the first; work that a
 * thread gives to a stream of another GPU fails, and so does what it takes on a GPU that the process
 * has not chosen.
 */
#include "cublas_v2.h"
#include "emulated_stream.h"
#include "cuda_runtime.h"

#include <atomic>
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

static bool lost(bool launch)
{
    static std::atomic<long> launches;
    const char *after = getenv("TESSERA_EMULATED_LOST");
    if (launch)
        launches++;
    return after && launches > atol(after);
}

static int gpus(void)
{
    const char *count = getenv("TESSERA_EMULATED_GPUS");
    return count ? atoi(count) : 1;
}

static thread_local int current; /* GPU of this thread */
static std::atomic<int> chosen;  /* by the process */

static bool strays(void)
{
    return current != chosen;
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
    std::vector<emulated_node> work;
};

static thread_local emulated_graph *recorded; /* where work is written down, or NULL */
static thread_local cudaStream_t recorded_on;
static thread_local std::vector<cudaStream_t> beside; /* streams that joined the recording */
static thread_local bool spoilt; /* something that cannot be recorded was called */
static thread_local cudaError_t last_error;

struct emulated_event {
    cudaStream_t of;
    size_t count; /* pieces of work that were there */
};

static void put(cudaStream_t stream, emulated_node piece)
{
    if (lost(true))
        last_error = cudaErrorDevicesUnavailable;
    else if (fails("launch"))
        last_error = cudaErrorIllegalAddress;
    else if (stream->gpu != current)
        last_error = cudaErrorInvalidValue;
    else if (recorded && stream != recorded_on)
        stream->waiting.push_back(piece);
    else if (recorded)
        recorded->work.push_back(piece);
    else
        piece.work();
}

void emulated_do(cudaStream_t stream, std::function<void()> work)
{
    put(stream, emulated_node{work, NULL, 0});
}

static cudaError_t refuse_recording(void)
{
    spoilt = spoilt || recorded;
    return recorded ? cudaErrorInvalidValue : cudaSuccess;
}

/* Of a second stream, up to an event. */
static void let_go(cudaStream_t stream, size_t count)
{
    while (stream->gone < count) {
        recorded->work.push_back(stream->waiting[stream->gone]);
        stream->gone++;
    }
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new emulated_event{NULL, 0};
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    *event = emulated_event{stream, stream->waiting.size()};
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return refuse_recording();
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t)
{
    *ms = 1;
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    if (recorded && stream == recorded_on)
        let_go(event->of, event->count);
    else if (recorded)
        beside.push_back(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode)
{
    if (recorded)
        return cudaErrorInvalidValue;
    recorded = new emulated_graph;
    recorded_on = stream;
    beside.clear();
    spoilt = false;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    bool joined = true;
    for (cudaStream_t stream : beside)
        joined = joined && stream->gone == stream->waiting.size();
    *graph = recorded;
    recorded = NULL;
    if (*graph && !spoilt && joined)
        return cudaSuccess;
    delete *graph;
    *graph = NULL;
    return joined ? cudaErrorInvalidValue : cudaErrorStreamCaptureUnjoined;
}

/* Of a graph the nodes that set memory can be looked at and taken out, nothing else. All of it goes
 * from the first to the last: what a node waits for does not matter. */
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *node, size_t *count)
{
    for (size_t i = 0; node && i < graph->work.size(); i++)
        node[i] = &graph->work[i];
    *count = graph->work.size();
    return cudaSuccess;
}

/* TESSERA_EMULATED_MPS: other processes are at work on it, too. */
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr, int)
{
    *value = getenv("TESSERA_EMULATED_MPS") != NULL;
    return cudaSuccess;
}

/* Whoever was recorded first waits for nobody. */
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *node, size_t *count)
{
    *count = graph->work.empty() ? 0 : 1;
    if (node && *count)
        *node = &graph->work[0];
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    *type = node->zeroed ? cudaGraphNodeTypeMemset : cudaGraphNodeTypeKernel;
    return cudaSuccess;
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *set)
{
    *set = cudaMemsetParams{node->zeroed, 0, 0, 1, node->bytes, 1};
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t *, cudaGraphEdgeData *,
                                         size_t *count)
{
    *count = 0;
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t, cudaGraphNode_t *, cudaGraphEdgeData *,
                                           size_t *count)
{
    *count = 0;
    return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *,
                                     const cudaGraphEdgeData *, size_t)
{
    return cudaErrorInvalidValue;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    node->work = [] {};
    node->zeroed = NULL;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long)
{
    *made = new emulated_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    if (lost(true))
        return cudaErrorDevicesUnavailable;
    if (stream->gpu != current)
        return cudaErrorInvalidValue;
    for (auto &piece : graph->work)
        piece.work();
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
    *stream = new emulated_stream{put, {}, 0, current};
    return strays() ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *last, int *first)
{
    *last = 0;
    *first = -5;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    if (lost(false))
        return cudaErrorDevicesUnavailable;
    return refuse_recording();
}

/* ---- The device ----------------------------------------------------------------------------- */

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorNoDevice ? "no CUDA-capable device is detected"
           : error == cudaErrorDevicesUnavailable
               ? "CUDA-capable device(s) is/are busy or unavailable"
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
    *count = fails("device") ? 0 : gpus();
    return fails("device") ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *chip, int)
{
    *chip = cudaDeviceProp{"emulated", 9, 0, 132};
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= gpus())
        return cudaErrorInvalidValue;
    chosen = current = device;
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

/* The device has TESSERA_EMULATED_MEMORY bytes, by default a gigabyte. A block's size stands before
 * it. */
static std::atomic<size_t> taken;

enum { HEAD = 256 };

static size_t device_bytes(void)
{
    const char *bytes = getenv("TESSERA_EMULATED_MEMORY");
    return bytes ? (size_t)atoll(bytes) : (size_t)1 << 30;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void *value)
{
    *(uint64_t *)value = taken; /* nothing is kept that is not used */
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    size_t all = (bytes + 255) / 256 * 256 + HEAD;
    *memory = NULL;
    if (strays())
        return cudaErrorInvalidValue;
    if (taken + all > device_bytes())
        return cudaErrorMemoryAllocation;
    char *block = (char *)aligned_alloc(256, all);
    if (!block)
        return cudaErrorMemoryAllocation;
    taken += all;
    memcpy(block, &all, sizeof all);
    memset(block + HEAD, 0xff, all - HEAD);
    *memory = block + HEAD;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    size_t all;
    if (!memory)
        return cudaSuccess;
    char *block = (char *)memory - HEAD;
    memcpy(&all, block, sizeof all);
    taken -= all;
    free(block);
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t)
{
    if (refuse_recording() != cudaSuccess)
        return cudaErrorInvalidValue;
    return fails("memory") ? cudaErrorMemoryAllocation : cudaMalloc(memory, bytes);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t)
{
    return cudaFree(memory);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *total = device_bytes();
    *available = *total > taken ? *total - taken : 0;
    return strays() ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    if (kind != cudaMemcpyDeviceToDevice && refuse_recording() != cudaSuccess)
        return cudaErrorInvalidValue;
    emulated_do(stream, [=] { memmove(to, from, bytes); });
    return cudaGetLastError();
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    put(stream, emulated_node{[=] { memset(to, value, bytes); }, value == 0 ? to : NULL, bytes});
    return cudaGetLastError();
}

/* ---- cuBLAS --------------------------------------------------------------------------------- */

struct emulated_blas {
    cudaStream_t stream;
};

const char *cublasGetStatusString(cublasStatus_t)
{
    return "an emulated error";
}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    *handle = new emulated_blas{NULL};
    return strays() ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int *version)
{
    *version = 0;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
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

static float number_at(const void *p, cudaDataType type, size_t i)
{
    return type == CUDA_R_32F ? ((const float *)p)[i]
                              : __uint_as_float((unsigned)((const uint16_t *)p)[i] << 16);
}

static void put_number(void *p, cudaDataType type, size_t i, float value)
{
    unsigned bits = __float_as_uint(value);
    if (type == CUDA_R_32F)
        ((float *)p)[i] = value;
    else
        ((uint16_t *)p)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* A matrix of columns one after the other. */
struct matrix {
    const void *at;
    cudaDataType type;
    bool turned;
    size_t step;
    float operator()(int row, int column) const
    {
        size_t r = (size_t)(turned ? column : row), c = (size_t)(turned ? row : column);
        return number_at(at, type, c * step + r);
    }
};

/* What beta = 0 multiplies is not read. */
static void product(matrix a, matrix b, int m, int n, int k, float alpha, float beta, void *c,
                    cudaDataType type, size_t step)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            size_t to = (size_t)j * step + (size_t)i;
            float sum = 0;
            for (int l = 0; l < k; l++)
                sum += a(i, l) * b(l, j);
            put_number(c, type, to, alpha * sum + (beta == 0 ? 0 : beta * number_at(c, type, to)));
        }
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_as, cublasOperation_t b_as,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
                            int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                            cublasComputeType_t, cublasGemmAlgo_t)
{
    float by = *(const float *)alpha, keep = *(const float *)beta;
    matrix left = {a, a_type, a_as == CUBLAS_OP_T, (size_t)lda};
    matrix right = {b, b_type, b_as == CUBLAS_OP_T, (size_t)ldb};
    emulated_do(handle->stream,
                [=] { product(left, right, m, n, k, by, keep, c, c_type, (size_t)ldc); });
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t a_as, cublasOperation_t b_as,
                           int m, int n, int k, const float *alpha, const float *a, int lda,
                           const float *b, int ldb, const float *beta, float *c, int ldc)
{
    return cublasGemmEx(handle, a_as, b_as, m, n, k, alpha, a, CUDA_R_32F, lda, b, CUDA_R_32F, ldb,
                        beta, c, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t a_as,
                                         cublasOperation_t b_as, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         long long a_step, const float *b, int ldb,
                                         long long b_step, const float *beta, float *c, int ldc,
                                         long long c_step, int count)
{
    for (int i = 0; i < count; i++)
        (void)cublasSgemm(handle, a_as, b_as, m, n, k, alpha, a + i * a_step, lda, b + i * b_step,
                          ldb, beta, c + i * c_step, ldc);
    return CUBLAS_STATUS_SUCCESS;
}
