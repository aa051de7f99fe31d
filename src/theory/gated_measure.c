/* gated_measure.c - what the GReLU paper's proof asks for, measured on views of a net. See gated.h.
 */
#include "theory/gated.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"
#include "linalg/lapack.h"
#include "theory/chain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The features before layer k of sample i, and row p of its F_(k+1). */
static const double *before(const tsri_gated *v, int64_t k, int64_t i)
{
    return v->h + ((k - 1) * v->n + i) * v->m;
}

static const double *behind(const tsri_gated *v, int64_t k, int64_t i, int64_t p)
{
    return v->f + ((k * v->pairs + i) * v->dy + p) * v->m;
}

/* ---- (14) and (15) --------------------------------------------------------------------------- */

static void widen_ends(double *least, double *most, const double *value, int64_t n)
{
    *least = fmin(*least, value[0]);
    *most = fmax(*most, value[n - 1]);
}

/* F F^T of every sample in view. */
static tsr_status ends_y(tsri_gated_ends *e, const tsri_gated *v)
{
    tsr_status st = TSR_OK;
    double *gram = NULL, *value = NULL;
    int64_t d = v->dy;
    TSR_TRY(tsri_alloc(&gram, d * d, sizeof *gram));
    TSR_TRY(tsri_alloc(&value, d, sizeof *value));
    for (int64_t k = 1; k <= v->L; k++)
        for (int64_t i = 0; i < v->pairs; i++) {
            for (int64_t p = 0; p < d; p++)
                for (int64_t q = 0; q <= p; q++)
                    gram[p * d + q] = dot(behind(v, k, i, p), behind(v, k, i, q), v->m);
            TSR_TRY(tsri_eigenvalues(value, gram, d));
            widen_ends(&e->alpha_y, &e->beta_y, value, d);
        }
done:
    tsri_free(gram);
    tsri_free(value);
    return st;
}

/* G_k of one sample in turn, k = 0 .. L - 1: g [m, d] becomes D_k W_k g. */
typedef struct gee {
    double *g, *next; /* [m, d] */
    double *weight;   /* [m, max(m, d)] */
    double *gram;     /* [d, d] */
    double *value;    /* [d] */
} gee;

static void gee_fini(gee *w)
{
    tsri_free(w->g);
    tsri_free(w->next);
    tsri_free(w->weight);
    tsri_free(w->gram);
    tsri_free(w->value);
}

static tsr_status gee_init(gee *w, const tsri_gated *v)
{
    tsr_status st = TSR_OK;
    int64_t side = v->m > v->d ? v->m : v->d;
    TSR_TRY(tsri_alloc(&w->g, v->m * v->d, sizeof *w->g));
    TSR_TRY(tsri_alloc(&w->next, v->m * v->d, sizeof *w->next));
    TSR_TRY(tsri_alloc(&w->weight, v->m * side, sizeof *w->weight));
    TSR_TRY(tsri_alloc(&w->gram, v->d * v->d, sizeof *w->gram));
    TSR_TRY(tsri_alloc(&w->value, v->d, sizeof *w->value));
done:
    return st;
}

static tsr_status next_gee(gee *w, const tsri_gated *v, const tsri_store *store, int64_t k,
                           int64_t i, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    char name[TSRI_NAME] = "c.weight";
    if (k > 0)
        (void)snprintf(name, sizeof name, "w.%lld.weight", (long long)k);
    int64_t p = tsri_net_param(store->net, name), count = store->net->param[p].count;
    const float *from = tsri_store_at(store, store->w, p);
    double *to = k == 0 ? w->next : w->weight;
    for (int64_t j = 0; j < count; j++)
        to[j] = (double)from[j];
    tsri_gemm64 product = {.m = v->m, .n = v->d, .k = v->m, .a = to, .b = w->g, .c = w->next};
    if (k > 0)
        TSR_TRY(tsri_gemm64_run(&product, pool));
    for (int64_t j = 0; j < v->m; j++)
        if (!tsri_gated_is_on(v, k, i, j))
            memset(w->next + j * v->d, 0, (size_t)v->d * sizeof(double));
    double *swap = w->g;
    w->g = w->next;
    w->next = swap;
done:
    return st;
}

static tsr_status ends_x(tsri_gated_ends *e, const tsri_gated *v, const tsri_store *store,
                         tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    gee w = {0};
    TSR_TRY(gee_init(&w, v));
    for (int64_t i = 0; i < e->few; i++)
        for (int64_t k = 0; k < v->L; k++) {
            TSR_TRY(next_gee(&w, v, store, k, i, pool));
            tsri_gemm64 gram = {.a_transposed = true,
                                .m = v->d,
                                .n = v->d,
                                .k = v->m,
                                .a = w.g,
                                .b = w.g,
                                .c = w.gram};
            TSR_TRY(tsri_gemm64_run(&gram, pool));
            TSR_TRY(tsri_eigenvalues(w.value, w.gram, v->d));
            widen_ends(&e->alpha_x, &e->beta_x, w.value, v->d);
        }
    e->alpha_x = fmax(e->alpha_x, 0); /* of a rank that is short LAPACK has +-1e-13 */
done:
    gee_fini(&w);
    return st;
}

