/* rnn_smooth.c - Theorems 3, 4 and 5, Lemma E.2 and Claim G.2 of the recurrent paper.
 *
 * Appendices E, F and G give powers and no constants: the rows divide what was measured by the
 * formula, and say which constant of Omega or O would make them equal. Theorem 4 speaks of every W'
 * in a ball: it is tried along the next step, and along directions of the same length that are
 * climbed to from there, W' = grad f(W + W') - grad f(W), which is the gradient of its residual.
 * Theorem 5 and Lemma E.2 speak of fixed vectors, which no weight has had a part in: the targets.
 */
#include "theory/rnn_parts.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"
#include "theory/rates.h"

#include <math.h>
#include <string.h>

enum { CLIMBS = 3 };

/* ---- Theorem 5, Lemma E.2 ------------------------------------------------------------------- */

tsr_status tsri_rnn_certify_fixed(tsri_certificate *c, const tsri_rnn_case *k)
{
    tsr_status st = TSR_OK;
    tsri_rnn_gradient g = {0};
    double none = NAN, rho = tsri_rnn_rho(&k->s), m = k->s.m, n = k->s.n, L = k->s.L;
    if (tsri_rnn_gradient_operations(k) <= k->effort) {
        TSR_TRY(tsri_alloc(&g.gradient, k->then->m * k->then->m, sizeof *g.gradient));
        TSR_TRY(tsri_rnn_gradient_of(&g, k, k->then, true));
        none = g.most > 0 ? 0 : none;
    } else {
        tsri_certify_long(c, "Theorem 5, Lemma E.2", tsri_rnn_gradient_operations(k));
    }
    int e2 = k->of.fixed[TSRI_RNN_E2];
    tsri_certify_number(c, k->of.fixed[TSRI_RNN_T5],
                        g.squares / (k->s.delta / pow(rho, 14) * m * g.most * g.most) + none,
                        "|fake gradient|_F^2 over delta/rho^14 m max|loss|^2, the targets as fixed "
                        "vectors: the constant of Omega");
    tsri_certify_number(c, e2, sqrt(g.squares) / (n * pow(L, 6) * sqrt(m) * g.most) + none,
                        "|fake gradient|_F over n L^6 sqrt(m) max|loss|: the constant of O");
    tsri_certify_number(c, e2, sqrt(g.most_i) / (pow(L, 6) * sqrt(m) * g.most) + none,
                        "largest |fake gradient of f_i|_F over L^6 sqrt(m) max|loss|");
    tsri_certify_number(c, e2, g.most_row / (n * rho * pow(L, 3) * g.most) + none,
                        "largest row of the fake gradient over n rho L^3 max|loss|");
done:
    tsri_free(g.gradient);
    return st;
}

/* ---- Theorem 4 ------------------------------------------------------------------------------ */

/* A step W' from W = now, and where it leads. */
typedef struct step {
    const tsri_rnn_case *k;
    const tsri_rnn_gradient *at; /* of now */
    double tau;                  /* sqrt(m) |W - W(0)|_F */
    tsri_rnn_net there;          /* W + W'; A and B are now's */
    tsri_rnn_gradient ahead;
    double *by;             /* [m, m] W' */
    double *worst;          /* [m, m] the worst W' so far */
    double frobenius, size; /* of W' */
} step;

static void step_fini(step *s)
{
    tsri_free(s->there.W);
    tsri_free(s->ahead.gradient);
    tsri_free(s->by);
    tsri_free(s->worst);
}

static tsr_status step_init(step *s, const tsri_rnn_case *k, const tsri_rnn_gradient *at,
                            double tau, double eta)
{
    tsr_status st = TSR_OK;
    int64_t size = k->now.m * k->now.m;
    *s = (step){.k = k, .at = at, .tau = tau, .there = k->now};
    s->there.W = NULL;
    TSR_TRY(tsri_alloc(&s->there.W, size, sizeof *s->there.W));
    TSR_TRY(tsri_alloc(&s->ahead.gradient, size, sizeof *s->ahead.gradient));
    TSR_TRY(tsri_alloc(&s->by, size, sizeof *s->by));
    TSR_TRY(tsri_alloc(&s->worst, size, sizeof *s->worst));
    for (int64_t e = 0; e < size; e++)
        s->by[e] = -eta * at->gradient[e];
    s->frobenius = tsri_length64(s->by, size);
done:
    return st;
}

/* Takes the step s->by: *constant = f(W + W') - f(W) - <grad f, W'> over Theorem 4's form. */
static tsr_status take(double *constant, step *s)
{
    tsr_status st = TSR_OK;
    const tsri_rnn_case *k = s->k;
    int64_t m = k->now.m;
    double high;
    for (int64_t e = 0; e < m * m; e++)
        s->there.W[e] = k->now.W[e] + s->by[e];
    TSR_TRY(tsri_rnn_gradient_of(&s->ahead, k, &s->there, false));
    TSR_TRY(
        tsri_rnn_norm_square(&s->size, &high, NULL, s->by, m, k->view->settings->seed, k->pool));
    double along = tsri_dot64(s->at->gradient, s->by, m * m);
    double tau = fmax(s->tau, sqrt(k->s.m) * s->frobenius);
    *constant =
        (s->ahead.f - s->at->f - along) / tsri_rnn_smooth_form(&k->s, tau, s->at->most, s->size);
done:
    return st;
}

