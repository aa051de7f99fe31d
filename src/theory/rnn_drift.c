/* rnn_drift.c - (5.1)-(5.3) of the recurrent paper: how far states, patterns and products have
 * moved from those of W(0); Lemmas C.2, C.7, C.9.
 *
 * tau_0 is sqrt(m) |W - W(0)|_F, which is no less than with the spectral norm: the lemmas hold for
 * any such tau_0, and Appendix H's ball is the Frobenius norm's. Lemma C.2 is judged with the
 * parameters (C.1) of its proof; their C is the constant of Lemma B.11 as measured at W(0), and at
 * least 1. Lemmas C.7 and C.9 give no constants: the rows say which would do.
 */
#include "theory/rnn_parts.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"

#include <math.h>
#include <string.h>

/* ---- A look: states of all sequences -------------------------------------------------------- */

typedef struct looking {
    tsri_rnn_moved *out;
    const tsri_rnn_case *k;
} looking;

static void compare(tsri_rnn_moved *out, const double *g, const double *g0, int64_t m)
{
    double dg = 0, dh = 0, flips = 0, at = 0;
    for (int64_t u = 0; u < m; u++) {
        double h = g[u] > 0 ? g[u] : 0, h0 = g0[u] > 0 ? g0[u] : 0;
        bool flip = (g[u] > 0) != (g0[u] > 0);
        dg += (g[u] - g0[u]) * (g[u] - g0[u]);
        dh += (h - h0) * (h - h0);
        flips += flip;
        at += flip ? g[u] * g[u] : 0;
    }
    out->g = fmax(out->g, sqrt(fmax(dg, dh)));
    out->flips = fmax(out->flips, flips);
    out->flip_g = fmax(out->flip_g, sqrt(at));
    out->longest = fmax(out->longest, tsri_length64(g, m) + tsri_length64(g0, m));
}

static tsr_status look_at(void *context, const tsri_rnn_block *b)
{
    tsr_status st = TSR_OK;
    const looking *w = context;
    tsri_rnn_states now = {0}, then = {0};
    TSR_TRY(tsri_rnn_states_init(&now, &w->k->now, b->x, b->length, b->n, w->k->pool));
    TSR_TRY(tsri_rnn_states_init(&then, w->k->then, b->x, b->length, b->n, w->k->pool));
    for (int64_t r = 0; r < now.L * now.n; r++)
        compare(w->out, now.g + r * now.m, then.g + r * now.m, now.m);
done:
    tsri_rnn_states_fini(&now);
    tsri_rnn_states_fini(&then);
    return st;
}

tsr_status tsri_rnn_moved_of(tsri_rnn_moved *out, const tsri_rnn_case *k)
{
    *out = (tsri_rnn_moved){0};
    return tsri_rnn_each(k, k->n, look_at, &(looking){out, k});
}

/* ---- Lemma C.2 over all rounds -------------------------------------------------------------- */

enum { STATES, FLIPS, FLIP_STATES, KINDS };

static const struct {
    const char *series, *quantity, *where, *trivial;
} kinds[KINDS] = {{"drift", "largest |g'_(i,l)|, |h'_(i,l)|, against tau_3 / sqrt(m) of (C.1)",
                   "(5.1), Lemma C.2 (a)", "both states together (the triangle inequality)"},
                  {"flips", "most units of a state that switched, against tau_4 m^(2/3)",
                   "(5.1), Lemma C.2 (b)", "all units"},
                  {"flip_drift", "largest |D' g|, against tau_5 / sqrt(m)", "(5.1), Lemma C.2 (c)",
                   "the longest state"}};

static double bound_of(int kind, const tsri_rnn_case *k, double C, double tau)
{
    tsri_rnn_stability b = tsri_rnn_stable(&k->s, C, tau);
    return kind == STATES ? b.g : kind == FLIPS ? b.flips : b.flip_g;
}

