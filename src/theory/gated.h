/* gated.h - a gated net, or its ReLU twin, at one point of its training, in double.
 *
 * Letters of Noy, Xu, Aflalo, Zelnik-Manor, Jin (src/net/grelu.c has the model), for sample i:
 *
 *     h_k = G_k x = D_k W_k ... D_1 W_1 D_0 C x          [m]          k = 0 .. L     (10)
 *     F_(k+1) = B D_L W_L ... D_(k+1) W_(k+1) D_k        [d_y, m]     k = 0 .. L     (10)
 *     grad_(W_k) y_p(x_i) = (row p of F_(k+1)) (x) h_(k-1)            k = 1 .. L
 *
 * so that gradients, the tangent kernel and every condition of the paper's proof are products of
 * these. A view holds them for a block of samples. Measurements over all samples go block by block,
 * in bounded memory.
 *
 *     gated_view.c      views
 *     gated_eigen.c     (14), (15): eigenvalues of G^T G and F F^T
 *     gated_pairs.c     quantities of two samples: (16), Theorem 6, Corollary 4, Lemma 4
 *     gated_norms.c     spectral norms: Lemmas 5 and 7, (4), (39)
 *     gated_step.c      one step of descent: Lemma 2; gradients
 *     gated_patterns.c  which units switch, and which die
 *     gated_reach.c     how many samples each measurement uses; the data
 *     gated_look.c      all of it, round by round
 *     gated.c, gated_rate.c, gated_lemmas.c   the certificate
 */
#ifndef TSRI_GATED_H
#define TSRI_GATED_H

#include "net/gate_table.h"
#include "theory/papers.h"

typedef struct tsri_gated {
    bool gated; /* or a ReLU net */
    int64_t from, n, d, m, L, dy;
    float *x;     /* [n, d] samples from, from + 1, ... */
    double *h;    /* [L + 1][n, m] */
    double *y;    /* [n, dy] outputs */
    double *f;    /* [L + 1][n, dy, m]: f[k] = F_(k+1); NULL when not asked for */
    uint64_t *on; /* [L + 1][n, words]: D_k */
    int64_t words;
} tsri_gated;

/* What a view shows. */
typedef struct tsri_gated_part {
    int64_t from, n;
    bool behind; /* F, too */
    /* for a gated net: the gates of the first samples, as in training */
    const tsri_gate_table *gates;
    const float *step; /* (optional) [trained]: W - eta step in place of W */
    double eta;
} tsri_gated_part;

/* The run's samples through the net of `store`, a grelu or a relu_twin. */
tsr_status tsri_gated_init(tsri_gated *v, const tsri_run_view *view, const tsri_opened *store,
                           const tsri_gated_part *part);
void tsri_gated_fini(tsri_gated *v);

/* The gates of the first n training samples; the caller destroys *table. NULL for a ReLU net. */
tsr_status tsri_gated_gates(tsri_gate_table **table, const tsri_run_view *view, tsri_store *store,
                            int64_t n);

/* The matrix of layer k in double: C for k = 0, W_k to L, B for L + 1; less eta step. The caller
 * frees *w. */
tsr_status tsri_gated_weight(double **w, const tsri_opened *store, int64_t k, const float *step,
                             double eta);

static inline bool tsri_gated_is_on(const tsri_gated *v, int64_t k, int64_t i, int64_t unit)
{
    return v->on[(k * v->n + i) * v->words + unit / 64] >> unit % 64 & 1;
}

/* h_k of sample i of the view, and row p of its F_(k+1). */
static inline const double *tsri_gated_before(const tsri_gated *v, int64_t k, int64_t i)
{
    return v->h + (k * v->n + i) * v->m;
}

static inline const double *tsri_gated_behind(const tsri_gated *v, int64_t k, int64_t i, int64_t p)
{
    return v->f + ((k * v->n + i) * v->dy + p) * v->m;
}

/* The targets of the samples from, from + 1, ...: [n, dy]. */
void tsri_gated_targets(double *y, const tsri_run_view *view, int64_t from, int64_t n);

double tsri_gated_dot(const double *a, const double *b, int64_t n);

/* ---- gated_reach.c: how much is looked at, and the data ------------------------------------ */

/* How many samples, from the first on, a measurement uses within certify.effort, and how many
 * operations all of them would take. Both follow from shapes alone. */
typedef struct tsri_gated_portion {
    int64_t samples;
    double all;
} tsri_gated_portion;

typedef struct tsri_gated_reach {
    int64_t n;                        /* all samples */
    int64_t block;                    /* of a view */
    tsri_gated_portion pairs, G;      /* gated_pairs.c; gated_eigen.c */
    tsri_gated_portion chains, gates; /* gated_norms.c's Z; gated_patterns.c */
    tsri_gated_portion inputs;        /* Assumption 1 */
    double loss, look;                /* operations of the loss, and of an entire look */
} tsri_gated_reach;

tsri_gated_reach tsri_gated_reach_of(const tsri_net *net, const tsr_data *data, double effort);

/* Samples whose gates are kept: the most that a measurement needs. */
int64_t tsri_gated_kept(const tsri_gated_reach *r);

/* Sections 2.1 and 3: largest | |x_i| - 1 |, |<x_i, x_j>| (of a part, see reach) and |y_i|, and the
 * samples that have them. */
typedef struct tsri_gated_data {
    double off, delta, target;
    int64_t off_at, delta_a, delta_b, target_at;
} tsri_gated_data;

tsr_status tsri_gated_data_of(tsri_gated_data *d, const tsri_net *net, const tsr_data *data,
                              const tsri_gated_reach *r, tsri_pool *pool);

