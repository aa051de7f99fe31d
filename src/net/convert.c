/* convert.c - a gated net made into a ReLU net, layer by layer. See convert.h. */
#include "net/convert.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"
#include "linalg/lapack.h"
#include "net/grelu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How to ask for the nearest network, in a command and in a run file. */
#define LEAST_SQUARES "--least-squares, convert_least_squares: true"

enum { NEWTON_STEPS = 60 };

typedef struct work {
    const tsri_opened *grelu;
    const tsri_opened *relu; /* written */
    const tsri_gate_table *gates;
    tsri_pool *pool;
    int64_t n, d, m, L, outputs;
    double *x;      /* [n, d] */
    double *weight; /* one layer's, in double; [m, max(m, d)] */
    double *h, *u;  /* [n, m] features of the gated net, pre-activations of the ReLU net */
    double *wanted; /* [n, m] what u is to be after the layer at hand */
    double *a;      /* [n, m] [u]+ */
    double *b;      /* [max(n, m), m] right sides, solution */
    double *bw;     /* [outputs, m] B */
    double *want_y; /* [n, outputs] */
} work;

static void work_fini(work *w)
{
    double *all[] = {w->x, w->weight, w->h, w->u, w->wanted, w->a, w->b, w->bw, w->want_y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tsri_free(all[i]);
}

static tsr_status work_init(work *w, const float *x)
{
    tsr_status st = TSR_OK;
    int64_t most = w->n > w->m ? w->n : w->m, side = w->m > w->d ? w->m : w->d;
    int64_t tall = w->m > w->outputs ? w->m : w->outputs;
    TSR_TRY(tsri_alloc(&w->x, w->n * w->d, sizeof *w->x));
    TSR_TRY(tsri_alloc(&w->weight, tall * side, sizeof *w->weight));
    TSR_TRY(tsri_alloc(&w->h, w->n * w->m, sizeof *w->h));
    TSR_TRY(tsri_alloc(&w->u, w->n * tall, sizeof *w->u));
    TSR_TRY(tsri_alloc(&w->wanted, w->n * w->m, sizeof *w->wanted));
    TSR_TRY(tsri_alloc(&w->a, w->n * w->m, sizeof *w->a));
    TSR_TRY(tsri_alloc(&w->b, most * w->m, sizeof *w->b));
    TSR_TRY(tsri_alloc(&w->bw, w->outputs * w->m, sizeof *w->bw));
    TSR_TRY(tsri_alloc(&w->want_y, w->n * w->outputs, sizeof *w->want_y));
    for (int64_t i = 0; i < w->n * w->d; i++)
        w->x[i] = (double)x[i];
done:
    return st;
}

static int64_t param(const tsri_opened *store, int64_t k)
{
    char name[TSRI_NAME];
    (void)snprintf(name, sizeof name, "w.%lld.weight", (long long)k);
    return tsri_net_param(store->net, name);
}

static void widen(double *to, const tsri_opened *store, int64_t p)
{
    const float *from = tsri_opened_at(store, store->w, p);
    for (int64_t i = 0; i < store->net->param[p].count; i++)
        to[i] = (double)from[i];
}

/* to[n, rows] = from[n, cols] weight^T, the weight [rows, cols] being parameter p of the store. */
static tsr_status apply(work *w, double *to, const double *from, const tsri_opened *store,
                        int64_t p)
{
    const tsri_param *q = &store->net->param[p];
    widen(w->weight, store, p);
    tsri_gemm64 g = {.b_transposed = true,
                     .m = w->n,
                     .n = q->shape[0],
                     .k = q->shape[1],
                     .a = from,
                     .b = w->weight,
                     .c = to};
    return tsri_gemm64_run(&g, w->pool);
}

static void positive(double *a, const double *u, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        a[i] = u[i] > 0 ? u[i] : 0;
}

/* h = D_k W_k h */
static tsr_status next_features(work *w, int64_t k)
{
    tsr_status st = TSR_OK;
    const uint64_t *word = w->gates->word[k - 1];
    int64_t words = w->gates->words[k - 1];
    TSR_TRY(apply(w, w->wanted, w->h, w->grelu, param(w->grelu, k)));
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = 0; j < w->m; j++)
            w->h[i * w->m + j] =
                word[i * words + j / 64] >> j % 64 & 1 ? w->wanted[i * w->m + j] : 0;
    memcpy(w->wanted, w->h, (size_t)(w->n * w->m) * sizeof *w->h);
done:
    return st;
}

