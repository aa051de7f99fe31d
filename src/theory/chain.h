/* chain.h - products of weight matrices and activation patterns, and their spectral norms.
 *
 * The theory of deep and of recurrent ReLU networks is about W_L Sigma_(L-1) ... Sigma_1 W_1: a
 * chain of factors, each a matrix followed by a pattern of units that are on. A chain is never
 * multiplied out; it is applied to vectors.
 *
 *     tsri_factor f[] = {{.w = w1, .rows = m, .cols = d, .gate = x1},
 *                        {.w = w2, .rows = m, .cols = m}};
 *     tsri_chain_norm(&norm, &(tsri_chain){f, 2}, NULL, 40, seed, pool);       of W_2 Sigma_1 W_1
 */
#ifndef TSRI_CHAIN_H
#define TSRI_CHAIN_H

#include "base/pool.h"

/* x -> gate (w x): where the gate is not above 0 the result is 0. */
typedef struct tsri_factor {
    const float *w;     /* [rows, cols], or NULL: the identity, rows = cols */
    int64_t rows, cols; /* outputs and inputs                               */
    const float *gate;  /* [rows], or NULL: all pass                        */
} tsri_factor;

typedef struct tsri_chain {
    const tsri_factor *factor; /* [count] in the order in which they are applied */
    int64_t count;
} tsri_chain;

/* The norm is at least `value`, the length of the image of some unit vector. With confidence
 * `level` over the random start it is at most `high`; at level 1 they differ by rounding alone. */
typedef struct tsri_norm {
    double value, high, level;
} tsri_norm;

/* The spectral norm of chain a, or of a - b (same shapes). Exact where one side has at most `steps`
 * units: that takes no more products than the iteration, whose interval misses narrow maps as often
 * as wide ones. Else by `steps` steps of power iteration. The upper end is that of Kuczynski and
 * Wozniakowski (1992), Theorem 4.1: after k steps from a random start in R^n the largest eigenvalue
 * of A^T A is underestimated by more than a factor 1 - e with chance at most
 * 0.824 sqrt(n) (1 - e)^(k - 1/2). A pure function of its arguments. */
tsr_status tsri_chain_norm(tsri_norm *out, const tsri_chain *a, const tsri_chain *b, int64_t steps,
                           uint64_t seed, tsri_pool *pool);

/* Of the first count[k] factors of a, k < n, which do not fall: what tsri_chain_norm says of each, to
 * the bit, with the weights read once for all of them. INTERRUPTED when asked to stop. */
tsr_status tsri_chain_norms(tsri_norm *out, const tsri_chain *a, const int64_t *count, int64_t n,
                            int64_t steps, uint64_t seed, tsri_pool *pool);

/* y[rows of the last factor] = the chain applied to x[cols of the first]; `adjoint`: its transpose
 * applied the other way round. x and y both have room for the widest factor. */
tsr_status tsri_chain_apply(double *y, const double *x, const tsri_chain *a, bool adjoint,
                            tsri_pool *pool);

/* z [n, rows] = x [n, cols] w^T in double, rounded once: the states of a layer. */
void tsri_rows_product(float *z, const float *x, const float *w, int64_t n, int64_t rows,
                       int64_t cols, tsri_pool *pool);

double tsri_length(const float *x, int64_t n);

#endif
