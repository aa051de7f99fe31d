/* context.c - the device and its stream, the products of cuBLAS, and errors as sentences. */
#include "backend/cuda/cuda.h"
#include "backend/cuda/dnn.h"
#include "base/alloc.h"

#include <cublas_v2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TSRI_CUDA_WORKSPACE
#define TSRI_CUDA_WORKSPACE (32 << 20) /* of cuBLAS: what it asks for on this kind of chip */
#endif

enum {
    LEAST_CHIP = 80,   /* compute capability 8.0: older ones have no code here */
    COUNTERS = 1 << 12 /* times TSRI_CUDA_SLABS */
};

static struct {
    pthread_mutex_t lock;
    bool ready;
    tsri_cuda_lane lane; /* that all share who have none */
    cublasHandle_t blas;
    unsigned *counters, *slots;
    bool taken[COUNTERS], slot_taken[COUNTERS];
    char vendor[192], chip[128];
    int gpu; /* the one that this process uses */
    int capability, multiprocessors;
    unsigned lanes;
} here = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Errors -------------------------------------------------------------------------------- */

tsr_status tsri_cuda_status(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return TSR_OK;
    (void)cudaGetLastError(); /* one that can be forgotten is told once */
    return tsri_fail(error == cudaErrorMemoryAllocation ? TSR_RESOURCES : TSR_FAILURE,
                     "the GPU failed at %s: %s (%s): a checkpoint can be resumed, here or with "
                     "backend: cpu",
                     what, cudaGetErrorString(error), cudaGetErrorName(error));
}

static tsr_status blas_status(cublasStatus_t status, const char *what)
{
    return status == CUBLAS_STATUS_SUCCESS ? TSR_OK
                                           : tsri_fail(TSR_FAILURE, "cuBLAS failed at %s: %s", what,
                                                       cublasGetStatusString(status));
}

/* ---- Which GPU ----------------------------------------------------------------------------- */

/* What launchers call the number of a rank among those of its host. */
static const char *const local_rank[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                         "SLURM_LOCALID"};

/* Ranks of one host take its GPUs in turn: with as many GPUs as ranks each has its own, with fewer
 * they share. A process that no launcher has started takes the first. */
static int choose_gpu(int gpus)
{
    for (size_t i = 0; i < sizeof local_rank / sizeof *local_rank; i++) {
        const char *text = secure_getenv(local_rank[i]);
        char *end = NULL;
        long rank = text ? strtol(text, &end, 10) : -1;
        if (rank >= 0 && end != text && *end == '\0')
            return (int)(rank % gpus);
    }
    return 0;
}

static _Thread_local bool on_gpu;

/* CUDA begins every thread on the first GPU. */
void tsri_cuda_use_gpu(void)
{
    if (here.gpu > 0 && !on_gpu)
        on_gpu = cudaSetDevice(here.gpu) == cudaSuccess;
}

int tsri_cuda_gpu(void)
{
    return here.gpu;
}

/* ---- Start --------------------------------------------------------------------------------- */

/* Takes one of the GPUs, or says what is missing. */
static tsr_status take_gpu(struct cudaDeviceProp *chip)
{
    tsr_status st = TSR_OK;
    int driver = 0, devices = 0;
    (void)cudaDriverGetVersion(&driver);
    TSR_CHECK(driver > 0, TSR_USAGE,
              "backend: cuda: no NVIDIA driver answers on this machine: install one for CUDA %d, "
              "or use backend: cpu",
              CUDART_VERSION / 1000);
    TSR_CHECK(driver / 1000 >= CUDART_VERSION / 1000, TSR_USAGE,
              "backend: cuda: the NVIDIA driver is for CUDA %d.%d and this module needs %d.%d: "
              "bring the driver up to date, or use backend: cpu",
              driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    cudaError_t error = cudaGetDeviceCount(&devices);
    TSR_CHECK(error == cudaSuccess && devices > 0, TSR_USAGE,
              "backend: cuda: the driver sees no GPU (%s): look at nvidia-smi and "
              "CUDA_VISIBLE_DEVICES, or use backend: cpu",
              cudaGetErrorString(error));
    here.gpu = choose_gpu(devices);
    TSR_TRY(tsri_cuda_status(cudaGetDeviceProperties(chip, here.gpu),
                             "asking for the chip's properties"));
    TSR_CHECK(chip->major * 10 + chip->minor >= LEAST_CHIP, TSR_USAGE,
              "backend: cuda: %s is older than this module has code for (compute capability %d.%d, "
              "not %d.0): use backend: cpu",
              chip->name, chip->major, chip->minor, LEAST_CHIP / 10);
    TSR_TRY(tsri_cuda_status(cudaSetDevice(here.gpu), "choosing a GPU"));
    if (devices > 1)
        tsri_cuda_tell(TSR_LOG_INFO, "this process takes GPU %d of %d", here.gpu, devices);
done:
    return st;
}

/* Memory that was given back stays with the process: the next step wants it again. */
static tsr_status keep_memory(void)
{
    tsr_status st = TSR_OK;
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;
    TSR_TRY(
        tsri_cuda_status(cudaDeviceGetDefaultMemPool(&pool, here.gpu), "asking for its memory"));
    TSR_TRY(tsri_cuda_status(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all),
                             "keeping memory"));
done:
    return st;
}

