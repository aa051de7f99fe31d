/* masked_theorems.c - Theorems 3 and 4 of the masked-neurons paper, with Lemmas 6, 10, 12, 13, 14
 * and Corollaries 1 to 3.
 *
 * Both bound expectations over masks (Theorem 4 also over first weights), so a run's own L_k leaves
 * them open where there is chance. What their proofs show of every round is decided: the
 * expectation of the next loss from the weights at hand, over draws of masks (masked_coming.h).
 */
#include "theory/masked_rows.h"

#include <math.h>
#include <stdio.h>

/* ---- What both have ----------------------------------------------------------------------- */

static void at_least(const tsri_masked_view *v, int of, const char *where, double measured,
                     double required, const char *quantity)
{
    tsri_certify(v->c,
                 &(tsri_condition){.of = of,
                                   .where = where,
                                   .sense = TSRI_AT_LEAST,
                                   .measured = measured,
                                   .required = required,
                                   .seen = TSRI_SEEN_ALL},
                 "%s", quantity);
}

static void at_most(const tsri_masked_view *v, int of, const char *where, double measured,
                    double required, const char *quantity)
{
    tsri_certify(v->c,
                 &(tsri_condition){.of = of,
                                   .where = where,
                                   .sense = TSRI_AT_MOST,
                                   .measured = measured,
                                   .required = required,
                                   .seen = TSRI_SEEN_ALL},
                 "%s", quantity);
}

/* (2): E L_(k+1) <= (1 - rate) L_k + gain, from the weights of every round that was gone through.
 * The round whose mean is largest beside its bound; one whose bound is not below L_k counts when
 * nothing else does, or when even that is missed. */
static void next_loss(const tsri_masked_view *v, int of, const char *where, double rate,
                      double gain, const char *formula)
{
    int64_t at = -1;
    double most = -INFINITY, bound = NAN;
    bool informative = false;
    for (int64_t k = 0; k <= v->past->round; k++) {
        double state = tsri_past_at(v->past, k, "state"), may = (1 - rate) * state + gain;
        double ratio = tsri_past_at(v->past, k, "ahead") / may;
        bool informs = may < state || ratio > 1;
        if (isnan(ratio) || (informative && !informs) || (informative == informs && ratio <= most))
            continue;
        informative = informs;
        most = ratio;
        bound = may;
        at = k;
    }
    tsri_condition claim = {.of = of,
                            .where = where,
                            .sense = TSRI_AT_MOST,
                            .measured = tsri_past_at(v->past, at, "ahead"),
                            .required = bound,
                            .seen = tsri_past_seen(v->past, "ahead"),
                            .blur = tsri_past_at(v->past, at, "blur") * bound,
                            .trivial = {"the loss before it", tsri_past_at(v->past, at, "state")},
                            .worst = &at};
    if (!v->whole)
        claim.interval = (tsri_interval){tsri_past_at(v->past, at, "ahead_low"),
                                         tsri_past_at(v->past, at, "ahead_high"), 0.95};
    tsri_certify(v->c, &claim, "E L_(k+1) over masks: %s", formula);
}

/* ---- Theorem 3 ---------------------------------------------------------------------------- */

static double rate3(const void *context, double eta)
{
    tsri_masked s = *(const tsri_masked *)context;
    s.eta = eta;
    return tsri_masked_rate3(&s);
}

static tsri_promise promise3(const tsri_masked_view *v, int of, const char *where)
{
    const tsri_seen none = {0};
    return (tsri_promise){.of = of,
                          .where = where,
                          .loss = "L_k",
                          .what = "L_0",
                          .rate = rate3,
                          .context = &v->s,
                          .settings = v->view->settings,
                          .position = v->view->position,
                          .floor = tsri_masked_floor3(&v->s),
                          .first = tsri_past_at(v->past, 0, "loss"),
                          .blur = tsri_past_most(v->past, "blur"),
                          .also = v->whole ? none : tsri_saw_one("draw of masks")};
}

static void widths3(const tsri_masked_view *v, int t3)
{
    static const char *const width[] = {"K n^4 / (delta kappa^2 xi theta lambda_0^4)",
                                        "K^3 n B_1 / (delta kappa^2 theta lambda_0^2)",
                                        "K^3 p / delta"};
    double order[TSRI_WIDTH3_TERMS];
    tsri_masked_order3(order, &v->s);
    for (int i = 0; i < TSRI_WIDTH3_TERMS; i++)
        if (order[i] > 0)
            tsri_masked_constant(v, t3, order[i], width[i]);
    at_least(v, t3, "appendix D", v->s.m, tsri_masked_width3(&v->s),
             "width m: 2 eta tau sqrt(2nK/(m delta)) (C sqrt(n)/alpha + KB) <= R");
}