/* Multiplications for one sample: above it one sample, and eigenvalues of more than a thousand
 * inputs not at all. */
#define MUCH_WORK 4e9
enum { MANY_INPUTS = 1100 };

tsr_status tsri_gated_ends_of(tsri_gated_ends *e, const tsri_gated *v, const tsri_store *store,
                              tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    double work = (double)v->m * (double)v->d * ((double)v->m + (double)v->d) * (double)v->L;
    *e = (tsri_gated_ends){.alpha_x = INFINITY, .alpha_y = INFINITY};
    e->few = work > MUCH_WORK ? 1 : v->pairs < TSRI_GATED_FEW ? v->pairs : TSRI_GATED_FEW;
    TSR_TRY(ends_y(e, v));
    if (v->d > MANY_INPUTS) {
        e->alpha_x = e->beta_x = NAN;
        e->few = 0;
    } else {
        TSR_TRY(ends_x(e, v, store, pool));
    }
done:
    return st;
}

/* ---- (16) ------------------------------------------------------------------------------------ */

/* |F^j F^i^T|_2, squared: the largest eigenvalue of M M^T. */
static tsr_status crossed(double *norm, double *M, double *gram, double *value, const tsri_gated *v,
                          int64_t k, int64_t i, int64_t j)
{
    tsr_status st = TSR_OK;
    int64_t d = v->dy;
    for (int64_t p = 0; p < d; p++)
        for (int64_t q = 0; q < d; q++)
            M[p * d + q] = dot(behind(v, k, j, p), behind(v, k, i, q), v->m);
    for (int64_t p = 0; p < d; p++)
        for (int64_t q = 0; q <= p; q++)
            gram[p * d + q] = dot(M + p * d, M + q * d, d);
    TSR_TRY(tsri_eigenvalues(value, gram, d));
    *norm = sqrt(fmax(value[d - 1], 0));
done:
    return st;
}

tsr_status tsri_gated_cross(double *most, const tsri_gated *v)
{
    tsr_status st = TSR_OK;
    double *M = NULL, *gram = NULL, *value = NULL, norm;
    int64_t d = v->dy;
    *most = 0;
    TSR_TRY(tsri_alloc(&M, d * d, sizeof *M));
    TSR_TRY(tsri_alloc(&gram, d * d, sizeof *gram));
    TSR_TRY(tsri_alloc(&value, d, sizeof *value));
    for (int64_t k = 1; k <= v->L; k++)
        for (int64_t i = 0; i < v->pairs; i++)
            for (int64_t j = 0; j < i; j++) {
                TSR_TRY(crossed(&norm, M, gram, value, v, k, i, j));
                double product = fabs(dot(before(v, k, i), before(v, k, j), v->m)) * norm;
                *most = fmax(*most, product);
            }
done:
    tsri_free(M);
    tsri_free(gram);
    tsri_free(value);
    return st;
}

/* ---- Theorem 3 and Corollary 4 --------------------------------------------------------------- */

/* |a (x) b - a' (x) b'|^2 without cancellation: the difference is Da (x) b + a' (x) Db. */
static double outer_change(const double *a, const double *b, const double *a1, const double *b1,
                           int64_t m)
{
    double da = 0, db = 0, aa = 0, bb = 0, da_a = 0, b_db = 0;
    for (int64_t j = 0; j < m; j++) {
        double u = a[j] - a1[j], w = b[j] - b1[j];
        da += u * u;
        db += w * w;
        aa += a1[j] * a1[j];
        bb += b[j] * b[j];
        da_a += u * a1[j];
        b_db += b[j] * w;
    }
    return da * bb + aa * db + 2 * da_a * b_db;
}

double tsri_gated_kernel(const tsri_gated *v, int64_t i, int64_t j, int64_t p)
{
    double sum = 0;
    for (int64_t k = 1; k <= v->L; k++)
        sum += dot(behind(v, k, i, p), behind(v, k, j, p), v->m) *
               dot(before(v, k, i), before(v, k, j), v->m);
    return sum;
}

double tsri_gated_least_gradient(const tsri_gated *v)
{
    double least = INFINITY;
    for (int64_t k = 1; k <= v->L; k++)
        for (int64_t i = 0; i < v->pairs; i++)
            for (int64_t p = 0; p < v->dy; p++) {
                const double *f = behind(v, k, i, p), *h = before(v, k, i);
                least = fmin(least, dot(f, f, v->m) * dot(h, h, v->m));
            }
    return least;
}

