/* rnn.c - certificates of Allen-Zhu, Li, Song, "On the Convergence Rate of Training Recurrent
 * Neural Networks".
 *
 * Before a run: Assumption 2.1, (4.1)-(4.6) as Appendix B states them, Theorem 3's ratio and
 * Theorem 4's residual for the step to come. During one: how far W has moved, tau_0 = sqrt(m) |W -
 * W(0)|_2, (5.1)-(5.3) as Appendix C states them for that tau_0, and Theorems 3 and 4 at W. O(...)
 * is read with a constant of 1, poly(rho) as rho = n L d log m and poly(varrho) as varrho = rho /
 * delta.
 *
 * Statements about *all* sparse vectors are tried on random supports, those about all sequences and
 * spans of positions on a few: what fails, fails; what holds was not refuted.
 */
#include "theory/papers.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "data/points.h"
#include "theory/first.h"
#include "theory/rnn_view.h"

#include <math.h>
#include <string.h>

enum { MOST = 128, FEW = 2, STEPS = 40, SUPPORTS = 3, FRESH = 32 };

/* ---- The run as the paper sees it ----------------------------------------------------------- */

static int64_t param(const tsri_run *run, const char *name)
{
    return run->net->param[tsri_net_param(run->net, name)].offset;
}

static tsr_status view_init(tsri_rnn_view *v, const tsri_run *run, const float *w)
{
    const tsr_data *data = run->data;
    const tsri_param *out = &run->net->param[tsri_net_param(run->net, "out.weight")];
    *v = (tsri_rnn_view){.n = data->train.n < MOST ? data->train.n : MOST,
                         .L = data->height,
                         .m = out->shape[1],
                         .dx = data->channels,
                         .d = out->shape[0],
                         .W = w + param(run, "rnn.weight_hh_l0"),
                         .A = w + param(run, "rnn.weight_ih_l0"),
                         .B = w + out->offset,
                         .x = data->train.numbers,
                         .length = data->train.length};
    return tsri_rnn_view_init(v, run->pool);
}

/* delta: the least distance of two first positions. */
static tsr_status separation(double *delta, const tsri_rnn_view *v)
{
    tsr_status st = TSR_OK;
    float *first = NULL;
    int64_t i, j;
    TSR_TRY(tsri_alloc(&first, v->n * v->dx, sizeof *first));
    for (int64_t k = 0; k < v->n; k++)
        memcpy(first + k * v->dx, v->x + k * v->L * v->dx, (size_t)v->dx * sizeof *first);
    *delta = tsri_least_distance(first, v->n, v->dx, &i, &j);
done:
    tsri_free(first);
    return st;
}

