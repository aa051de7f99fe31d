/* deep_relu_nodes.c - Theorem 5.1 (vii): for every a in R^n many nodes of the last layer have
 *
 *     |g_j(a)| >= C'' |a|_inf phi / n^2,       g_j(a) = (1/n) sum_i a_i sigma'_(j,i) x_(L-1,i).
 *
 * No list of vectors is "every a", so the adversary is looked for. n^2 sum_j |g_j|^2 = a^T G a with
 * G_ik = <x_i, x_k> |nodes on for both|: its least value over |a|_inf = 1 is 1 / max_i (G^-1)_ii,
 * attained by the column of G^-1 with that i (|G^-1_ki| <= G^-1_ii there, so no other entry is
 * larger). That is exact for all a.
 *
 * For the number of nodes the search tries every unit vector, the columns of G^-1 with the largest
 * diagonal and, from each of these, such columns for G over ever fewer nodes: those with the
 * smallest gradients, which an adversary gives up last. From the best of all it goes down
 * coordinate by coordinate: where |g_j| is below the threshold is an interval of a_i, and the a_i
 * in most intervals is found by sorting their ends.
 *
 * With more samples than an n x n matrix allows, a is zero on the others: still a vector of R^n, so
 * what is found only bounds the constants from above.
 */
#include "theory/deep_relu.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "linalg/lapack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128, STARTS = 8, GIVEN_UP = 4, SWEEPS = 4 };

/* An end of an interval: it opens (1) or closes (-1). */
typedef struct edge {
    double at;
    int step;
} edge;

typedef struct search {
    const tsri_run_view *view;
    int64_t q, m;       /* samples, nodes */
    double *numbers;    /* all that follow as double * */
    int64_t *sample;    /* [q] */
    double *H;          /* [q, q] <x_i, x_k> */
    unsigned char *on;  /* [m, q] */
    double *G;          /* [q, q] */
    double *inverse;    /* [q] diagonal of G^-1 */
    double *a, *best;   /* [q] */
    double *size;       /* [m] n |g_j| of the vector tried last */
    double *slope;      /* [m] of |n g_j|^2 / 2 along a_i, without a_i's own part */
    double *low, *high; /* [m] a_i between: node j is below the threshold; low > high: never */
    edge *edge;         /* [2 m] */
    int64_t along;      /* the i of slope, low and high */
    double *sorted;     /* [m] */
    double limit;       /* of |n g_j|: nodes above it do not count in G */
    double threshold;   /* of n |g_j|, for |a|_inf = 1 */
    double fewest;
} search;

/* ---- Gradients of one vector ---------------------------------------------------------------- */

static void size_of(void *context, int64_t j, int thread)
{
    (void)thread;
    const search *s = context;
    const unsigned char *on = s->on + j * s->q;
    double sum = 0;
    for (int64_t i = 0; i < s->q; i++) {
        double row = 0;
        if (!on[i] || s->a[i] == 0)
            continue;
        for (int64_t k = 0; k < s->q; k++)
            row += on[k] ? s->H[i * s->q + k] * s->a[k] : 0;
        sum += s->a[i] * row;
    }
    s->size[j] = sqrt(fmax(sum, 0));
}

/* Counts the nodes of s->a, scaled to |a|_inf = 1, and keeps the vector that has the fewest. */
static void try_vector(search *s)
{
    double most = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < s->q; i++)
        most = fmax(most, fabs(s->a[i]));
    if (!(most > 0) || !isfinite(most))
        return;
    for (int64_t i = 0; i < s->q; i++)
        s->a[i] /= most;
    tsri_pool_run(s->view->device.pool, size_of, s, s->m);
    for (int64_t j = 0; j < s->m; j++)
        count += s->size[j] >= s->threshold;
    if ((double)count < s->fewest) {
        s->fewest = (double)count;
        memcpy(s->best, s->a, (size_t)s->q * sizeof *s->a);
    }
}

/* ---- The quadratic form --------------------------------------------------------------------- */

