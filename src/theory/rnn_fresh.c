/* rnn_fresh.c - (4.2) and (4.3) of the recurrent paper, Lemmas B.6 and B.9: how much of a state is
 * new, and how far the new parts of two sequences are apart.
 *
 * U are the states of all sequences at the positions before, made orthonormal (Definition B.1).
 * With fewer sequences U is smaller and the rests are longer: a part can refute the bounds and no
 * more.
 */
#include "theory/rnn_parts.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "linalg/gemm64.h"

#include <math.h>
#include <string.h>

static const double MOST_BYTES = 1 << 30; /* of U */

typedef struct basis {
    const tsri_rnn_case *k;
    double *u; /* [count, m] orthonormal */
    int64_t count, m, n;
    int64_t *index;       /* [n] which sequences */
    double *g, *h, *rest; /* [n, m] of the position at hand */
    double *gram;         /* [ROWS, n] */
    float *x;             /* [n, dx] */
    int64_t l;
} basis;

enum { ROWS = 64 };

static void basis_fini(basis *b)
{
    tsri_free(b->u);
    tsri_free(b->index);
    tsri_free(b->g);
    tsri_free(b->h);
    tsri_free(b->rest);
    tsri_free(b->gram);
    tsri_free(b->x);
}

static tsr_status basis_init(basis *b, const tsri_rnn_case *k, int64_t n)
{
    tsr_status st = TSR_OK;
    int64_t m = k->then->m, most = tsri_min(n * k->then->L, m);
    *b = (basis){.k = k, .m = m, .n = n};
    TSR_TRY(tsri_alloc(&b->u, most * m, sizeof *b->u));
    TSR_TRY(tsri_alloc(&b->index, n, sizeof *b->index));
    TSR_TRY(tsri_alloc(&b->g, n * m, sizeof *b->g));
    TSR_TRY(tsri_alloc(&b->h, n * m, sizeof *b->h));
    TSR_TRY(tsri_alloc(&b->rest, n * m, sizeof *b->rest));
    TSR_TRY(tsri_alloc(&b->gram, ROWS * n, sizeof *b->gram));
    TSR_TRY(tsri_alloc(&b->x, n * k->then->dx, sizeof *b->x));
    for (int64_t j = 0; j < n; j++)
        b->index[j] = (int64_t)((double)j * (double)k->n / (double)n);
done:
    return st;
}

static bool lasts(const basis *b, int64_t j)
{
    return !b->k->length || b->l < b->k->length[b->index[j]];
}

/* ---- Gram-Schmidt --------------------------------------------------------------------------- */

/* Takes out of x what lies along the first `count` vectors; twice is enough (Kahan, Parlett). */
static void take_out(double *x, const basis *b, int64_t count)
{
    for (int twice = 0; twice < 2; twice++)
        for (int64_t e = 0; e < count; e++) {
            const double *u = b->u + e * b->m;
            double along = tsri_dot64(x, u, b->m);
            for (int64_t i = 0; i < b->m; i++)
                x[i] -= along * u[i];
        }
}

static void rest_of(void *context, int64_t j, int thread)
{
    (void)thread;
    const basis *b = context;
    double *rest = b->rest + j * b->m;
    memcpy(rest, b->h + j * b->m, (size_t)b->m * sizeof *rest);
    take_out(rest, b, b->count);
}

/* The rests of this position join the basis, where anything is left of them. */
static void join(basis *b)
{
    for (int64_t j = 0; j < b->n && b->count < b->m; j++) {
        double *u = b->u + b->count * b->m;
        double before = tsri_length64(b->h + j * b->m, b->m);
        memcpy(u, b->rest + j * b->m, (size_t)b->m * sizeof *u);
        take_out(u, b, b->count);
        double size = tsri_length64(u, b->m);
        if (!(size > 1e-10 * before))
            continue;
        for (int64_t i = 0; i < b->m; i++)
            u[i] /= size;
        b->count++;
    }
}

/* ---- One position after the other ----------------------------------------------------------- */

static tsr_status next_position(basis *b)
{
    tsr_status st = TSR_OK;
    const tsri_rnn_case *k = b->k;
    int64_t dx = k->then->dx;
    for (int64_t j = 0; j < b->n; j++)
        memcpy(b->x + j * dx, k->x + (b->index[j] * k->then->L + b->l) * dx,
               (size_t)dx * sizeof *b->x);
    TSR_TRY(tsri_rnn_advance(b->g, k->then, b->l > 0 ? b->h : NULL, b->x, dx, b->n, k->pool));
    for (int64_t j = 0; j < b->n; j++)
        for (int64_t i = j * b->m; i < (j + 1) * b->m; i++)
            b->h[i] = lasts(b, j) && b->g[i] > 0 ? b->g[i] : 0;
done:
    return st;
}