static void terms3(const tsri_masked_view *v, int t3)
{
    static const char *const part[] = {"64 (1-xi)^2 n^3 d / (m lambda_0^2)",
                                       "68 eta tau (theta-xi^2) n^3 kappa^2 / (p lambda_0)",
                                       "(theta-xi^2) n kappa^2 / (6 tau^2 p)",
                                       "(tau-1)^2 p C_1 / (24 tau^2)",
                                       "8 eta^2 (tau-1)^2 n^4 p C_1 / lambda_0^2",
                                       "4 eta (tau-1) p n C_1"};
    double term[TSRI_B1_TERMS];
    tsri_masked_b1(term, &v->s);
    for (int i = 0; i < TSRI_B1_TERMS; i++)
        tsri_certify_number(v->c, t3, term[i], "B_1, term %d: %s", i + 1, part[i]);
    tsri_certify_number(v->c, t3, tsri_masked_floor3(&v->s), "proven floor B_1");
}

/* Of Bernoulli masks. */
static tsr_status corollary(const tsri_masked_view *v)
{
    const tsri_masked *s = &v->s;
    tsri_masked_corollary which = s->tau > 1 ? TSRI_COROLLARY_IST
                                  : s->p > 1 ? TSRI_COROLLARY_MULTISAMPLE
                                             : TSRI_COROLLARY_DROPOUT;
    bool local = which == TSRI_COROLLARY_IST;
    static const char *const where[] = {"", "Corollary 1", "Corollary 2", "Corollary 3"};
    static const char *const width[] = {"", "n^5 K / (xi^2 lambda_0^4 delta)",
                                        "n^5 K / (xi theta lambda_0^4 delta)",
                                        "n^5 K / (xi theta lambda_0^4 delta)"};
    double most = fmax(fmax(s->K, s->d), local ? s->p : 0);
    int of = tsri_certify_theorem(
        v->c, &(tsri_theorem){.where = where[which],
                              .chance = "1 - delta",
                              .probability = 1 - s->delta,
                              .assumes = TSRI_ALGORITHM_1 | TSRI_BERNOULLI_MASKS});
    at_least(v, of, NULL, s->n, most, local ? "n: max(K, d, p)" : "n: max(K, d)");
    at_most(v, of, NULL, fabs(s->kappa * sqrt(s->n) - 1), 1e-6,
            "| kappa sqrt(n) - 1 |: kappa = n^(-1/2)");
    tsri_masked_constant(v, of, tsri_masked_corollary_order(which, s), width[which]);
    tsri_promise p = promise3(v, of, where[which]);
    p.hidden = true;
    p.floor = tsri_masked_corollary_floor(which, s);
    tsri_certify_number(v->c, of, p.floor, "floor, up to the constant of O");
    return tsri_certify_fall(v->c, v->past, &p);
}

tsr_status tsri_masked_theorem3(const tsri_masked_view *v)
{
    tsr_status st = TSR_OK;
    const tsri_masked *s = &v->s;
    int t3 = tsri_certify_theorem(
        v->c, &(tsri_theorem){.where = "Theorem 3",
                              .chance = "1 - delta",
                              .probability = 1 - s->delta,
                              .assumes = TSRI_ALGORITHM_1 | TSRI_BERNOULLI_MASKS});
    tsri_promise p = promise3(v, t3, NULL);
    double alpha = tsri_masked_rate3(s);
    widths3(v, t3);
    at_most(v, t3, "Lemma 10", s->eta, tsri_masked_step10(s),
            "step eta: lambda_0 / (48 n tau max(n,p))");
    if (s->tau > 1)
        at_most(v, t3, "Lemma 6", s->eta, tsri_masked_step6(s),
                "step eta: lambda_0 / (16 (tau-1) n^2)");
    tsri_masked_distance(v, t3, "appendix A", tsri_masked_radius(s, 192),
                         "kappa lambda_0 / (192n)");
    tsri_masked_distance(v, t3, "Lemma 12", tsri_masked_radius12(s), "xi kappa lambda_0 / (144n)");
    tsri_certify_rate(v->c, &p, "alpha = eta theta tau lambda_0 / 4");
    terms3(v, t3);
    next_loss(v, t3, "appendix D", alpha, alpha * p.floor, "(1 - alpha) L_k + alpha B_1");
    TSR_TRY(tsri_certify_fall(v->c, v->past, &p));
    if (!v->whole)
        TSR_TRY(corollary(v));
done:
    return st;
}

