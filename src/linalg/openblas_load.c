/* openblas_load.c - OpenBLAS, loaded when it is first needed.
 *
 * It chooses its kernels while it is loaded, by the processor or by OPENBLAS_CORETYPE, and never
 * again. A processor that it does not know gets the kernels of 2004 (0.3.21 does that to a Sapphire
 * Rapids: a fifth of the speed), and a program that links it can do nothing about it: it is loaded
 * before main. So we load it ourselves and look. If it fell back we unload it and load it again, with
 * the variable in its environment for as long as that takes.
 */
#include "linalg/blas.h"

#include "base/late.h"
#include "base/log.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY  "libopenblas.so.0"
#define VARIABLE "OPENBLAS_CORETYPE"

tsri_blas_table tsri_blas;

TSRI_LATE_NOTE(LIBRARY, "products",
               "matrix products and LAPACK of the backend cpu, kernels and certificates",
               "required");

static const tsri_late_call calls[] = {
#define X(name) {#name, offsetof(tsri_blas_table, name)},
    TSRI_BLAS_LIST(X)
#undef X
};

static tsr_status open_library(void **library)
{
    static const tsri_late openblas = {
        .file = LIBRARY,
        .name = "OpenBLAS",
        .remedy = "install libopenblas0-pthread, or use backend: ref",
        .status = TSR_FAILURE,
        .call = calls,
        .calls = sizeof calls / sizeof *calls,
    };
    return tsri_late_open(library, &tsri_blas, &openblas);
}

/* ---- Its kernels --------------------------------------------------------------------------- */

/* The kernels it should have chosen when it fell back to old ones; NULL when its choice is fine. */
static const char *better_core(const char *chosen)
{
#if defined(__x86_64__)
    static const char *const old[] = {"Prescott", "Core2", "Katmai", "Generic"};
    bool fell_back = false;
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        fell_back = fell_back || strcmp(chosen, old[i]) == 0;
    if (!fell_back)
        return NULL;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return VARIABLE "=SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return VARIABLE "=Haswell";
#else
    (void)chosen;
#endif
    return NULL;
}

/* Opens it with `setting` in the environment. setenv would move and free the list of variables
 * while other threads may be reading it; so another list is put in its place, and never freed,
 * since threads may still be reading that one. */
static tsr_status open_with(void **library, const char *setting)
{
    static char **longer;
    tsr_status st = TSR_OK;
    char **before = environ;
    size_t n = 0;
    while (before && before[n])
        n++;
    longer = malloc((n + 2) * sizeof *longer);
    TSR_CHECK(longer, TSR_RESOURCES, "out of memory for a list of %zu variables", n + 1);
    if (n > 0)
        memcpy(longer, before, n * sizeof *longer);
    longer[n] = (char *)setting;
    longer[n + 1] = NULL;
    environ = longer;
    st = open_library(library);
    if (environ == longer) {
        environ = before;
    } else { /* somebody has set a variable meanwhile, in a copy of ours */
        (void)unsetenv(VARIABLE);
    }
done:
    return st;
}

static tsr_status open_best(void)
{
    tsr_status st = TSR_OK;
    void *library = NULL;
    TSR_TRY(open_library(&library));
    const char *setting = better_core(tsri_blas.openblas_get_corename());
    if (setting && !getenv(VARIABLE)) {
        (void)dlclose(library);
        TSR_TRY(open_with(&library, setting));
        if (better_core(tsri_blas.openblas_get_corename()))
            TSRI_WARN("OpenBLAS was loaded by another part of this process and runs kernels of "
                      "2004: start the program with %s",
                      setting);
    }
done:
    return st;
}

/* ---- Once ---------------------------------------------------------------------------------- */

tsr_status tsri_blas_load(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static atomic_bool loaded;
    tsr_status st = TSR_OK;
    if (atomic_load_explicit(&loaded, memory_order_acquire))
        return TSR_OK;
    pthread_mutex_lock(&lock);
    if (!atomic_load(&loaded)) {
        TSR_TRY(open_best());
        tsri_blas.openblas_set_num_threads(1);
        atomic_store_explicit(&loaded, true, memory_order_release);
    }
done:
    pthread_mutex_unlock(&lock);
    return st;
}
