/* gated_norms.c - spectral norms that the GReLU paper bounds.
 *
 * Of a map that is given by its products power iteration has a lower bound, from a vector that
 * shows it. The upper end is that of Kuczynski and Wozniakowski (1992), Theorem 4.1: after k steps
 * from a random start in R^m the largest eigenvalue of A^T A is underestimated by more than a
 * factor 1 - e with chance at most 0.824 sqrt(m) (1 - e)^(k - 1/2). The chance is shared by all
 * norms that a run can ask for, so that a certificate's ends hold together.
 */
#include "theory/gated.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "linalg/gemm64.h"
#include "net/grelu.h"
#include "theory/chain.h"

#include <math.h>
#include <string.h>

enum { TAU_STEPS = 60, CHAIN_STEPS = 40 };

/* The upper end beside a norm that `steps` steps in R^m found, one of `asked` in a round. */
static double upper(const tsri_run_view *view, double norm, int64_t m, int64_t steps, double asked)
{
    double chance = TSRI_GATED_CHANCE / (asked * ((double)view->settings->rounds + 1));
    double miss = pow(chance / (0.824 * sqrt((double)m)), 1 / ((double)steps - 0.5));
    return norm / sqrt(miss);
}

/* ---- Weights --------------------------------------------------------------------------------- */

static void widen(tsri_gated_norm *all, double low, double high)
{
    all->low = fmax(all->low, low);
    all->high = fmax(all->high, high);
}

static tsr_status factor_norm(tsri_gated_norm *all, const tsri_run_view *view, const tsri_factor *a,
                              const tsri_factor *b, int64_t asked)
{
    tsr_status st = TSR_OK;
    tsri_norm norm;
    tsri_chain with = {a, 1}, less = {b, 1};
    TSR_TRY(tsri_chain_norm(&norm, &with, b ? &less : NULL, TAU_STEPS, view->settings->seed,
                            view->device.pool));
    widen(all, norm.value,
          norm.level < 1 ? upper(view, norm.value, a->cols, TAU_STEPS, (double)asked) : norm.high);
done:
    return st;
}

static const float *numbers(const tsri_opened *store, const char *name)
{
    return (const float *)store->w + store->net->param[tsri_net_param(store->net, name)].offset;
}

tsr_status tsri_gated_tau(tsri_gated_norm *tau, const tsri_run_view *view, const tsri_opened *now,
                          const tsri_opened *then)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = now->net;
    *tau = (tsri_gated_norm){0, 0};
    for (int64_t p = 0; p < net->params; p++) {
        const tsri_param *w = &net->param[p];
        if (w->role != TSRI_TRAINED)
            continue;
        tsri_factor a = {numbers(now, w->name), w->shape[0], w->shape[1], NULL};
        tsri_factor b = {numbers(then, w->name), w->shape[0], w->shape[1], NULL};
        TSR_TRY(factor_norm(tau, view, &a, &b, 2 * tsri_grelu_layers(net)));
    }
done:
    return st;
}

tsr_status tsri_gated_steepest(tsri_gated_norm *g, const tsri_run_view *view, const float *gradient)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = view->net;
    *g = (tsri_gated_norm){0, 0};
    for (int64_t p = 0; p < net->params; p++) {
        const tsri_param *w = &net->param[p];
        if (w->role != TSRI_TRAINED)
            continue;
        tsri_factor a = {gradient + w->offset, w->shape[0], w->shape[1], NULL};
        TSR_TRY(factor_norm(g, view, &a, NULL, 2 * tsri_grelu_layers(net)));
    }
done:
    return st;
}

double tsri_gated_drift(const tsri_opened *now, const tsri_opened *then)
{
    double most = 0;
    for (int64_t p = 0; p < now->net->params; p++) {
        const tsri_param *w = &now->net->param[p];
        double sum = 0;
        if (w->role != TSRI_TRAINED)
            continue;
        const float *a = numbers(now, w->name), *b = numbers(then, w->name);
        for (int64_t i = 0; i < w->count; i++)
            sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        most = fmax(most, sqrt(sum));
    }
    return most;
}

/* ---- Chains ---------------------------------------------------------------------------------- */

/* Z_(a,b) = D_a W_a ... W_(b+1) D_b of every sample of a block, applied to its own vector. */
typedef struct line {
    const tsri_gated *v;
    const tsri_opened *store;
    tsri_pool *pool;
    int64_t a, b;
    double *x, *y; /* [n, m] */
} line;