/* ---- The last layer ------------------------------------------------------------------------ */

/* t = h + B^T mu */
static void shift(double *t, const work *w, const double *h, const double *mu)
{
    memcpy(t, h, (size_t)w->m * sizeof *t);
    for (int64_t o = 0; o < w->outputs; o++)
        for (int64_t j = 0; j < w->m; j++)
            t[j] += mu[o] * w->bw[o * w->m + j];
}

/* F = B [t]+ - y. Gives its norm, and in *value the convex function |[t]+|^2 / 2 - y mu of which it
 * is the gradient. */
static double miss(double *F, double *value, const work *w, const double *t, const double *y,
                   const double *mu)
{
    double sum = 0;
    *value = 0;
    for (int64_t j = 0; j < w->m; j++)
        *value += t[j] > 0 ? t[j] * t[j] / 2 : 0;
    for (int64_t o = 0; o < w->outputs; o++) {
        F[o] = -y[o];
        for (int64_t j = 0; j < w->m; j++)
            F[o] += t[j] > 0 ? w->bw[o * w->m + j] * t[j] : 0;
        sum += F[o] * F[o];
        *value -= y[o] * mu[o];
    }
    return sqrt(sum);
}

/* J = B diag(t > 0) B^T, and a trifle on the diagonal for where too few t are positive. */
static void jacobian(double *J, const work *w, const double *t)
{
    int64_t d = w->outputs;
    for (int64_t o = 0; o < d; o++)
        for (int64_t q = 0; q <= o; q++) {
            double sum = 0, all = 0;
            for (int64_t j = 0; j < w->m; j++) {
                double product = w->bw[o * w->m + j] * w->bw[q * w->m + j];
                sum += t[j] > 0 ? product : 0;
                all += product;
            }
            J[o * d + q] = J[q * d + o] = sum + (o == q ? 1e-10 * all : 0);
        }
}

/* Memory of Newton's method for one sample; d = outputs. */
typedef struct newton {
    double *mu, *trial, *F, *trial_F, *J; /* [d], [d, d] the last */
} newton;

/* A step down the convex function, halved until it is one. False when there is none. */
static bool descend(newton *z, const work *w, double *t, const double *h, const double *y,
                    double *error, double *value)
{
    double slope = 0, length = 1, trial_value;
    int64_t d = w->outputs;
    double *direction = z->J; /* J is done with: its first row holds the direction */
    for (int64_t o = 0; o < d; o++) {
        direction[o] = z->trial_F[o];
        slope += direction[o] * z->F[o];
    }
    for (int half = 0; half < 40; half++, length /= 2) {
        for (int64_t o = 0; o < d; o++)
            z->trial[o] = z->mu[o] - length * direction[o];
        shift(t, w, h, z->trial);
        double next = miss(z->trial_F, &trial_value, w, t, y, z->trial);
        if (next < *error || trial_value < *value - 1e-4 * length * slope) {
            memcpy(z->mu, z->trial, (size_t)d * sizeof *z->mu);
            memcpy(z->F, z->trial_F, (size_t)d * sizeof *z->F);
            *error = next;
            *value = trial_value;
            return true;
        }
    }
    return false;
}