/* Row i of G over the nodes whose gradients are at most s->limit. */
static void row_of(void *context, int64_t i, int thread)
{
    (void)thread;
    const search *s = context;
    double *row = s->G + i * s->q;
    memset(row, 0, (size_t)s->q * sizeof *row);
    for (int64_t j = 0; j < s->m; j++) {
        const unsigned char *on = s->on + j * s->q;
        for (int64_t k = 0; on[i] && s->size[j] <= s->limit && k < s->q; k++)
            row[k] += on[k];
    }
    for (int64_t k = 0; k < s->q; k++)
        row[k] *= s->H[i * s->q + k];
}

/* s->G becomes the factor of G over the nodes up to `limit`; *definite = false: some a costs
 * nothing. */
static tsr_status factor(search *s, double limit, bool *definite)
{
    s->limit = limit;
    tsri_pool_run(s->view->device.pool, row_of, s, s->q);
    return tsri_cholesky(s->G, s->q, definite);
}

/* a = column i of G^-1, with the factor of G in s->G. */
static double column(search *s, int64_t i)
{
    memset(s->a, 0, (size_t)s->q * sizeof *s->a);
    s->a[i] = 1;
    tsri_cholesky_solve(s->a, s->G, s->q);
    return s->a[i];
}

/* The i with the largest (G^-1)_ii below `limit`, or -1; *most is that number. */
static int64_t largest(double *most, const search *s, double limit)
{
    int64_t at = -1;
    for (int64_t i = 0; i < s->q; i++)
        if (s->inverse[i] < limit && (at < 0 || s->inverse[i] > s->inverse[at]))
            at = i;
    *most = at < 0 ? 0 : s->inverse[at];
    return at;
}

/* ---- Coordinate descent --------------------------------------------------------------------- */

/* Along a_i, i = s->along: |n g_j|^2 = H_ii a_i^2 + 2 slope a_i + rest. */
static void span_of(void *context, int64_t j, int thread)
{
    (void)thread;
    const search *s = context;
    const unsigned char *on = s->on + j * s->q;
    const double *H = s->H + s->along * s->q;
    double slope = 0, own = H[s->along], a = s->a[s->along];
    s->low[j] = 1;
    s->high[j] = -1;
    if (!on[s->along] || !(own > 0))
        return;
    for (int64_t k = 0; k < s->q; k++)
        slope += on[k] && k != s->along ? H[k] * s->a[k] : 0;
    double rest = s->size[j] * s->size[j] - 2 * slope * a - own * a * a;
    double root = slope * slope - own * (rest - s->threshold * s->threshold);
    s->slope[j] = slope;
    if (!(root > 0))
        return;
    s->low[j] = fmax(-1, (-slope - sqrt(root)) / own);
    s->high[j] = fmin(1, (-slope + sqrt(root)) / own);
}

