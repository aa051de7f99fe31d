/* gated_pairs.c - what the GReLU paper says of two samples, for all pairs, block by block.
 *
 * A block of samples is seen beside itself and beside every block before it; the views of the
 * latter are made anew, so that no more than four views are held at once. All products are of
 * double.
 */
#include "theory/gated.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"
#include "linalg/lapack.h"
#include "net/grelu.h"

#include <math.h>
#include <string.h>

/* ---- Room ------------------------------------------------------------------------------------ */

static tsr_status make_results(tsri_gated_pairs *p, int64_t n, int64_t L, int64_t dy)
{
    tsr_status st = TSR_OK;
    *p = (tsri_gated_pairs){
        .n = n, .L = L, .dy = dy, .alpha_y = INFINITY, .least_gradient = INFINITY};
    TSR_TRY(tsri_alloc(&p->end_y, n * (L + 1) * 2, sizeof(double)));
    TSR_TRY(tsri_alloc(&p->length2, n * (L + 1), sizeof(double)));
    TSR_TRY(tsri_alloc(&p->residual, n * dy, sizeof(double)));
    TSR_TRY(tsri_alloc(&p->apart_f, L + 1, sizeof(double)));
    TSR_TRY(tsri_alloc(&p->apart_g, L + 1, sizeof(double)));
    TSR_TRY(tsri_alloc(&p->sum, n, sizeof(double)));
    TSR_TRY(tsri_alloc(&p->squares, n, sizeof(double)));
    TSR_TRY(tsri_alloc(&p->push, n * dy, sizeof(double)));
    TSR_TRY(tsri_alloc(&p->k0, n * n, sizeof(double)));
done:
    return st;
}

void tsri_gated_pairs_fini(tsri_gated_pairs *p)
{
    tsri_free(p->end_y);
    tsri_free(p->length2);
    tsri_free(p->residual);
    tsri_free(p->apart_f);
    tsri_free(p->apart_g);
    tsri_free(p->sum);
    tsri_free(p->squares);
    tsri_free(p->push);
    tsri_free(p->k0);
    *p = (tsri_gated_pairs){0};
}

/* One block now and at first. */
typedef struct sight {
    tsri_gated now, then;
} sight;

typedef struct desk {
    const tsri_run_view *view;
    const tsri_opened *now, *then;
    const tsri_gate_table *gates;
    tsri_gated_pairs *p;
    double *own;              /* [n, dy] K_ii of the first weights */
    double *gram, *value;     /* [dy, dy], [dy] */
    double *h, *h_before, *f; /* [block, block], the same of the layer before, [block dy]^2 */
    double *k_now, *k_then;   /* [dy][block, block] */
    int64_t block;
} desk;

static void desk_fini(desk *w)
{
    tsri_free(w->own);
    tsri_free(w->gram);
    tsri_free(w->value);
    tsri_free(w->h);
    tsri_free(w->h_before);
    tsri_free(w->f);
    tsri_free(w->k_now);
    tsri_free(w->k_then);
}

static tsr_status desk_init(desk *w, int64_t dy)
{
    tsr_status st = TSR_OK;
    int64_t b = w->block;
    TSR_TRY(tsri_alloc(&w->own, w->p->n * dy, sizeof(double)));
    TSR_TRY(tsri_alloc_raw(&w->gram, dy * dy, sizeof(double)));
    TSR_TRY(tsri_alloc_raw(&w->value, dy, sizeof(double)));
    TSR_TRY(tsri_alloc_raw(&w->h, b * b, sizeof(double)));
    TSR_TRY(tsri_alloc_raw(&w->h_before, b * b, sizeof(double)));
    TSR_TRY(tsri_alloc_raw(&w->f, b * dy * b * dy, sizeof(double)));
    TSR_TRY(tsri_alloc_raw(&w->k_now, dy * b * b, sizeof(double)));
    TSR_TRY(tsri_alloc_raw(&w->k_then, dy * b * b, sizeof(double)));
done:
    return st;
}

