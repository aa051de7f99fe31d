/* deep_relu_start.c - states of a deep ReLU classifier, and Theorem 5.1 (i)-(vii) at W(0).
 *
 * Property (vii) speaks of every vector a in R^n: it is tried on unit vectors, on the slopes of the
 * loss and on random signs.
 */
#include "theory/deep_relu.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "data/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- States -------------------------------------------------------------------------------- */

void tsri_deep_view_fini(tsri_deep_view *s)
{
    for (int64_t l = 0; s->layer && l < s->L; l++) {
        tsri_free(s->layer[l].x);
        tsri_free(s->layer[l].z);
    }
    tsri_free(s->layer);
    tsri_free(s->x0);
    tsri_free(s->y);
}

static void states_of(tsri_deep_layer *at, const float *x, int64_t n, tsri_pool *pool)
{
    tsri_rows_product(at->z, x, at->w, n, at->m, at->inputs, pool);
    for (int64_t i = 0; i < n * at->m; i++)
        at->x[i] = at->z[i] > 0 ? at->z[i] : 0;
}

/* `w` is a vector of the store. */
tsr_status tsri_deep_view_init(tsri_deep_view *s, const tsri_run *run, const float *w)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = run->net;
    *s = (tsri_deep_view){.n = run->data->train.n < TSRI_DEEP_SAMPLES ? run->data->train.n
                                                                      : TSRI_DEEP_SAMPLES,
                          .L = net->params - 1,
                          .d = run->data->dim,
                          .delta = tsri_config_real(run->config, "certify.delta")};
    TSR_TRY(tsri_alloc(&s->layer, s->L, sizeof *s->layer));
    TSR_TRY(tsri_alloc(&s->x0, s->n * s->d, sizeof *s->x0));
    TSR_TRY(tsri_alloc(&s->y, s->n, sizeof *s->y));
    for (int64_t i = 0; i < s->n; i++)
        tsri_sample(s->x0 + i * s->d, run->data, &run->data->train, i);
    for (int64_t l = 0; l < s->L; l++) {
        const tsri_param *p = &net->param[l];
        tsri_deep_layer *at = &s->layer[l];
        at->w = w + p->offset;
        at->m = p->shape[0];
        at->inputs = p->shape[1];
        TSR_TRY(tsri_alloc(&at->x, s->n * at->m, sizeof *at->x));
        TSR_TRY(tsri_alloc(&at->z, s->n * at->m, sizeof *at->z));
        states_of(at, l > 0 ? s->layer[l - 1].x : s->x0, s->n, run->pool);
    }
    s->v = w + net->param[s->L].offset;
    const tsri_deep_layer *last = &s->layer[s->L - 1];
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < last->m; j++)
            s->y[i] += (double)s->v[j] * (double)last->x[i * last->m + j];
done:
    return st;
}

int64_t tsri_deep_narrowest(const tsri_deep_view *s)
{
    int64_t m = s->layer[0].m;
    for (int64_t l = 1; l < s->L; l++)
        m = s->layer[l].m < m ? s->layer[l].m : m;
    return m;
}

int64_t tsri_deep_widest(const tsri_deep_view *s)
{
    int64_t m = s->layer[0].m;
    for (int64_t l = 1; l < s->L; l++)
        m = s->layer[l].m > m ? s->layer[l].m : m;
    return m;
}

/* The sign of sample i. */
double tsri_deep_sign(const tsri_run *run, int64_t i)
{
    const tsri_part *p = &run->data->train;
    return p->label ? (p->label[i] == 1 ? 1 : -1) : (double)p->target[i];
}

double tsri_deep_slope(const tsri_run *run, const tsri_deep_view *s, int64_t i)
{
    double out;
    (void)tsri_margin_loss(run->loss, tsri_deep_sign(run, i) * s->y[i], &out);
    return out;
}

void tsri_deep_certify_norm(tsri_certificate *c, const char *where, const tsri_norm *norm,
                            double required, const char *what)
{
    tsri_certify_old(c, where, TSRI_AT_MOST, norm->value, required, "%s", what);
    tsri_certify_old_interval(c, norm->value, norm->high, norm->level);
}

void tsri_deep_keep_larger(tsri_norm *most, const tsri_norm *norm)
{
    if (norm->value > most->value)
        most->value = norm->value;
    if (norm->high > most->high)
        most->high = norm->high;
    most->level = norm->level;
}

/* ---- Theorem 5.1 ---------------------------------------------------------------------------- */

static double longest_state(const tsri_deep_view *s)
{
    double most = 0;
    for (int64_t l = 0; l < s->L; l++)
        for (int64_t i = 0; i < s->n; i++)
            most = fmax(most, tsri_length(s->layer[l].x + i * s->layer[l].m, s->layer[l].m));
    return most;
}

