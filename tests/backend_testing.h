/* backend_testing.h - the backend that a test is about, and numbers of the test in its memory.
 *
 * The backend is cpu, or the one that TESSERA_TEST_BACKEND names: the suite runs such tests a second
 * time with the module for GPUs, emulated (tests/cuda/); bench/device/cuda-tests.sh does on a GPU.
 */
#ifndef TSRI_BACKEND_TESTING_H
#define TSRI_BACKEND_TESTING_H

#include "plan_testing.h"

#include <stdlib.h>

static inline const tsri_backend *tested_backend(void)
{
    const char *name = getenv("TESSERA_TEST_BACKEND");
    const tsri_backend *backend = &tsri_backend_cpu;
    if (name && *name)
        assert_ok(tsri_backend_find(&backend, name));
    if (backend->start)
        assert_ok(backend->start(3));
    return backend;
}

/* Has it kernels for bf16? Those of cpu are there on every processor, fast or not. */
static inline bool tested_bf16(const tsri_backend *backend)
{
    return backend == &tsri_backend_cpu || !backend->lacks_bf16 || !backend->lacks_bf16();
}

/* Under compute-sanitizer a kernel takes a hundred times as long: TESSERA_TEST_CASES=bf16 leaves the
 * small cases of bf16, in which each of its kernels is, and TESSERA_TEST_FILTER the tests that it
 * names (cmocka's pattern). */
static inline bool only_small_bf16(void)
{
    const char *cases = getenv("TESSERA_TEST_CASES");
    return cases && strcmp(cases, "bf16") == 0;
}

static inline void filter_tests(void)
{
    const char *pattern = getenv("TESSERA_TEST_FILTER");
    if (pattern && *pattern)
        cmocka_set_test_filter(pattern);
}

/* A copy of `bytes` of the test in the backend's memory; of NULL, bytes that are no number. */
static inline tsri_mem *lend(const tsri_backend *backend, const void *host, int64_t bytes)
{
    tsri_mem *mem = NULL;
    void *poison = NULL;
    assert_ok(backend->heap->take(&mem, bytes));
    if (!host && bytes > 0) {
        assert_ok(tsri_alloc_raw(&poison, bytes, 1));
        memset(poison, 0xff, (size_t)bytes);
    }
    if (bytes > 0)
        assert_ok(backend->heap->in(mem, host ? host : poison, bytes));
    tsri_free(poison);
    return mem;
}

/* What it has become, copied back unless `host` is NULL; the memory is dropped. */
static inline void take_back(void *host, const tsri_backend *backend, tsri_mem *mem, int64_t bytes)
{
    if (host && bytes > 0)
        assert_ok(backend->heap->out(host, mem, bytes));
    backend->heap->drop(mem);
}

#endif
