/* samples.c - steps of a shallow network seen from its samples, by the processor's widest loops. */
#include "backend/cpu/kernels.h"
#include "backend/cpu/loops.h"
#include "linalg/gemm.h"

static void table(float *to, const float *c, const float *gram, int64_t groups, int64_t columns)
{
    tsri_loops_best()->samples_table(to, c, gram, groups, columns);
}

static void step(const tsri_samples *s)
{
    tsri_loops_best()->samples_step(s);
}

static void outputs(const tsri_samples *s)
{
    tsri_loops_best()->samples_outputs(s);
}

static void awake(uint8_t *to, const float *z, int64_t units, int64_t columns)
{
    tsri_loops_best()->samples_awake(to, z, units, columns);
}

static tsr_status product(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k,
                          bool transposed, bool add, tsri_pool *pool)
{
    tsri_gemm g = {
        .b_transposed = transposed, .m = m, .n = n, .k = k, .a = a, .b = b, .c = c, .add = add};
    return tsri_gemm_run(&g, pool);
}

const tsri_samples_ops tsri_cpu_samples = {
    .table = table, .step = step, .outputs = outputs, .awake = awake, .product = product};