static void gate(const line *l, double *x, int64_t k)
{
    const tsri_gated *v = l->v;
    for (int64_t i = 0; i < v->n; i++)
        for (int64_t j = 0; j < v->m; j++)
            if (!tsri_gated_is_on(v, k, i, j))
                x[i * v->m + j] = 0;
}

/* x = D_to W x or, `back`, D_to W^T x; W between layers k - 1 and k. */
static tsr_status pass(line *l, int64_t k, int64_t to, bool back)
{
    tsr_status st = TSR_OK;
    double *w = NULL;
    const tsri_gated *v = l->v;
    TSR_TRY(tsri_gated_weight(&w, l->store, k, NULL, 0));
    tsri_gemm64 g = {
        .b_transposed = !back, .m = v->n, .n = v->m, .k = v->m, .a = l->x, .b = w, .c = l->y};
    TSR_TRY(tsri_gemm64_run(&g, l->pool));
    double *swap = l->x;
    l->x = l->y;
    l->y = swap;
    gate(l, l->x, to);
done:
    tsri_free(w);
    return st;
}

/* Each row to length 1, 0 stays; the largest length it had. */
static double normalise(const line *l)
{
    double most = 0;
    for (int64_t i = 0; i < l->v->n; i++) {
        double *x = l->x + i * l->v->m, length = sqrt(tsri_gated_dot(x, x, l->v->m));
        most = fmax(most, length);
        for (int64_t j = 0; length > 0 && j < l->v->m; j++)
            x[j] /= length;
    }
    return most;
}

/* The largest |Z_(a,b)| of the block's samples. */
static tsr_status line_norm(double *norm, line *l, uint64_t seed)
{
    tsr_status st = TSR_OK;
    const tsri_gated *v = l->v;
    *norm = 1; /* a = b: of units that are on */
    for (int64_t i = 0; i < v->n; i++) {
        tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_THEORY, 2, v->from + i, l->a * v->L + l->b);
        for (int64_t j = 0; j < v->m; j++)
            l->x[i * v->m + j] = tsri_rng_normal(&rng);
    }
    gate(l, l->x, l->b);
    for (int64_t step = 0; step < CHAIN_STEPS && l->a > l->b; step++) {
        (void)normalise(l);
        for (int64_t k = l->b + 1; k <= l->a; k++)
            TSR_TRY(pass(l, k, k, false));
        *norm = normalise(l);
        for (int64_t k = l->a; k > l->b; k--)
            TSR_TRY(pass(l, k, k - 1, true));
    }
done:
    return st;
}

static tsr_status lines_of_block(tsri_gated_norm *z, const tsri_run_view *view,
                                 const tsri_opened *store, const tsri_gated_part *part,
                                 double asked)
{
    tsr_status st = TSR_OK;
    tsri_gated v = {0};
    line l = {.v = &v, .store = store, .pool = view->device.pool};
    double norm;
    TSR_TRY(tsri_gated_init(&v, view, store, part));
    TSR_TRY(tsri_alloc_raw(&l.x, v.n * v.m, sizeof *l.x));
    TSR_TRY(tsri_alloc_raw(&l.y, v.n * v.m, sizeof *l.y));
    for (l.a = 1; l.a <= v.L; l.a++)
        for (l.b = 1; l.b <= l.a; l.b++) {
            TSR_TRY(tsri_hear_stop(view));
            TSR_TRY(line_norm(&norm, &l, view->settings->seed));
            bool exact = l.a == l.b;
            widen(z, norm, exact ? norm : upper(view, norm, v.m, CHAIN_STEPS, asked));
        }
done:
    tsri_free(l.x);
    tsri_free(l.y);
    tsri_gated_fini(&v);
    return st;
}

tsr_status tsri_gated_chains(tsri_gated_norm *z, const tsri_run_view *view,
                             const tsri_opened *store, const tsri_gate_table *gates, int64_t n,
                             int64_t block)
{
    tsr_status st = TSR_OK;
    double L = (double)tsri_grelu_layers(store->net), asked = (double)n * L * L;
    *z = (tsri_gated_norm){0, 0};
    for (int64_t from = 0; from < n; from += block) {
        tsri_gated_part part = {
            .from = from, .n = n - from < block ? n - from : block, .gates = gates};
        TSR_TRY(lines_of_block(z, view, store, &part, asked));
    }
done:
    return st;
}