tsr_status tsri_cuda_pool(uint64_t *kept, uint64_t *used)
{
    tsr_status st = TSR_OK;
    cudaMemPool_t pool;
    TSR_TRY(
        tsri_cuda_status(cudaDeviceGetDefaultMemPool(&pool, here.gpu), "asking for its memory"));
    TSR_TRY(tsri_cuda_status(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, kept),
                             "its memory"));
    TSR_TRY(tsri_cuda_status(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, used),
                             "its memory"));
done:
    return st;
}

static tsr_status make_lane(tsri_cuda_lane *lane)
{
    tsr_status st = TSR_OK;
    tsri_cuda_use_gpu();
    lane->number = __atomic_fetch_add(&here.lanes, 1, __ATOMIC_RELAXED);
    TSR_TRY(tsri_cuda_status(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking),
                             "making a stream"));
    TSR_TRY(tsri_cuda_status(
        cudaMalloc((void **)&lane->parts, TSRI_CUDA_PARTS * sizeof *lane->parts), "its start"));
    TSR_TRY(tsri_cuda_status(cudaMalloc(&lane->workspace, TSRI_CUDA_WORKSPACE),
                             "the workspace of products"));
done:
    return st;
}

static tsr_status start_blas(void)
{
    tsr_status st = TSR_OK;
    TSR_TRY(blas_status(cublasCreate(&here.blas), "its start"));
    TSR_TRY(blas_status(cublasSetMathMode(here.blas, CUBLAS_DEFAULT_MATH), "choosing f32"));
done:
    return st;
}

static tsr_status start_counters(void)
{
    tsr_status st = TSR_OK;
    size_t bytes = (size_t)COUNTERS * TSRI_CUDA_SLABS * sizeof *here.counters;
    TSR_TRY(tsri_cuda_status(cudaMalloc((void **)&here.counters, bytes), "its start"));
    TSR_TRY(tsri_cuda_status(cudaMalloc((void **)&here.slots, bytes), "its start"));
    TSR_TRY(
        tsri_cuda_status(cudaMemsetAsync(here.counters, 0, bytes, here.lane.stream), "its start"));
    TSR_TRY(tsri_cuda_status(cudaStreamSynchronize(here.lane.stream), "its start"));
done:
    return st;
}

/* "cudnn 9.14.0 ", or nothing: convolutions are then our own. */
static void note_vendor(const struct cudaDeviceProp *chip)
{
    int blas = 0, dnn = (int)tsri_cuda_dnn_version();
    char with[32] = "";
    (void)cublasGetVersion(here.blas, &blas);
    if (dnn > 0)
        (void)snprintf(with, sizeof with, "cudnn %d.%d.%d ", dnn / 10000, dnn / 100 % 100,
                       dnn % 100);
    (void)snprintf(here.chip, sizeof here.chip, "%.120s", chip->name);
    (void)snprintf(here.vendor, sizeof here.vendor, "cuda %d.%d cublas %d.%d.%d %s%.64s",
                   CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, blas / 10000,
                   blas / 100 % 100, blas % 100, with, chip->name);
}

