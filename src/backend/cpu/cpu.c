/* cpu.c - the fast backend: OpenBLAS for products, own vector code for the rest. */
#include "backend/cpu/gemm.h"
#include "backend/cpu/kernels.h"

static const tsri_kernel *const kernels[] = {&tsri_cpu_linear, &tsri_cpu_norm, &tsri_cpu_relu,
                                             NULL};

/* A batch has few outputs: the reference is fast enough, and exact. */
static tsr_status loss(tsri_loss *l, tsri_pool *pool)
{
    return tsri_backend_ref.loss(l, pool);
}

const tsri_backend tsri_backend_cpu = {.name = "cpu",
                                       .real_bytes = sizeof(float),
                                       .kernels = kernels,
                                       .loss = loss,
                                       .update = tsri_cpu_update,
                                       .start = tsri_gemm_start,
                                       .vendor = tsri_gemm_vendor};
