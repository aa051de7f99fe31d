/* heap.c - the GPU's memory, taken and given back in the order of its stream, and copies. */
#include "backend/cuda/cuda.h"

/* A copy to the host waits until it is there. One from the host's ordinary memory need not: CUDA
 * has read it when the call returns. */
static tsr_status copy(void *to, const void *from, int64_t bytes, enum cudaMemcpyKind kind)
{
    tsr_status st = TSR_OK;
    cudaStream_t s = tsri_cuda_stream(NULL);
    TSR_TRY(tsri_cuda_status(cudaMemcpyAsync(to, from, (size_t)bytes, kind, s), "a copy"));
    if (kind == cudaMemcpyDeviceToHost)
        TSR_TRY(tsri_cuda_status(cudaStreamSynchronize(s), "what was to be done before a copy"));
done:
    return st;
}

static tsr_status zero(tsri_mem *to, int64_t bytes)
{
    return tsri_cuda_status(
        cudaMemsetAsync(tsri_mem_bind(to), 0, (size_t)bytes, tsri_cuda_stream(NULL)),
        "clearing memory");
}

static tsr_status take(tsri_mem **mem, int64_t bytes)
{
    tsr_status st = TSR_OK;
    void *at = NULL;
    size_t room = bytes > 0 ? (size_t)bytes : 1, have = 0, all = 0;
    *mem = NULL;
    cudaError_t error = cudaMallocAsync(&at, room, tsri_cuda_stream(NULL));
    if (error != cudaSuccess)
        (void)cudaMemGetInfo(&have, &all);
    TSR_CHECK(error != cudaErrorMemoryAllocation, TSR_RESOURCES,
              "the GPU is out of memory: %.1f MB were wanted, %.1f of its %.1f MB are free: use a "
              "smaller batch or model",
              (double)room / 1e6, (double)have / 1e6, (double)all / 1e6);
    TSR_TRY(tsri_cuda_status(error, "taking memory"));
    *mem = tsri_mem_bound(at);
    TSR_TRY(zero(*mem, (int64_t)room));
done:
    return st;
}

static void drop(tsri_mem *mem)
{
    if (mem)
        (void)cudaFreeAsync(tsri_mem_bind(mem), tsri_cuda_stream(NULL));
}

static tsr_status in(tsri_mem *to, const void *from, int64_t bytes)
{
    return copy(tsri_mem_bind(to), from, bytes, cudaMemcpyHostToDevice);
}

static tsr_status out(void *to, const tsri_mem *from, int64_t bytes)
{
    return copy(to, tsri_mem_bind(from), bytes, cudaMemcpyDeviceToHost);
}

static tsr_status within(tsri_mem *to, const tsri_mem *from, int64_t bytes)
{
    return copy(tsri_mem_bind(to), tsri_mem_bind(from), bytes, cudaMemcpyDeviceToDevice);
}

/* What others have given back to the pool is free, too. */
static tsr_status room(int64_t *available, int64_t *all)
{
    size_t have = 0, total = 0;
    uint64_t kept = 0, used = 0;
    tsri_cuda_use_gpu();
    tsr_status st = tsri_cuda_status(cudaMemGetInfo(&have, &total), "asking for its memory");
    if (st == TSR_OK)
        st = tsri_cuda_pool(&kept, &used);
    *available = (int64_t)(have + (kept - used));
    *all = (int64_t)total;
    return st;
}

const tsri_heap tsri_cuda_heap = {.name = "cuda",
                                  .take = take,
                                  .drop = drop,
                                  .in = in,
                                  .out = out,
                                  .within = within,
                                  .zero = zero,
                                  .room = room};
