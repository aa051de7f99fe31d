/* rnn_start.c - (4.1) and section 6.1 of the recurrent paper at W(0): Lemmas B.3, D.2 and D.7.
 *
 * Where the paper disagrees with itself:
 *
 * Lemma B.3 states |h_(l+1)| >= (1 - 1/4L)^l, which asks |h_1| >= 1 of a random vector whose length
 * is 1 in the mean. Its base case shows 1 - 1/4L, its last line |h_l| >= (1 - 1/4L)^l: that is what
 * the row compares with.
 *
 * Lemma D.7's threshold is printed as |loss| / (6 sqrt(dnL)) and, in the last line of its proof, as
 * |loss| / (6 n L sqrt(d)); only the latter fits "1 - 1/(4nL)" and Lemma E.6. Its u_(i,l) begins at
 * a = l (appendix), that of (6.1) at a = l + 1: the lemma's is measured, with the lemma's l.
 */
#include "theory/rnn_parts.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

/* ---- Lemmas B.3 and D.2 --------------------------------------------------------------------- */

typedef struct forward {
    const tsri_rnn_case *k;
    double least, most, most_g; /* of Lemma B.3, over their bounds */
    double *first, *second,
        *others;    /* [L, m] the smallest |g| of a unit over sequences, the next */
    int64_t *whose; /* [L, m] the sequence that has the smallest */
} forward;

static void norms(forward *f, const tsri_rnn_states *s)
{
    for (int64_t l = 0; l < s->L; l++)
        for (int64_t i = 0; i < s->n; i++) {
            if (l >= tsri_rnn_length(s, i))
                continue;
            double at = (double)l, h = tsri_length64(s->h + tsri_rnn_row(s, l, i), s->m);
            double g = tsri_length64(s->g + tsri_rnn_row(s, l, i), s->m);
            f->least = fmin(f->least, h / pow(1 - 1 / (4 * f->k->s.L), at + 1));
            f->most = fmax(f->most, h / (2 * at + 4));
            f->most_g = fmax(f->most_g, g / (4 * at + 8));
        }
}

static void smallest(forward *f, const tsri_rnn_states *s, const tsri_rnn_block *b)
{
    for (int64_t l = 0; l < s->L; l++)
        for (int64_t i = 0; i < s->n; i++) {
            const double *g = s->g + tsri_rnn_row(s, l, i);
            if (l >= tsri_rnn_length(s, i))
                continue;
            for (int64_t u = 0; u < s->m; u++) {
                int64_t e = l * s->m + u;
                double a = fabs(g[u]);
                if (a < f->first[e]) {
                    f->second[e] = f->first[e];
                    f->first[e] = a;
                    f->whose[e] = b->index[i];
                } else if (a < f->second[e]) {
                    f->second[e] = a;
                }
            }
        }
}

static tsr_status visit(void *context, const tsri_rnn_block *b)
{
    tsr_status st = TSR_OK;
    forward *f = context;
    tsri_rnn_states s = {0};
    TSR_TRY(tsri_rnn_states_init(&s, f->k->then, b->x, b->length, b->n, f->k->pool));
    norms(f, &s);
    smallest(f, &s, b);
done:
    tsri_rnn_states_fini(&s);
    return st;
}

/* The least |N_4| over (i*, l*), 2 <= l* < L, with N_1 = [m]. Position l* + 1 of the paper is l*
 * here. */
static tsr_status least_set(double *least, const forward *f)
{
    tsr_status st = TSR_OK;
    const tsri_rnn_case *k = f->k;
    int64_t L = k->then->L, m = k->then->m, *count = NULL;
    double low = tsri_rnn_beta_minus(&k->s) / sqrt(k->s.m);
    double high = tsri_rnn_beta_plus(&k->s) / sqrt(k->s.m);
    *least = NAN;
    TSR_TRY(tsri_alloc(&count, k->n, sizeof *count));
    for (int64_t u = 0; u < m; u++)
        f->others[u] = INFINITY; /* over later positions */
    for (int64_t l = L - 1; l >= 2; l--) {
        memset(count, 0, (size_t)k->n * sizeof *count);
        for (int64_t u = 0; u < m; u++) {
            int64_t e = l * m + u;
            if (f->first[e] <= low && f->second[e] >= high && f->others[u] >= high)
                count[f->whose[e]]++;
            f->others[u] = fmin(f->others[u], f->first[e]);
        }
        for (int64_t i = 0; i < k->n; i++)
            *least = fmin(*least, (double)count[i]);
    }
done:
    tsri_free(count);
    return st;
}

static void norm_rows(tsri_certificate *c, const forward *f, tsri_seen seen)
{
    int of = f->k->of.start[TSRI_RNN_B3];
    tsri_certify(
        c,
        &(tsri_condition){
            .of = of, .sense = TSRI_AT_LEAST, .measured = f->least, .required = 1, .seen = seen},
        "least |h_(i,l)| over (1 - 1/4L)^l");
    tsri_certify(
        c,
        &(tsri_condition){
            .of = of, .sense = TSRI_AT_MOST, .measured = f->most, .required = 1, .seen = seen},
        "largest |h_(i,l)| over 2l + 2");
    tsri_certify(
        c,
        &(tsri_condition){
            .of = of, .sense = TSRI_AT_MOST, .measured = f->most_g, .required = 1, .seen = seen},
        "largest |g_(i,l)| over 4l + 4");
}

