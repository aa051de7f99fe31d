/* gated_eigen.c - (14) and (15): eigenvalues of G_k^T G_k, sample by sample.
 *
 * G_k is multiplied out without the rows and columns of units that are off. A net with fewer units
 * on than inputs somewhere on the way has a G_k of lower rank: its least eigenvalue is 0, exactly,
 * and the largest is that of the smaller of G^T G and G G^T. Of up to MANY inputs LAPACK has all
 * eigenvalues. Of more inverse iteration has the least and Lanczos the largest one, each as a bound
 * from its side; Cholesky's factor proves the other: A - s has one just when the least eigenvalue
 * of A is above s.
 *
 * Departure: (14) and (15) are written with G G^T, which has rank d_x < m; Theorem 5 and the proof
 * use G^T G, and so do we.
 */
#include "theory/gated.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "linalg/gemm64.h"
#include "linalg/lapack.h"
#include "theory/spectrum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 1500, STEPS = 60 }; /* inputs; of both iterations */

static const double CLOSE = 0.01; /* how near an end is proven at best */

/* G_k of one sample: its rows that are on. */
typedef struct gee {
    double *g, *next;    /* [rows, d] */
    int64_t *unit;       /* [rows] which units they are */
    int64_t *unit_next;  /* the same of `next` */
    double *weight;      /* [rows, rows before] */
    double *gram, *work; /* [side, side], side <= d */
    double *value;       /* [side] */
    int64_t rows, rank;  /* rank: no more than this */
} gee;

static void gee_fini(gee *w)
{
    tsri_free(w->g);
    tsri_free(w->next);
    tsri_free(w->unit);
    tsri_free(w->unit_next);
    tsri_free(w->weight);
    tsri_free(w->gram);
    tsri_free(w->work);
    tsri_free(w->value);
}

static int64_t most_on(const tsri_gated *v)
{
    int64_t most = 0;
    for (int64_t k = 0; k <= v->L; k++)
        for (int64_t i = 0; i < v->n; i++) {
            int64_t on = 0;
            for (int64_t w = 0; w < v->words; w++)
                on += __builtin_popcountll(v->on[(k * v->n + i) * v->words + w]);
            most = on > most ? on : most;
        }
    return most;
}

static tsr_status gee_init(gee *w, const tsri_gated *v)
{
    tsr_status st = TSR_OK;
    int64_t rows = most_on(v), side = rows < v->d ? rows : v->d;
    TSR_TRY(tsri_alloc_raw(&w->g, rows * v->d, sizeof *w->g));
    TSR_TRY(tsri_alloc_raw(&w->next, rows * v->d, sizeof *w->next));
    TSR_TRY(tsri_alloc_raw(&w->unit, rows, sizeof *w->unit));
    TSR_TRY(tsri_alloc_raw(&w->unit_next, rows, sizeof *w->unit_next));
    TSR_TRY(tsri_alloc_raw(&w->weight, rows * rows, sizeof *w->weight));
    TSR_TRY(tsri_alloc_raw(&w->gram, side * side, sizeof *w->gram));
    TSR_TRY(tsri_alloc_raw(&w->work, side * side, sizeof *w->work));
    TSR_TRY(tsri_alloc_raw(&w->value, side, sizeof *w->value));
done:
    return st;
}

static int64_t units_on(int64_t *unit, const tsri_gated *v, int64_t k, int64_t i)
{
    int64_t rows = 0;
    for (int64_t j = 0; j < v->m; j++)
        if (tsri_gated_is_on(v, k, i, j))
            unit[rows++] = j;
    return rows;
}

static const float *layer(const tsri_opened *store, int64_t k)
{
    char name[TSRI_NAME] = "c.weight";
    if (k > 0)
        (void)snprintf(name, sizeof name, "w.%lld.weight", (long long)k);
    return (const float *)store->w + store->net->param[tsri_net_param(store->net, name)].offset;
}

static void swap(gee *w)
{
    double *g = w->g;
    int64_t *unit = w->unit;
    w->g = w->next;
    w->next = g;
    w->unit = w->unit_next;
    w->unit_next = unit;
}

/* g = D_0 C, or D_k W_k g, of those rows and columns alone. */
static tsr_status next_gee(gee *w, const tsri_gated *v, const tsri_opened *store, int64_t k,
                           int64_t i, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    const float *from = layer(store, k);
    int64_t rows = units_on(w->unit_next, v, k, i), cols = k == 0 ? v->d : w->rows;
    double *to = k == 0 ? w->next : w->weight;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            to[r * cols + c] = k == 0 ? (double)from[w->unit_next[r] * v->d + c]
                                      : (double)from[w->unit_next[r] * v->m + w->unit[c]];
    tsri_gemm64 product = {.m = rows, .n = v->d, .k = cols, .a = to, .b = w->g, .c = w->next};
    if (k > 0 && rows > 0 && cols > 0)
        TSR_TRY(tsri_gemm64_run(&product, pool));
    swap(w);
    w->rows = rows;
    w->rank = k == 0 || rows < w->rank ? rows : w->rank;
done:
    return st;
}

static void negate(double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = -x[i];
}

/* Are all eigenvalues of the gram at most s? */
static tsr_status all_below(bool *yes, gee *w, int64_t n, double s)
{
    negate(w->gram, n * n);
    tsr_status st = tsri_spectrum_above(yes, w->work, w->gram, n, -s);
    negate(w->gram, n * n);
    return st;
}

/* Inverse iteration: *least is x^T A x of a unit vector x, no less than the least eigenvalue. The
 * factor of A is in w->work. */