/* One sample: t with B [t]+ = y. */
static tsr_status last_wanted(newton *z, const work *w, double *t, const double *h, const double *y)
{
    tsr_status st = TSR_OK;
    double size = 0, value;
    for (int64_t o = 0; o < w->outputs; o++) {
        z->mu[o] = 0;
        size += y[o] * y[o];
    }
    shift(t, w, h, z->mu);
    double error = miss(z->F, &value, w, t, y, z->mu), goal = 1e-13 * (sqrt(size) + error);
    for (int step = 0; step < NEWTON_STEPS && error > goal; step++) {
        bool definite;
        jacobian(z->J, w, t);
        TSR_TRY(tsri_cholesky(z->J, w->outputs, &definite));
        memcpy(z->trial_F, z->F, (size_t)w->outputs * sizeof *z->F);
        if (!definite)
            break;
        tsri_cholesky_solve(z->trial_F, z->J, w->outputs);
        if (!descend(z, w, t, h, y, &error, &value))
            break;
    }
    shift(t, w, h, z->mu);
done:
    return st;
}

static tsr_status last_targets(work *w)
{
    tsr_status st = TSR_OK;
    int64_t d = w->outputs;
    double *room = NULL;
    TSR_TRY(tsri_alloc(&room, 4 * d + d * d, sizeof *room));
    newton z = {room, room + d, room + 2 * d, room + 3 * d, room + 4 * d};
    TSR_TRY(apply(w, w->want_y, w->h, w->grelu, tsri_net_param(w->grelu->net, "b.weight")));
    widen(w->bw, w->grelu, tsri_net_param(w->grelu->net, "b.weight"));
    for (int64_t i = 0; i < w->n; i++)
        TSR_TRY(last_wanted(&z, w, w->wanted + i * w->m, w->h + i * w->m, w->want_y + i * d));
done:
    tsri_free(room);
    return st;
}

/* ---- One layer ----------------------------------------------------------------------------- */

/* The usual length of one of n rows, `count` numbers in all. */
static double root_mean_square(const double *x, int64_t n, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum / (double)n);
}

/* `least` is a size below which differences are taken relative to it. */
static void compare(tsri_conversion *out, const double *got, const double *wanted, int64_t n,
                    int64_t m, int64_t layer, double least)
{
    for (int64_t i = 0; i < n; i++) {
        double off = 0, own = 0, size = least * least;
        for (int64_t j = 0; j < m; j++) {
            double e = got[i * m + j] - wanted[i * m + j];
            off += e * e;
            own += wanted[i * m + j] * wanted[i * m + j];
        }
        size = fmax(size, own);
        double ratio = size > 0 ? sqrt(off / size) : sqrt(off);
        if (ratio > out->worst || !isfinite(ratio)) {
            out->worst = ratio;
            out->worst_layer = layer;
        }
    }
}

/* W~_k from a = [u]+ and `wanted`, rounded; then u = W~_k a. */
static tsr_status solve_layer(tsri_conversion *out, work *w, int64_t k, bool least_squares)
{
    tsr_status st = TSR_OK;
    int64_t matrix_rank, p = param(w->relu, k);
    float *weight = tsri_opened_at(w->relu, w->relu->w, p);
    double *a = w->u; /* dgelsy destroys its matrix, and u is made anew below */
    memcpy(a, w->a, (size_t)(w->n * w->m) * sizeof *a);
    memcpy(w->b, w->wanted, (size_t)(w->n * w->m) * sizeof *w->b);
    TSR_TRY(tsri_least_norm(w->b, a, w->n, w->m, w->m, TSRI_CONVERT_CUT, &matrix_rank));
    if (matrix_rank < out->least_rank) {
        out->least_rank = matrix_rank;
        out->short_layer = k;
    }
    TSR_CHECK(matrix_rank == w->n || least_squares, TSR_USAGE,
              "the features before layer %lld have matrix rank %lld on %lld points (some "
              "points are equal, or too few units are on): there is no equal ReLU net; take fewer "
              "points, a wider net, or least squares for the nearest one: " LEAST_SQUARES,
              (long long)k, (long long)matrix_rank, (long long)w->n);
    for (int64_t o = 0; o < w->m; o++) /* x of dgelsy is W~^T */
        for (int64_t j = 0; j < w->m; j++) {
            weight[o * w->m + j] = (float)w->b[j * w->m + o];
            out->norm_after += (double)weight[o * w->m + j] * (double)weight[o * w->m + j];
        }
    TSR_TRY(apply(w, w->u, w->a, w->relu, p));
    compare(out, w->u, w->wanted, w->n, w->m, k, 0);
    positive(w->a, w->u, w->n * w->m);
done:
    return st;
}