/* ---- Theorem 4 ---------------------------------------------------------------------------- */

static double rate4(const void *context, double eta)
{
    tsri_masked s = *(const tsri_masked *)context;
    s.eta = eta;
    return tsri_masked_rate4(&s);
}

/* Lemmas 13 and 14 are algebra where every unit is in exactly one share; what is measured is
 * whether shares and their aggregation are what the paper means. Sums of n floats are sure to about
 * 1e-5 of their terms. */
static void identities(const tsri_masked_view *v)
{
    static const char *const why = "algebra, each unit being in one share";
    int l = tsri_certify_theorem(
        v->c, &(tsri_theorem){.where = "Lemma 13",
                              .chance = "",
                              .probability = NAN,
                              .assumes = TSRI_ALGORITHM_1 | TSRI_CATEGORICAL_MASKS});
    tsri_condition claim = {.of = l,
                            .sense = TSRI_AT_MOST,
                            .measured = tsri_past_most(v->past, "error_13"),
                            .required = 1e-5,
                            .seen = tsri_past_seen(v->past, "error_13"),
                            .by_construction = why};
    tsri_certify(v->c, &claim,
                 "| L_(k+1) - (mean_l ||y - u_tau^l||^2 - 1/p^2 sum_pairs ||u_tau^l - u_tau^l'||^2)"
                 " |, relative");
    claim.where = "Lemma 14";
    claim.measured = tsri_past_most(v->past, "error_14");
    claim.seen = tsri_past_seen(v->past, "error_14");
    tsri_certify(v->c, &claim,
                 "| sum_l ||u - u^l||^2 - 1/p sum_pairs ||u^l - u^l'||^2 |, relative");
    tsri_certify_number(v->c, l, tsri_past_now(v->past, "parted"),
                        "what aggregation takes from the mean loss of the shares in the round that "
                        "comes: 1/p^2 sum_pairs ||u_tau^l - u_tau^l'||^2");
}

tsr_status tsri_masked_theorem4(const tsri_masked_view *v)
{
    tsr_status st = TSR_OK;
    const tsri_masked *s = &v->s;
    int t4 = tsri_certify_theorem(
        v->c, &(tsri_theorem){.where = "Theorem 4",
                              .chance = "1 - delta",
                              .probability = 1 - s->delta,
                              .assumes = TSRI_ALGORITHM_1 | TSRI_CATEGORICAL_MASKS});
    tsri_promise p = {.of = t4,
                      .loss = "L_k",
                      .what = "C^2 n",
                      .rate = rate4,
                      .context = s,
                      .settings = v->view->settings,
                      .position = v->view->position,
                      .floor = tsri_masked_floor4(s),
                      .first = s->C * s->C * s->n,
                      .blur = tsri_past_most(v->past, "blur"),
                      .also = tsri_saw_one(v->whole ? "draw of first weights"
                                                    : "draw of masks and first weights")};
    tsri_masked_constant(v, t4, tsri_masked_order4(s),
                         "tau^2 K max(n^4, n^2 d, p K^2) / (kappa^2 lambda_0^4 delta)");
    at_least(v, t4, "appendix F", s->m, tsri_masked_width4(s),
             "width m: 2 eta tau sqrt(2nK/(m delta)) (C sqrt(n)/alpha + KB) <= R");
    tsri_masked_distance(v, t4, "appendix A", tsri_masked_radius4(s), "kappa lambda_0 / (192n)");
    tsri_certify_rate(v->c, &p, "(1 - (1 - eta lambda_0/2)^tau) / 2");
    tsri_certify_number(v->c, t4, p.floor,
                        "proven floor 256 tau (p-1)^2 kappa^2 n^3 d / (lambda_0^2 m)");
    next_loss(v, t4, "appendix F", tsri_masked_rate4(s), tsri_masked_gain4(s),
              "(1 - rate) L_k + 64 eta tau (p-1)^2 kappa^2 n^3 d / (lambda_0 m)");
    if (v->dealt)
        identities(v);
    TSR_TRY(tsri_certify_fall(v->c, v->past, &p));
done:
    return st;
}
