/* masked_neurons.c - certificate of "On the Convergence of Shallow Neural Network Training with
 * Randomly Masked Neurons" (Liao, Kyrillidis, TMLR 2022) for runs of model shallow with one output:
 * the data, Theorems 1 and 2 and the lemmas about the first weights. Hypothesis 1 is in
 * masked_steps.c, Theorems 3 and 4 and the corollaries are in masked_theorems.c.
 *
 * The letters are the paper's. Which theorem speaks of a run depends on how shares are drawn:
 * Theorem 3 of Bernoulli masks (dropout, multisample, masked; local SGD has xi = 1), Theorem 4 of
 * categorical ones (ist, masked); plain descent is the case p = 1, xi = 1 of both. Where the paper
 * contradicts itself is told in masked_bounds.h, and in a note.
 */
#include "theory/masked_rows.h"

#include "scheme/team.h"
#include "theory/masked_coming.h"
#include "theory/masked_look.h"
#include "theory/ntk.h"

#include <math.h>

static bool applies(const tsri_run_view *view)
{
    return view->net->outputs == 1 && view->data->train.target && view->settings->loss->squares;
}

/* ---- What is common to the parts ---------------------------------------------------------- */

void tsri_masked_constant(const tsri_masked_view *v, int of, double order, const char *formula)
{
    tsri_certify_number(v->c, of, v->s.m / order, "width m over %s", formula);
}

/* Ends of local steps are seen in every round, what lies between them in those that are gone
 * through (masked_coming.h). */
static tsri_seen seen_on_the_way(const tsri_masked_view *v)
{
    tsri_seen rounds = tsri_past_seen(v->past, "radius");
    if (v->view->settings->local_steps == 1)
        return rounds;
    if (!tsri_plain_steps(v->view))
        return tsri_saw_both(rounds, tsri_saw(1, v->view->settings->local_steps, "local steps"));
    return tsri_saw_both(rounds, tsri_past_seen(v->past, "path"));
}

void tsri_masked_distance(const tsri_masked_view *v, int of, const char *where, double R,
                          const char *formula)
{
    double most = fmax(tsri_past_most(v->past, "radius"), tsri_past_most(v->past, "path"));
    tsri_certify(v->c,
                 &(tsri_condition){.of = of,
                                   .where = where,
                                   .sense = TSRI_AT_MOST,
                                   .measured = most,
                                   .required = R,
                                   .seen = seen_on_the_way(v)},
                 "largest ||w_r - w_0,r|| so far, with local steps: %s", formula);
}

/* ---- The data ----------------------------------------------------------------------------- */

/* Rows are floats: a length is 1 to about 1e-6. */
static const double UNIT = 1e-5;

static double first(const tsri_masked_view *v, const char *name)
{
    return tsri_past_at(v->past, 0, name);
}

static void breaches(const tsri_masked_view *v)
{
    if (first(v, "unit_error") > UNIT)
        tsri_certify_breach(v->c, TSRI_UNIT_ROWS, "the length of row %lld is off by %.3g",
                            (long long)first(v, "unit_row") + 1, first(v, "unit_error"));
    if (first(v, "angle") <= TSRI_MASKED_PARALLEL)
        tsri_certify_breach(v->c, TSRI_DISTINCT_ROWS, "rows %lld and %lld are parallel",
                            (long long)first(v, "angle_a") + 1, (long long)first(v, "angle_b") + 1);
    if (v->s.kappa == 0)
        tsri_certify_breach(v->c, TSRI_DRAWN_START, "kappa is 0: all first weights are 0");
    if (!v->view->given && isnan(first(v, "start")))
        tsri_certify_breach(v->c, TSRI_DRAWN_START, "the run began with a model's weights");
    if (!v->whole && tsri_config_is(v->view->settings->config, "scheme.scale", "none"))
        tsri_certify_breach(v->c, TSRI_PAPER_MODEL,
                            "shares have the factor of the whole "
                            "(scheme.scale: none)");
}