static tsr_status start(void)
{
    tsr_status st = TSR_OK;
    struct cudaDeviceProp chip;
    TSR_TRY(take_gpu(&chip));
    TSR_TRY(keep_memory());
    TSR_TRY(make_lane(&here.lane));
    TSR_TRY(start_counters());
    TSR_TRY(start_blas());
    if (tsri_cuda_dnn_lacks())
        tsri_cuda_tell(TSR_LOG_WARNING,
                       "backend: cuda: %s: convolutions are computed by slower kernels: install "
                       "cuDNN 9, or name it with TESSERA_CUDNN",
                       tsri_cuda_dnn_lacks());
    note_vendor(&chip);
    here.capability = chip.major * 10 + chip.minor;
    here.multiprocessors = chip.multiProcessorCount;
    here.ready = true;
done:
    return st;
}

tsr_status tsri_cuda_start(int threads)
{
    tsr_status st = TSR_OK;
    (void)threads;
    pthread_mutex_lock(&here.lock);
    if (!here.ready)
        st = start();
    tsri_cuda_use_gpu();
    pthread_mutex_unlock(&here.lock);
    return st;
}

const char *tsri_cuda_vendor(void)
{
    return here.ready ? here.vendor : "cuda";
}

const char *tsri_cuda_chip(void)
{
    return here.ready ? here.chip : NULL;
}

int tsri_cuda_capability(void)
{
    return here.capability;
}

int tsri_cuda_multiprocessors(void)
{
    return here.multiprocessors;
}

/* ---- Lanes --------------------------------------------------------------------------------- */

static _Thread_local tsri_cuda_lane *entered;

const tsri_cuda_lane *tsri_cuda_lane_of(void *own)
{
    tsri_cuda_use_gpu();
    return own ? own : entered ? entered : &here.lane;
}

static void drop_queue(void *queue)
{
    tsri_cuda_lane *lane = queue;
    if (!lane)
        return;
    if (lane->stream) {
        (void)cudaStreamSynchronize(lane->stream);
        (void)cudaStreamDestroy(lane->stream);
    }
    (void)cudaFree(lane->workspace);
    (void)cudaFree(lane->parts);
    tsri_free(lane);
}

static tsr_status make_queue(void **queue)
{
    tsr_status st = TSR_OK;
    tsri_cuda_lane *lane = NULL;
    TSR_TRY(tsri_alloc(&lane, 1, sizeof *lane));
    TSR_TRY(make_lane(lane));
    *queue = lane;
    lane = NULL;
done:
    drop_queue(lane);
    return st;
}

/* What is put into `second` from now on waits for what `first` has been given. */
static tsr_status put_behind(cudaStream_t second, cudaStream_t first)
{
    tsr_status st = TSR_OK;
    cudaEvent_t given = NULL;
    TSR_TRY(tsri_cuda_status(cudaEventCreateWithFlags(&given, cudaEventDisableTiming), "an event"));
    TSR_TRY(tsri_cuda_status(cudaEventRecord(given, first), "an event"));
    TSR_TRY(tsri_cuda_status(cudaStreamWaitEvent(second, given, 0), "an event"));
done:
    if (given)
        (void)cudaEventDestroy(given);
    return st;
}

static tsr_status enter_queue(void *queue)
{
    tsri_cuda_lane *lane = queue;
    entered = lane;
    return put_behind(lane->stream, here.lane.stream);
}

static tsr_status leave_queue(void *queue)
{
    const tsri_cuda_lane *lane = queue;
    entered = NULL;
    return put_behind(here.lane.stream, lane->stream);
}

const tsri_queue_ops tsri_cuda_queues = {
    .make = make_queue, .drop = drop_queue, .enter = enter_queue, .leave = leave_queue};

/* ---- Counters ------------------------------------------------------------------------------ */

static unsigned *take_of(unsigned *all, bool *taken)
{
    unsigned *counter = NULL;
    pthread_mutex_lock(&here.lock);
    for (int i = 0; !counter && i < COUNTERS; i++)
        if (!taken[i]) {
            taken[i] = true;
            counter = all + (ptrdiff_t)i * TSRI_CUDA_SLABS;
        }
    pthread_mutex_unlock(&here.lock);
    return counter;
}

