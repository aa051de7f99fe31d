/* cpu.c - the fast backend: OpenBLAS for products, own vector code for the rest. */
#include "backend/cpu/bf16.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/loops.h"
#include "linalg/openblas.h"

#include <pthread.h>
#include <stdio.h>

static const tsri_kernel *const kernels[] = {
    &tsri_cpu_linear_bf16,   &tsri_cpu_conv_bf16,   &tsri_cpu_linear,
    &tsri_cpu_conv_winograd, &tsri_cpu_conv_direct, &tsri_cpu_norm_virtual,
    &tsri_cpu_norm,          &tsri_cpu_relu,        &tsri_cpu_gate,
    &tsri_cpu_add,           &tsri_cpu_maxpool,     &tsri_cpu_avgpool,
    &tsri_cpu_globalpool,    &tsri_cpu_flatten,     &tsri_cpu_recurrent,
    &tsri_cpu_last,          &tsri_cpu_turn,        NULL,
};

static char vendor_text[160];

static void make_vendor_text(void)
{
    bool bf16 = tsri_bf16_fast();
    (void)snprintf(vendor_text, sizeof vendor_text, "%s, loops %s%s%s", tsri_openblas_vendor(),
                   tsri_loops_best()->name, bf16 ? ", bf16 " : "",
                   bf16 ? tsri_bf16_best()->name : "");
}

static const char *vendor(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_vendor_text);
    return vendor_text;
}

static tsr_status start(int threads)
{
    tsr_status st = tsri_loops_check();
    return st == TSR_OK ? tsri_openblas_start(threads) : st;
}

static const char *lacks_bf16(void)
{
    return tsri_bf16_fast() ? NULL
                            : "needs a processor with AVX512_BF16 or AMX, and this one has neither";
}

/* A batch has few outputs: the reference is fast enough, and exact. */
static tsr_status loss(const tsri_loss *l, tsri_device device)
{
    return tsri_backend_ref.loss(l, device);
}

/* Linear layers and direct convolutions ask for packed weights. */
static tsr_status pack(tsri_op *const *op, int64_t count, tsri_device device)
{
    (void)device;
    for (int64_t i = 0; i < count; i++)
        (op[i]->kind == TSRI_CONV ? tsri_cpu_conv_pack : tsri_cpu_linear_pack)(op[i]);
    return TSR_OK;
}

const tsri_backend tsri_backend_cpu = {.name = "cpu",
                                       .real_bytes = sizeof(float),
                                       .heap = TSRI_HEAP_HERE,
                                       .can = {.reads_host = true,
                                               .channels_last = true,
                                               .filters = TSRI_HWIO,
                                               .virtual_norms = true,
                                               .fused_gates = true,
                                               .skips_zeros = true},
                                       .kernels = kernels,
                                       .pack = pack,
                                       .loss = loss,
                                       .update = tsri_cpu_update,
                                       .adam = tsri_cpu_adam,
                                       .vectors = &tsri_vectors_here,
                                       .slices = &tsri_slices_here,
                                       .input = tsri_input_float,
                                       .count = tsri_count_float,
                                       .samples = &tsri_cpu_samples,
                                       .start = start,
                                       .vendor = vendor,
                                       .lacks_bf16 = lacks_bf16};
