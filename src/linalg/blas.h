/* blas.h - the calls of OpenBLAS and of the LAPACK inside it, for this room alone.
 *
 *     TSR_TRY(tsri_openblas_ready(1));
 *     tsri_blas.cblas_dtrsv(...);
 *
 * The library is loaded when it is first needed (openblas_load.c), so its functions are reached
 * through a table. Nobody may look into it before tsri_openblas_ready, _takes or _start has
 * succeeded.
 */
#ifndef TSRI_BLAS_H
#define TSRI_BLAS_H

#include "base/status.h"

#include <cblas.h>

/* LAPACK as Fortran has it: every argument by address, columns first, and after the arguments the
 * length of each text. OpenBLAS carries it whole; no header of Debian's declares these. */
void dsyevd_(const char *job, const char *half, const int *n, double *a, const int *lda,
             double *value, double *work, const int *lwork, int *iwork, const int *liwork,
             int *info, size_t job_length, size_t half_length);
void dsyevr_(const char *job, const char *range, const char *half, const int *n, double *a,
             const int *lda, const double *low, const double *high, const int *first,
             const int *last, const double *tolerance, int *found, double *value, double *vector,
             const int *ldv, int *support, double *work, const int *lwork, int *iwork,
             const int *liwork, int *info, size_t job_length, size_t range_length,
             size_t half_length);
void dstev_(const char *job, const int *n, double *diagonal, double *beside, double *vector,
            const int *ldv, double *work, int *info, size_t job_length);
void dpotrf_(const char *half, const int *n, double *a, const int *lda, int *info,
             size_t half_length);
void dgelsy_(const int *m, const int *n, const int *sides, double *a, const int *lda, double *b,
             const int *ldb, int *pivot, const double *cut, int *rank, double *work,
             const int *lwork, int *info);

/* cblas_sgemv: for bench/skip.c only. */
#define TSRI_BLAS_LIST(X)                                                                          \
    X(cblas_sgemm)                                                                                 \
    X(cblas_sgemv)                                                                                 \
    X(cblas_dgemm)                                                                                 \
    X(cblas_dtrsv)                                                                                 \
    X(dsyevd_)                                                                                     \
    X(dsyevr_)                                                                                     \
    X(dstev_)                                                                                      \
    X(dpotrf_)                                                                                     \
    X(dgelsy_)                                                                                     \
    X(openblas_get_config)                                                                         \
    X(openblas_get_corename)                                                                       \
    X(openblas_get_parallel)                                                                       \
    X(openblas_set_num_threads)

typedef struct tsri_blas_table {
#define X(name) __typeof__(name) *name;
    TSRI_BLAS_LIST(X)
#undef X
} tsri_blas_table;

extern tsri_blas_table tsri_blas;

/* Loads OpenBLAS with the right kernels and sets it to one thread per call, once for the process;
 * cheap afterwards. FAILURE when it is not installed or lacks a function. */
tsr_status tsri_blas_load(void);

#endif