/* ---- gated_eigen.c --------------------------------------------------------------------------- */

/* An eigenvalue lies in [low, high]; low = high where LAPACK computes all of them. */
typedef struct tsri_gated_end {
    double low, high;
} tsri_gated_end;

/* Least and largest eigenvalue of G_k^T G_k, k = 0 .. L, of the first `few` samples. */
typedef struct tsri_gated_ends {
    tsri_gated_end alpha, beta; /* over samples and layers */
    double *least;              /* [few][L + 1] */
} tsri_gated_ends;

tsr_status tsri_gated_ends_of(tsri_gated_ends *e, const tsri_run_view *view,
                              const tsri_opened *store, const tsri_gate_table *gates, int64_t few);
void tsri_gated_ends_fini(tsri_gated_ends *e);

/* ---- gated_pairs.c --------------------------------------------------------------------------- */

/* Over the first n samples and their pairs. */
typedef struct tsri_gated_pairs {
    int64_t n, L, dy;
    /* of single samples */
    double alpha_y, beta_y; /* ends of F F^T */
    double ratio;           /* (7), the largest over samples and outputs */
    double least_gradient;  /* |grad_(W_k) y_p(x_i)|^2 of the first weights */
    double *end_y;          /* [n][L + 1][2]: of F_(k+1) */
    double *length2;        /* [n][L + 1]: |h_k|^2 */
    double *residual;       /* [n, dy]: y - target */
    /* of pairs */
    double cross;              /* (16), its largest left side */
    double kernel;             /* (8), the left side over the roots */
    double *apart_f;           /* [L + 1]: largest |F_(k+1)^j F_(k+1)^i^T|_2 */
    double *apart_g;           /* [L + 1]: largest |<h_k^j, h_k^i>| */
    double overlap_0, overlap; /* Lemma 4: most units on in both, of D_0 and of D_1 .. D_L */
    double *sum, *squares;     /* [n]: of (16)'s left sides over layers and other samples */
    double *push;              /* [n, dy]: sum_k F_(k+1) grad_k h_(k-1), the step's first order */
    double *k0;                /* [n, n] kernel of output 0 */
} tsri_gated_pairs;

/* Now compared with the first weights, in blocks of `block` samples. */
tsr_status tsri_gated_pairs_of(tsri_gated_pairs *p, const tsri_run_view *view,
                               const tsri_opened *now, const tsri_opened *then,
                               const tsri_gate_table *gates, int64_t n, int64_t block);
void tsri_gated_pairs_fini(tsri_gated_pairs *p);

/* ---- gated_norms.c --------------------------------------------------------------------------- */

/* The largest spectral norm: at least `low`; at most `high` with the confidence asked for. */
typedef struct tsri_gated_norm {
    double low, high;
} tsri_gated_norm;

/* The chance that at least one `high` of the whole run is too low. */
#define TSRI_GATED_CHANCE 0.01

/* |Z_(a,b)|_2, 1 <= b <= a <= L, the largest over the first n samples. */
tsr_status tsri_gated_chains(tsri_gated_norm *z, const tsri_run_view *view,
                             const tsri_opened *store, const tsri_gate_table *gates, int64_t n,
                             int64_t block);

/* |W_k - W_k(1)|_2, the largest over k. */
tsr_status tsri_gated_tau(tsri_gated_norm *tau, const tsri_run_view *view, const tsri_opened *now,
                          const tsri_opened *then);

/* |W_k - W_k(1)|_F, the largest over k: an upper bound of the above, and cheap. */
double tsri_gated_drift(const tsri_opened *now, const tsri_opened *then);

/* |grad_k l|_2, the largest over k; gradient [trained]. */
tsr_status tsri_gated_steepest(tsri_gated_norm *g, const tsri_run_view *view,
                               const float *gradient);

/* ---- gated_step.c ---------------------------------------------------------------------------- */

/* gradient [trained] of the loss over all training samples, at the run's weights; `trained` (if not
 * NULL) replaces those that are trained. */
tsr_status tsri_gated_gradient(float *gradient, const tsri_run_view *view, const float *trained);

/* Lemma 2 for one step of size eta from here: how the loss l changes, and (13) with lambda_max^2 of
 * (30) and as printed, each with the a_i that make it least. */
typedef struct tsri_gated_fall {
    double change, bound, printed;
} tsri_gated_fall;

tsr_status tsri_gated_fall_of(tsri_gated_fall *f, const tsri_run_view *view,
                              const tsri_gate_table *gates, const tsri_gated_pairs *p,
                              const tsri_gated_ends *e, const float *gradient, double eta,
                              int64_t block);

/* ---- gated_patterns.c ------------------------------------------------------------------------ */

/* Over the first n samples. For a ReLU net: the fraction of the bits of D_1 .. D_L that changed
 * since the start and since the round before (NaN when `before`, the trained numbers then, is
 * NULL); `born` counts units that were off for every sample at the start, `died` those that became
 * so. For a gated net: the fraction of its fixed numbers that changed since the start, and `born`.
 * */
typedef struct tsri_gated_switched {
    double since_start, since_before;
    int64_t born, died;
} tsri_gated_switched;

tsr_status tsri_gated_switches(tsri_gated_switched *s, const tsri_run_view *view,
                               const tsri_opened *then, const float *before,
                               const tsri_gate_table *gates, int64_t n, int64_t block);

/* ---- gated_look.c ---------------------------------------------------------------------------- */

tsr_status tsri_gated_look(const tsri_run_view *view, tsri_past *past);
void tsri_gated_forget(void *memory);

#endif