tsr_status tsri_deep_largest_weight(tsri_norm *most, const tsri_run *run, const tsri_deep_view *s)
{
    tsr_status st = TSR_OK;
    *most = (tsri_norm){0};
    for (int64_t l = 0; l < s->L; l++) {
        tsri_factor f = {s->layer[l].w, s->layer[l].m, s->layer[l].inputs, NULL};
        tsri_norm norm;
        TSR_TRY(tsri_chain_norm(&norm, &(tsri_chain){&f, 1}, NULL, TSRI_DEEP_STEPS, run->seed,
                                run->pool));
        tsri_deep_keep_larger(most, &norm);
    }
done:
    return st;
}

static double nearest_states(const tsri_deep_view *s)
{
    double least = INFINITY;
    int64_t a, b;
    for (int64_t l = 0; l < s->L; l++)
        least = fmin(least, tsri_least_distance(s->layer[l].x, s->n, s->layer[l].m, &a, &b));
    return least;
}

/* (iv): units within beta = 1/(10 sqrt m_l) of switching, over m_l^(3/2) beta. */
static double near_switching(const tsri_deep_view *s)
{
    double most = 0;
    for (int64_t l = 0; l < s->L; l++) {
        const tsri_deep_layer *at = &s->layer[l];
        double m = (double)at->m, beta = 0.1 / sqrt(m);
        for (int64_t i = 0; i < s->n; i++) {
            int64_t count = 0;
            for (int64_t j = 0; j < at->m; j++)
                count += fabs((double)at->z[i * at->m + j]) <= beta;
            most = fmax(most, (double)count / (m * sqrt(m) * beta));
        }
    }
    return most;
}

/* Of sample i: factors of layers from .. to, patterns but behind the last. */
static void chain_of(tsri_factor *f, const tsri_deep_view *s, int64_t i, int64_t from, int64_t to,
                     bool gated)
{
    for (int64_t l = from; l <= to; l++) {
        const tsri_deep_layer *at = &s->layer[l];
        f[l - from] =
            (tsri_factor){at->w, at->m, at->inputs, l < to || gated ? at->x + i * at->m : NULL};
    }
}

/* (v): W_l2^T times the chain of layers l1 .. l2-1. */
static tsr_status longest_chain(tsri_norm *most, const tsri_run *run, const tsri_deep_view *s)
{
    tsr_status st = TSR_OK;
    tsri_factor *f = NULL;
    *most = (tsri_norm){0};
    TSR_TRY(tsri_alloc(&f, s->L, sizeof *f));
    for (int64_t i = 0; i < TSRI_DEEP_FEW && i < s->n; i++)
        for (int64_t l1 = 0; l1 < s->L; l1++)
            for (int64_t l2 = l1 + 1; l2 < s->L; l2++) {
                tsri_norm norm;
                chain_of(f, s, i, l1, l2, false);
                TSR_TRY(tsri_chain_norm(&norm, &(tsri_chain){f, l2 - l1 + 1}, NULL, TSRI_DEEP_STEPS,
                                        run->seed, run->pool));
                tsri_deep_keep_larger(most, &norm);
            }
done:
    tsri_free(f);
    return st;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* (vi), (iv): the supremum over s-sparse unit vectors is the length of the s largest numbers. */
static double sparse_supremum(double *u, int64_t n, int64_t sparsity)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        u[j] *= u[j];
    qsort(u, (size_t)n, sizeof *u, descending);
    for (int64_t j = 0; j < n && j < sparsity; j++)
        sum += u[j];
    return sqrt(sum);
}

tsr_status tsri_deep_largest_sparse(double *most, const tsri_run *run, const tsri_deep_view *s,
                                    int64_t sparsity)
{
    tsr_status st = TSR_OK;
    tsri_factor *f = NULL;
    double *u = NULL, *v = NULL;
    int64_t wide = tsri_deep_widest(s) > s->d ? tsri_deep_widest(s) : s->d,
            last = s->layer[s->L - 1].m;
    *most = 0;
    TSR_TRY(tsri_alloc(&f, s->L, sizeof *f));
    TSR_TRY(tsri_alloc(&u, wide, sizeof *u));
    TSR_TRY(tsri_alloc(&v, last, sizeof *v));
    for (int64_t j = 0; j < last; j++)
        v[j] = (double)s->v[j];
    for (int64_t i = 0; i < TSRI_DEEP_FEW && i < s->n; i++)
        for (int64_t l = 0; l < s->L; l++) {
            chain_of(f, s, i, l, s->L - 1, true);
            TSR_TRY(tsri_chain_apply(u, v, &(tsri_chain){f, s->L - l}, true, run->pool));
            *most = fmax(*most, sparse_supremum(u, s->layer[l].inputs, sparsity));
        }
done:
    tsri_free(f);
    tsri_free(u);
    tsri_free(v);
    return st;
}

/* (vii): nodes of the last layer whose mean of a_i x_i over the samples that switch them on is at
 * least |a|_inf phi / n^2. */