/* The worst constant on the way up; the direction goes to s->worst. */
static tsr_status climb(double *worst, step *s)
{
    tsr_status st = TSR_OK;
    int64_t size = s->k->now.m * s->k->now.m;
    double first = *worst;
    memcpy(s->worst, s->by, (size_t)size * sizeof *s->worst);
    for (int t = 0; t < CLIMBS; t++) {
        double found;
        for (int64_t e = 0; e < size; e++)
            s->by[e] = s->ahead.gradient[e] - s->at->gradient[e];
        double length = tsri_length64(s->by, size);
        if (!(length > 0))
            break;
        for (int64_t e = 0; e < size; e++)
            s->by[e] *= s->frobenius / length;
        TSR_TRY(take(&found, s));
        if (found > *worst) {
            *worst = found;
            memcpy(s->worst, s->by, (size_t)size * sizeof *s->worst);
        }
    }
    tsri_tensor t = {
        .dtype = TSRI_F64, .dims = 2, .shape = {s->k->now.m, s->k->now.m}, .data = s->worst};
    if (*worst >= first)
        TSR_TRY(tsri_note(s->k->view, &t, "T4.direction"));
done:
    return st;
}

/* ---- Claim G.2 ------------------------------------------------------------------------------ */

typedef struct claim {
    const step *s;
    double moved, switched, off; /* |h - h^|, |D''|_0, |the two sides of (7.1) apart| */
    double longest;              /* |h| or |h^| */
} claim;

/* One position of (7.1): e = (D + D'') (W e_before + W' h_before), and the row's largest numbers.
 * Proposition G.3: D'' makes (D + D'') (g - g^) the change of the state, and is 0 where the sign
 * stays. */
static void position(claim *c, double *e, const double *sum, const double *g, const double *g0,
                     int64_t m)
{
    double moved = 0, off = 0, switched = 0, now = 0, then = 0;
    for (int64_t u = 0; u < m; u++) {
        double h = g[u] > 0 ? g[u] : 0, h0 = g0[u] > 0 ? g0[u] : 0;
        bool flip = (g[u] > 0) != (g0[u] > 0);
        double gate = flip ? (h - h0) / (g[u] - g0[u]) : g0[u] > 0;
        e[u] = gate * sum[u];
        moved += (h - h0) * (h - h0);
        off += (e[u] - (h - h0)) * (e[u] - (h - h0));
        switched += flip;
        now += h * h;
        then += h0 * h0;
    }
    c->longest = fmax(c->longest, sqrt(fmax(now, then)));
    c->moved = fmax(c->moved, sqrt(moved));
    c->off = fmax(c->off, sqrt(off));
    c->switched = fmax(c->switched, switched);
}

/* sum [n, m] += or = a b^T. */
static tsr_status add_product(double *sum, double *spare, const double *a, const double *b,
                              int64_t n, int64_t m, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_gemm64_run(
        &(tsri_gemm64){.b_transposed = true, .m = n, .n = m, .k = m, .a = a, .b = b, .c = spare},
        pool));
    for (int64_t e = 0; e < n * m; e++)
        sum[e] += spare[e];
done:
    return st;
}

static tsr_status visit(void *context, const tsri_rnn_block *b)
{
    tsr_status st = TSR_OK;
    claim *c = context;
    const tsri_rnn_case *k = c->s->k;
    tsri_rnn_states now = {0}, there = {0};
    double *e = NULL, *sum = NULL, *spare = NULL;
    int64_t size = b->n * k->now.m;
    TSR_TRY(tsri_rnn_states_init(&now, &k->now, b->x, b->length, b->n, k->pool));
    TSR_TRY(tsri_rnn_states_init(&there, &c->s->there, b->x, b->length, b->n, k->pool));
    TSR_TRY(tsri_alloc(&e, size, sizeof *e));
    TSR_TRY(tsri_alloc(&sum, size, sizeof *sum));
    TSR_TRY(tsri_alloc(&spare, size, sizeof *spare));
    for (int64_t l = 0; l < now.L; l++) {
        int64_t at = tsri_rnn_row(&now, l, 0);
        memset(sum, 0, (size_t)size * sizeof *sum);
        if (l > 0) {
            TSR_TRY(add_product(sum, spare, e, k->now.W, b->n, now.m, k->pool));
            TSR_TRY(add_product(sum, spare, there.h + at - size, c->s->by, b->n, now.m, k->pool));
        }
        for (int64_t i = 0; i < size; i += now.m)
            position(c, e + i, sum + i, there.g + at + i, now.g + at + i, now.m);
    }
done:
    tsri_rnn_states_fini(&now);
    tsri_rnn_states_fini(&there);
    tsri_free(e);
    tsri_free(sum);
    tsri_free(spare);
    return st;
}

