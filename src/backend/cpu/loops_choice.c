/* loops_choice.c - which tables of loops this processor runs. */
#include "backend/cpu/loops.h"

#include <stddef.h>

typedef struct choice {
    const tsri_loops *table;
    bool runs;
} choice;

enum { MOST = 3 };

static void choices(choice all[MOST])
{
    all[0] = (choice){&tsri_loops_base, true};
#ifdef __x86_64__
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    all[1] = (choice){&tsri_loops_avx2, avx2};
    all[2] = (choice){&tsri_loops_avx512, avx2 && avx512};
#endif
}

const tsri_loops *tsri_loops_at(int i)
{
    choice all[MOST] = {0};
    choices(all);
    for (int k = 0; k < MOST; k++)
        if (all[k].runs && i-- == 0)
            return all[k].table;
    return NULL;
}

const tsri_loops *tsri_loops_best(void)
{
    const tsri_loops *best = tsri_loops_at(0), *next;
    for (int i = 1; (next = tsri_loops_at(i)) != NULL; i++)
        best = next;
    return best;
}
