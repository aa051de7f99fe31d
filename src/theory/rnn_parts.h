/* rnn_parts.h - the parts of the recurrent paper's certificate: the run as the paper sees it, made
 * by rnn.c, and what the other files measure on it. Included only by rnn*.c. */
#ifndef TSRI_RNN_PARTS_H
#define TSRI_RNN_PARTS_H

#include "theory/papers.h"
#include "theory/rnn_bounds.h"
#include "theory/rnn_states.h"

/* ---- The run as the paper sees it (rnn.c) --------------------------------------------------- */

/* Indices of the theorems in the certificate. */
typedef struct tsri_rnn_theorems {
    int main;     /* Theorem 1 or 2 */
    int start[8]; /* TSRI_RNN_B3 ... */
    int drift[5]; /* TSRI_RNN_C2 ... */
    int units[2]; /* TSRI_RNN_D2, TSRI_RNN_D7 */
    int fixed[2]; /* Lemma E.2, Theorem 5 */
    int three, four, g2;
} tsri_rnn_theorems;

enum {
    TSRI_RNN_B3,
    TSRI_RNN_B6,
    TSRI_RNN_B9,
    TSRI_RNN_B11,
    TSRI_RNN_B15,
    TSRI_RNN_B16,
    TSRI_RNN_B18,
    TSRI_RNN_B19
};
enum { TSRI_RNN_C2, TSRI_RNN_C7, TSRI_RNN_C9, TSRI_RNN_C10, TSRI_RNN_C11 };
enum { TSRI_RNN_D2, TSRI_RNN_D7 };
enum { TSRI_RNN_E2, TSRI_RNN_T5 };

typedef struct tsri_rnn_case {
    const tsri_run_view *view;
    tsri_pool *pool;
    tsri_rnn_letters s;
    tsri_rnn_net now;         /* W(t), A, B */
    const tsri_rnn_net *then; /* W(0), A(0), B(0) */
    int64_t n;
    const float *x;        /* [n, L, dx] */
    const int32_t *length; /* [n], or NULL */
    const float *target;   /* [n, L, d]; NULL when the loss is not the paper's */
    double effort;         /* operations for each measurement */
    tsri_rnn_theorems of;
} tsri_rnn_case;

/* ---- Assumptions (rnn_assume.c), Theorems 1 and 2 (rnn_promise.c) --------------------------- */

/* Adds the theorems and breaches, the rows of section 2.1, and sets delta. */
void tsri_rnn_assume(tsri_certificate *c, tsri_rnn_case *k);

void tsri_rnn_certify_sizes(tsri_certificate *c, const tsri_rnn_case *k);

/* f = f(W); NaN when it is not known. */
void tsri_rnn_certify_promises(tsri_certificate *c, const tsri_rnn_case *k, const tsri_past *past,
                               double f);

/* ---- Blocks of sequences (rnn_blocks.c) ----------------------------------------------------- */

typedef struct tsri_rnn_block {
    int64_t n, first; /* sequences; the number of the first among those that are looked at */
    int64_t *index;   /* [n] their numbers in the data */
    float *x;         /* [n, L, dx] */
    int32_t *length;  /* [n], or NULL */
} tsri_rnn_block;

typedef tsr_status (*tsri_rnn_visit)(void *context, const tsri_rnn_block *block);

/* Visits `count` sequences, evenly spread, in blocks whose states take bounded memory. */
tsr_status tsri_rnn_each(const tsri_rnn_case *k, int64_t count, tsri_rnn_visit visit,
                         void *context);

/* How many sequences fit the effort when each takes `operations`; 0 when not even one does. If that
 * is not all of them, a note says how long all would take. */
int64_t tsri_rnn_fitting(tsri_certificate *c, const tsri_rnn_case *k, double operations,
                         const char *what);

/* ---- Along a sequence at W(0) (rnn_spans.c) ------------------------------------------------- */

/* Maxima over sequences and spans of positions. For a maximum over supports: the largest value
 * found, and a bound that it cannot exceed (`_most`). */
typedef struct tsri_rnn_spans {
    int64_t looked;                  /* sequences */
    double chain, chain_high;        /* (4.4): |D W ... D W|, |W D W ... D W| */
    double sparse, sparse_most;      /* (4.5): between supports of m^(2/3) units; the whole */
    double entry;                    /* Corollary B.16: one entry */
    double back, back_most, column;  /* (4.6): |B D W ... D W| on m^(2/3) units; whole; on one */
    int64_t where[3], where_back[3]; /* sequence, first and last position of sparse and back */
    double *left, *right;            /* [m] the sparse vectors found for (4.5) */
    double *inner;                   /* [m] the one found for (4.6) */
} tsri_rnn_spans;