static void drop_of(const unsigned *all, bool *taken, const unsigned *counter)
{
    pthread_mutex_lock(&here.lock);
    if (counter)
        taken[(counter - all) / TSRI_CUDA_SLABS] = false;
    pthread_mutex_unlock(&here.lock);
}

unsigned *tsri_cuda_counter_take(void)
{
    return take_of(here.counters, here.taken);
}

void tsri_cuda_counter_drop(unsigned *counter)
{
    drop_of(here.counters, here.taken, counter);
}

unsigned *tsri_cuda_slot_take(void)
{
    return take_of(here.slots, here.slot_taken);
}

void tsri_cuda_slot_drop(unsigned *slot)
{
    drop_of(here.slots, here.slot_taken, slot);
}

bool tsri_cuda_in_slot(const void *at)
{
    uintptr_t from = (uintptr_t)here.slots, byte = (uintptr_t)at;
    return byte >= from && byte - from < (uintptr_t)COUNTERS * TSRI_CUDA_SLOT;
}

/* ---- Products ------------------------------------------------------------------------------ */

static int row_of(int64_t given, int64_t without)
{
    int64_t row = given ? given : without;
    return row > 0 ? (int)row : 1;
}

/* cuBLAS has columns one after the other: to it our c is c turned, and c^T = b^T a^T. */
static cublasStatus_t product(const tsri_cuda_product *p)
{
    cublasOperation_t b_as = p->b_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t a_as = p->a_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    int a_row = row_of(p->a_row, p->a_turned ? p->m : p->k);
    int b_row = row_of(p->b_row, p->b_turned ? p->k : p->n), c_row = row_of(p->c_row, p->n);
    if (!p->narrow && p->count > 0)
        return cublasSgemmStridedBatched(here.blas, b_as, a_as, (int)p->n, (int)p->m, (int)p->k,
                                         &p->alpha, p->b, b_row, p->b_step, p->a, a_row, p->a_step,
                                         &p->beta, p->c, c_row, p->c_step, (int)p->count);
    if (!p->narrow)
        return cublasSgemm(here.blas, b_as, a_as, (int)p->n, (int)p->m, (int)p->k, &p->alpha, p->b,
                           b_row, p->a, a_row, &p->beta, p->c, c_row);
    return cublasGemmEx(here.blas, b_as, a_as, (int)p->n, (int)p->m, (int)p->k, &p->alpha, p->b,
                        CUDA_R_16BF, b_row, p->a, CUDA_R_16BF, a_row, &p->beta, p->c,
                        p->narrow_c ? CUDA_R_16BF : CUDA_R_32F, c_row, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
}

/* On a stream of a lane, with the lane's workspace. */
static tsr_status multiply_on(const tsri_cuda_product *p, const tsri_cuda_lane *lane,
                              cudaStream_t stream)
{
    tsr_status st = TSR_OK;
    if (p->m == 0 || p->n == 0)
        return TSR_OK;
    pthread_mutex_lock(&here.lock); /* a handle is for one thread at a time */
    TSR_TRY(blas_status(cublasSetStream(here.blas, stream), "taking a stream"));
    TSR_TRY(blas_status(cublasSetWorkspace(here.blas, lane->workspace, TSRI_CUDA_WORKSPACE),
                        "taking a workspace"));
    TSR_TRY(blas_status(product(p), "a product"));
done:
    pthread_mutex_unlock(&here.lock);
    return st;
}

tsr_status tsri_cuda_multiply(const tsri_cuda_product *p, void *stream)
{
    return multiply_on(p, tsri_cuda_lane_of(stream), tsri_cuda_stream(stream));
}

tsr_status tsri_cuda_multiply_op(const tsri_cuda_product *p, const tsri_op *op)
{
    return multiply_on(p, tsri_cuda_lane_of(op->stream), tsri_cuda_op_stream(op));
}

tsr_status tsri_cuda_multiply_on(const tsri_cuda_product *p, const tsri_op *op, cudaStream_t stream)
{
    return multiply_on(p, tsri_cuda_lane_of(op->stream), stream);
}
