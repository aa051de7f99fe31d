/* cuda-trace.c - every kernel that a program runs on the GPU, as lines of a file, by CUPTI.
 *
 *     CUDA_INJECTION64_PATH=./libcuda-trace.so CUDA_TRACE=trace.csv tessera bench ...
 *     cuda-trace.py trace.csv
 *
 * CUDA loads it as the program starts (InitializeInjection). Kernels of one launch of a graph have
 * one correlation: that is how a step is told from the next. Built by cuda-pack.sh where CUPTI's
 * headers are.
 */
#include <cupti.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 32 << 20 };

static FILE *to;

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = aligned_alloc(64, ROOM);
    *size = *buffer ? ROOM : 0;
    *most = 0;
}

static void kernel(const CUpti_ActivityKernel10 *k)
{
    fprintf(to, "%" PRIu64 ",%" PRIu64 ",%u,%u,%d,%d,%d,%u,%d,%u,%.120s\n", k->start, k->end,
            k->correlationId, k->graphId, k->gridX * k->gridY * k->gridZ,
            k->blockX * k->blockY * k->blockZ, k->dynamicSharedMemory + k->staticSharedMemory,
            k->registersPerThread, (int)k->clusterX, k->streamId, k->name);
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                          size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            kernel((const CUpti_ActivityKernel10 *)record);
        else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY ||
                 record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
            const CUpti_ActivityMemcpy6 *c = (const CUpti_ActivityMemcpy6 *)record;
            const CUpti_ActivityMemset4 *m = (const CUpti_ActivityMemset4 *)record;
            bool copy = record->kind == CUPTI_ACTIVITY_KIND_MEMCPY;
            fprintf(to, "%" PRIu64 ",%" PRIu64 ",%u,%u,0,0,0,0,0,%u,%s %" PRIu64 "\n",
                    copy ? c->start : m->start, copy ? c->end : m->end,
                    copy ? c->correlationId : m->correlationId, copy ? c->graphId : m->graphId,
                    copy ? c->streamId : m->streamId, copy ? "copy" : "memset",
                    copy ? c->bytes : m->bytes);
        }
    free(buffer);
}

static void end(void)
{
    (void)cuptiActivityFlushAll(1);
    fclose(to);
}

int InitializeInjection(void);
int InitializeInjection(void)
{
    const char *path = getenv("CUDA_TRACE");
    to = fopen(path ? path : "trace.csv", "w");
    if (!to)
        return 1;
    (void)cuptiActivityRegisterCallbacks(give, take);
    (void)cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    (void)cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    (void)cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
    (void)atexit(end);
    return 1;
}
