/* loops_choice.c - which tables of loops this processor runs.
 *
 * TESSERA_LOOPS=avx2 in the environment leaves out the tables that are wider: to measure them, to
 * test them, or to get the bits of a machine that has no more.
 */
#include "backend/cpu/loops.h"
#include "base/status.h"
#include "base/text.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3 };

static const tsri_loops *tables[MOST + 1];
static const char *unknown; /* what TESSERA_LOOPS says, when that is no table */

static int find(void)
{
    int n = 0;
    tables[n++] = &tsri_loops_base;
#ifdef __x86_64__
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    if (avx2)
        tables[n++] = &tsri_loops_avx2;
    if (avx2 && avx512)
        tables[n++] = &tsri_loops_avx512;
#endif
    return n;
}

static void choose(void)
{
    int n = find();
    const char *widest = getenv("TESSERA_LOOPS");
    if (!widest || !*widest)
        return;
    for (int i = 0; i < n; i++)
        if (strcmp(tables[i]->name, widest) == 0) {
            tables[i + 1] = NULL;
            return;
        }
    unknown = widest;
}

const tsri_loops *tsri_loops_at(int i)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return tables[i];
}

const tsri_loops *tsri_loops_best(void)
{
    int i = 0;
    while (tsri_loops_at(i + 1))
        i++;
    return tsri_loops_at(i);
}

/* The first table is left out where there is another: it has no fused multiply-adds. */
const tsri_loops *tsri_loops_for(int64_t channels)
{
    const tsri_loops *table;
    for (int i = 1; (table = tsri_loops_at(i)) != NULL; i++)
        if (channels <= table->width)
            return table;
    return tsri_loops_best();
}

tsr_status tsri_loops_check(void)
{
    const char *best = tsri_loops_best()->name;
    if (!unknown)
        return TSR_OK;
    return tsri_fail(
        TSR_USAGE,
        "TESSERA_LOOPS is '%s', which this processor does not run: give base, or leave "
        "it out for %s",
        tsri_quote(unknown), best);
}