/* Both lemmas speak of sets of units; all m are the largest there is. */
static tsr_status set_row(tsri_certificate *c, const forward *f, bool all)
{
    tsr_status st = TSR_OK;
    const tsri_rnn_case *k = f->k;
    double found = NAN, beta = tsri_rnn_beta_minus(&k->s), need4 = pow(tsri_rnn_rho(&k->s), 4);
    double need1 = pow(k->s.n * k->s.L, 2) / beta;
    if (k->s.m < need4)
        tsri_certify_breach(c, TSRI_LARGE_SETS,
                            "all %.4g units are fewer than rho^4 = %.3g (D.7) and n^2 L^2 / beta_- "
                            "= %.3g (D.2)",
                            k->s.m, need4, need1);
    if (all)
        TSR_TRY(least_set(&found, f));
    tsri_certify(
        c,
        &(tsri_condition){.of = k->of.units[TSRI_RNN_D2],
                          .sense = TSRI_AT_LEAST,
                          .measured = k->s.m >= need4 && k->s.m < need1 ? (double)NAN : found,
                          .required = beta * k->s.m / (64 * k->s.L),
                          .seen = TSRI_SEEN_ALL},
        "least |N_4| over (i*, l*), N_1 = all units, against beta_- |N_1| / 64L");
done:
    return st;
}

static tsr_status states(tsri_certificate *c, const tsri_rnn_case *k)
{
    tsr_status st = TSR_OK;
    forward f = {.k = k, .least = INFINITY};
    int64_t size = k->then->L * k->then->m;
    int64_t count = tsri_rnn_fitting(c, k, 2 * k->s.L * k->s.m * k->s.m, "(4.1), (6.3), states");
    TSR_TRY(tsri_alloc(&f.first, size, sizeof *f.first));
    TSR_TRY(tsri_alloc(&f.second, size, sizeof *f.second));
    TSR_TRY(tsri_alloc(&f.others, k->then->m, sizeof *f.others));
    TSR_TRY(tsri_alloc(&f.whose, size, sizeof *f.whose));
    for (int64_t e = 0; e < size; e++)
        f.first[e] = f.second[e] = INFINITY;
    count = count > 0 ? count : 1;
    TSR_TRY(tsri_rnn_each(k, count, visit, &f));
    norm_rows(c, &f, tsri_saw(count, k->n, "sequences"));
    TSR_TRY(set_row(c, &f, count == k->n));
done:
    tsri_free(f.first);
    tsri_free(f.second);
    tsri_free(f.others);
    tsri_free(f.whose);
    return st;
}

/* ---- Lemma D.7 ------------------------------------------------------------------------------ */

/* (i*, l*): the largest target from the second position on. */
static double largest_target(int64_t *i, int64_t *l, const tsri_rnn_case *k)
{
    double most = -1;
    for (int64_t s = 0; s < k->n; s++)
        for (int64_t p = 1; p < (k->length ? k->length[s] : k->then->L); p++) {
            const float *y = k->target + (s * k->then->L + p) * k->then->d;
            double squares = 0;
            for (int64_t j = 0; j < k->then->d; j++)
                squares += (double)y[j] * (double)y[j];
            if (sqrt(squares) > most) {
                most = sqrt(squares);
                *i = s;
                *l = p;
            }
        }
    return most;
}

/* u [m] = sum over a >= l of Back_(i, l -> a)^T y_(i,a); `spare` [m]. */
static void back_coordinates(double *u, double *spare, const tsri_rnn_case *k,
                             const tsri_rnn_states *s, const float *y, int64_t l)
{
    const tsri_rnn_net *net = k->then;
    memset(u, 0, (size_t)net->m * sizeof *u);
    for (int64_t a = tsri_rnn_length(s, 0) - 1; a >= l; a--) {
        const double *g = a + 1 < s->L ? s->g + tsri_rnn_row(s, a + 1, 0) : NULL;
        for (int64_t j = 0; j < net->m; j++)
            spare[j] = g && g[j] > 0 ? u[j] : 0;
        tsri_rnn_times(u, net->W, spare, net->m, net->m, true, k->pool);
        for (int64_t r = 0; r < net->d; r++)
            for (int64_t j = 0; j < net->m; j++)
                u[j] += net->B[r * net->m + j] * (double)y[a * net->d + r];
    }
}

static tsr_status coordinates(tsri_certificate *c, const tsri_rnn_case *k)
{
    tsr_status st = TSR_OK;
    tsri_rnn_states s = {0};
    double *u = NULL, *spare = NULL, above = 0;
    int64_t i = 0, l = 0, row = k->then->L * k->then->dx;
    double most = largest_target(&i, &l, k);
    double least = most / (6 * sqrt(k->s.d) * k->s.n * k->s.L);
    TSR_TRY(tsri_alloc(&u, k->then->m, sizeof *u));
    TSR_TRY(tsri_alloc(&spare, k->then->m, sizeof *spare));
    TSR_TRY(tsri_rnn_states_init(&s, k->then, k->x + i * row, k->length ? k->length + i : NULL, 1,
                                 k->pool));
    back_coordinates(u, spare, k, &s, k->target + i * k->then->L * k->then->d, l);
    for (int64_t j = 0; j < k->then->m; j++)
        above += fabs(u[j]) >= least;
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.units[TSRI_RNN_D7],
                                   .sense = TSRI_AT_LEAST,
                                   .measured = most > 0 ? above / k->s.m : (double)NAN,
                                   .required = 1 - 1 / (2 * k->s.n * k->s.L),
                                   .seen = TSRI_SEEN_ALL},
                 "part of all units with |u_(i*,l*)| >= |loss| / (6 n L sqrt(d)), the targets as "
                 "fixed vectors");
done:
    tsri_rnn_states_fini(&s);
    tsri_free(u);
    tsri_free(spare);
    return st;
}

tsr_status tsri_rnn_certify_start(tsri_certificate *c, const tsri_rnn_case *k)
{
    tsr_status st = TSR_OK;
    TSR_TRY(states(c, k));
    if (k->target && k->then->L > 1)
        TSR_TRY(coordinates(c, k));
done:
    return st;
}