void tsri_gated_moved(double *ratio, double *kernel, const tsri_gated *now, const tsri_gated *then)
{
    *ratio = *kernel = 0;
    for (int64_t p = 0; p < now->dy; p++)
        for (int64_t i = 0; i < now->pairs; i++) {
            double own = tsri_gated_kernel(then, i, i, p), change = 0;
            for (int64_t k = 1; k <= now->L; k++)
                change += outer_change(behind(now, k, i, p), before(now, k, i),
                                       behind(then, k, i, p), before(then, k, i), now->m);
            if (!(own > 0))
                continue; /* no path through the net is open for this sample */
            *ratio = fmax(*ratio, sqrt(fmax(change, 0) / own));
            for (int64_t j = 0; j <= i; j++) {
                double other = tsri_gated_kernel(then, j, j, p);
                double far =
                    fabs(tsri_gated_kernel(now, i, j, p) - tsri_gated_kernel(then, i, j, p));
                *kernel = other > 0 ? fmax(*kernel, far / sqrt(own * other)) : *kernel;
            }
        }
}

/* ---- The weights ------------------------------------------------------------------------------
 */

tsr_status tsri_gated_tau(double *tau, double *high, const tsri_run *run, const tsri_store *now,
                          const tsri_store *then)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = now->net;
    *tau = *high = 0;
    for (int64_t p = 0; p < net->params; p++) {
        const tsri_param *w = &net->param[p];
        tsri_norm norm;
        if (w->role != TSRI_TRAINED)
            continue;
        tsri_factor a = {tsri_store_at(now, now->w, p), w->shape[0], w->shape[1], NULL};
        tsri_factor b = {tsri_store_at(then, then->w, tsri_net_param(then->net, w->name)),
                         w->shape[0], w->shape[1], NULL};
        TSR_TRY(tsri_chain_norm(&norm, &(tsri_chain){&a, 1}, &(tsri_chain){&b, 1}, TSRI_GATED_STEPS,
                                run->seed, run->pool));
        *tau = fmax(*tau, norm.value);
        *high = fmax(*high, norm.high);
    }
done:
    return st;
}

/* ---- Patterns ----------------------------------------------------------------------------------
 */

static bool ever_on(const tsri_gated *v, int64_t k, int64_t unit)
{
    for (int64_t i = 0; i < v->n; i++)
        if (tsri_gated_is_on(v, k, i, unit))
            return true;
    return false;
}

void tsri_gated_dead(int64_t *dead, int64_t *died, const tsri_gated *v, const tsri_gated *then)
{
    *dead = *died = 0;
    for (int64_t k = 1; k <= v->L; k++)
        for (int64_t j = 0; j < v->m; j++) {
            bool off = !ever_on(v, k, j);
            *dead += off;
            *died += off && ever_on(then, k, j);
        }
}

double tsri_gated_hamming(const tsri_gated *v, const uint64_t *bits)
{
    int64_t changed = 0, words = v->L * v->n * v->words;
    const uint64_t *on = v->on + v->n * v->words; /* layers 1 .. L; D_0 never changes */
    for (int64_t w = 0; w < words; w++)
        changed += __builtin_popcountll(on[w] ^ bits[w]);
    return (double)changed / ((double)v->L * (double)v->n * (double)v->m);
}

/* ---- Gradients one after the other --------------------------------------------------------------
 */

static tsr_status gradient(tsri_store *store, tsri_run *run, const tsri_gated *v)
{
    tsr_status st = TSR_OK;
    tsri_plan *plan = NULL;
    tsri_loss loss = {.kind = run->loss,
                      .valid = v->n,
                      .label = run->data->train.label,
                      .target = run->data->train.target};
    TSR_TRY(tsri_plan_create(&plan, store, run->backend, run->pool, v->n, true));
    TSR_TRY(tsri_plan_forward(plan, v->x));
    TSR_TRY(tsri_plan_loss(plan, &loss));
    TSR_TRY(tsri_plan_backward(plan));
done:
    tsri_plan_destroy(plan);
    return st;
}

tsr_status tsri_gated_gradients(double *norm, double *change, tsri_run *run, const tsri_gated *v,
                                const float *before_round)
{
    tsr_status st = TSR_OK;
    tsri_store store = {0};
    float *now = NULL;
    int64_t count = run->net->trained;
    TSR_TRY(tsri_store_init(&store, run->net, run->backend->real_bytes, true));
    TSR_TRY(tsri_alloc(&now, count, sizeof *now));
    memcpy(store.w, run->store.w, (size_t)run->net->total * sizeof *now);
    TSR_TRY(gradient(&store, run, v));
    memcpy(now, store.g, (size_t)count * sizeof *now);
    *norm = tsri_length(now, count);
    *change = NAN;
    if (before_round) {
        memcpy(store.w, before_round, (size_t)count * sizeof *now);
        TSR_TRY(gradient(&store, run, v));
        const float *g = store.g;
        for (int64_t i = 0; i < count; i++)
            now[i] -= g[i];
        *change = tsri_length(now, count);
    }
done:
    tsri_free(now);
    tsri_store_fini(&store);
    return st;
}
