/* rnn_spans.c - (4.4)-(4.6) of the recurrent paper: Lemma B.11 and Corollaries B.15, B.16, B.18,
 * B.19, over all spans of positions of the sequences looked at.
 *
 * The products D W ... D W are multiplied out, span by span, so that an entry or a column is the
 * largest there is. The worst supports of m^(2/3) units (s = 1 in B.15 and B.18) are searched for:
 * from a vector to the largest entries of its image and back, until nothing grows. What is found
 * can refute the bound; it is kept only where the whole norm keeps it, too.
 */
#include "theory/rnn_parts.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLIMBS = 40 };

int64_t tsri_rnn_sparsity(int64_t m)
{
    int64_t s = (int64_t)pow((double)m, 2.0 / 3);
    while ((s + 1) * (s + 1) * (s + 1) <= m * m)
        s++;
    return s;
}

/* Products of m x m, power iteration of two of them, climbs of two vectors. */
double tsri_rnn_spans_operations(const tsri_rnn_case *k)
{
    double L = k->s.L, m = k->s.m, spans = L * (L + 1) / 2;
    return spans * m * m * (2 * m + 2 * 400 + 4.0 * CLIMBS * 4 + 2 * k->s.d);
}

/* ---- Worst supports ------------------------------------------------------------------------- */

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Sets all but the k largest |x| to 0, the first of equals staying, and scales to length 1.
 * Returns the length before. */
static double keep_largest(double *x, double *work, int64_t n, int64_t k)
{
    int64_t above = 0, equal = 0;
    for (int64_t i = 0; i < n; i++)
        work[i] = fabs(x[i]);
    qsort(work, (size_t)n, sizeof *work, falling);
    double least = work[k - 1];
    for (int64_t i = 0; i < k; i++)
        above += work[i] > least;
    for (int64_t i = 0; i < n; i++) {
        bool stays = fabs(x[i]) > least || (fabs(x[i]) == least && above + equal < k);
        equal += stays && fabs(x[i]) == least;
        x[i] = stays ? x[i] : 0;
    }
    double size = tsri_length64(x, n);
    for (int64_t i = 0; size > 0 && i < n; i++)
        x[i] /= size;
    return size;
}

/* A map [rows, cols] between vectors with that many entries, and room to search it. */
typedef struct map {
    const double *a;
    int64_t rows, cols, left, right; /* entries that are not 0 */
    double *y, *x, *work;            /* [rows], [cols], [the larger] */
    tsri_pool *pool;
} map;

/* From p->x: the largest y^T a x found on the way, and where. */
static void climb(double *best, double *left, double *right, map *p)
{
    double reached = 0;
    if (!(keep_largest(p->x, p->work, p->cols, p->right) > 0))
        return;
    for (int t = 0; t < CLIMBS; t++) {
        tsri_rnn_times(p->y, p->a, p->x, p->rows, p->cols, false, p->pool);
        double value = keep_largest(p->y, p->work, p->rows, p->left);
        if (!(value > reached * (1 + 1e-12)))
            return;
        reached = value;
        if (value > *best) {
            *best = value;
            memcpy(right, p->x, (size_t)p->cols * sizeof *right);
            if (left)
                memcpy(left, p->y, (size_t)p->rows * sizeof *left);
        }
        tsri_rnn_times(p->x, p->a, p->y, p->rows, p->cols, true, p->pool);
        (void)keep_largest(p->x, p->work, p->cols, p->right);
    }
}

/* ---- Spans of one sequence ------------------------------------------------------------------ */

typedef struct walk {
    tsri_rnn_spans *out;
    const tsri_rnn_case *k;
    double *P, *G, *M, *y, *x, *work; /* D W ... D W, W of that, B of it; vectors */
} walk;

static void walk_fini(walk *w)
{
    tsri_free(w->P);
    tsri_free(w->G);
    tsri_free(w->M);
    tsri_free(w->y);
    tsri_free(w->x);
    tsri_free(w->work);
}

static tsr_status walk_init(walk *w, tsri_rnn_spans *out, const tsri_rnn_case *k)
{
    tsr_status st = TSR_OK;
    int64_t m = k->then->m, d = k->then->d, wide = m > d ? m : d;
    *w = (walk){.out = out, .k = k};
    TSR_TRY(tsri_alloc(&w->P, m * m, sizeof *w->P));
    TSR_TRY(tsri_alloc(&w->G, m * m, sizeof *w->G));
    TSR_TRY(tsri_alloc(&w->M, d * m, sizeof *w->M));
    TSR_TRY(tsri_alloc(&w->y, wide, sizeof *w->y));
    TSR_TRY(tsri_alloc(&w->x, m, sizeof *w->x));
    TSR_TRY(tsri_alloc(&w->work, wide, sizeof *w->work));
done:
    return st;
}

/* Leaves w->x as the right vector of the largest singular value. */
static tsr_status chain_norm(double *high, walk *w, const double *a)
{
    tsr_status st = TSR_OK;
    double value;
    TSR_TRY(tsri_rnn_norm_square(&value, high, w->x, a, w->k->then->m, w->k->view->settings->seed,
                                 w->k->pool));
    w->out->chain = fmax(w->out->chain, value);
    w->out->chain_high = fmax(w->out->chain_high, *high);
done:
    return st;
}

