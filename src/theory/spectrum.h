/* spectrum.h - eigenvalues of a kernel.
 *
 * All of them by LAPACK; or the smallest and the largest by Lanczos iteration, which reads n^2
 * numbers a few hundred times instead of doing 4/3 n^3 operations. Each comes with a bound on its
 * error: some eigenvalue of the kernel lies within `error` of `value` (the residual of the Ritz
 * vector). The bound does not say that this is the outermost one; Lanczos from a random start finds
 * that one.
 */
#ifndef TSRI_SPECTRUM_H
#define TSRI_SPECTRUM_H

#include "base/pool.h"

typedef struct tsri_eigen {
    double value, error;
} tsri_eigen;

/* value[n] ascending. k [n, n] symmetric; `work` [n, n] is overwritten, and may be k itself. */
tsr_status tsri_spectrum(double *value, double *work, const double *k, int64_t n);

/* The smallest and the largest eigenvalue by at most `steps` steps of Lanczos with full
 * reorthogonalisation, in `steps` vectors of memory. It ends early when both errors are below
 * `tolerance` times the largest value. The same numbers for any number of threads. */
tsr_status tsri_lanczos(tsri_eigen *smallest, tsri_eigen *largest, const double *k, int64_t n,
                        int64_t steps, double tolerance, tsri_pool *pool);

/* Both ends, by whichever is cheaper: exactly (error = rounding) up to n = 1500, by Lanczos
 * above. */
tsr_status tsri_spectrum_ends(tsri_eigen *smallest, tsri_eigen *largest, const double *k, int64_t n,
                              tsri_pool *pool);

/* Are all eigenvalues of k at least `bound`? Cholesky factorisation of k - bound I tells, at a
 * fifth of the cost of eigenvalues. A yes is a proof up to n eps times the largest. `work` [n, n].
 * */
tsr_status tsri_spectrum_above(bool *above, double *work, const double *k, int64_t n, double bound);

/* Both ends, exactly up to n = 1500. Above that the smallest is found by Lanczos on the inverse,
 * and a Cholesky factorisation proves that no eigenvalue lies below smallest->value -
 * smallest->error; if it cannot, LAPACK computes all. `work` [n, n]. */
tsr_status tsri_spectrum_proven(tsri_eigen *smallest, tsri_eigen *largest, double *work,
                                const double *k, int64_t n, tsri_pool *pool);

#endif
