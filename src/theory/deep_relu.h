/* deep_relu.h - a deep ReLU classifier at one point of its training, with the states of its
 * samples.
 *
 * Shared by deep_relu.c, the certificate, deep_relu_start.c, its Theorem 5.1, and what draws them.
 * Notation: x_l [n, m_l] states, z_l what they are the positive part of, W_l^T [m_l, m_(l-1)] the
 * weights as they lie in memory.
 */
#ifndef TSRI_DEEP_RELU_H
#define TSRI_DEEP_RELU_H

#include "theory/chain.h"
#include "theory/papers.h"

enum {
    TSRI_DEEP_SAMPLES = 256, /* that are looked at, the first ones */
    TSRI_DEEP_FEW = 4,       /* of them whose chains have their norms measured */
    TSRI_DEEP_STEPS = 60,    /* of power iteration */
    TSRI_DEEP_SIGNS = 16     /* random vectors a of (vii) */
};

typedef struct tsri_deep_layer {
    const float *w; /* [m, inputs] */
    int64_t m, inputs;
    float *x, *z; /* [n, m] */
} tsri_deep_layer;

/* The network at one point of the run, and its states. */
typedef struct tsri_deep_view {
    int64_t n, L, d;
    double delta; /* the chance of failure that the theorems speak of */
    tsri_deep_layer *layer;
    const float *v; /* [m_L] */
    float *x0;      /* [n, d] */
    double *y;      /* [n] outputs */
} tsri_deep_view;

/* Of the run's network with the numbers `w`, a vector of the store. */
tsr_status tsri_deep_view_init(tsri_deep_view *s, const tsri_run *run, const float *w);
void tsri_deep_view_fini(tsri_deep_view *s);

int64_t tsri_deep_narrowest(const tsri_deep_view *s);
int64_t tsri_deep_widest(const tsri_deep_view *s);

/* y_i = +-1, and l'(y_i f(x_i)). */
double tsri_deep_sign(const tsri_run *run, int64_t i);
double tsri_deep_slope(const tsri_run *run, const tsri_deep_view *s, int64_t i);

/* An upper bound on a norm that was measured, with its interval. */
void tsri_deep_certify_norm(tsri_certificate *c, const char *where, const tsri_norm *norm,
                            double required, const char *what);
void tsri_deep_keep_larger(tsri_norm *most, const tsri_norm *norm);

/* The largest |W_l|_2. */
tsr_status tsri_deep_largest_weight(tsri_norm *most, const tsri_run *run, const tsri_deep_view *s);

/* The s of (5.1), and the supremum over s-sparse unit vectors a of v^T (Sigma W^T ...) a. */
int64_t tsri_deep_sparsity_of(const tsri_deep_view *s);
tsr_status tsri_deep_largest_sparse(double *most, const tsri_run *run, const tsri_deep_view *s,
                                    int64_t sparsity);

/* Rows (i)-(vii); phi is the least distance of two samples. */
tsr_status tsri_deep_theorem_5_1(tsri_certificate *c, const tsri_run *run, const tsri_deep_view *s,
                                 double phi);

#endif