/* The round that comes nearest to its bound, or misses it by most; those whose bound says nothing
 * count only when there are no others. Where W has not moved, the bound is 0, and what it bounds
 * too: such a round comes last of all. */
static int64_t worst_round(int kind, const tsri_rnn_case *k, const tsri_past *past, double C)
{
    int64_t worst = -1;
    double most = -INFINITY;
    bool informative = false;
    for (int64_t r = 1; r <= past->round; r++) {
        double value = tsri_past_at(past, r, kinds[kind].series);
        double bound = bound_of(kind, k, C, tsri_past_at(past, r, "radius"));
        double nothing = kind == FLIPS ? k->s.m : tsri_past_at(past, r, "longest");
        bool still = bound == 0 && value == 0;
        bool informs = (bound < nothing && !still) || value > bound;
        double ratio = still ? -1 : value / bound;
        if (isnan(value) || isnan(bound) || (informative && !informs) ||
            (informative == informs && !(ratio > most)))
            continue;
        informative = informs;
        most = ratio;
        worst = r;
    }
    return worst;
}

static void stability_row(tsri_certificate *c, int kind, const tsri_rnn_case *k,
                          const tsri_past *past, double C)
{
    int64_t r = worst_round(kind, k, past, C);
    double tau = tsri_past_at(past, r, "radius");
    tsri_certify(
        c,
        &(tsri_condition){.of = k->of.drift[TSRI_RNN_C2],
                          .where = kinds[kind].where,
                          .sense = TSRI_AT_MOST,
                          .measured = tsri_past_at(past, r, kinds[kind].series),
                          .required = r < 0 ? (double)NAN : bound_of(kind, k, C, tau),
                          .seen = tsri_past_seen(past, kinds[kind].series),
                          .trivial = {kinds[kind].trivial,
                                      kind == FLIPS ? k->s.m : tsri_past_at(past, r, "longest")},
                          .by_construction = tau == 0 ? "W being W(0)" : NULL,
                          .worst = &r},
        "%s", kinds[kind].quantity);
}

/* ---- Lemma C.7 ------------------------------------------------------------------------------ */

typedef struct products {
    const tsri_rnn_case *k;
    double *P, *G;            /* [m, m] */
    double value[2], high[2]; /* with W(0), with W */
} products;

static tsr_status all_spans(products *p, const tsri_rnn_states *s, int64_t j, int which)
{
    tsr_status st = TSR_OK;
    int64_t m = s->m, end = tsri_rnn_length(s, j);
    const double *W = which ? p->k->now.W : p->k->then->W;
    for (int64_t from = 0; from < end; from++) {
        memcpy(p->G, W, (size_t)(m * m) * sizeof *p->G);
        for (int64_t l = from; l < end; l++) {
            const double *g = s->g + tsri_rnn_row(s, l, j);
            double value, high;
            TSR_TRY(tsri_hear_stop(p->k->view));
            for (int64_t r = 0; r < m; r++)
                for (int64_t u = 0; u < m; u++)
                    p->P[r * m + u] = g[r] > 0 ? p->G[r * m + u] : 0;
            TSR_TRY(tsri_rnn_norm_square(&value, &high, NULL, p->P, m, p->k->view->settings->seed,
                                         p->k->pool));
            p->value[which] = fmax(p->value[which], value);
            p->high[which] = fmax(p->high[which], high);
            if (l + 1 < end)
                TSR_TRY(tsri_gemm64_run(
                    &(tsri_gemm64){.m = m, .n = m, .k = m, .a = W, .b = p->P, .c = p->G},
                    p->k->pool));
        }
    }
done:
    return st;
}

static tsr_status visit_products(void *context, const tsri_rnn_block *b)
{
    tsr_status st = TSR_OK;
    products *p = context;
    tsri_rnn_states s = {0};
    TSR_TRY(tsri_rnn_states_init(&s, &p->k->now, b->x, b->length, b->n, p->k->pool));
    for (int64_t j = 0; j < b->n; j++)
        for (int which = 0; which < 2; which++)
            TSR_TRY(all_spans(p, &s, j, which));
done:
    tsri_rnn_states_fini(&s);
    return st;
}