static void assumptions(tsri_certificate *c, const tsri_rnn_view *v, double delta)
{
    double first = 0, longest = 0, last = 0;
    for (int64_t i = 0; i < v->n; i++) {
        const float *x = v->x + i * v->L * v->dx;
        first = fmax(first, fabs(tsri_length(x, v->dx) - 1));
        last = fmax(last, fabs((double)x[v->dx - 1] - sqrt(0.5)));
        for (int64_t l = 0; l < tsri_rnn_length(v, i); l++)
            longest = fmax(longest, tsri_length(x + l * v->dx, v->dx));
    }
    tsri_certify(c, "section 2.1", TSRI_AT_MOST, first, 1e-6, "largest | |x_(i,1)| - 1 |");
    tsri_certify(c, "section 2.1", TSRI_AT_MOST, last, 1e-6,
                 "largest distance of x_(i,1)'s last coordinate from 1/sqrt 2");
    tsri_certify(c, "section 2.1", TSRI_AT_MOST, longest, 1 + 1e-6, "largest |x_(i,l)|");
    tsri_certify(c, "Assumption 2.1", TSRI_AT_LEAST, delta, 1e-6,
                 "delta: least |x_(i,1) - x_(j,1)|");
}

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
    tsri_certify(c, "(4.1), Lemma B.3", TSRI_AT_LEAST, least, 1,
                 "least |h_(i,l)| over (1 - 1/4L)^(l-1)");
    tsri_certify(c, "(4.1), Lemma B.3", TSRI_AT_MOST, most, 1, "largest |h_(i,l)| over 2l + 2");
    tsri_certify(c, "(4.1), Lemma B.3", TSRI_AT_MOST, most_g, 1, "largest |g_(i,l)| over 4l + 4");
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
    tsri_certify(
        c, "(4.2), Lemma B.6", TSRI_AT_LEAST, least, 1 / (2e6 * L * L * logm * logm * logm),
        "least |(I - U U^T) h_(i,l)|, U the states before, %lld sequences", (long long)count);
    tsri_certify(c, "(4.3), Lemma B.9", TSRI_AT_LEAST, apart, delta / 2,
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
    tsri_certify(c, "(4.4), Lemma B.11", TSRI_AT_MOST, p.whole.value, L * L * L,
                 "largest |W D W ... D W|_2, against L^3");
    tsri_certify_interval(c, p.whole.value, p.whole.high, p.whole.level);
    tsri_certify(c, "(4.5), Corollary B.15", TSRI_AT_MOST, p.sparse.value, log(m) / pow(m, 1.0 / 6),
                 "the same between %d supports of m^(2/3) units, against log m / m^(1/6)",
                 SUPPORTS);
    tsri_certify_interval(c, p.sparse.value, p.sparse.high, p.sparse.level);
    tsri_certify(c, "(4.6), Corollary B.18", TSRI_AT_MOST, p.back.value, pow(m, 1.0 / 3) * log(m),
                 "|B D W ... D W|_2 on a support of m^(2/3) units, against m^(1/3) log m");
    tsri_certify_interval(c, p.back.value, p.back.high, p.back.level);
done:
    tsri_free(f);
    tsri_free(gate);
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
    tsri_certify(c, "(5.1), Lemma C.2 (a)", TSRI_AT_MOST, fmax(d.g, d.h), pow(L, 6) * tau / sqrt(m),
                 "largest |g'_(i,l)|, |h'_(i,l)|, against L^6 tau_0 / sqrt(m)");
    tsri_certify(c, "(5.1), Lemma C.2 (b)", TSRI_AT_MOST, d.switched,
                 pow(L, 10.0 / 3) * pow(tau * m, 2.0 / 3),
                 "most units of a state that switched, against L^(10/3) (tau_0 m)^(2/3)");
    tsri_certify(c, "(5.1), Lemma C.2 (c)", TSRI_AT_MOST, d.switched_g, pow(L, 5) * tau / sqrt(m),
                 "largest |D' g|, against L^5 tau_0 / sqrt(m)");
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
    tsri_certify(c, "(5.2), Lemma C.7", TSRI_AT_MOST, whole.value, pow(L, 7),
                 "|D W ... D W - the same at W(0)|_2, against L^7");
    tsri_certify_interval(c, whole.value, whole.high, whole.level);
    tsri_certify(c, "(5.3), Lemma C.9", TSRI_AT_MOST, out.value,
                 cbrt(tau) * pow(L, 6) * log(m) * cbrt(m) + tau * pow(L, 15),
                 "|B D W ... - the same at W(0)|_2, against C.9 (a) + (b)");
    tsri_certify_interval(c, out.value, out.high, out.level);
done:
    tsri_free(f);
    tsri_free(g);
    return st;
}

/* ---- Theorems 3 and 4 ---------------------------------------------------------------------------
 */

typedef struct objective {
    tsri_plan *plan;
    tsri_run *run;
    const tsri_rnn_view *v;
} objective;

static tsr_status value(double *f, objective *o)
{
    tsr_status st = TSR_OK;
    tsri_loss loss = {
        .kind = TSRI_HALF_SQUARES, .valid = o->v->n, .target = o->run->data->train.target};
    tsri_plan_lengths(o->plan, o->v->length);
    TSR_TRY(tsri_plan_forward(o->plan, o->v->x));
    TSR_TRY(tsri_plan_loss(o->plan, &loss));
    *f = loss.sum;
done:
    return st;
}

/* f(W - eta grad), W as it was afterwards. */
static tsr_status value_ahead(double *f, objective *o, double eta)
{
    tsr_status st = TSR_OK;
    float *keep = NULL, *w = o->run->store.w;
    const float *g = o->run->store.g;
    int64_t at = param(o->run, "rnn.weight_hh_l0"), n = o->v->m * o->v->m;
    TSR_TRY(tsri_alloc(&keep, n, sizeof *keep));
    memcpy(keep, w + at, (size_t)n * sizeof *keep);
    for (int64_t i = 0; i < n; i++)
        w[at + i] -= (float)(eta * (double)g[at + i]);
    st = value(f, o);
    memcpy(w + at, keep, (size_t)n * sizeof *keep);
done:
    tsri_free(keep);
    return st;
}

