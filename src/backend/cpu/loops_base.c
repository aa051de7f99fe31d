/* loops_base.c - the loops of loops_template.h for any x86-64 (and, the text being plain vector
 * C, for any other processor), and the choice of the table. */
#include "backend/cpu/loops.h"

#define WIDTH 4
#define ROWS  4
#define NAME  "base"
#define TABLE tsri_loops_base
#include "backend/cpu/loops_template.h"

const tsri_loops *tsri_loops_best(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        return &tsri_loops_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &tsri_loops_avx2;
    return &tsri_loops_base;
}