static void data(const tsri_masked_view *v)
{
    tsri_certificate *c = v->c;
    tsri_certify(c,
                 &(tsri_condition){.where = "Hypothesis 1",
                                   .sense = TSRI_AT_MOST,
                                   .measured = first(v, "unit_error"),
                                   .required = UNIT,
                                   .seen = TSRI_SEEN_ALL},
                 "largest | ||x_i|| - 1 |: rows of length 1");
    tsri_certify(c,
                 &(tsri_condition){.where = "Theorem 1",
                                   .sense = TSRI_AT_LEAST,
                                   .measured = first(v, "angle"),
                                   .required = TSRI_MASKED_PARALLEL,
                                   .seen = TSRI_SEEN_ALL,
                                   .by_construction = v->s.n < 2 ? "having one sample" : NULL},
                 "least angle between the lines of two points, rows %lld and %lld: not parallel",
                 (long long)first(v, "angle_a") + 1, (long long)first(v, "angle_b") + 1);
    tsri_certify_number(c, 0, v->s.C, "C = 1 + max |y_i|");
    tsri_certify_number(c, 0, v->s.xi, "xi, the chance of a unit");
    tsri_certify_number(c, 0, v->s.theta, "theta, the chance to be in a share");
}

static void theorem1(const tsri_masked_view *v)
{
    int t1 = tsri_certify_theorem(v->c, &(tsri_theorem){.where = "Theorem 1",
                                                        .chance = "",
                                                        .probability = NAN,
                                                        .assumes = TSRI_DISTINCT_ROWS});
    tsri_certify(v->c,
                 &(tsri_condition){.of = t1,
                                   .sense = TSRI_AT_LEAST,
                                   .measured = first(v, "lambda_0"),
                                   .required = first(v, "lambda_0_error"),
                                   .seen = TSRI_SEEN_ALL},
                 "lambda_0, smallest eigenvalue of H_inf (contains xi): above its error");
    tsri_certify_number(v->c, t1, first(v, "lambda_most"), "largest eigenvalue of H_inf");
}

/* ---- Theorem 2 ---------------------------------------------------------------------------- */

static tsri_seen seen_kernels(const tsri_masked_view *v)
{
    tsri_seen rounds = tsri_past_seen(v->past, "least");
    if (v->view->settings->local_steps == 1 || tsri_plain_steps(v->view))
        return rounds;
    return tsri_saw_both(rounds, tsri_saw(1, v->view->settings->local_steps, "local steps"));
}

static void theorem2(const tsri_masked_view *v)
{
    const tsri_masked *s = &v->s;
    int t2 = tsri_certify_theorem(
        v->c, &(tsri_theorem){.where = "Theorem 2",
                              .chance = "1 - delta",
                              .probability = 1 - s->delta,
                              .assumes = TSRI_UNIT_ROWS | TSRI_DISTINCT_ROWS | TSRI_DRAWN_START |
                                         TSRI_INDEPENDENT_UNITS | TSRI_EQUAL_SHARES});
    tsri_masked_constant(v, t2, tsri_masked_order2(s), "n^2 log(Kpn/delta) / (xi lambda_0^2)");
    tsri_certify(v->c,
                 &(tsri_condition){.of = t2,
                                   .where = "appendix B",
                                   .sense = TSRI_AT_LEAST,
                                   .measured = s->m,
                                   .required = tsri_masked_width2(s),
                                   .seen = TSRI_SEEN_ALL},
                 "width m: K p n^2 (2 e^(-m lambda_0^2/(8n^2)) + e^(-m xi lambda_0/(120n))) <= "
                 "delta");
    tsri_masked_distance(v, t2, NULL, tsri_masked_radius(s, 8), "kappa lambda_0 / (8n)");
    tsri_masked_distance(v, t2, "appendix B", tsri_masked_radius(s, 12), "kappa lambda_0 / (12n)");
    tsri_certify(v->c,
                 &(tsri_condition){.of = t2,
                                   .sense = TSRI_AT_LEAST,
                                   .measured = tsri_past_least(v->past, "least"),
                                   .required = s->lambda / 2,
                                   .seen = seen_kernels(v),
                                   .trivial = {"0, which every kernel has", 0}},
                 "least lambda_min(m_k o H(k,t)) over rounds, shares and local steps: lambda_0/2");
}