tsr_status tsri_rnn_spans_init(tsri_rnn_spans *s, const tsri_rnn_case *k, int64_t count);
void tsri_rnn_spans_fini(tsri_rnn_spans *s);
double tsri_rnn_spans_operations(const tsri_rnn_case *k); /* of one sequence */
int64_t tsri_rnn_sparsity(int64_t m);                     /* m^(2/3), rounded down */

/* Rows of Lemma B.11 to Corollary B.19. */
tsr_status tsri_rnn_certify_spans(tsri_certificate *c, const tsri_rnn_case *k,
                                  const tsri_rnn_spans *s);

/* ---- Fresh randomness at W(0) (rnn_fresh.c) ------------------------------------------------- */

/* (4.2), (4.3) over `count` sequences: the least |(I - U U^T) h|, where U spans the states of all
 * earlier positions, and the least separation of two such remainders at a position (Definition
 * B.8). */
tsr_status tsri_rnn_fresh(double *shortest, double *separable, const tsri_rnn_case *k,
                          int64_t count);
tsr_status tsri_rnn_certify_fresh(tsri_certificate *c, const tsri_rnn_case *k);

/* ---- The start (rnn_start.c): (4.1), Lemmas D.2, D.7 ---------------------------------------- */

tsr_status tsri_rnn_certify_start(tsri_certificate *c, const tsri_rnn_case *k);

/* ---- Away from the start (rnn_drift.c): section 5 ------------------------------------------- */

/* What a look keeps for (5.1): maxima over all sequences and positions. */
typedef struct tsri_rnn_moved {
    double g, flips, flip_g, longest; /* |g'|, |h'|; |D'|_0; |D' g|; |g| + |g~| */
} tsri_rnn_moved;

tsr_status tsri_rnn_moved_of(tsri_rnn_moved *out, const tsri_rnn_case *k);
/* `tau` is sqrt(m) |W - W(0)|_F now. */
tsr_status tsri_rnn_certify_drift(tsri_certificate *c, const tsri_rnn_case *k,
                                  const tsri_past *past, double tau);

/* ---- Perturbations y z^T (rnn_rank1.c): (5.4), (5.5) ---------------------------------- */

tsr_status tsri_rnn_certify_rank1(tsri_certificate *c, const tsri_rnn_case *k);

/* ---- The objective (rnn_gradient.c) --------------------------------------------------------- */

typedef struct tsri_rnn_gradient {
    double f, most;   /* f(W), max |loss_(i,l)| */
    double squares;   /* |grad f|_F^2 */
    double most_i;    /* largest |grad f_i|_F^2 */
    double most_row;  /* largest |grad_k f|_2 */
    double *gradient; /* [m, m], or NULL: not wanted */
} tsri_rnn_gradient;

/* f and its gradient at `net`; `fixed`: the fake gradient of Definition E.1, with the targets as
 * the fixed vectors. The gradient is written only if out->gradient is not NULL. */
tsr_status tsri_rnn_gradient_of(tsri_rnn_gradient *out, const tsri_rnn_case *k,
                                const tsri_rnn_net *net, bool fixed);
double tsri_rnn_gradient_operations(const tsri_rnn_case *k);

/* Theorem 5 and Lemma E.2 (before the run); Theorems 3, 4 and Claim G.2. *f = f(W), NaN when that
 * would take too long. */
tsr_status tsri_rnn_certify_fixed(tsri_certificate *c, const tsri_rnn_case *k);
tsr_status tsri_rnn_certify_gradient(tsri_certificate *c, const tsri_rnn_case *k, double tau,
                                     double *f);

/* Our eta in the paper's units (rnn.c): our step descends the sum over its batch, a step of Theorem
 * 2 n / |S| times that (appendix I). */
double tsri_rnn_paper_step(const tsri_run_view *view, double eta);

/* ---- Norms (rnn_blocks.c) ------------------------------------------------------------------- */

/* |a|_2 of a [rows, cols], rows <= cols, from the eigenvalues of a a^T. */
tsr_status tsri_rnn_norm_wide(double *norm, const double *a, int64_t rows, int64_t cols,
                              tsri_pool *pool);

/* |a|_2 of a [m, m] by power iteration: value <= |a|_2 <= high, the latter at TSRI_RNN_LEVEL.
 * x [m] (optional) becomes the right vector. */
tsr_status tsri_rnn_norm_square(double *value, double *high, double *x, const double *a, int64_t m,
                                uint64_t seed, tsri_pool *pool);
#define TSRI_RNN_LEVEL 0.99

/* to [d, m] = from D W: one position of B D W ... D W, from the left; D is g > 0. `to` and `from`
 * must differ; `from` is multiplied by D. */
tsr_status tsri_rnn_back(double *to, double *from, const double *g, const double *W, int64_t d,
                         int64_t m, tsri_pool *pool);

/* y = a x, y = a^T x of a [rows, cols]. */
void tsri_rnn_times(double *y, const double *a, const double *x, int64_t rows, int64_t cols,
                    bool transposed, tsri_pool *pool);

#endif
