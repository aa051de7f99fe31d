/* rnn_states.h - a recurrent network in double, and the states of a block of sequences.
 *
 * The certificate (rnn.c) and reproduce/rnn_length.c measure on these. Everything is in double,
 * made from the run's floats: rounding is far below anything that a row compares.
 */
#ifndef TSRI_RNN_STATES_H
#define TSRI_RNN_STATES_H

#include "base/pool.h"

/* h_l = relu(g_l), g_l = W h_(l-1) + A x_l, h_0 = 0. `linear` leaves the ReLU out: a linear
 * dynamical system, to compare with. */
typedef struct tsri_rnn_net {
    int64_t L, m, dx, d;
    bool linear;
    double *W, *A, *B; /* [m, m], [m, dx], [d, m] */
} tsri_rnn_net;

/* The caller has set L, m, dx, d and linear. */
tsr_status tsri_rnn_net_init(tsri_rnn_net *net, const float *W, const float *A, const float *B);
void tsri_rnn_net_fini(tsri_rnn_net *net);

/* The states of n sequences, positions outermost: the rows of a position are contiguous. Positions
 * count from 0. */
typedef struct tsri_rnn_states {
    int64_t n, L, m;
    const int32_t *length; /* [n], or NULL: all L */
    double *g, *h;         /* [L, n, m]; 0 after the end of a sequence */
} tsri_rnn_states;

/* x [n, L, dx]; `length` must live as long as the states. */
tsr_status tsri_rnn_states_init(tsri_rnn_states *s, const tsri_rnn_net *net, const float *x,
                                const int32_t *length, int64_t n, tsri_pool *pool);
void tsri_rnn_states_fini(tsri_rnn_states *s);

/* One position: g [n, m] = h W^T + x A^T with h [n, m] of the position before (NULL: none); the
 * input of sequence i is at x + i * stride. */
tsr_status tsri_rnn_advance(double *g, const tsri_rnn_net *net, const double *h, const float *x,
                            int64_t stride, int64_t n, tsri_pool *pool);

/* Where sequence i's row of position l begins. */
static inline int64_t tsri_rnn_row(const tsri_rnn_states *s, int64_t l, int64_t i)
{
    return (l * s->n + i) * s->m;
}

static inline int64_t tsri_rnn_length(const tsri_rnn_states *s, int64_t i)
{
    return s->length ? s->length[i] : s->L;
}

/* Plain sums over n numbers. */
double tsri_dot64(const double *a, const double *b, int64_t n);
double tsri_length64(const double *a, int64_t n);

#endif
