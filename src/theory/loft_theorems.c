/* loft_theorems.c - LoFT's certificate: Theorem 1 beside gradient descent (appendix C), Theorem 2
 * of the appendix and Corollary 1 (appendix B). */
#include "theory/loft_parts.h"

#include "theory/fall.h"
#include "theory/rates.h"

/* ---- Theorem 1 ------------------------------------------------------------------------------ */

static bool constant_rate(const tsri_loft_view *v)
{
    return tsri_rates_of(v->view->settings, v->view->position).constant;
}

/* sum over t < T of eta_t times a kept number of round t. */
static double summed(const tsri_loft_view *v, const char *name)
{
    double sum = 0;
    for (int64_t t = 0; t < v->past->round; t++)
        sum +=
            tsri_past_at(v->past, t, name) * tsri_rate_of(v->view->settings, v->view->position, t);
    return v->moved ? sum : (double)NAN;
}

/* What all rounds so far may add (appendix C), and what the lengths of both paths allow. */
static void bounds_C(double *bound, double *lengths, const tsri_loft_view *v)
{
    const tsri_past *past = v->past;
    double moved = tsri_past_now(past, "moved") + tsri_past_now(past, "twin_moved");
    *bound = 0;
    *lengths = moved * moved;
    for (int64_t t = 0; t < past->round; t++) {
        double eta = tsri_rate_of(v->view->settings, v->view->position, t),
               square = tsri_past_at(past, t, "loss");
        double error = tsri_past_at(past, t, "error"), other = tsri_past_at(past, t, "twin_error");
        *bound += tsri_loft_drift_C(&v->s, eta, error, square, other);
        *lengths += eta / 2 * (sqrt(square) + other) * (sqrt(square) + other);
    }
}

static void hidden_rows(tsri_certificate *c, const tsri_loft_view *v, double both)
{
    const tsri_loft *s = &v->s;
    double formula = tsri_loft_bound_m_formula(s) + tsri_loft_bound_S_formula(s);
    tsri_certify_number(c, v->theorem1, s->m / tsri_loft_width1_formula(s),
                        "constant of Omega that the width allows: m over n^4 K^2 max(n,d) / "
                        "(lambda_0^3 delta^2)");
    tsri_certify_number(c, v->theorem1, s->eta / tsri_loft_step_formula(s),
                        "constant of O that the step needs: eta over lambda_0 / n^2");
    tsri_certify_number(c, v->theorem1, s->kappa * sqrt(s->n),
                        "constant of O that kappa needs: kappa sqrt(n), of kappa = O(n^(-1/2))");
    tsri_certify_number(
        c, v->theorem1, tsri_loft_bound_m_formula(s),
        "formula of the width's term: n^2 sqrt(d) / (lambda_0^2 kappa m^(1/4) sqrt(delta))");
    tsri_certify_number(c, v->theorem1, tsri_loft_bound_S_formula(s),
                        constant_rate(v)
                            ? "formula of the shares' term: 2 eta^2 T theta^2 (1-xi) lambda_0 / S"
                            : "formula of the shares' term: 2 sum_t eta_t^2 theta^2 (1-xi) "
                              "lambda_0 / S");
    tsri_certify_number(c, v->theorem1, both / formula,
                        "constant of O that the distance needs: both sums over both terms");
}