static tsr_status see(sight *s, const desk *w, int64_t block)
{
    tsr_status st = TSR_OK;
    int64_t from = block * w->block, left = w->p->n - from;
    tsri_gated_part part = {
        .from = from, .n = left < w->block ? left : w->block, .behind = true, .gates = w->gates};
    TSR_TRY(tsri_gated_init(&s->now, w->view, w->now, &part));
    TSR_TRY(tsri_gated_init(&s->then, w->view, w->then, &part));
done:
    return st;
}

static void unsee(sight *s)
{
    tsri_gated_fini(&s->now);
    tsri_gated_fini(&s->then);
}

/* ---- Single samples -------------------------------------------------------------------------- */

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

/* (7): the change of a gradient beside its first length, of one output. */
static void ratio_of(desk *w, const sight *s, int64_t i, int64_t p)
{
    const tsri_gated *now = &s->now, *then = &s->then;
    double own = 0, change = 0;
    for (int64_t k = 1; k <= now->L; k++) {
        const double *f = tsri_gated_behind(then, k, i, p), *h = tsri_gated_before(then, k - 1, i);
        double square = tsri_gated_dot(f, f, now->m) * tsri_gated_dot(h, h, now->m);
        w->p->least_gradient = fmin(w->p->least_gradient, square);
        own += square;
        change += outer_change(tsri_gated_behind(now, k, i, p), tsri_gated_before(now, k - 1, i), f,
                               h, now->m);
    }
    w->own[(now->from + i) * now->dy + p] = own;
    if (own > 0) /* else no path through the net is open for this sample */
        w->p->ratio = fmax(w->p->ratio, sqrt(fmax(change, 0) / own));
}

/* The ends of F F^T, layer by layer. */
static tsr_status ends_y(desk *w, const tsri_gated *v, int64_t i)
{
    tsr_status st = TSR_OK;
    tsri_gated_pairs *r = w->p;
    int64_t d = v->dy;
    for (int64_t k = 0; k <= v->L; k++) {
        double *end = r->end_y + ((v->from + i) * (v->L + 1) + k) * 2;
        const double *h = tsri_gated_before(v, k, i);
        for (int64_t p = 0; p < d; p++)
            for (int64_t q = 0; q <= p; q++)
                w->gram[p * d + q] = tsri_gated_dot(tsri_gated_behind(v, k, i, p),
                                                    tsri_gated_behind(v, k, i, q), v->m);
        TSR_TRY(tsri_eigenvalues(w->value, w->gram, d));
        end[0] = fmax(w->value[0], 0);
        end[1] = w->value[d - 1];
        r->alpha_y = fmin(r->alpha_y, end[0]);
        r->beta_y = fmax(r->beta_y, end[1]);
        r->length2[(v->from + i) * (v->L + 1) + k] = tsri_gated_dot(h, h, v->m);
    }
done:
    return st;
}

static tsr_status singles(desk *w, const sight *s)
{
    tsr_status st = TSR_OK;
    const tsri_gated *v = &s->now;
    double *residual = w->p->residual + v->from * v->dy;
    tsri_gated_targets(residual, w->view, v->from, v->n);
    for (int64_t e = 0; e < v->n * v->dy; e++)
        residual[e] = v->y[e] - residual[e];
    for (int64_t i = 0; i < v->n; i++) {
        TSR_TRY(ends_y(w, v, i));
        for (int64_t p = 0; p < v->dy; p++)
            ratio_of(w, s, i, p);
    }
done:
    return st;
}

/* ---- Pairs of samples ------------------------------------------------------------------------ */

/* out [a rows, b rows] = a b^T */
static tsr_status products(double *out, const double *a, int64_t rows, const double *b,
                           int64_t columns, int64_t m, tsri_pool *pool)
{
    tsri_gemm64 g = {
        .b_transposed = true, .m = rows, .n = columns, .k = m, .a = a, .b = b, .c = out};
    return tsri_gemm64_run(&g, pool);
}