static void inverse(double *least, gee *w, int64_t n)
{
    double *x = w->value;
    tsri_rng rng = tsri_rng_stream(0, TSRI_FOR_THEORY, 3, 0, 0);
    for (int64_t i = 0; i < n; i++)
        x[i] = tsri_rng_normal(&rng);
    for (int64_t step = 0; step < STEPS; step++) {
        tsri_cholesky_solve(x, w->work, n);
        double length = sqrt(tsri_gated_dot(x, x, n));
        for (int64_t i = 0; i < n; i++)
            x[i] /= length;
    }
    *least = 0;
    for (int64_t i = 0; i < n; i++)
        *least += x[i] * tsri_gated_dot(w->gram + i * n, x, n);
}

static tsr_status ends_of_large(tsri_gated_end *least, tsri_gated_end *most, gee *w, int64_t n,
                                tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    tsri_eigen a, b;
    double value;
    bool yes;
    TSR_TRY(tsri_lanczos(&a, &b, w->gram, n, STEPS, 1e-6, pool));
    TSR_TRY(tsri_spectrum_above(&yes, w->work, w->gram, n, 0));
    *least = (tsri_gated_end){0, fmax(a.value, 0)};
    if (yes) {
        inverse(&value, w, n);
        least->high = fmin(least->high, value);
        for (double close = CLOSE; least->low <= 0 && close < 1; close *= 5) {
            TSR_TRY(tsri_spectrum_above(&yes, w->work, w->gram, n, value * (1 - close)));
            least->low = yes ? value * (1 - close) : 0;
        }
    }
    TSR_TRY(all_below(&yes, w, n, b.value * (1 + CLOSE)));
    *most = (tsri_gated_end){b.value, yes ? b.value * (1 + CLOSE) : (double)INFINITY};
done:
    return st;
}

/* Both ends of the gram [n, n]. */
static tsr_status ends_of_gram(tsri_gated_end *least, tsri_gated_end *most, gee *w, int64_t n,
                               tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    if (n > MANY)
        return ends_of_large(least, most, w, n, pool);
    TSR_TRY(tsri_spectrum(w->value, w->work, w->gram, n));
    *least = (tsri_gated_end){fmax(w->value[0], 0), fmax(w->value[0], 0)};
    *most = (tsri_gated_end){w->value[n - 1], w->value[n - 1]};
done:
    return st;
}

/* Of the G_k in w. */
static tsr_status ends_now(tsri_gated_end *least, tsri_gated_end *most, gee *w, int64_t d,
                           tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    bool tall = w->rows >= d;
    int64_t side = tall ? d : w->rows;
    *least = *most = (tsri_gated_end){0, 0};
    if (side == 0)
        return TSR_OK;
    tsri_gemm64 gram = {.a_transposed = tall,
                        .b_transposed = !tall,
                        .m = side,
                        .n = side,
                        .k = tall ? w->rows : d,
                        .a = w->g,
                        .b = w->g,
                        .c = w->gram};
    TSR_TRY(tsri_gemm64_run(&gram, pool));
    TSR_TRY(ends_of_gram(least, most, w, side, pool));
    if (w->rank < d)
        *least = (tsri_gated_end){0, 0};
done:
    return st;
}

/* All layers of sample i of the view. */
static tsr_status ends_of_sample(tsri_gated_ends *e, gee *w, const tsri_gated *v, int64_t i,
                                 const tsri_opened *store, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    tsri_gated_end least, most;
    for (int64_t k = 0; k <= v->L; k++) {
        TSR_TRY(next_gee(w, v, store, k, i, pool));
        TSR_TRY(ends_now(&least, &most, w, v->d, pool));
        e->least[(v->from + i) * (v->L + 1) + k] = least.low;
        e->alpha.low = fmin(e->alpha.low, least.low);
        e->alpha.high = fmin(e->alpha.high, least.high);
        e->beta.low = fmax(e->beta.low, most.low);
        e->beta.high = fmax(e->beta.high, most.high);
    }
done:
    return st;
}

static tsr_status ends_of_block(tsri_gated_ends *e, const tsri_run_view *view,
                                const tsri_opened *store, const tsri_gated_part *part)
{
    tsr_status st = TSR_OK;
    tsri_gated v = {0};
    gee w = {0};
    TSR_TRY(tsri_gated_init(&v, view, store, part));
    if (!e->least)
        TSR_TRY(tsri_alloc(&e->least, part->gates->n * (v.L + 1), sizeof *e->least));
    TSR_TRY(gee_init(&w, &v));
    for (int64_t i = 0; i < v.n; i++) {
        TSR_TRY(tsri_hear_stop(view));
        TSR_TRY(ends_of_sample(e, &w, &v, i, store, view->device.pool));
    }
done:
    gee_fini(&w);
    tsri_gated_fini(&v);
    return st;
}

tsr_status tsri_gated_ends_of(tsri_gated_ends *e, const tsri_run_view *view,
                              const tsri_opened *store, const tsri_gate_table *gates, int64_t few)
{
    tsr_status st = TSR_OK;
    enum { BLOCK = 64 }; /* views for the signs of C x alone */
    *e = (tsri_gated_ends){.alpha = {INFINITY, INFINITY}};
    for (int64_t from = 0; from < few; from += BLOCK) {
        tsri_gated_part part = {
            .from = from, .n = few - from < BLOCK ? few - from : BLOCK, .gates = gates};
        TSR_TRY(ends_of_block(e, view, store, &part));
    }
done:
    return st;
}

void tsri_gated_ends_fini(tsri_gated_ends *e)
{
    tsri_free(e->least);
    *e = (tsri_gated_ends){0};
}