static void unit_of_longest_column(double *x, const double *a, int64_t rows, int64_t cols)
{
    int64_t best = 0;
    double most = -1;
    memset(x, 0, (size_t)cols * sizeof *x);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < cols; j++)
            x[j] += a[r * cols + j] * a[r * cols + j];
    for (int64_t j = 0; j < cols; j++)
        if (x[j] > most) {
            most = x[j];
            best = j;
        }
    memset(x, 0, (size_t)cols * sizeof *x);
    x[best] = 1;
}

static void place(int64_t where[3], int64_t i, int64_t from, int64_t to)
{
    where[0] = i;
    where[1] = from;
    where[2] = to;
}

/* G = W D_to W ... D_from W: Corollaries B.15 and B.16. */
static tsr_status between(walk *w, int64_t i, int64_t from, int64_t to)
{
    tsr_status st = TSR_OK;
    tsri_rnn_spans *out = w->out;
    int64_t m = w->k->then->m, s = tsri_rnn_sparsity(m);
    double high, before = out->sparse;
    for (int64_t e = 0; e < m * m; e++)
        out->entry = fmax(out->entry, fabs(w->G[e]));
    TSR_TRY(chain_norm(&high, w, w->G));
    out->sparse_most = fmax(out->sparse_most, high);
    map p = {w->G, m, m, s, s, w->y, w->x, w->work, w->k->pool};
    climb(&out->sparse, out->left, out->right, &p);
    unit_of_longest_column(w->x, w->G, m, m);
    climb(&out->sparse, out->left, out->right, &p);
    if (out->sparse > before)
        place(out->where, i, from, to);
done:
    return st;
}

/* M = B D_to W ... D_from W: Corollaries B.18 and B.19. */
static tsr_status backward(walk *w, int64_t i, int64_t from, int64_t to)
{
    tsr_status st = TSR_OK;
    tsri_rnn_spans *out = w->out;
    int64_t m = w->k->then->m, d = w->k->then->d;
    double whole, before = out->back;
    TSR_TRY(tsri_gemm64_run(
        &(tsri_gemm64){.m = d, .n = m, .k = m, .a = w->k->then->B, .b = w->P, .c = w->M},
        w->k->pool));
    TSR_TRY(tsri_rnn_norm_wide(&whole, w->M, d, m, w->k->pool));
    out->back_most = fmax(out->back_most, whole);
    for (int64_t j = 0; j < m; j++) {
        double squares = 0;
        for (int64_t r = 0; r < d; r++)
            squares += w->M[r * m + j] * w->M[r * m + j];
        out->column = fmax(out->column, sqrt(squares));
    }
    map p = {w->M, d, m, d, tsri_rnn_sparsity(m), w->y, w->x, w->work, w->k->pool};
    unit_of_longest_column(w->x, w->M, d, m);
    climb(&out->back, NULL, out->inner, &p);
    for (int64_t j = 0; j < m; j++) /* the largest row, as a second start */
        w->x[j] = w->M[j];
    climb(&out->back, NULL, out->inner, &p);
    if (out->back > before)
        place(out->where_back, i, from, to);
done:
    return st;
}

/* All spans that begin at `from`. */
static tsr_status from_position(walk *w, const tsri_rnn_states *s, int64_t j, int64_t i,
                                int64_t from)
{
    tsr_status st = TSR_OK;
    int64_t m = s->m, end = tsri_rnn_length(s, j);
    double high;
    memcpy(w->P, w->k->then->W, (size_t)(m * m) * sizeof *w->P);
    for (int64_t l = from; l < end; l++) {
        const double *g = s->g + tsri_rnn_row(s, l, j);
        TSR_TRY(tsri_hear_stop(w->k->view));
        for (int64_t r = 0; r < m; r++)
            if (!(g[r] > 0))
                memset(w->P + r * m, 0, (size_t)m * sizeof *w->P);
        TSR_TRY(chain_norm(&high, w, w->P));
        TSR_TRY(backward(w, i, from, l));
        if (l + 1 == end)
            break; /* B.15 and B.16 speak of l_2 < L */
        TSR_TRY(tsri_gemm64_run(
            &(tsri_gemm64){.m = m, .n = m, .k = m, .a = w->k->then->W, .b = w->P, .c = w->G},
            w->k->pool));
        TSR_TRY(between(w, i, from, l));
        memcpy(w->P, w->G, (size_t)(m * m) * sizeof *w->P);
    }
done:
    return st;
}

static tsr_status visit(void *context, const tsri_rnn_block *b)
{
    tsr_status st = TSR_OK;
    walk *w = context;
    tsri_rnn_states s = {0};
    TSR_TRY(tsri_rnn_states_init(&s, w->k->then, b->x, b->length, b->n, w->k->pool));
    for (int64_t j = 0; j < b->n; j++)
        for (int64_t from = 0; from < tsri_rnn_length(&s, j); from++)
            TSR_TRY(from_position(w, &s, j, b->index[j], from));
done:
    tsri_rnn_states_fini(&s);
    return st;
}