/* |M|_2 of the d x d numbers at M, rows `across` apart: from the largest eigenvalue of M M^T. */
static tsr_status block_norm(double *norm, desk *w, const double *M, int64_t d, int64_t across)
{
    tsr_status st = TSR_OK;
    *norm = fabs(M[0]);
    if (d == 1)
        return TSR_OK;
    for (int64_t p = 0; p < d; p++)
        for (int64_t q = 0; q <= p; q++)
            w->gram[p * d + q] = tsri_gated_dot(M + p * across, M + q * across, d);
    TSR_TRY(tsri_eigenvalues(w->value, w->gram, d));
    *norm = sqrt(fmax(w->value[d - 1], 0));
done:
    return st;
}

/* What M = F^i F^j^T and H = <h^i, h^j> of layer k say of samples i and j (numbers of all). */
static void push(desk *w, const double *M, double H, int64_t i, int64_t j, int64_t across)
{
    tsri_gated_pairs *r = w->p;
    int64_t d = r->dy;
    for (int64_t p = 0; p < d; p++)
        for (int64_t q = 0; q < d; q++) {
            r->push[i * d + p] += H * M[p * across + q] * r->residual[j * d + q];
            if (i != j)
                r->push[j * d + q] += H * M[p * across + q] * r->residual[i * d + p];
        }
}

/* (16) of one pair: H of G_(k-1), |M| of F_(k+1). */
static void crossed(tsri_gated_pairs *r, double product, int64_t i, int64_t j)
{
    r->cross = fmax(r->cross, product);
    r->sum[i] += product;
    r->sum[j] += product;
    r->squares[i] += product * product;
    r->squares[j] += product * product;
}

/* Layer k of two views of now: pairs j < i of all, and i = j for the step. */
static tsr_status layer_now(desk *w, const tsri_gated *a, const tsri_gated *b, int64_t k)
{
    tsr_status st = TSR_OK;
    int64_t d = a->dy, across = b->n * d;
    double norm;
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t j = 0; j < b->n && b->from + j <= a->from + i; j++) {
            const double *M = w->f + i * d * across + j * d;
            int64_t I = a->from + i, J = b->from + j, at = i * b->n + j;
            for (int64_t p = 0; k > 0 && p < d; p++)
                w->k_now[p * w->block * w->block + at] += w->h_before[at] * M[p * across + p];
            if (k > 0)
                push(w, M, w->h_before[at], I, J, across);
            if (I == J)
                continue;
            TSR_TRY(block_norm(&norm, w, M, d, across));
            w->p->apart_f[k] = fmax(w->p->apart_f[k], norm);
            w->p->apart_g[k] = fmax(w->p->apart_g[k], fabs(w->h[at]));
            if (k > 0)
                crossed(w->p, fabs(w->h_before[at]) * norm, I, J);
        }
done:
    return st;
}

static void layer_then(desk *w, const tsri_gated *a, const tsri_gated *b)
{
    int64_t d = a->dy, across = b->n * d;
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t j = 0; j < b->n; j++)
            for (int64_t p = 0; p < d; p++)
                w->k_then[p * w->block * w->block + i * b->n + j] +=
                    w->h_before[i * b->n + j] * w->f[(i * d + p) * across + j * d + p];
}

/* All layers of two views: H of the layer before stays for (16) and the kernel. */
static tsr_status layers(desk *w, const tsri_gated *a, const tsri_gated *b, bool now)
{
    tsr_status st = TSR_OK;
    tsri_pool *pool = w->view->device.pool;
    int64_t m = a->m, d = a->dy;
    for (int64_t k = 0; k <= a->L; k++) {
        TSR_TRY(products(w->h, tsri_gated_before(a, k, 0), a->n, tsri_gated_before(b, k, 0), b->n,
                         m, pool));
        TSR_TRY(products(w->f, tsri_gated_behind(a, k, 0, 0), a->n * d,
                         tsri_gated_behind(b, k, 0, 0), b->n * d, m, pool));
        if (now)
            TSR_TRY(layer_now(w, a, b, k));
        else if (k > 0)
            layer_then(w, a, b);
        double *swap = w->h;
        w->h = w->h_before;
        w->h_before = swap;
    }
done:
    return st;
}