static tsr_status theorems_3_and_4(tsri_certificate *c, tsri_run *run, const tsri_rnn_view *v,
                                   double delta)
{
    tsr_status st = TSR_OK;
    objective o = {NULL, run, v};
    double f, ahead, m = (double)v->m, eta;
    double rho = (double)(v->n * v->L * v->d) * log(m);
    tsri_norm step;
    TSR_TRY(tsri_plan_create(&o.plan, &run->store, run->backend, run->pool, v->n, true));
    TSR_TRY(value(&f, &o));
    TSR_TRY(tsri_plan_backward(o.plan));
    const float *g = (const float *)run->store.g + param(run, "rnn.weight_hh_l0");
    double squares = tsri_length(g, v->m * v->m);
    squares *= squares;
    tsri_certify(c, "Theorem 3", TSRI_AT_LEAST, squares / (m * f), delta / rho,
                 "|grad f|_F^2 / (m f), against delta / rho");
    tsri_certify(c, "Theorem 3", TSRI_AT_MOST, squares / (m * f), rho, "the same, against rho");
    eta = tsri_schedule_rate(&run->schedule,
                             run->round < run->rounds ? run->round : run->rounds - 1, run->rounds);
    tsri_factor whole = {g, v->m, v->m, NULL};
    TSR_TRY(tsri_chain_norm(&step, &(tsri_chain){&whole, 1}, NULL, STEPS, run->seed, run->pool));
    TSR_TRY(value_ahead(&ahead, &o, eta));
    double size = eta * step.value;
    tsri_certify(
        c, "Theorem 4", TSRI_AT_MOST, ahead - f + eta * squares,
        rho / delta * cbrt(m) * sqrt(f) * size + rho * m * size * size,
        "f(W + W') - f(W) - <grad f, W'> for the next step, against varrho m^(1/3) sqrt(f) "
        "|W'| + rho m |W'|^2");
done:
    tsri_plan_destroy(o.plan);
    return st;
}

/* ---- The paper ----------------------------------------------------------------------------------
 */

static tsr_status at_the_start(tsri_certificate *c, const tsri_run *run, const tsri_rnn_view *v,
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

static tsr_status along_the_way(tsri_certificate *c, const tsri_run *run, const tsri_rnn_view *now)
{
    tsr_status st = TSR_OK;
    tsri_store first = {0};
    tsri_rnn_view then = {0};
    tsri_norm radius;
    TSR_TRY(tsri_first_weights(&first, run));
    TSR_TRY(view_init(&then, run, first.w));
    tsri_factor a = {now->W, now->m, now->m, NULL}, b = {then.W, then.m, then.m, NULL};
    TSR_TRY(tsri_chain_norm(&radius, &(tsri_chain){&a, 1}, &(tsri_chain){&b, 1}, STEPS, run->seed,
                            run->pool));
    double tau = radius.value * sqrt((double)now->m);
    tsri_certify(c, "section 5", TSRI_MEASURED, tau, 0, "tau_0 = sqrt(m) |W - W(0)|_2");
    tsri_certify_interval(c, tau, radius.high * sqrt((double)now->m), radius.level);
    forward_stability(c, now, &then, tau);
    TSR_TRY(backward_stability(c, run, now, &then, tau));
done:
    tsri_rnn_view_fini(&then);
    tsri_store_fini(&first);
    return st;
}

static tsr_status certify(tsri_certificate *c, tsri_run *run, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_rnn_view v = {0};
    double delta = 0;
    TSR_TRY(view_init(&v, run, run->store.w));
    TSR_TRY(separation(&delta, &v));
    assumptions(c, &v, delta);
    if (!past || run->round == 0)
        TSR_TRY(at_the_start(c, run, &v, delta));
    else
        TSR_TRY(along_the_way(c, run, &v));
    if (run->loss == TSRI_HALF_SQUARES)
        TSR_TRY(theorems_3_and_4(c, run, &v, delta));
    tsri_certify_note(c, "O(...) is read with a constant of 1, poly(rho) as rho = n L d log m, "
                         "poly(varrho) as rho / delta");
    tsri_certify_note(c,
                      "n is %lld; spectral norms are those of %d sequences, their ends hold at "
                      "99 %%; sparse vectors have random supports",
                      (long long)v.n, FEW);
done:
    tsri_rnn_view_fini(&v);
    return st;
}

/* One layer, read at every position. */
static bool applies(const tsri_run *run)
{
    return strcmp(tsri_config_text(run->config, "model.name"), "rnn") == 0 &&
           tsri_config_int(run->config, "model.layers") <= 1 &&
           strcmp(tsri_config_text(run->config, "model.read"), "every") == 0;
}

const tsri_paper tsri_paper_rnn = {
    .name = "relu-rnn",
    .title = "Allen-Zhu, Li, Song: On the Convergence Rate of Training Recurrent Neural Networks",
    .applies = applies,
    .certify = certify,
};