void tsri_rnn_spans_fini(tsri_rnn_spans *s)
{
    tsri_free(s->left);
    tsri_free(s->right);
    tsri_free(s->inner);
    *s = (tsri_rnn_spans){0};
}

tsr_status tsri_rnn_spans_init(tsri_rnn_spans *s, const tsri_rnn_case *k, int64_t count)
{
    tsr_status st = TSR_OK;
    walk w = {0};
    double high;
    *s = (tsri_rnn_spans){.looked = count};
    TSR_TRY(tsri_alloc(&s->left, k->then->m, sizeof *s->left));
    TSR_TRY(tsri_alloc(&s->right, k->then->m, sizeof *s->right));
    TSR_TRY(tsri_alloc(&s->inner, k->then->m, sizeof *s->inner));
    if (count == 0)
        return TSR_OK;
    TSR_TRY(walk_init(&w, s, k));
    TSR_TRY(chain_norm(&high, &w, k->then->W));
    TSR_TRY(tsri_rnn_each(k, count, visit, &w));
done:
    walk_fini(&w);
    if (st != TSR_OK)
        tsri_rnn_spans_fini(s);
    return st;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static tsr_status note(const tsri_rnn_case *k, const tsri_rnn_spans *s)
{
    tsr_status st = TSR_OK;
    tsri_tensor where = {.dtype = TSRI_I64, .dims = 1, .shape = {3}, .data = s->where};
    tsri_tensor vector = {.dtype = TSRI_F64, .dims = 1, .shape = {k->then->m}, .data = s->left};
    TSR_TRY(tsri_note(k->view, &where, "B.15.where"));
    TSR_TRY(tsri_note(k->view, &vector, "B.15.left"));
    vector.data = s->right;
    TSR_TRY(tsri_note(k->view, &vector, "B.15.right"));
    where.data = s->where_back;
    vector.data = s->inner;
    TSR_TRY(tsri_note(k->view, &where, "B.18.where"));
    TSR_TRY(tsri_note(k->view, &vector, "B.18.right"));
done:
    return st;
}

static void sparse_rows(tsri_certificate *c, const tsri_rnn_case *k, const tsri_rnn_spans *s,
                        tsri_seen seen, double none)
{
    double m = k->s.m;
    long long units = (long long)tsri_rnn_sparsity(k->then->m);
    bool any = s->sparse_most > 0; /* there are two positions */
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.start[TSRI_RNN_B15],
                                   .sense = TSRI_AT_MOST,
                                   .measured = any ? s->sparse + none : (double)NAN,
                                   .required = log(m) / pow(m, 1.0 / 6),
                                   .seen = seen,
                                   .interval = {s->sparse, s->sparse_most, any ? 0.99 : 0}},
                 "largest |W D W ... D W| between %lld units found; it is at most the whole norm; "
                 "against log m / m^(1/6)",
                 units);
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.start[TSRI_RNN_B16],
                                   .sense = TSRI_AT_MOST,
                                   .measured = any ? s->entry + none : (double)NAN,
                                   .required = tsri_rnn_rho(&k->s) / sqrt(m),
                                   .seen = seen},
                 "largest entry of W D W ... D W, against rho / sqrt(m)");
    tsri_certify(
        c,
        &(tsri_condition){.of = k->of.start[TSRI_RNN_B18],
                          .sense = TSRI_AT_MOST,
                          .measured = s->back + none,
                          .required = cbrt(m) * log(m),
                          .seen = seen,
                          .interval = {s->back, s->back_most, isnan(none) ? 0 : 1}},
        "largest |B D W ... D W| on %lld units found; it is at most the whole norm; against "
        "m^(1/3) log m",
        units);
}

tsr_status tsri_rnn_certify_spans(tsri_certificate *c, const tsri_rnn_case *k,
                                  const tsri_rnn_spans *s)
{
    double L3 = pow(k->s.L, 3), none = s->looked > 0 ? 0 : (double)NAN;
    tsri_seen seen = tsri_saw(s->looked, k->n, "sequences");
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.start[TSRI_RNN_B11],
                                   .sense = TSRI_MEASURED,
                                   .measured = s->chain / L3 + none,
                                   .seen = seen,
                                   .interval = {s->chain / L3, s->chain_high / L3,
                                                s->looked > 0 ? TSRI_RNN_LEVEL : 0}},
                 "largest |D W ... D W|_2, |W D ... D W|_2 over L^3: the least constant of O");
    sparse_rows(c, k, s, seen, none);
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.start[TSRI_RNN_B19],
                                   .sense = TSRI_AT_MOST,
                                   .measured = s->column + none,
                                   .required = tsri_rnn_rho(&k->s),
                                   .seen = seen},
                 "largest column of B D W ... D W, against rho");
    return s->looked > 0 ? note(k, s) : TSR_OK;
}