/* ---- The first weights -------------------------------------------------------------------- */

static int lemma(const tsri_masked_view *v, const char *where, const char *chance,
                 double probability, unsigned assumes)
{
    return tsri_certify_theorem(v->c, &(tsri_theorem){.where = where,
                                                      .chance = chance,
                                                      .probability = fmax(probability, 0),
                                                      .assumes = assumes});
}

static void lemma16(const tsri_masked_view *v)
{
    const tsri_masked *s = &v->s;
    double R = tsri_masked_radius(s, 192), bound = tsri_masked_flips(s, R);
    int l16 = lemma(v, "Lemma 16", "1 - n e^(-m R/kappa)", 1 - s->n * exp(-s->m * R / s->kappa),
                    TSRI_UNIT_ROWS | TSRI_DRAWN_START);
    tsri_certify(v->c,
                 &(tsri_condition){.of = l16,
                                   .sense = TSRI_AT_MOST,
                                   .measured = first(v, "near"),
                                   .required = bound,
                                   .seen = TSRI_SEEN_ALL,
                                   .trivial = {"the width", s->m}},
                 "most units that a move by R = kappa lambda_0/(192n) can flip on a sample: "
                 "4 m R / kappa");
    tsri_certify(v->c,
                 &(tsri_condition){.of = l16,
                                   .sense = TSRI_AT_MOST,
                                   .measured = v->c->round > 0 ? tsri_past_most(v->past, "flips")
                                                               : (double)NAN,
                                   .required = bound,
                                   .seen = tsri_past_seen(v->past, "flips"),
                                   .trivial = {"the width", s->m}},
                 "most patterns flipped on a sample so far: 4 m R / kappa");
}

static void first_weights(const tsri_masked_view *v)
{
    const tsri_masked *s = &v->s;
    double R = tsri_masked_radius(s, 192);
    int l22 = lemma(v, "Lemma 22", "1 - e^(-md/32)", 1 - exp(-s->m * s->d / 32), TSRI_DRAWN_START);
    int l23 = lemma(v, "Lemma 23", "1 - n e^(-m/32)", 1 - s->n * exp(-s->m / 32),
                    TSRI_DRAWN_START | TSRI_UNIT_ROWS);
    int l26 = lemma(v, "Lemma 26", "", NAN, TSRI_DRAWN_START | TSRI_UNIT_ROWS | TSRI_PAPER_MODEL);
    tsri_condition claim = {.of = l22, .sense = TSRI_AT_MOST, .seen = TSRI_SEEN_ALL};
    claim.measured = s->kappa;
    claim.required = 1;
    tsri_certify(v->c, &claim, "kappa: at most 1");
    claim.measured = first(v, "start");
    claim.required = tsri_masked_length(s, R);
    tsri_certify(v->c, &claim, "||W_0||_F: kappa sqrt(2md) - sqrt(m) R");
    claim.of = l23;
    claim.measured = first(v, "squares");
    claim.required = tsri_masked_squares(s, R);
    tsri_certify(v->c, &claim, "max_i sum_r <w_0,r, x_i>^2: 2 m kappa^2 - m R^2");
    claim.of = l26;
    claim.measured = first(v, "expected");
    claim.required = s->C * s->C * s->n;
    tsri_certify(v->c, &claim, "E ||y - u_0||^2 over first weights, in closed form: C^2 n");
}

/* ---- The whole ---------------------------------------------------------------------------- */

