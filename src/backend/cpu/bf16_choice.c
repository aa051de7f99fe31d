/* bf16_choice.c - which bf16 loops this processor runs.
 *
 * AMX has 8 kB of registers that Linux saves only for programs that asked: once for all threads.
 */
#include "backend/cpu/bf16.h"

#include <pthread.h>
#include <stddef.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { MOST = 3 };

static const tsri_bf16_loops *tables[MOST + 1];

#ifdef __x86_64__
static bool has_avx512_bf16(void)
{
    unsigned a, b, c, d;
    __builtin_cpu_init();
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    return wide && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1);
}

static bool has_amx_bf16(void)
{
    enum { ASK_FOR_STATE = 0x1023, TILE_DATA = 18 }; /* of arch_prctl */
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 22 & 1) || !(d >> 24 & 1))
        return false;
    return syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) == 0;
}
#endif

static void choose(void)
{
    int n = 0;
    tables[n++] = &tsri_bf16_base;
#ifdef __x86_64__
    if (has_avx512_bf16()) {
        tables[n++] = &tsri_bf16_avx512;
        if (has_amx_bf16())
            tables[n] = &tsri_bf16_amx;
    }
#endif
}

const tsri_bf16_loops *tsri_bf16_at(int i)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return tables[i];
}

const tsri_bf16_loops *tsri_bf16_best(void)
{
    int i = 0;
    while (tsri_bf16_at(i + 1))
        i++;
    return tsri_bf16_at(i);
}

bool tsri_bf16_fast(void)
{
    return tsri_bf16_at(1) != NULL;
}
