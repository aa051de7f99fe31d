/* rnn_norms.c - (4.1)-(4.6) and (5.1)-(5.3) of Allen-Zhu, Li, Song, "On the Convergence Rate of
 * Training Recurrent Neural Networks", as its Appendices B and C state them.
 *
 * Statements about *all* sparse vectors are tried on random supports, those about all sequences and
 * spans of positions on a few: what fails, fails; what holds was not refuted.
 */
#include "theory/rnn_norms.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { FEW = TSRI_RNN_FEW, STEPS = TSRI_RNN_STEPS, SUPPORTS = 3, FRESH = 32 };

/* ---- Section 4 --------------------------------------------------------------------------------
 */

/* Lemma B.3: |h_(l+1)| over (1 - 1/4L)^l and over 2l + 4, |g_(l+1)| over 4l + 8. */
static void forward_norms(tsri_certificate *c, const tsri_rnn_view *v)
{
    double least = INFINITY, most = 0, most_g = 0, L = (double)v->L;
    for (int64_t l = 0; l < v->L; l++)
        for (int64_t i = 0; i < v->n; i++) {
            if (l >= tsri_rnn_length(v, i))
                continue;
            double h = tsri_length(v->h + tsri_rnn_row(v, l, i), v->m), at = (double)l;
            double g = tsri_length(v->g + tsri_rnn_row(v, l, i), v->m);
            least = fmin(least, h / pow(1 - 1 / (4 * L), at));
            most = fmax(most, h / (2 * at + 4));
            most_g = fmax(most_g, g / (4 * at + 8));
        }
    tsri_certify_old(c, "(4.1), Lemma B.3", TSRI_AT_LEAST, least, 1,
                     "least |h_(i,l)| over (1 - 1/4L)^(l-1)");
    tsri_certify_old(c, "(4.1), Lemma B.3", TSRI_AT_MOST, most, 1, "largest |h_(i,l)| over 2l + 2");
    tsri_certify_old(c, "(4.1), Lemma B.3", TSRI_AT_MOST, most_g, 1,
                     "largest |g_(i,l)| over 4l + 4");
}

static tsr_status fresh_randomness(tsri_certificate *c, const tsri_run *run, const tsri_rnn_view *v,
                                   double delta)
{
    tsr_status st = TSR_OK;
    double *shortest = NULL, *separable = NULL, least = INFINITY, apart = INFINITY;
    double L = (double)v->L, logm = log((double)v->m);
    int64_t count = v->n < FRESH ? v->n : FRESH;
    while (count > 2 && count * v->L > v->m / 2) /* the paper's m is far above n L */
        count--;
    TSR_TRY(tsri_alloc(&shortest, v->L, sizeof *shortest));
    TSR_TRY(tsri_alloc(&separable, v->L, sizeof *separable));
    TSR_TRY(tsri_rnn_fresh(shortest, separable, v, count, run->pool));
    for (int64_t l = 0; l < v->L; l++) {
        least = fmin(least, shortest[l]);
        apart = fmin(apart, separable[l]);
    }
    tsri_certify_old(
        c, "(4.2), Lemma B.6", TSRI_AT_LEAST, least, 1 / (2e6 * L * L * logm * logm * logm),
        "least |(I - U U^T) h_(i,l)|, U the states before, %lld sequences", (long long)count);
    tsri_certify_old(c, "(4.3), Lemma B.9", TSRI_AT_LEAST, apart, delta / 2,
                     "least separability of two such rests, against delta/2");
done:
    tsri_free(shortest);
    tsri_free(separable);
    return st;
}

/* A support of `count` of m units, as a gate. */
static void draw_support(float *gate, int64_t m, int64_t count, uint64_t seed, int64_t t,
                         int64_t side)
{
    tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_THEORY, 3, t, side);
    int64_t left = count;
    for (int64_t k = 0; k < m; k++) {
        bool in = (int64_t)tsri_rng_below(&rng, (uint32_t)(m - k)) < left;
        gate[k] = in ? 1 : 0;
        left -= in;
    }
}

typedef struct products {
    tsri_norm whole, sparse, back; /* (4.4), (4.5), (4.6) */
} products;

static void keep_larger(tsri_norm *most, const tsri_norm *norm)
{
    most->value = fmax(most->value, norm->value);
    most->high = fmax(most->high, norm->high);
    most->level = norm->level;
}