static void copy_fixed(const work *w, const char *name)
{
    int64_t from = tsri_net_param(w->grelu->net, name), to = tsri_net_param(w->relu->net, name);
    memcpy(tsri_opened_at(w->relu, w->relu->w, to), tsri_opened_at(w->grelu, w->grelu->w, from),
           (size_t)w->grelu->net->param[from].count * sizeof(float));
}

static double norm_of(const work *w)
{
    double sum = 0;
    for (int64_t k = 1; k <= w->L; k++) {
        int64_t p = param(w->grelu, k);
        const float *v = tsri_opened_at(w->grelu, w->grelu->w, p);
        for (int64_t i = 0; i < w->grelu->net->param[p].count; i++)
            sum += (double)v[i] * (double)v[i];
    }
    return sqrt(sum);
}

static tsr_status all_layers(tsri_conversion *out, work *w, bool least_squares)
{
    tsr_status st = TSR_OK;
    copy_fixed(w, "c.weight");
    copy_fixed(w, "b.weight");
    TSR_TRY(apply(w, w->h, w->x, w->grelu, tsri_net_param(w->grelu->net, "c.weight")));
    positive(w->h, w->h, w->n * w->m);
    memcpy(w->a, w->h, (size_t)(w->n * w->m) * sizeof *w->a);
    for (int64_t k = 1; k <= w->L; k++) {
        TSR_TRY(next_features(w, k));
        if (k == w->L)
            TSR_TRY(last_targets(w));
        TSR_TRY(solve_layer(out, w, k, least_squares));
    }
    TSR_TRY(apply(w, w->u, w->a, w->relu, tsri_net_param(w->relu->net, "b.weight")));
    compare(out, w->u, w->want_y, w->n, w->outputs, w->L + 1,
            root_mean_square(w->want_y, w->n, w->n * w->outputs));
    out->norm_before = norm_of(w);
    out->norm_after = sqrt(out->norm_after);
done:
    return st;
}

tsr_status tsri_convert_to_relu(tsri_conversion *out, tsri_store *relu, const tsri_store *grelu,
                                const float *x, const tsri_gate_table *gates, double tolerance,
                                bool least_squares, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    tsri_opened from = {0}, to = {0};
    work w = {.grelu = &from,
              .relu = &to,
              .gates = gates,
              .pool = pool,
              .n = gates->n,
              .L = tsri_grelu_layers(grelu->net),
              .outputs = grelu->net->outputs};
    const tsri_param *c = &grelu->net->param[tsri_net_param(grelu->net, "c.weight")];
    w.m = c->shape[0];
    w.d = c->shape[1];
    *out = (tsri_conversion){.n = w.n, .width = w.m, .layers = w.L, .least_rank = w.n};
    TSR_CHECK(w.n <= w.m || least_squares, TSR_USAGE,
              "an equal ReLU net needs at least as many units as points (Theorem 2), but the width "
              "is %lld and there are %lld: take fewer points (--set data.limit=%lld), a wider net, "
              "or least squares for the nearest one: " LEAST_SQUARES,
              (long long)w.m, (long long)w.n, (long long)w.m);
    TSR_TRY(tsri_store_open(&from, grelu, TSRI_OPEN_WEIGHTS));
    TSR_TRY(tsri_store_open(&to, relu, TSRI_OPEN_WEIGHTS));
    TSR_TRY(work_init(&w, x));
    TSR_TRY(all_layers(out, &w, least_squares));
    TSR_CHECK(out->worst < tolerance || least_squares, TSR_USAGE,
              "the ReLU net would differ by %.1e at layer %lld, more than %.0e: the features are "
              "too nearly dependent; least squares accepts it: " LEAST_SQUARES,
              out->worst, (long long)out->worst_layer, tolerance);
    TSR_TRY(tsri_store_save(&to));
done:
    work_fini(&w);
    tsri_store_close(&from);
    tsri_store_close(&to);
    return st;
}