static int by_place(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* The middle of the longest stretch that lies in the most intervals; *most: in how many. */
static double deepest(search *s, int64_t *most)
{
    int64_t count = 0, depth = 0;
    double best = 0, length = 0;
    *most = 0;
    for (int64_t j = 0; j < s->m; j++)
        if (s->low[j] < s->high[j]) {
            s->edge[count++] = (edge){s->low[j], 1};
            s->edge[count++] = (edge){s->high[j], -1};
        }
    qsort(s->edge, (size_t)count, sizeof *s->edge, by_place);
    for (int64_t e = 0; e + 1 < count; e++) {
        double from = s->edge[e].at, to = s->edge[e + 1].at;
        depth += s->edge[e].step;
        if (to > from && (depth > *most || (depth == *most && to - from > length))) {
            *most = depth;
            length = to - from;
            best = from + length / 2;
        }
    }
    return best;
}

/* Moves a_i to where the most nodes are below the threshold; false: it is there already. */
static bool descend(search *s, int64_t i)
{
    int64_t now = 0, most = 0;
    double old = s->a[i];
    s->along = i;
    tsri_pool_run(s->view->device.pool, span_of, s, s->m);
    double best = deepest(s, &most);
    for (int64_t j = 0; j < s->m; j++)
        now += s->low[j] < old && old < s->high[j];
    if (most <= now)
        return false;
    s->a[i] = best;
    for (int64_t j = 0; j < s->m; j++)
        if (s->on[j * s->q + i])
            s->size[j] = sqrt(fmax(0, s->size[j] * s->size[j] + 2 * s->slope[j] * (best - old) +
                                          s->H[i * s->q + i] * (best * best - old * old)));
    return true;
}

/* From the best vector so far; an entry of its largest size stays. */
static void go_down(search *s)
{
    bool moved = true;
    int64_t anchor = 0;
    memcpy(s->a, s->best, (size_t)s->q * sizeof *s->a);
    for (int64_t i = 1; i < s->q; i++)
        anchor = fabs(s->a[i]) > fabs(s->a[anchor]) ? i : anchor;
    try_vector(s);
    for (int sweep = 0; moved && sweep < SWEEPS; sweep++) {
        moved = false;
        for (int64_t i = 0; i < s->q; i++)
            moved |= i != anchor && descend(s, i);
        try_vector(s); /* counts anew: sums of many moves have rounding errors */
    }
}

/* ---- Starts ------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The gradient that this many fifths of the nodes do not exceed, of nodes that have one at all. */
static double quantile(search *s, int fifths)
{
    int64_t count = 0;
    for (int64_t j = 0; j < s->m; j++)
        if (s->size[j] > 0)
            s->sorted[count++] = s->size[j];
    qsort(s->sorted, (size_t)count, sizeof *s->sorted, ascending);
    return count > 0 ? s->sorted[(count - 1) * fifths / 5] : 0;
}

/* From the vector tried last: the nodes with the smallest gradients kept small, the rest given
 * up. */
static tsr_status give_up(search *s)
{
    tsr_status st = TSR_OK;
    bool definite = true;
    for (int fifths = GIVEN_UP; definite && fifths > 0; fifths--) {
        double most;
        TSR_TRY(tsri_hear_stop(s->view));
        TSR_TRY(factor(s, quantile(s, fifths), &definite));
        if (!definite)
            break;
        for (int64_t i = 0; i < s->q; i++)
            s->inverse[i] = column(s, i);
        (void)column(s, largest(&most, s, INFINITY));
        try_vector(s);
    }
done:
    return st;
}

/* Column number t by the size of the diagonal, and what giving up nodes makes of it. *form: the
 * least value of the form. */
static tsr_status start_at(double *form, search *s, int64_t t)
{
    tsr_status st = TSR_OK;
    bool definite = false;
    double most = INFINITY;
    int64_t at = 0;
    TSR_TRY(factor(s, INFINITY, &definite));
    *form = 0;
    if (!definite)
        return TSR_OK;
    for (int64_t i = 0; i < s->q; i++)
        s->inverse[i] = column(s, i);
    (void)largest(&most, s, INFINITY);
    *form = 1 / most;
    most = INFINITY;
    for (int64_t k = 0; k <= t && at >= 0; k++)
        at = largest(&most, s, most);
    if (at < 0)
        return TSR_OK;
    (void)column(s, at);
    try_vector(s);
    TSR_TRY(give_up(s));
done:
    return st;
}

static tsr_status hunt(double *form, search *s)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < s->q; i++) {
        memset(s->a, 0, (size_t)s->q * sizeof *s->a);
        s->a[i] = 1;
        try_vector(s);
    }
    for (int64_t t = 0; t < tsri_min(STARTS, s->q); t++)
        TSR_TRY(start_at(form, s, t));
    go_down(s);
done:
    return st;
}

/* ---- Samples ------------------------------------------------------------------------------ */

