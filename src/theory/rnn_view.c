/* rnn_view.c - states of a recurrent network, the chains along a sequence, and what is new in them.
 */
#include "theory/rnn_view.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

/* ---- States --------------------------------------------------------------------------------- */

void tsri_rnn_view_fini(tsri_rnn_view *v)
{
    tsri_free(v->h);
    tsri_free(v->g);
    v->h = v->g = NULL;
}

static void one_position(tsri_rnn_view *v, float *of_x, float *x, int64_t l, tsri_pool *pool)
{
    float *g = v->g + tsri_rnn_row(v, l, 0), *h = v->h + tsri_rnn_row(v, l, 0);
    for (int64_t i = 0; i < v->n; i++)
        memcpy(x + i * v->dx, v->x + (i * v->L + l) * v->dx, (size_t)v->dx * sizeof *x);
    tsri_rows_product(of_x, x, v->A, v->n, v->m, v->dx, pool);
    if (l > 0)
        tsri_rows_product(g, v->h + tsri_rnn_row(v, l - 1, 0), v->W, v->n, v->m, v->m, pool);
    for (int64_t i = 0; i < v->n; i++)
        for (int64_t k = i * v->m; k < (i + 1) * v->m; k++) {
            bool lasts = l < tsri_rnn_length(v, i);
            g[k] = lasts ? g[k] + of_x[k] : 0;
            h[k] = v->linear || g[k] > 0 ? g[k] : 0;
        }
}

tsr_status tsri_rnn_view_init(tsri_rnn_view *v, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    float *of_x = NULL, *x = NULL;
    v->h = v->g = NULL;
    TSR_TRY(tsri_alloc(&v->h, v->L * v->n * v->m, sizeof *v->h));
    TSR_TRY(tsri_alloc(&v->g, v->L * v->n * v->m, sizeof *v->g));
    TSR_TRY(tsri_alloc(&of_x, v->n * v->m, sizeof *of_x));
    TSR_TRY(tsri_alloc(&x, v->n * v->dx, sizeof *x));
    for (int64_t l = 0; l < v->L; l++)
        one_position(v, of_x, x, l, pool);
done:
    tsri_free(of_x);
    tsri_free(x);
    if (st != TSR_OK)
        tsri_rnn_view_fini(v);
    return st;
}

int64_t tsri_rnn_chain(tsri_factor *f, const tsri_rnn_view *v, int64_t i, int64_t from, int64_t to,
                       bool open)
{
    for (int64_t l = from; l <= to; l++) {
        bool gated = !v->linear && !(open && l == to);
        f[l - from] = (tsri_factor){v->W, v->m, v->m, gated ? v->g + tsri_rnn_row(v, l, i) : NULL};
    }
    return to - from + 1;
}

/* ---- Fresh randomness ----------------------------------------------------------------------- */

typedef struct basis {
    double *u; /* [count, m] orthonormal */
    int64_t count, m;
    double *rest; /* [n, m] of the position at hand */
} basis;

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Takes out of x what lies along the first `count` vectors; twice is enough (Kahan, Parlett). */
static void take_out(double *x, const basis *b, int64_t count)
{
    for (int twice = 0; twice < 2; twice++)
        for (int64_t k = 0; k < count; k++) {
            double along = dot(x, b->u + k * b->m, b->m);
            for (int64_t j = 0; j < b->m; j++)
                x[j] -= along * b->u[k * b->m + j];
        }
}

typedef struct work {
    basis *b;
    const tsri_rnn_view *v;
    int64_t l;
} work;

static void rest_of(void *context, int64_t i, int thread)
{
    (void)thread;
    const work *w = context;
    double *rest = w->b->rest + i * w->b->m;
    const float *h = w->v->h + tsri_rnn_row(w->v, w->l, i);
    for (int64_t j = 0; j < w->b->m; j++)
        rest[j] = (double)h[j];
    take_out(rest, w->b, w->b->count);
}

/* The rests of this position join the basis, where anything is left of them. */
static void join(basis *b, int64_t count)
{
    for (int64_t i = 0; i < count && b->count < b->m; i++) {
        double *u = b->u + b->count * b->m;
        memcpy(u, b->rest + i * b->m, (size_t)b->m * sizeof *u);
        double before = sqrt(dot(u, u, b->m));
        take_out(u, b, b->count);
        double size = sqrt(dot(u, u, b->m));
        if (!(size > 1e-10 * before))
            continue;
        for (int64_t j = 0; j < b->m; j++)
            u[j] /= size;
        b->count++;
    }
}

/* |(I - y y^T / |y|^2) x|, the lesser of both ways round. */
static double apart(const double *x, const double *y, int64_t m)
{
    double xx = dot(x, x, m), yy = dot(y, y, m), xy = dot(x, y, m);
    double less = xx < yy ? xx : yy, more = xx < yy ? yy : xx;
    return more > 0 ? sqrt(fmax(0, less - xy * xy / more)) : 0;
}

static void look(double *shortest, double *separable, const basis *b, const tsri_rnn_view *v,
                 int64_t l, int64_t count)
{
    *shortest = *separable = INFINITY;
    for (int64_t i = 0; i < count; i++) {
        const double *x = b->rest + i * b->m;
        if (l >= tsri_rnn_length(v, i))
            continue;
        *shortest = fmin(*shortest, sqrt(dot(x, x, b->m)));
        for (int64_t j = 0; j < i; j++)
            if (l < tsri_rnn_length(v, j))
                *separable = fmin(*separable, apart(x, b->rest + j * b->m, b->m));
    }
}

tsr_status tsri_rnn_fresh(double *shortest, double *separable, const tsri_rnn_view *v,
                          int64_t count, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    basis b = {.m = v->m};
    int64_t most = count * v->L < v->m ? count * v->L : v->m;
    TSR_TRY(tsri_alloc(&b.u, most * v->m, sizeof *b.u));
    TSR_TRY(tsri_alloc(&b.rest, count * v->m, sizeof *b.rest));
    for (int64_t l = 0; l < v->L; l++) {
        work w = {&b, v, l};
        tsri_pool_run(pool, rest_of, &w, count);
        look(&shortest[l], &separable[l], &b, v, l, count);
        join(&b, count);
    }
done:
    tsri_free(b.u);
    tsri_free(b.rest);
    return st;
}