static tsri_masked letters(const tsri_run_view *view, const tsri_past *past)
{
    tsri_chances chances = tsri_team_chances(view->team);
    return (tsri_masked){.n = (double)view->data->train.n,
                         .d = (double)view->data->dim,
                         .m = (double)view->net->param[view->net->layer[0].weight].shape[0],
                         .p = (double)view->settings->workers,
                         .tau = (double)view->settings->local_steps,
                         .K = (double)view->settings->rounds,
                         .xi = chances.xi,
                         .theta = chances.theta,
                         .kappa = tsri_config_real(view->settings->config, "model.kappa"),
                         .eta = tsri_rates_of(view->settings, view->position).most,
                         .delta = tsri_config_real(view->settings->config, "certify.delta"),
                         .lambda = tsri_masked_lambda(past),
                         .C = 1 + tsri_past_at(past, 0, "target")};
}

static void notes(const tsri_masked_view *v)
{
    const tsri_masked *s = &v->s;
    tsri_certificate *c = v->c;
    tsri_certify_note(c, "n %g, d %g, m %g, p %g, tau %g, K %g, kappa %g, eta %g, delta %g", s->n,
                      s->d, s->m, s->p, s->tau, s->K, s->kappa, s->eta, s->delta);
    tsri_certify_note(c, "constants are those of the appendices; widths of Omega and Theta have "
                         "none, they stand as m over the formula");
    tsri_certify_note(c, "the paper has R = kappa lambda_0/(8n) in Theorem 2, /(12n) in its proof, "
                         "/(64n), /(128n), xi/(144n) and /(192n) in later ones");
    if (!v->whole)
        tsri_certify_note(c,
                          "the theorems bound expectations over masks: L_k is that of this run, "
                          "what is said of the next round is a mean over %lld draws of masks",
                          (long long)tsri_masked_draws(v->view));
    tsri_certify_note(c,
                      "rounds from one look at the whole network to the next: %lld; from one look "
                      "at the round that comes (m o H, local steps, expectations): %lld",
                      (long long)tsri_look_stride(v->view, tsri_masked_whole_cost(v->view)),
                      (long long)tsri_look_stride(v->view, tsri_masked_coming_cost(v->view)));
    if (isnan(first(v, "lambda_0")))
        tsri_certify_note(c,
                          "kernels of more than %d samples are not looked at: of %g they would "
                          "take %.3g GB and %.3g operations",
                          TSRI_MASKED_KERNEL, s->n, 24e-9 * s->n * s->n,
                          2 * s->n * s->n * s->n / 3);
}

static tsr_status certify(tsri_certificate *c, const tsri_run_view *view, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    const tsri_draw *draw = tsri_team_draws(view->team);
    tsri_masked_view v = {.c = c,
                          .view = view,
                          .past = past,
                          .s = letters(view, past),
                          .whole = tsri_masked_whole(view)};
    v.dealt = draw && (draw->kind == TSRI_DRAW_CATEGORICAL || draw->kind == TSRI_DRAW_CHUNKS);
    breaches(&v);
    data(&v);
    theorem1(&v);
    theorem2(&v);
    lemma16(&v);
    first_weights(&v);
    if (v.dealt)
        tsri_masked_hypothesis(&v, tsri_masked_rate4(&v.s), tsri_masked_floor4(&v.s),
                               tsri_masked_radius4(&v.s));
    else
        tsri_masked_hypothesis(&v, tsri_masked_rate3(&v.s), tsri_masked_floor3(&v.s),
                               tsri_masked_radius3(&v.s));
    if (!v.dealt)
        TSR_TRY(tsri_masked_theorem3(&v));
    if (v.dealt || !draw)
        TSR_TRY(tsri_masked_theorem4(&v));
    notes(&v);
done:
    return st;
}

const tsri_paper tsri_paper_masked_neurons = {
    .name = "masked-neurons",
    .about = "shallow with one real target and loss half_squares",
    .title = "Liao, Kyrillidis: On the Convergence of Shallow Neural Network Training with "
             "Randomly Masked Neurons",
    .applies = applies,
    .look = tsri_masked_look,
    .certify = certify,
    .forget = tsri_masked_ground_free};
