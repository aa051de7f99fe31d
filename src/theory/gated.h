/* gated.h - a gated net, or its ReLU twin, at one point of its training, in double.
 *
 * Letters of Noy, Xu, Aflalo, Zelnik-Manor, Jin (src/net/grelu.c has the model): of sample i
 *
 *     h_k = G_k x = D_k W_k ... D_1 W_1 D_0 C x          [m]          k = 0 .. L     (10)
 *     F_(k+1) = B D_L W_L ... D_(k+1) W_(k+1) D_k        [d_y, m]     k = 1 .. L     (10)
 *     grad_(W_k) y_p(x_i) = (row p of F_(k+1)) (x) h_(k-1)
 *
 * so that gradients, the tangent kernel and every condition of the paper's proof are products of
 * these. gated_view.c makes them, gated_measure.c measures on them, gated.c and
 * gated_rate.c are the certificate.
 */
#ifndef TSRI_GATED_H
#define TSRI_GATED_H

#include "theory/papers.h"

enum {
    TSRI_GATED_SAMPLES = 256, /* whose patterns and gradients are looked at, the first ones */
    TSRI_GATED_PAIRS = 32,    /* of them whose F are held */
    TSRI_GATED_FEW = 4,       /* of them whose G are multiplied out */
    TSRI_GATED_STEPS = 60     /* of power iteration */
};

typedef struct tsri_gated {
    bool gated; /* or a ReLU net */
    int64_t n, pairs, d, m, L, dy;
    float *x;     /* [n, d] */
    double *h;    /* [L + 1][n, m] */
    double *f;    /* [L + 1][pairs, dy, m]: f[k] = F_(k+1), k = 1 .. L; f[0] is not used */
    uint64_t *on; /* [L + 1][n, words]: D_k */
    int64_t words;
} tsri_gated;

/* Of the run's net with the numbers of `store`, whose net is a grelu or a relu_twin. */
tsr_status tsri_gated_init(tsri_gated *v, const tsri_run *run, tsri_store *store);
void tsri_gated_fini(tsri_gated *v);

static inline bool tsri_gated_is_on(const tsri_gated *v, int64_t k, int64_t i, int64_t unit)
{
    return v->on[(k * v->n + i) * v->words + unit / 64] >> unit % 64 & 1;
}

/* ---- gated_measure.c ------------------------------------------------------------------------ */

/* The ends of (14) and (15) over samples and layers: eigenvalues of G^T G and of F F^T. NaN for x
 * when d is too large to multiply G out. */
typedef struct tsri_gated_ends {
    double alpha_x, alpha_y, beta_x, beta_y;
    int64_t few; /* samples whose G were looked at */
} tsri_gated_ends;

tsr_status tsri_gated_ends_of(tsri_gated_ends *e, const tsri_gated *v, const tsri_store *store,
                              tsri_pool *pool);

/* The largest left side of (16) over pairs of samples and layers. */
tsr_status tsri_gated_cross(double *most, const tsri_gated *v);

/* The largest ratio (7) over samples and outputs, and the largest left side of (8) over the roots
 * beside it, for the same samples now and then. */
void tsri_gated_moved(double *ratio, double *kernel, const tsri_gated *now, const tsri_gated *then);

/* <grad y_p(x_i), grad y_p(x_j)>, and the least |grad_(W_k) y_p(x_i)|^2 over k, i and p. */
double tsri_gated_kernel(const tsri_gated *v, int64_t i, int64_t j, int64_t p);
double tsri_gated_least_gradient(const tsri_gated *v);

/* |W_k - W_k(1)|_2, the largest over k. */
tsr_status tsri_gated_tau(double *tau, double *high, const tsri_run *run, const tsri_store *now,
                          const tsri_store *then);

/* Units of layers 1 .. L that are off for every sample of `v`, and of them those that were not in
 * `then`. */
void tsri_gated_dead(int64_t *dead, int64_t *died, const tsri_gated *v, const tsri_gated *then);

/* The part of all bits of layers 1 .. L that differ; `bits` is such a part of another view. */
double tsri_gated_hamming(const tsri_gated *v, const uint64_t *bits);

/* Of the loss on the samples of `v`, with the numbers w (all of them) and with the trained ones
 * `before` in their place: |g|, |g - g before|. */
tsr_status tsri_gated_gradients(double *norm, double *change, tsri_run *run, const tsri_gated *v,
                                const float *before);

#endif