static tsr_status intermediate(tsri_certificate *c, const tsri_rnn_case *k)
{
    tsr_status st = TSR_OK;
    products p = {.k = k};
    double m = k->s.m, L = k->s.L, L7 = pow(L, 7);
    int64_t count = tsri_rnn_fitting(c, k, L * (L + 1) * m * m * (2 * m + 400), "(5.2), products");
    TSR_TRY(tsri_alloc(&p.P, k->now.m * k->now.m, sizeof *p.P));
    TSR_TRY(tsri_alloc(&p.G, k->now.m * k->now.m, sizeof *p.G));
    TSR_TRY(tsri_rnn_each(k, count, visit_products, &p));
    for (int which = 0; which < 2; which++)
        tsri_certify(c,
                     &(tsri_condition){.of = k->of.drift[TSRI_RNN_C7],
                                       .sense = TSRI_MEASURED,
                                       .measured = count > 0 ? p.value[which] / L7 : (double)NAN,
                                       .seen = tsri_saw(count, k->n, "sequences"),
                                       .interval = {p.value[which] / L7, p.high[which] / L7,
                                                    count > 0 ? TSRI_RNN_LEVEL : 0}},
                     "largest |D %s ... D %s|_2, D of now, over L^7: the least constant of O",
                     which ? "W" : "W(0)", which ? "W" : "W(0)");
done:
    tsri_free(p.P);
    tsri_free(p.G);
    return st;
}

/* ---- Lemma C.9 ------------------------------------------------------------------------------ */

/* B D W ... D W with the patterns and the W of now or then. */
enum { THEN_THEN, NOW_THEN, NOW_NOW, THEN_NOW, CHAINS };

typedef struct backs {
    const tsri_rnn_case *k;
    double *M[CHAINS], *spare; /* [d, m] */
    double apart[4];           /* (a)-(d) */
} backs;

static tsr_status apart(double *most, const backs *w, int one, int other)
{
    tsr_status st = TSR_OK;
    int64_t size = w->k->now.d * w->k->now.m;
    double norm;
    for (int64_t e = 0; e < size; e++)
        w->spare[e] = w->M[one][e] - w->M[other][e];
    TSR_TRY(tsri_rnn_norm_wide(&norm, w->spare, w->k->now.d, w->k->now.m, w->k->pool));
    *most = fmax(*most, norm);
done:
    return st;
}

/* All spans of a sequence that end at `to`. */
static tsr_status back_from(backs *w, const tsri_rnn_states *now, const tsri_rnn_states *then,
                            int64_t j, int64_t to)
{
    tsr_status st = TSR_OK;
    const tsri_rnn_net *n1 = &w->k->now, *n0 = w->k->then;
    int64_t d = n1->d, m = n1->m;
    for (int c = 0; c < CHAINS; c++)
        memcpy(w->M[c], n0->B, (size_t)(d * m) * sizeof **w->M);
    TSR_TRY(tsri_hear_stop(w->k->view));
    for (int64_t l = to; l >= 0; l--) {
        const double *g1 = now->g + tsri_rnn_row(now, l, j);
        const double *g0 = then->g + tsri_rnn_row(then, l, j);
        for (int c = 0; c < CHAINS; c++) {
            const double *g = c == NOW_THEN || c == NOW_NOW ? g1 : g0;
            const double *W = c == NOW_NOW || c == THEN_NOW ? n1->W : n0->W;
            TSR_TRY(tsri_rnn_back(w->spare, w->M[c], g, W, d, m, w->k->pool));
            double *swap = w->M[c];
            w->M[c] = w->spare;
            w->spare = swap;
        }
        TSR_TRY(apart(&w->apart[0], w, THEN_THEN, NOW_THEN));
        TSR_TRY(apart(&w->apart[1], w, NOW_THEN, NOW_NOW));
        TSR_TRY(apart(&w->apart[2], w, THEN_THEN, THEN_NOW));
        TSR_TRY(apart(&w->apart[3], w, THEN_NOW, NOW_NOW));
    }
done:
    return st;
}