static tsr_status make(search *s, const tsri_run_view *view, const tsri_deep_net *net)
{
    tsr_status st = TSR_OK;
    *s = (search){.view = view, .q = tsri_min(view->data->train.n, MOST), .fewest = INFINITY};
    s->m = net->layer[net->L - 1].m;
    int64_t q = s->q, m = s->m;
    TSR_TRY(tsri_alloc(&s->sample, q, sizeof *s->sample));
    TSR_TRY(tsri_alloc(&s->on, m * q, sizeof *s->on));
    TSR_TRY(tsri_alloc(&s->edge, 2 * m, sizeof *s->edge));
    TSR_TRY(tsri_alloc(&s->numbers, 2 * q * q + 3 * q + 5 * m, sizeof *s->numbers));
    double **at[] = {&s->H,    &s->G,     &s->inverse, &s->a,    &s->best,
                     &s->size, &s->slope, &s->low,     &s->high, &s->sorted};
    double *next = s->numbers;
    for (int i = 0; i < 10; i++) {
        *at[i] = next;
        next += i < 2 ? q * q : i < 5 ? q : m;
    }
done:
    return st;
}

static void unmake(search *s)
{
    tsri_free(s->sample);
    tsri_free(s->on);
    tsri_free(s->edge);
    tsri_free(s->numbers);
}

/* All samples, or the nearest two and others spread evenly. */
static void choose(search *s, const int64_t pair[2])
{
    int64_t n = s->view->data->train.n, count = 0;
    for (int k = 0; k < 2 && s->q < n && pair[0] >= 0; k++)
        s->sample[count++] = pair[k];
    for (int64_t t = 0; t < s->q && count < s->q; t++) {
        int64_t i = t * n / s->q;
        bool there = s->q < n && (i == pair[0] || i == pair[1]);
        if (!there)
            s->sample[count++] = i;
    }
    s->q = count;
}

/* H and the pattern, from the last hidden states but one: rows [q, inputs] held at once. */
static tsr_status read(search *s, const tsri_deep_net *net)
{
    tsr_status st = TSR_OK;
    tsri_deep_block b;
    float *x = NULL;
    int64_t k = net->layer[net->L - 1].inputs;
    TSR_TRY(tsri_deep_block_init(&b, net, 1));
    TSR_TRY(tsri_alloc(&x, s->q * k, sizeof *x));
    for (int64_t i = 0; i < s->q; i++) {
        TSR_TRY(tsri_deep_load(&b, s->view, net, s->sample[i], 1, 1));
        memcpy(x + i * k, b.x[net->L - 1], (size_t)k * sizeof *x);
        for (int64_t j = 0; j < s->m; j++)
            s->on[j * s->q + i] = b.z[net->L][j] > 0;
    }
    for (int64_t i = 0; i < s->q; i++)
        for (int64_t t = 0; t <= i; t++) {
            double sum = 0;
            for (int64_t c = 0; c < k; c++)
                sum += (double)x[i * k + c] * (double)x[t * k + c];
            s->H[i * s->q + t] = s->H[t * s->q + i] = sum;
        }
done:
    tsri_deep_block_fini(&b);
    tsri_free(x);
    return st;
}

static tsr_status note(const tsri_run_view *view, const search *s)
{
    tsr_status st = TSR_OK;
    tsri_tensor samples = {.dtype = TSRI_I64, .dims = 1, .shape = {s->q}, .data = s->sample};
    tsri_tensor a = {.dtype = TSRI_F64, .dims = 1, .shape = {s->q}, .data = s->best};
    TSR_TRY(tsri_note(view, &samples, "nodes.samples"));
    TSR_TRY(tsri_note(view, &a, "nodes.a"));
done:
    return st;
}

tsr_status tsri_deep_search(tsri_deep_nodes *out, const tsri_run_view *view,
                            const tsri_deep_net *net, double phi, const int64_t pair[2])
{
    tsr_status st = TSR_OK;
    search s;
    TSR_TRY(make(&s, view, net));
    choose(&s, pair);
    TSR_TRY(read(&s, net));
    s.threshold = phi / (double)view->data->train.n; /* n times phi / n^2 */
    TSR_TRY(hunt(&out->form, &s));
    out->samples = s.q;
    out->nodes = s.fewest;
    TSR_TRY(note(view, &s));
done:
    unmake(&s);
    return st;
}
