/* deep_relu.h - a deep ReLU classifier at one point of its training, and its samples block by
 * block.
 *
 * Shared by the files of Zou, Cao, Zhou, Gu: deep_relu.c (rows), deep_relu_look.c (what is measured
 * after a round), deep_relu_start.c (what is measured once, at W(0)), deep_relu_pairs.c (all pairs
 * of samples), deep_relu_nodes.c (all vectors a of Theorem 5.1 (vii)), deep_relu_block.c (this).
 * Notation: x_l [n, m_l] states, x_l = max(z_l, 0), W_l^T [m_l, m_(l-1)] the weights as they lie in
 * memory; x_0 are the inputs.
 *
 * A block holds the states of some samples, so that memory does not grow with their number:
 *
 *     TSR_TRY(tsri_deep_net_init(&net, run, w));
 *     TSR_TRY(tsri_deep_block_init(&b, &net, tsri_deep_rows(&net, n)));
 *     for (int64_t i = 0; i < n; i += b.n) {
 *         TSR_TRY(tsri_deep_load(&b, run, &net, i, 1, n - i));
 *         ... b.x[l], b.z[l], b.y, b.sign of samples i .. i + b.n - 1 ...
 *     }
 */
#ifndef TSRI_DEEP_RELU_H
#define TSRI_DEEP_RELU_H

#include "theory/chain.h"
#include "theory/papers.h"

enum { TSRI_DEEP_STEPS = 40 }; /* of power iteration */

typedef struct tsri_deep_layer {
    const float *w; /* [m, inputs] */
    int64_t m, inputs;
} tsri_deep_layer;

/* The network at one point of the run. */
typedef struct tsri_deep_net {
    int64_t L, d;
    tsri_deep_layer *layer; /* [L] */
    const float *v;         /* [m_L] */
    int64_t narrowest, widest;
    double weights; /* numbers of all W_l */
} tsri_deep_net;

/* The run's network with the numbers `w`, a vector of the store, which must outlive it. */
tsr_status tsri_deep_net_init(tsri_deep_net *net, const tsri_run_view *view, const float *w);
void tsri_deep_net_fini(tsri_deep_net *net);

/* Samples, their states, outputs and signs. */
typedef struct tsri_deep_block {
    int64_t room, n, L; /* capacity and number of rows; layers */
    float **x;          /* [L + 1]: x[0] [room, d], x[l] [room, m_l] */
    float **z;          /* [L + 1]: z[0] is NULL */
    double *y;          /* [room] f(x_i) */
    double *sign;       /* [room] y_i = +-1 */
} tsri_deep_block;

/* How many rows a block should have for n samples. */
int64_t tsri_deep_rows(const tsri_deep_net *net, int64_t n);

tsr_status tsri_deep_block_init(tsri_deep_block *b, const tsri_deep_net *net, int64_t room);
void tsri_deep_block_fini(tsri_deep_block *b);

/* Training samples first, first + step, ..., at most `count` and b->room of them: b->n. */
tsr_status tsri_deep_load(tsri_deep_block *b, const tsri_run_view *view, const tsri_deep_net *net,
                          int64_t first, int64_t step, int64_t count);

/* The same for rows of a batch, from `first` on. */
tsr_status tsri_deep_load_batch(tsri_deep_block *b, const tsri_run_view *view,
                                const tsri_deep_net *net, const tsri_batch *batch, int64_t first);

/* d [n, m_L] = v gated by the last layer's pattern; then, for l = L .. 1, from d of layer l:
 * s [n, m_(l-1)] = d W_l^T, the map of Theorem 5.1 (vi), and d of layer l - 1. */
void tsri_deep_back_begin(float *d, const tsri_deep_block *b, const tsri_deep_net *net);
tsr_status tsri_deep_back(float *s, const float *d, const tsri_deep_block *b,
                          const tsri_deep_net *net, int64_t l, tsri_pool *pool);
void tsri_deep_gate(float *s, const tsri_deep_block *b, const tsri_deep_net *net, int64_t l);

/* ---- Beside W(0) (deep_relu_moved.c) ------------------------------------------------------- */

/* Maxima over layers and samples; the caller starts with zeros. */
typedef struct tsri_deep_moved {
    double far, reach; /* |x - x(0)|, and |x| + |x(0)|, which it cannot exceed */
    double flipped;    /* the part of a layer's units that switched */
} tsri_deep_moved;

typedef struct tsri_deep_room {
    float *one, *other; /* [rows of a block, widest layer] */
    float *change;      /* [numbers of the largest layer] */
} tsri_deep_room;

/* `at` and `was` hold the same samples, at `now` and `then`. */
tsr_status tsri_deep_moved_of(tsri_deep_moved *out, const tsri_deep_block *at,
                              const tsri_deep_block *was, const tsri_deep_net *now,
                              const tsri_deep_net *then, tsri_deep_room *room, tsri_pool *pool);

/* Products of blocks run this many times as fast as the operations that certify.effort counts. */
#define TSRI_DEEP_PRODUCTS 32.0

/* ---- What is measured (kept in series by these names) ------------------------------------- */

/* Once, before the first round (deep_relu_start.c). */
tsr_status tsri_deep_start(const tsri_run_view *view, tsri_past *past, const tsri_deep_net *net);

/* Operations that the chains of Theorem 5.1 (v) take for `count` samples. */
double tsri_deep_chain_operations(const tsri_deep_net *net, int64_t count);

/* Least distances over all pairs of `count` samples (0, step, 2 step, ...): least[0] between the
 * inputs, least[l] between the states of layer l; `pair` are the two samples with the nearest
 * inputs. */
typedef struct tsri_deep_apart {
    double *least; /* [L + 1] */
    int64_t pair[2];
} tsri_deep_apart;

tsr_status tsri_deep_least(tsri_deep_apart *out, const tsri_run_view *view,
                           const tsri_deep_net *net, int64_t step, int64_t count);
double tsri_deep_least_operations(const tsri_deep_net *net, int64_t count);

/* Are two training samples equal? `pair` changes only when *found. */
tsr_status tsri_deep_same(bool *found, int64_t pair[2], const tsri_run_view *view);

/* Theorem 5.1 (vii), searched over vectors a that are nonzero on some of the samples only. `nodes`:
 * the fewest nodes found whose gradient is at least |a|_inf phi / n^2. `form`: the exact minimum of
 * n^2 sum_j |g_j|^2 over |a|_inf = 1, for a on those samples. */
typedef struct tsri_deep_nodes {
    int64_t samples; /* that a may be nonzero on */
    double nodes, form;
} tsri_deep_nodes;

tsr_status tsri_deep_search(tsri_deep_nodes *out, const tsri_run_view *view,
                            const tsri_deep_net *net, double phi, const int64_t pair[2]);

/* After a round (deep_relu_look.c): tsri_paper.look and .forget. */
tsr_status tsri_deep_look(const tsri_run_view *view, tsri_past *past);
void tsri_deep_forget(void *memory);

/* Are steps on mini-batches, rather than on all samples? */
bool tsri_deep_draws(const tsri_run_view *view);

/* The s of (5.1), with 1 for its constant: the s-sparse vectors of Theorems 5.1 (vi), 5.3 (iv). */
int64_t tsri_deep_sparsity(const tsri_run_view *view);

#endif
