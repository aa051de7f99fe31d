/* openblas.c - which OpenBLAS is loaded, and what must hold before it is called. */
#include "linalg/openblas.h"

#include "base/narrow.h"
#include "linalg/blas.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Ready for products -------------------------------------------------------------------- */

/* OpenBLAS spins for ever when its work buffers cannot be mapped (0.3.21), so look first: one for
 * each thread, one for the thread that it starts itself, and as much for malloc's own arenas. Once
 * before the data are read, and again before the first product, when data, model and plan have
 * their memory and nothing large is asked for any more. */
static tsr_status buffers_fit(int threads)
{
    size_t need = (size_t)(2 * threads + 1) * ((size_t)128 << 20);
    void *probe = mmap(NULL, need, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED)
        return tsri_fail(TSR_RESOURCES,
                         "address space for %d threads of OpenBLAS (256 MB each) is not available: "
                         "raise ulimit -v or lower threads",
                         threads);
    munmap(probe, need);
    return TSR_OK;
}

tsr_status tsri_openblas_ready(int threads)
{
    static atomic_int seen; /* the most threads there was room for */
    tsr_status st = TSR_OK;
    if (atomic_load_explicit(&seen, memory_order_acquire) >= threads)
        return TSR_OK;
    TSR_TRY(buffers_fit(threads)); /* first: it starts threads when it is loaded */
    TSR_TRY(tsri_blas_load());
    atomic_store(&seen, threads);
done:
    return st;
}

tsr_status tsri_openblas_takes(int64_t m, int64_t n, int64_t k, int threads)
{
    tsr_status st = TSR_OK;
    int fits;
    TSR_TRY(tsri_narrow_int(&fits, m, "rows of a matrix product"));
    TSR_TRY(tsri_narrow_int(&fits, n, "columns of a matrix product"));
    TSR_TRY(tsri_narrow_int(&fits, k, "inner size of a matrix product"));
    TSR_TRY(tsri_openblas_ready(threads));
done:
    return st;
}

tsr_status tsri_openblas_start(int threads)
{
    tsr_status st = TSR_OK;
    TSR_TRY(buffers_fit(threads));
    TSR_TRY(tsri_blas_load());
    TSR_CHECK(
        tsri_blas.openblas_get_parallel() == 1, TSR_FAILURE,
        "the OpenBLAS that is loaded (%s) is not the pthread flavour and may give wrong products "
        "when several threads call it: install libopenblas0-pthread and select it with "
        "update-alternatives --config libopenblas.so.0-x86_64-linux-gnu, or use backend: ref",
        tsri_blas.openblas_get_parallel() == 0 ? "serial" : "OpenMP");
done:
    return st;
}

/* ---- Its name and its kernels -------------------------------------------------------------- */

static char vendor_text[128];

static void make_vendor_text(void)
{
    char version[32] = "";
    if (sscanf(tsri_blas.openblas_get_config(), "OpenBLAS %31s", version) != 1)
        strcpy(version, "unknown");
    (void)snprintf(vendor_text, sizeof vendor_text, "openblas %s %s", version,
                   tsri_openblas_core());
}

const char *tsri_openblas_vendor(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (tsri_blas_load() != TSR_OK)
        return "openblas missing";
    pthread_once(&once, make_vendor_text);
    return vendor_text;
}

const char *tsri_openblas_core(void)
{
    return tsri_blas_load() == TSR_OK ? tsri_blas.openblas_get_corename() : "missing";
}