static int64_t nodes_above(double *mean, const tsri_deep_view *s, const double *a, double bound)
{
    const tsri_deep_layer *last = &s->layer[s->L - 1];
    const float *x = s->L > 1 ? s->layer[s->L - 2].x : s->x0;
    int64_t count = 0, d = last->inputs;
    for (int64_t j = 0; j < last->m; j++) {
        double squares = 0;
        memset(mean, 0, (size_t)d * sizeof *mean);
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t k = 0; a[i] != 0 && last->z[i * last->m + j] > 0 && k < d; k++)
                mean[k] += a[i] * (double)x[i * d + k];
        for (int64_t k = 0; k < d; k++)
            squares += mean[k] * mean[k];
        count += sqrt(squares) / (double)s->n >= bound;
    }
    return count;
}

static tsr_status fewest_nodes(int64_t *fewest, const tsri_run *run, const tsri_deep_view *s,
                               double phi)
{
    tsr_status st = TSR_OK;
    double *a = NULL, *mean = NULL, n = (double)s->n;
    TSR_TRY(tsri_alloc(&a, s->n, sizeof *a));
    TSR_TRY(tsri_alloc(&mean, s->layer[s->L - 1].inputs, sizeof *mean));
    *fewest = s->layer[s->L - 1].m;
    for (int64_t t = 0; t < s->n + 1 + TSRI_DEEP_SIGNS; t++) {
        tsri_rng rng = tsri_rng_stream(run->seed, TSRI_FOR_THEORY, 2, t, 0);
        double most = 0;
        for (int64_t i = 0; i < s->n; i++) {
            a[i] = t < s->n    ? (double)(i == t)
                   : t == s->n ? tsri_deep_slope(run, s, i) * tsri_deep_sign(run, i)
                               : (tsri_rng_u32(&rng) & 1 ? 1 : -1);
            most = fmax(most, fabs(a[i]));
        }
        int64_t count = nodes_above(mean, s, a, most * phi / (n * n));
        *fewest = count < *fewest ? count : *fewest;
    }
done:
    tsri_free(a);
    tsri_free(mean);
    return st;
}

int64_t tsri_deep_sparsity_of(const tsri_deep_view *s)
{
    double n = (double)s->n, L = (double)s->L;
    return (int64_t)ceil(log(n * L * L / s->delta));
}

tsr_status tsri_deep_theorem_5_1(tsri_certificate *c, const tsri_run *run, const tsri_deep_view *s,
                                 double phi)
{
    tsr_status st = TSR_OK;
    double n = (double)s->n, L = (double)s->L, M = (double)tsri_deep_widest(s), sup = 0, far = 0;
    int64_t sparsity = tsri_deep_sparsity_of(s), fewest = 0;
    tsri_norm weight, chain;
    TSR_TRY(tsri_deep_largest_weight(&weight, run, s));
    TSR_TRY(longest_chain(&chain, run, s));
    TSR_TRY(tsri_deep_largest_sparse(&sup, run, s, sparsity));
    TSR_TRY(fewest_nodes(&fewest, run, s, phi));
    for (int64_t i = 0; i < s->n; i++)
        far = fmax(far, fabs(s->y[i]));
    tsri_certify_old(c, "Theorem 5.1 (i)", TSRI_AT_MOST, longest_state(s), 1.5,
                     "largest |x_(l,i)|");
    tsri_deep_certify_norm(c, "Theorem 5.1 (i)", &weight, 3.5, "largest |W_l|_2");
    tsri_certify_old(c, "Theorem 5.1 (ii)", TSRI_AT_LEAST, nearest_states(s), phi / 2,
                     "least |x_(l,i) - x_(l,j)|");
    tsri_certify_old(c, "Theorem 5.1 (iii)", TSRI_AT_MOST, far, sqrt(log(n / s->delta)),
                     "largest |y_i|, against C sqrt(log(n/delta))");
    tsri_certify_old(c, "Theorem 5.1 (iv)", TSRI_AT_MOST, near_switching(s), 2,
                     "units within beta = 0.1 m^(-1/2) of switching, over m^(3/2) beta");
    if (s->L > 1)
        tsri_deep_certify_norm(c, "Theorem 5.1 (v)", &chain, L,
                               "largest |W_l2^T Sigma W^T ... Sigma W_l1^T|_2, against C L");
    tsri_certify_old(
        c, "Theorem 5.1 (vi)", TSRI_AT_MOST, sup, L * sqrt((double)sparsity * log(M)),
        "supremum over %lld-sparse a of v^T (Sigma W^T ...) a, against C L sqrt(s log M)",
        (long long)sparsity);
    tsri_certify_old(
        c, "Theorem 5.1 (vii)", TSRI_AT_LEAST, (double)fewest,
        (double)s->layer[s->L - 1].m * phi / n,
        "fewest nodes with a gradient of |a|_inf phi / n^2 or more, against C m phi / n");
done:
    return st;
}