/* |(I - y y^T / |y|^2) x|, the lesser of both ways round, from |x|^2, |y|^2 and <x, y>. Where most
 * of it cancels the rest of the shorter one is written out: the bound is far below sqrt(1e-16). */
static double apart(const double *x, const double *y, double xx, double yy, double xy, int64_t m)
{
    if (xx > yy)
        return apart(y, x, yy, xx, xy, m);
    double squares = yy > 0 ? xx - xy * xy / yy : 0;
    if (squares > 1e-6 * xx || !(yy > 0))
        return sqrt(squares);
    squares = 0;
    for (int64_t i = 0; i < m; i++)
        squares += (x[i] - xy / yy * y[i]) * (x[i] - xy / yy * y[i]);
    return sqrt(squares);
}

static tsr_status judge(double *shortest, double *separable, const basis *b, double *squares)
{
    tsr_status st = TSR_OK;
    for (int64_t j = 0; j < b->n; j++) {
        squares[j] = tsri_dot64(b->rest + j * b->m, b->rest + j * b->m, b->m);
        if (lasts(b, j))
            *shortest = fmin(*shortest, sqrt(squares[j]));
    }
    for (int64_t from = 0; from < b->n; from += ROWS) {
        int64_t rows = tsri_min(ROWS, b->n - from);
        TSR_TRY(tsri_hear_stop(b->k->view));
        TSR_TRY(tsri_gemm64_run(&(tsri_gemm64){.b_transposed = true,
                                               .m = rows,
                                               .n = b->n,
                                               .k = b->m,
                                               .a = b->rest + from * b->m,
                                               .b = b->rest,
                                               .c = b->gram},
                                b->k->pool));
        for (int64_t r = 0; r < rows; r++)
            for (int64_t j = 0; j < from + r; j++)
                if (lasts(b, j) && lasts(b, from + r))
                    *separable = fmin(*separable, apart(b->rest + (from + r) * b->m,
                                                        b->rest + j * b->m, squares[from + r],
                                                        squares[j], b->gram[r * b->n + j], b->m));
    }
done:
    return st;
}

tsr_status tsri_rnn_fresh(double *shortest, double *separable, const tsri_rnn_case *k,
                          int64_t count)
{
    tsr_status st = TSR_OK;
    basis b = {0};
    double *squares = NULL;
    *shortest = *separable = INFINITY;
    TSR_TRY(basis_init(&b, k, count));
    TSR_TRY(tsri_alloc(&squares, count, sizeof *squares));
    for (b.l = 0; b.l < k->then->L; b.l++) {
        TSR_TRY(tsri_hear_stop(k->view));
        TSR_TRY(next_position(&b));
        tsri_pool_run(k->pool, rest_of, &b, b.n);
        TSR_TRY(judge(shortest, separable, &b, squares));
        join(&b);
    }
done:
    basis_fini(&b);
    tsri_free(squares);
    return st;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static double operations(const tsri_rnn_case *k, double count)
{
    double states = count * k->s.L, most = fmin(states, k->s.m);
    return states * k->s.m * (2 * k->s.m + 16 * most + 2 * count);
}

static int64_t fitting(tsri_certificate *c, const tsri_rnn_case *k)
{
    int64_t count = k->n;
    double all = operations(k, (double)k->n);
    while (count > 1 && (operations(k, (double)count) > k->effort ||
                         8.0 * fmin((double)count * k->s.L, k->s.m) * k->s.m > MOST_BYTES))
        count -= tsri_ceil_div(count, 8);
    if (count < k->n)
        tsri_certify_long(c, "(4.2), (4.3), new parts of states", all);
    return count;
}

tsr_status tsri_rnn_certify_fresh(tsri_certificate *c, const tsri_rnn_case *k)
{
    tsr_status st = TSR_OK;
    double shortest, separable;
    int64_t count = fitting(c, k);
    tsri_seen seen = tsri_saw(count, k->n, "sequences");
    TSR_TRY(tsri_rnn_fresh(&shortest, &separable, k, count));
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.start[TSRI_RNN_B6],
                                   .sense = TSRI_AT_LEAST,
                                   .measured = shortest,
                                   .required = tsri_rnn_delta_most(k->s.L, k->s.m) / 2,
                                   .seen = seen},
                 "least |(I - U U^T) h_(i,l)|, U the states before, against 1 / (2 10^6 L^2 log^3 "
                 "m)");
    tsri_certify(
        c,
        &(tsri_condition){.of = k->of.start[TSRI_RNN_B9],
                          .sense = TSRI_AT_LEAST,
                          .measured = isfinite(separable) || k->n < 2 ? separable : (double)NAN,
                          .required = k->s.delta / 2,
                          .seen = seen,
                          .by_construction = k->n < 2 ? "having one sequence" : NULL},
        "least separability of two such rests of a position, against delta/2");
done:
    return st;
}