/* How far apart the two sides may be for being sums of doubles, over the largest change: a part of
 * the change, or of the states whose difference it is. */
static double rounding(const claim *g)
{
    return fmax(1e-6, g->moved > 0 ? 1e-12 * g->longest / g->moved : 0);
}

/* Of the step that was taken last. */
static tsr_status claim_g2(tsri_certificate *c, const step *s)
{
    tsr_status st = TSR_OK;
    const tsri_rnn_case *k = s->k;
    claim g = {.s = s};
    double tau = fmax(s->tau, sqrt(k->s.m) * s->frobenius);
    TSR_TRY(tsri_rnn_each(k, k->n, visit, &g));
    tsri_certify(
        c,
        &(tsri_condition){.of = k->of.g2,
                          .sense = TSRI_AT_MOST,
                          .measured = g.moved > 0 ? g.off / g.moved : 0,
                          .required = rounding(&g),
                          .seen = TSRI_SEEN_ALL,
                          .by_construction = "Proposition G.3, which makes D''"},
        "both sides of (7.1) apart, over the largest change of a state, for the next step");
    tsri_certify_number(c, k->of.g2, g.moved / (pow(k->s.L, 9) * s->size),
                        "largest change of a state over L^9 |W'|_2, the next step: the constant of "
                        "O");
    tsri_certify_number(c, k->of.g2,
                        g.switched /
                            (pow(k->s.L, 10.0 / 3) * pow(tau, 2.0 / 3) * pow(k->s.m, 2.0 / 3)),
                        "largest |D''|_0 over L^(10/3) tau_0^(2/3) m^(2/3): the constant of O");
done:
    return st;
}

/* ---- Theorem 3, and all of them ------------------------------------------------------------- */

static void theorem_3(tsri_certificate *c, const tsri_rnn_case *k, const tsri_rnn_gradient *g)
{
    double rho = tsri_rnn_rho(&k->s), m = k->s.m, n = k->s.n;
    double scale = m * g->most * g->most, none = g->most > 0 ? 0 : (double)NAN;
    tsri_certify_number(c, k->of.three, g->squares / (k->s.delta / pow(rho, 14) * scale) + none,
                        "|grad f|_F^2 over delta/rho^14 m max|loss|^2: the constant of Omega");
    tsri_certify_number(c, k->of.three, g->squares / (pow(rho, 12) * scale) + none,
                        "|grad f|_F^2 over rho^12 m max|loss|^2: the constant of O");
    tsri_certify_number(
        c, k->of.three, n * n * g->most_i / (pow(rho, 12) * scale) + none,
        "largest |grad f_i|_F^2 over rho^12 m max|loss|^2 / n^2: the constant of O");
}

static tsr_status theorem_4(tsri_certificate *c, const tsri_rnn_case *k, const tsri_rnn_gradient *g,
                            double tau)
{
    tsr_status st = TSR_OK;
    step s;
    double constant, worst, all = (CLIMBS + 1) * tsri_rnn_gradient_operations(k);
    double eta = tsri_rate_of(k->view->settings, k->view->position, k->view->position->round);
    TSR_TRY(step_init(&s, k, g, tau, tsri_rnn_paper_step(k->view, eta)));
    if (!(s.frobenius > 0))
        goto done;
    TSR_TRY(take(&constant, &s));
    TSR_TRY(claim_g2(c, &s));
    tsri_certify_number(c, k->of.four, constant,
                        "f(W + W') - f(W) - <grad f, W'> over rho^11 tau_0^(1/3) m^(1/3) max|loss| "
                        "|W'|_2 + L^18 n m |W'|_2^2, the next step");
    worst = constant;
    if (all <= k->effort)
        TSR_TRY(climb(&worst, &s));
    else
        tsri_certify_long(c, "Theorem 4, bad directions", all);
    tsri_certify_number(c, k->of.four, all <= k->effort ? worst : (double)NAN,
                        "the same along the worst direction of that length found: a constant that "
                        "O must exceed");
done:
    step_fini(&s);
    return st;
}

tsr_status tsri_rnn_certify_gradient(tsri_certificate *c, const tsri_rnn_case *k, double tau,
                                     double *f)
{
    tsr_status st = TSR_OK;
    tsri_rnn_gradient g = {0};
    *f = NAN;
    if (tsri_rnn_gradient_operations(k) > k->effort) {
        tsri_certify_long(c, "f(W), Theorems 3 and 4", tsri_rnn_gradient_operations(k));
        return TSR_OK;
    }
    TSR_TRY(tsri_alloc(&g.gradient, k->now.m * k->now.m, sizeof *g.gradient));
    TSR_TRY(tsri_rnn_gradient_of(&g, k, &k->now, false));
    *f = g.f;
    theorem_3(c, k, &g);
    TSR_TRY(theorem_4(c, k, &g, tau));
done:
    tsri_free(g.gradient);
    return st;
}
