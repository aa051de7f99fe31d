/* rnn_view.h - a recurrent network at one point of its training, with the states of all positions.
 *
 * Shared by rnn.c, the certificate, and reproduce/rnn.c, which draws what it measures.
 */
#ifndef TSRI_RNN_VIEW_H
#define TSRI_RNN_VIEW_H

#include "theory/chain.h"

/* h_l = relu(g_l), g_l = W h_(l-1) + A x_l; positions outermost. `linear` leaves the ReLU out: a
 * linear dynamical system, to compare with. */
typedef struct tsri_rnn_view {
    int64_t n, L, m, dx, d;
    const float *W, *A, *B; /* [m, m], [m, dx], [d, m] */
    const float *x;         /* [n, L, dx] */
    const int32_t *length;  /* [n], or NULL: all L */
    bool linear;
    float *h, *g; /* [L, n, m], made by init; 0 behind the end of a sequence */
} tsri_rnn_view;

/* All but h and g is the caller's. */
tsr_status tsri_rnn_view_init(tsri_rnn_view *v, tsri_pool *pool);
void tsri_rnn_view_fini(tsri_rnn_view *v);

/* Row of sequence i at position l, from 0. */
static inline int64_t tsri_rnn_row(const tsri_rnn_view *v, int64_t l, int64_t i)
{
    return (l * v->n + i) * v->m;
}

static inline int64_t tsri_rnn_length(const tsri_rnn_view *v, int64_t i)
{
    return v->length ? v->length[i] : v->L;
}

/* D_to W ... D_from W of sequence i, positions counted from 0, into f[to - from + 1]; `open`:
 * without the last pattern. Returns how many factors there are. */
int64_t tsri_rnn_chain(tsri_factor *f, const tsri_rnn_view *v, int64_t i, int64_t from, int64_t to,
                       bool open);

/* (4.2), (4.3): of the states at each position, what is orthogonal to all states of the positions
 * before (Gram-Schmidt over the first `count` sequences): the shortest such rest [L], and the least
 * delta by which two of them are separable, |(I - y y^T / |y|^2) x|, [L]. */
tsr_status tsri_rnn_fresh(double *shortest, double *separable, const tsri_rnn_view *v,
                          int64_t count, tsri_pool *pool);

#endif