/* (8): the kernels of all outputs now and at first. */
static void kernels(desk *w, const tsri_gated *a, const tsri_gated *b)
{
    tsri_gated_pairs *r = w->p;
    int64_t d = a->dy;
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t j = 0; j < b->n && b->from + j <= a->from + i; j++) {
            int64_t I = a->from + i, J = b->from + j, at = i * b->n + j;
            r->k0[I * r->n + J] = r->k0[J * r->n + I] = w->k_now[at];
            for (int64_t p = 0; p < d; p++) {
                double root = sqrt(w->own[I * d + p] * w->own[J * d + p]);
                int64_t e = p * w->block * w->block + at;
                if (root > 0)
                    r->kernel = fmax(r->kernel, fabs(w->k_now[e] - w->k_then[e]) / root);
            }
        }
}

/* Lemma 4: units that are on for both. */
static void overlaps(tsri_gated_pairs *r, const tsri_gated *a, const tsri_gated *b)
{
    for (int64_t k = 0; k <= a->L; k++)
        for (int64_t i = 0; i < a->n; i++)
            for (int64_t j = 0; j < b->n && b->from + j < a->from + i; j++) {
                int64_t both = 0;
                for (int64_t w = 0; w < a->words; w++)
                    both += __builtin_popcountll(a->on[(k * a->n + i) * a->words + w] &
                                                 b->on[(k * b->n + j) * b->words + w]);
                double *most = k == 0 ? &r->overlap_0 : &r->overlap;
                *most = fmax(*most, (double)both);
            }
}

static tsr_status pair_of_blocks(desk *w, const sight *a, const sight *b)
{
    tsr_status st = TSR_OK;
    size_t bytes = (size_t)(w->p->dy * w->block * w->block) * sizeof(double);
    memset(w->k_now, 0, bytes);
    memset(w->k_then, 0, bytes);
    TSR_TRY(tsri_hear_stop(w->view));
    TSR_TRY(layers(w, &a->now, &b->now, true));
    TSR_TRY(layers(w, &a->then, &b->then, false));
    kernels(w, &a->now, &b->now);
    overlaps(w->p, &a->now, &b->now);
done:
    return st;
}

static tsr_status one_block(desk *w, int64_t block)
{
    tsr_status st = TSR_OK;
    sight a = {0}, b = {0};
    TSR_TRY(see(&a, w, block));
    TSR_TRY(singles(w, &a));
    TSR_TRY(pair_of_blocks(w, &a, &a));
    for (int64_t other = 0; other < block; other++) {
        TSR_TRY(see(&b, w, other));
        TSR_TRY(pair_of_blocks(w, &a, &b));
        unsee(&b);
    }
done:
    unsee(&a);
    unsee(&b);
    return st;
}

tsr_status tsri_gated_pairs_of(tsri_gated_pairs *p, const tsri_run_view *view,
                               const tsri_opened *now, const tsri_opened *then,
                               const tsri_gate_table *gates, int64_t n, int64_t block)
{
    tsr_status st = TSR_OK;
    desk w = {.view = view, .now = now, .then = then, .gates = gates, .p = p, .block = block};
    TSR_TRY(make_results(p, n, tsri_grelu_layers(now->net), now->net->outputs));
    TSR_TRY(desk_init(&w, now->net->outputs));
    for (int64_t i = 0; i * block < n; i++)
        TSR_TRY(one_block(&w, i));
done:
    desk_fini(&w);
    return st;
}