static tsr_status visit_backs(void *context, const tsri_rnn_block *b)
{
    tsr_status st = TSR_OK;
    backs *w = context;
    tsri_rnn_states now = {0}, then = {0};
    TSR_TRY(tsri_rnn_states_init(&now, &w->k->now, b->x, b->length, b->n, w->k->pool));
    TSR_TRY(tsri_rnn_states_init(&then, w->k->then, b->x, b->length, b->n, w->k->pool));
    for (int64_t j = 0; j < b->n; j++)
        for (int64_t to = 0; to < tsri_rnn_length(&now, j); to++)
            TSR_TRY(back_from(w, &now, &then, j, to));
done:
    tsri_rnn_states_fini(&now);
    tsri_rnn_states_fini(&then);
    return st;
}

static void backward_rows(tsri_certificate *c, const backs *w, int64_t count, double tau)
{
    const tsri_rnn_case *k = w->k;
    static const char *const text[4] = {
        "|B D W(0) ... - the same with D of now|_2 over tau_0^(1/3) "
        "L^6 log m m^(1/3)",
        "|B D W(0) ... - the same with W, D of now|_2 over tau_0 "
        "L^15",
        "|B D W(0) ... - the same with W, D of W(0)|_2 over tau_0 "
        "L^7",
        "|B D W ... - the same with D of now|_2 over tau_0^(1/3) "
        "L^6 log m m^(1/3)"};
    double form = tsri_rnn_c9_form(&k->s, tau);
    double forms[4] = {form, tau * pow(k->s.L, 15), tau * pow(k->s.L, 7), form};
    for (int i = 0; i < 4; i++)
        tsri_certify(c,
                     &(tsri_condition){.of = k->of.drift[TSRI_RNN_C9],
                                       .sense = TSRI_MEASURED,
                                       .measured = count > 0 && tau > 0 ? w->apart[i] / forms[i]
                                                                        : (double)NAN,
                                       .seen = tsri_saw(count, k->n, "sequences")},
                     "(%c) largest %s: the least constant of O", 'a' + i, text[i]);
    if (!(tau > 0))
        tsri_certify_note(c, "(5.3): W has not moved, so that there is no constant to measure");
}

static tsr_status backward(tsri_certificate *c, const tsri_rnn_case *k, double tau)
{
    tsr_status st = TSR_OK;
    backs w = {.k = k};
    double m = k->s.m, L = k->s.L, d = k->s.d;
    double each = 4 * L * m * m + L * (L + 1) / 2 * CHAINS * (2 * d * m * m + 2 * d * d * m);
    int64_t count = tsri_rnn_fitting(c, k, each, "(5.3), B D W ... D W");
    for (int i = 0; i < CHAINS; i++)
        TSR_TRY(tsri_alloc(&w.M[i], k->now.d * k->now.m, sizeof **w.M));
    TSR_TRY(tsri_alloc(&w.spare, k->now.d * k->now.m, sizeof *w.spare));
    TSR_TRY(tsri_rnn_each(k, count, visit_backs, &w));
    backward_rows(c, &w, count, tau);
done:
    for (int i = 0; i < CHAINS; i++)
        tsri_free(w.M[i]);
    tsri_free(w.spare);
    return st;
}

tsr_status tsri_rnn_certify_drift(tsri_certificate *c, const tsri_rnn_case *k,
                                  const tsri_past *past, double tau)
{
    tsr_status st = TSR_OK;
    double chain = tsri_past_at(past, 0, "chain") / pow(k->s.L, 3);
    for (int kind = 0; kind < KINDS; kind++)
        stability_row(c, kind, k, past, isnan(chain) ? chain : fmax(1, chain));
    TSR_TRY(intermediate(c, k));
    TSR_TRY(backward(c, k, tau));
done:
    return st;
}
