/* context.c - the device and its stream, the products of cuBLAS, and errors as sentences. */
#include "backend/cuda/cuda.h"

#include <cublas_v2.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    WORKSPACE = 32 << 20, /* of cuBLAS: what it asks for on this kind of chip, never more later */
    LEAST_CHIP = 80       /* compute capability 8.0: older ones have no code here */
};

static struct {
    pthread_mutex_t lock;
    bool ready;
    cudaStream_t stream;
    cublasHandle_t blas;
    void *workspace;
    double *parts;
    char vendor[160];
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

/* ---- Start --------------------------------------------------------------------------------- */

/* What is missing, where something is. */
static tsr_status has_device(struct cudaDeviceProp *chip)
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
    TSR_TRY(tsri_cuda_status(cudaGetDeviceProperties(chip, 0), "asking for the chip's properties"));
    TSR_CHECK(chip->major * 10 + chip->minor >= LEAST_CHIP, TSR_USAGE,
              "backend: cuda: %s is older than this module has code for (compute capability %d.%d, "
              "not %d.0): use backend: cpu",
              chip->name, chip->major, chip->minor, LEAST_CHIP / 10);
done:
    return st;
}

/* Memory that was given back stays with the process: the next step wants it again. */
static tsr_status keep_memory(void)
{
    tsr_status st = TSR_OK;
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;
    TSR_TRY(tsri_cuda_status(cudaDeviceGetDefaultMemPool(&pool, 0), "asking for its memory"));
    TSR_TRY(tsri_cuda_status(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all),
                             "keeping memory"));
done:
    return st;
}

/* One workspace of one size: cuBLAS promises the same bits only so. */
static tsr_status start_blas(void)
{
    tsr_status st = TSR_OK;
    TSR_TRY(blas_status(cublasCreate(&here.blas), "its start"));
    TSR_TRY(blas_status(cublasSetStream(here.blas, here.stream), "taking a stream"));
    TSR_TRY(tsri_cuda_status(cudaMalloc(&here.workspace, WORKSPACE), "the workspace of products"));
    TSR_TRY(blas_status(cublasSetWorkspace(here.blas, here.workspace, WORKSPACE),
                        "taking a workspace"));
    TSR_TRY(blas_status(cublasSetMathMode(here.blas, CUBLAS_DEFAULT_MATH), "choosing f32"));
done:
    return st;
}

static tsr_status start(void)
{
    tsr_status st = TSR_OK;
    struct cudaDeviceProp chip;
    int blas = 0;
    TSR_TRY(has_device(&chip));
    TSR_TRY(tsri_cuda_status(cudaSetDevice(0), "choosing the first GPU"));
    TSR_TRY(tsri_cuda_status(cudaStreamCreateWithFlags(&here.stream, cudaStreamNonBlocking),
                             "making a stream"));
    TSR_TRY(keep_memory());
    TSR_TRY(tsri_cuda_status(cudaMalloc((void **)&here.parts, TSRI_CUDA_PARTS * sizeof *here.parts),
                             "its start"));
    TSR_TRY(start_blas());
    (void)cublasGetVersion(here.blas, &blas);
    (void)snprintf(here.vendor, sizeof here.vendor, "cuda %d.%d cublas %d.%d.%d %.64s",
                   CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, blas / 10000,
                   blas / 100 % 100, blas % 100, chip.name);
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
    pthread_mutex_unlock(&here.lock);
    return st;
}

const char *tsri_cuda_vendor(void)
{
    return here.ready ? here.vendor : "cuda";
}

static _Thread_local cudaStream_t recording;

void tsri_cuda_record_on(cudaStream_t stream)
{
    recording = stream;
}

cudaStream_t tsri_cuda_stream(void *own)
{
    return recording ? recording : own ? (cudaStream_t)own : here.stream;
}

double *tsri_cuda_parts(void)
{
    return here.parts;
}

/* ---- Products ------------------------------------------------------------------------------ */

/* cuBLAS has columns one after the other: to it our c is c turned, and c^T = b^T a^T. */
tsr_status tsri_cuda_multiply(const tsri_cuda_product *p, void *stream)
{
    tsr_status st = TSR_OK;
    int lda = (int)(p->a_turned ? p->m : p->k), ldb = (int)(p->b_turned ? p->k : p->n);
    if (p->m == 0 || p->n == 0)
        return TSR_OK;
    pthread_mutex_lock(&here.lock); /* a handle is for one thread at a time */
    TSR_TRY(blas_status(cublasSetStream(here.blas, tsri_cuda_stream(stream)), "taking a stream"));
    TSR_TRY(blas_status(cublasSetWorkspace(here.blas, here.workspace, WORKSPACE),
                        "taking a workspace"));
    TSR_TRY(blas_status(cublasSgemm(here.blas, p->b_turned ? CUBLAS_OP_T : CUBLAS_OP_N,
                                    p->a_turned ? CUBLAS_OP_T : CUBLAS_OP_N, (int)p->n, (int)p->m,
                                    (int)p->k, &p->alpha, p->b, ldb > 0 ? ldb : 1, p->a,
                                    lda > 0 ? lda : 1, &p->beta, p->c, (int)p->n),
                        "a product"));
done:
    pthread_mutex_unlock(&here.lock);
    return st;
}
