/* openblas.h - the library under the products: loaded, checked, told to use one thread.
 *
 *     TSR_TRY(tsri_openblas_start(threads));      once per run, before much memory is taken
 *
 * It is loaded when one of these functions is first called, with the kernels that fit the processor
 * (openblas_load.c); a process that multiplies nothing never loads it.
 *
 * OpenBLAS runs on one thread per call; the threads are ours (gemm.h, gemm64.h). So the bits do not
 * depend on how many there are.
 */
#ifndef TSRI_OPENBLAS_H
#define TSRI_OPENBLAS_H

#include "base/status.h"

#include <stdint.h>

/* Checks that this OpenBLAS may be called from `threads` threads and that its buffers can be
 * mapped; sets it to one thread per call. Once per run. FAILURE: it is not installed, or another
 * flavour is loaded; RESOURCES: no address space. */
tsr_status tsri_openblas_start(int threads);

/* What every product and every routine of this room asks first, so that its results do not depend
 * on whether the run's backend (ref needs no OpenBLAS) has called start: one thread per call is
 * set, once; FAILURE when it is not installed, RESOURCES when the buffers for that many threads
 * cannot be mapped. */
tsr_status tsri_openblas_ready(int threads);

/* The same before a product of [m, k] and [k, n]; RESOURCES also when a side does not fit the int
 * of BLAS. */
tsr_status tsri_openblas_takes(int64_t m, int64_t n, int64_t k, int threads);

/* "openblas 0.3.21 Zen"; "openblas missing" where it cannot be loaded. */
const char *tsri_openblas_vendor(void);

/* "Zen": the kernels it runs, as OPENBLAS_CORETYPE would name them; "missing". */
const char *tsri_openblas_core(void);

#endif
