/* gemm.c - matrix products on the pool; the one home of OpenBLAS. */
#include "linalg/gemm.h"

#include "base/narrow.h"
#include "base/pieces.h"
#include "base/simd.h"

#include <cblas.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Tiles --------------------------------------------------------------------------------- */

enum {
    GRAIN = 64, /* tiles end at multiples of it: whole register blocks of every OpenBLAS kernel */
    MOST = 64,  /* tiles of one product */
    SMALL = 1 << 22 /* multiply-adds below which cutting costs more than it brings */
};

typedef struct tiling {
    const tsri_gemm *g;
    bool by_rows; /* the longer side of c is cut */
    int64_t step; /* rows or columns of a tile */
} tiling;

static tiling cut(const tsri_gemm *g, int64_t *tiles)
{
    tiling t = {g, g->m >= g->n, 0};
    int64_t side = t.by_rows ? g->m : g->n;
    t.step = side;
    if (g->m * g->n * g->k >= SMALL && side >= 2 * GRAIN) {
        int64_t pieces = tsri_min(side / (2 * GRAIN), MOST);
        t.step = tsri_round_up(tsri_ceil_div(side, pieces), GRAIN);
    }
    *tiles = t.step > 0 ? tsri_ceil_div(side, t.step) : 0;
    return t;
}

TSRI_CLONES
static void finish_rows(float *c, int64_t rows, int64_t cols, int64_t stride, const float *bias,
                        bool relu)
{
    for (int64_t r = 0; r < rows; r++) {
        float *row = c + r * stride;
        if (bias && relu)
            for (int64_t j = 0; j < cols; j++) {
                float v = row[j] + bias[j];
                row[j] = v > 0 ? v : 0;
            }
        else if (bias)
            for (int64_t j = 0; j < cols; j++)
                row[j] += bias[j];
        else
            for (int64_t j = 0; j < cols; j++)
                row[j] = row[j] > 0 ? row[j] : 0;
    }
}

static void run_tile(void *context, int64_t i, int thread)
{
    (void)thread;
    const tiling *t = context;
    const tsri_gemm *g = t->g;
    int64_t from = i * t->step, side = t->by_rows ? g->m : g->n;
    int64_t size = from + t->step < side ? t->step : side - from;
    int64_t rows = t->by_rows ? size : g->m, cols = t->by_rows ? g->n : size;
    int64_t row = t->by_rows ? from : 0, col = t->by_rows ? 0 : from;
    const float *a = g->a + (g->a_transposed ? row : row * g->k);
    const float *b = g->b + (g->b_transposed ? col * g->k : col);
    float *c = g->c + row * g->n + col;
    cblas_sgemm(CblasRowMajor, g->a_transposed ? CblasTrans : CblasNoTrans,
                g->b_transposed ? CblasTrans : CblasNoTrans, (int)rows, (int)cols, (int)g->k,
                g->scale == 0 ? 1.0f : (float)g->scale, a, (int)(g->a_transposed ? g->m : g->k), b,
                (int)(g->b_transposed ? g->k : g->n), g->add ? 1.0f : 0.0f, c, (int)g->n);
    if (g->bias || g->relu)
        finish_rows(c, rows, cols, g->n, g->bias ? g->bias + col : NULL, g->relu);
}

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
                         "address space for %d threads of OpenBLAS (256 MB each) cannot be had: "
                         "raise ulimit -v or lower threads",
                         threads);
    munmap(probe, need);
    return TSR_OK;
}

static tsr_status buffers_fit_at_first(int threads)
{
    static atomic_int seen; /* the most threads there was room for */
    tsr_status st = TSR_OK;
    if (atomic_load_explicit(&seen, memory_order_relaxed) >= threads)
        return TSR_OK;
    TSR_TRY(buffers_fit(threads));
    atomic_store(&seen, threads);
done:
    return st;
}

tsr_status tsri_gemm_run(const tsri_gemm *g, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    int fits;
    TSR_TRY(tsri_narrow_int(&fits, g->m, "rows of a matrix product"));
    TSR_TRY(tsri_narrow_int(&fits, g->n, "columns of a matrix product"));
    TSR_TRY(tsri_narrow_int(&fits, g->k, "inner size of a matrix product"));
    TSR_TRY(buffers_fit_at_first(tsri_pool_threads(pool)));
    int64_t tiles;
    tiling t = cut(g, &tiles);
    tsri_pool_run(pool, run_tile, &t, tiles);
done:
    return st;
}

void tsri_gemm_tile(float *c, int64_t ldc, const float *a, int64_t lda, const float *b, int64_t ldb,
                    int64_t m, int64_t n, int64_t k, bool transposed)
{
    cblas_sgemm(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans,
                transposed ? CblasNoTrans : CblasTrans, (int)m, (int)n, (int)k, 1.0f, a, (int)lda,
                b, (int)ldb, 0.0f, c, (int)ldc);
}

/* ---- The library --------------------------------------------------------------------------- */

tsr_status tsri_gemm_start(int threads)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(
        openblas_get_parallel() == 1, TSR_FAILURE,
        "the OpenBLAS that is loaded (%s) is not the pthread flavour and may give wrong products "
        "when several threads call it: install libopenblas0-pthread and select it with "
        "update-alternatives --config libopenblas.so.0-x86_64-linux-gnu, or use backend: ref",
        openblas_get_parallel() == 0 ? "serial" : "OpenMP");
    TSR_TRY(buffers_fit(threads));
    openblas_set_num_threads(1);
done:
    return st;
}

static char vendor_text[128];

static void make_vendor_text(void)
{
    char version[32] = "";
    if (sscanf(openblas_get_config(), "OpenBLAS %31s", version) != 1)
        strcpy(version, "unknown");
    (void)snprintf(vendor_text, sizeof vendor_text, "openblas %s %s", version,
                   openblas_get_corename());
}

const char *tsri_gemm_vendor(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_vendor_text);
    return vendor_text;
}

const char *tsri_gemm_better_core(void)
{
#if defined(__x86_64__)
    static const char *const old[] = {"Prescott", "Core2", "Katmai", "Generic"};
    bool fell_back = false;
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        fell_back = fell_back || strcmp(openblas_get_corename(), old[i]) == 0;
    if (!fell_back)
        return NULL;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return NULL;
}