/* W D_to ... D_from W of sequence i; between supports; and B D_to ... D_from W on a support. */
static tsr_status span(products *p, const tsri_run *run, const tsri_rnn_view *v, int64_t i,
                       int64_t from, int64_t to, tsri_factor *f, float *gate)
{
    tsr_status st = TSR_OK;
    int64_t m = v->m, k = (int64_t)ceil(pow((double)m, 2.0 / 3)), n;
    tsri_norm norm;
    f[0] = (tsri_factor){NULL, m, m, gate};
    n = 1 + tsri_rnn_chain(f + 1, v, i, from, to, false);
    f[n] = (tsri_factor){v->W, m, m, NULL};
    TSR_TRY(tsri_chain_norm(&norm, &(tsri_chain){f + 1, n}, NULL, STEPS, run->seed, run->pool));
    keep_larger(&p->whole, &norm);
    for (int64_t t = 0; t < SUPPORTS; t++) {
        draw_support(gate, m, k, run->seed, t, 0);
        draw_support(gate + m, m, k, run->seed, t, 1);
        f[n].gate = gate + m;
        TSR_TRY(tsri_chain_norm(&norm, &(tsri_chain){f, n + 1}, NULL, STEPS, run->seed, run->pool));
        keep_larger(&p->sparse, &norm);
    }
    f[n] = (tsri_factor){v->B, v->d, m, NULL};
    TSR_TRY(tsri_chain_norm(&norm, &(tsri_chain){f, n + 1}, NULL, STEPS, run->seed, run->pool));
    keep_larger(&p->back, &norm);
done:
    return st;
}

static tsr_status backward_norms(tsri_certificate *c, const tsri_run *run, const tsri_rnn_view *v)
{
    tsr_status st = TSR_OK;
    tsri_factor *f = NULL;
    float *gate = NULL;
    products p = {0};
    double L = (double)v->L, m = (double)v->m;
    TSR_TRY(tsri_alloc(&f, v->L + 2, sizeof *f));
    TSR_TRY(tsri_alloc(&gate, 2 * v->m, sizeof *gate));
    for (int64_t i = 0; i < FEW && i < v->n; i++) {
        int64_t end = tsri_rnn_length(v, i) - 1;
        for (int64_t reach = 1; reach < 2 * end; reach *= 2)
            TSR_TRY(span(&p, run, v, i, 1, reach < end ? reach : end, f, gate));
    }
    tsri_certify_old(c, "(4.4), Lemma B.11", TSRI_AT_MOST, p.whole.value, L * L * L,
                     "largest |W D W ... D W|_2, against L^3");
    tsri_certify_old_interval(c, p.whole.value, p.whole.high, p.whole.level);
    tsri_certify_old(
        c, "(4.5), Corollary B.15", TSRI_AT_MOST, p.sparse.value, log(m) / pow(m, 1.0 / 6),
        "the same between %d supports of m^(2/3) units, against log m / m^(1/6)", SUPPORTS);
    tsri_certify_old_interval(c, p.sparse.value, p.sparse.high, p.sparse.level);
    tsri_certify_old(c, "(4.6), Corollary B.18", TSRI_AT_MOST, p.back.value,
                     pow(m, 1.0 / 3) * log(m),
                     "|B D W ... D W|_2 on a support of m^(2/3) units, against m^(1/3) log m");
    tsri_certify_old_interval(c, p.back.value, p.back.high, p.back.level);
done:
    tsri_free(f);
    tsri_free(gate);
    return st;
}

tsr_status tsri_rnn_certify_start(tsri_certificate *c, const tsri_run *run, const tsri_rnn_view *v,
                                  double delta)
{
    tsr_status st = TSR_OK;
    forward_norms(c, v);
    TSR_TRY(fresh_randomness(c, run, v, delta));
    if (v->L > 1)
        TSR_TRY(backward_norms(c, run, v));
done:
    return st;
}

/* ---- Section 5 --------------------------------------------------------------------------------
 */

typedef struct drift {
    double g, h, switched, switched_g; /* largest |g'|, |h'|, |D'|_0, |D' g| */
} drift;