static void theorem1_rows(tsri_certificate *c, const tsri_loft_view *v)
{
    const tsri_past *past = v->past;
    double bound, lengths, sum = summed(v, "difference");
    double distance = v->moved ? tsri_past_now(past, "distance") : (double)NAN;
    tsri_seen paths = tsri_past_seen(past, "distance");
    hidden_rows(c, v, distance + sum);
    tsri_certify_number(c, v->theorem1, distance,
                        "E ||W_T - W^_T||_F^2, LoFT beside gradient descent");
    tsri_certify_number(c, v->theorem1, sum, "eta sum_t E ||f(X,W_t) - f(X,W^_t)||^2");
    tsri_certify(c,
                 &(tsri_condition){.of = v->theorem1,
                                   .where = "appendix C",
                                   .sense = TSRI_AT_MOST,
                                   .measured = v->s.eta,
                                   .required = tsri_loft_step_C(&v->s),
                                   .seen = TSRI_SEEN_ALL},
                 "step eta: 1/(4 xi^2 n)");
    tsri_certify(
        c,
        &(tsri_condition){.of = v->theorem1,
                          .where = "appendix C",
                          .sense = TSRI_AT_MOST,
                          .measured = tsri_loft_most(v, "radius"),
                          .required = tsri_loft_radius_C(&v->s),
                          .seen = tsri_saw_both(v->kernel, tsri_past_seen(past, "radius"))},
        "largest ||w_r - w_0,r|| so far: n / (lambda_0 sqrt(m))");
    tsri_certify(
        c,
        &(tsri_condition){.of = v->theorem1,
                          .where = "appendix C",
                          .sense = TSRI_AT_MOST,
                          .measured = tsri_loft_most(v, "twin_radius"),
                          .required = tsri_loft_radius_C(&v->s),
                          .seen = tsri_saw_both(v->kernel, tsri_past_seen(past, "twin_radius"))},
        "the same of gradient descent");
    bounds_C(&bound, &lengths, v);
    tsri_condition both = {.of = v->theorem1,
                           .where = "appendix C, summed",
                           .sense = TSRI_AT_MOST,
                           .measured = distance + sum / 2,
                           .required = v->moved ? bound : (double)NAN,
                           .seen = tsri_saw_both(tsri_saw_both(v->kernel, paths), v->draws),
                           .trivial = {"what the lengths of both paths allow", lengths},
                           .by_construction =
                               v->s.xi < 1 ? NULL : "shares that are the whole network"};
    if (!isnan(tsri_past_now(past, "both_low")) && v->moved)
        both.interval = (tsri_interval){tsri_past_now(past, "both_low"),
                                        tsri_past_now(past, "both_high"), 0.95};
    tsri_certify(c, &both,
                 "E ||W_T - W^_T||_F^2 + eta/2 sum_t E ||u_t - u^_t||^2: the last display but one, "
                 "over all rounds");
}

/* ---- Theorem 2 and Corollary 1 -------------------------------------------------------------- */

static double rate1(const void *context, double eta)
{
    tsri_loft s = *(const tsri_loft *)context;
    s.eta = eta;
    return tsri_loft_rate(&s);
}

static tsr_status fall_rows(tsri_certificate *c, const tsri_loft_view *v)
{
    const tsri_loft *s = &v->s;
    double first = tsri_loft_at_start(v, "loss");
    tsri_promise p = {.of = v->theorem2,
                      .where = "Theorem 2 (app.)",
                      .loss = "E L_k",
                      .what = "L_0",
                      .rate = rate1,
                      .context = s,
                      .settings = v->view->settings,
                      .position = v->view->position,
                      .floor = tsri_loft_floor2_formula(s),
                      .hidden = true,
                      .also = v->draws,
                      .first = first};
    tsri_certify_number(c, v->theorem2, s->m / tsri_loft_width2_formula(s),
                        "constant of Omega that the width allows: m over n^3 K^2 max(n,d) / "
                        "(lambda_0^4 delta^2 kappa^2)");
    tsri_certify_number(c, v->theorem2,
                        v->moved ? tsri_past_most(v->past, "radius") /
                                       tsri_loft_moved_formula(s, sqrt(first))
                                 : (double)NAN,
                        "constant of O that the largest ||w_r - w_0,r|| needs");
    tsri_certify_rate(c, &p, "theta eta lambda_0 / 2");
    tsri_certify_number(c, v->theorem2, p.floor,
                        "formula of the floor: xi^2 (1-xi)^2 n^3 d / (m lambda_0^2) + n kappa^2 "
                        "(theta-xi^2) / S");
    tsri_certify_number(c, v->corollary1, tsri_loft_floor1_formula(s),
                        "formula of the floor as the main text has it, with xi (1-xi)");
    return tsri_certify_fall(c, v->past, &p);
}

tsr_status tsri_loft_theorems(tsri_certificate *c, const tsri_loft_view *v)
{
    theorem1_rows(c, v);
    return fall_rows(c, v);
}