static drift drift_of(const tsri_rnn_view *now, const tsri_rnn_view *then)
{
    drift out = {0};
    for (int64_t r = 0; r < now->L * now->n; r++) {
        double g = 0, h = 0, count = 0, at = 0;
        for (int64_t k = r * now->m; k < (r + 1) * now->m; k++) {
            double dg = (double)now->g[k] - (double)then->g[k];
            double dh = (double)now->h[k] - (double)then->h[k];
            bool flip = (now->g[k] > 0) != (then->g[k] > 0);
            g += dg * dg;
            h += dh * dh;
            count += flip;
            at += flip ? (double)now->g[k] * (double)now->g[k] : 0;
        }
        out.g = fmax(out.g, sqrt(g));
        out.h = fmax(out.h, sqrt(h));
        out.switched = fmax(out.switched, count);
        out.switched_g = fmax(out.switched_g, sqrt(at));
    }
    return out;
}

static void forward_stability(tsri_certificate *c, const tsri_rnn_view *now,
                              const tsri_rnn_view *then, double tau)
{
    double L = (double)now->L, m = (double)now->m;
    drift d = drift_of(now, then);
    tsri_certify_old(c, "(5.1), Lemma C.2 (a)", TSRI_AT_MOST, fmax(d.g, d.h),
                     pow(L, 6) * tau / sqrt(m),
                     "largest |g'_(i,l)|, |h'_(i,l)|, against L^6 tau_0 / sqrt(m)");
    tsri_certify_old(c, "(5.1), Lemma C.2 (b)", TSRI_AT_MOST, d.switched,
                     pow(L, 10.0 / 3) * pow(tau * m, 2.0 / 3),
                     "most units of a state that switched, against L^(10/3) (tau_0 m)^(2/3)");
    tsri_certify_old(c, "(5.1), Lemma C.2 (c)", TSRI_AT_MOST, d.switched_g,
                     pow(L, 5) * tau / sqrt(m), "largest |D' g|, against L^5 tau_0 / sqrt(m)");
}

/* The longest chains of a few sequences, now against then. */
static tsr_status backward_stability(tsri_certificate *c, const tsri_run *run,
                                     const tsri_rnn_view *now, const tsri_rnn_view *then,
                                     double tau)
{
    tsr_status st = TSR_OK;
    tsri_factor *f = NULL, *g = NULL;
    tsri_norm whole = {0}, out = {0}, norm;
    double L = (double)now->L, m = (double)now->m;
    TSR_TRY(tsri_alloc(&f, now->L + 1, sizeof *f));
    TSR_TRY(tsri_alloc(&g, now->L + 1, sizeof *g));
    for (int64_t i = 0; i < FEW && i < now->n; i++) {
        int64_t end = tsri_rnn_length(now, i) - 1;
        if (end < 1)
            continue;
        int64_t n = tsri_rnn_chain(f, now, i, 1, end, false);
        (void)tsri_rnn_chain(g, then, i, 1, end, false);
        TSR_TRY(tsri_chain_norm(&norm, &(tsri_chain){f, n}, &(tsri_chain){g, n}, STEPS, run->seed,
                                run->pool));
        keep_larger(&whole, &norm);
        f[n] = (tsri_factor){now->B, now->d, now->m, NULL};
        g[n] = (tsri_factor){then->B, then->d, then->m, NULL};
        TSR_TRY(tsri_chain_norm(&norm, &(tsri_chain){f, n + 1}, &(tsri_chain){g, n + 1}, STEPS,
                                run->seed, run->pool));
        keep_larger(&out, &norm);
    }
    tsri_certify_old(c, "(5.2), Lemma C.7", TSRI_AT_MOST, whole.value, pow(L, 7),
                     "|D W ... D W - the same at W(0)|_2, against L^7");
    tsri_certify_old_interval(c, whole.value, whole.high, whole.level);
    tsri_certify_old(c, "(5.3), Lemma C.9", TSRI_AT_MOST, out.value,
                     cbrt(tau) * pow(L, 6) * log(m) * cbrt(m) + tau * pow(L, 15),
                     "|B D W ... - the same at W(0)|_2, against C.9 (a) + (b)");
    tsri_certify_old_interval(c, out.value, out.high, out.level);
done:
    tsri_free(f);
    tsri_free(g);
    return st;
}

tsr_status tsri_rnn_certify_drift(tsri_certificate *c, const tsri_run *run,
                                  const tsri_rnn_view *now, const tsri_rnn_view *then, double tau)
{
    forward_stability(c, now, then, tau);
    return backward_stability(c, run, now, then, tau);
}
