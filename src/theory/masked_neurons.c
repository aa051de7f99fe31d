/* masked_neurons.c - certificate of "On the Convergence of Shallow Neural Network Training with
 * Randomly Masked Neurons" (Liao, Kyrillidis, TMLR 2022): assumptions, Theorems 1 to 4, Corollaries
 * 1 to 3, for runs of model shallow with one output.
 *
 * The letters are the paper's. Which theorem speaks of a run depends on how shares are drawn:
 * Theorem 3 of Bernoulli masks (dropout, multisample, masked; local SGD has xi = 1), Theorem 4 of
 * categorical ones (ist, masked); plain descent is the case p = 1, xi = 1 of both.
 */
#include "theory/papers.h"

#include "scheme/team.h"
#include "theory/fall.h"
#include "theory/masked_bounds.h"
#include "theory/masked_measure.h"
#include "theory/ntk.h"

#include <math.h>
#include <string.h>

static bool applies(const tsri_run *run)
{
    return strcmp(tsri_config_text(run->config, "model.name"), "shallow") == 0 &&
           run->net->outputs == 1 && run->data->train.target && run->loss == TSRI_HALF_SQUARES;
}

/* Every unit in exactly one share? */
static bool categorical(const tsri_run *run)
{
    const tsri_draw *draw = tsri_team_draws(run);
    return draw && (draw->kind == TSRI_DRAW_CATEGORICAL || draw->kind == TSRI_DRAW_CHUNKS);
}

static tsri_masked letters(const tsri_run *run, double lambda)
{
    tsri_chances chances = tsri_team_chances(run);
    tsri_masked s = {.n = (double)run->data->train.n,
                     .d = (double)run->data->dim,
                     .m = (double)run->net->param[run->net->layer[0].weight].shape[0],
                     .p = (double)run->workers,
                     .tau = (double)run->local_steps,
                     .K = (double)run->rounds,
                     .xi = chances.xi,
                     .theta = chances.theta,
                     .kappa = tsri_config_real(run->config, "model.kappa"),
                     .eta = tsri_rates_of(run).most,
                     .delta = tsri_config_real(run->config, "certify.delta"),
                     .lambda = lambda};
    return s;
}

/* ---- Assumptions -------------------------------------------------------------------------- */

static void assumptions(tsri_certificate *c, const tsri_run *run, const tsri_masked_measure *m,
                        const tsri_masked *s)
{
    /* Rows are floats: a length is 1 to about 1e-6. */
    tsri_certify_old(c, "Theorem 3", TSRI_AT_MOST, m->unit_error, 1e-5,
                     "largest | ||x_i|| - 1 |: rows of length 1");
    tsri_certify_old(
        c, "Theorem 1", TSRI_AT_LEAST, m->least_angle, 1e-6,
        "least angle between the lines of two points, rows %lld and %lld: not parallel",
        (long long)m->first, (long long)m->second);
    tsri_certify_old(c, "Algorithm 1", TSRI_AT_LEAST, (double)run->batch, s->n,
                     "samples in a step");
    tsri_certify_old(c, "Algorithm 1", TSRI_AT_MOST, run->momentum, 0, "momentum");
    tsri_certify_old(c, "Algorithm 1", TSRI_AT_MOST, run->decay, 0, "weight decay");
    tsri_certify_old(c, "Theorem 3", TSRI_MEASURED, m->largest_target + 1, 0, "C = 1 + max |y_i|");
    tsri_certify_old(c, "section 4", TSRI_MEASURED, s->xi, 0, "xi, the chance of a unit");
    tsri_certify_old(c, "Theorem 3", TSRI_MEASURED, s->theta, 0,
                     "theta, the chance to be in a share");
    tsri_certify_old(c, "Theorem 1", TSRI_AT_LEAST, m->lambda_0.value, m->lambda_0.error,
                     "lambda_0, smallest eigenvalue of H_inf (contains xi)");
    tsri_certify_old(c, "section 4", TSRI_MEASURED, m->lambda_most.value, 0,
                     "largest eigenvalue of H_inf");
}

/* ---- Theorem 2 and what it rests on ------------------------------------------------------- */

static void kernels(tsri_certificate *c, const tsri_masked_measure *m, const tsri_past *past,
                    const tsri_masked *s)
{
    double R = tsri_masked_radius(s), radius = tsri_past_most(past, "radius");
    tsri_certify_old(c, "Theorem 2", TSRI_AT_LEAST, s->m, tsri_masked_width2(s),
                     "width m: n^2 log(Kpn/delta) / (xi lambda_0^2)");
    tsri_certify_old(c, "Theorem 2", TSRI_AT_LEAST, tsri_past_least(past, "masked"), s->lambda / 2,
                     "least lambda_min(m o H) over shares and rounds: lambda_0/2");
    bool moved = c->round > 0;
    tsri_certify_old(c, "Theorem 2", TSRI_AT_MOST, moved ? radius : (double)NAN, R,
                     "largest ||w_r - w_0,r|| so far: kappa lambda_0 / (8n)");
    tsri_certify_old(c, "appendix B", TSRI_AT_MOST, moved ? radius : (double)NAN, R / 24,
                     "largest ||w_r - w_0,r|| so far: kappa lambda_0 / (192n)");
    tsri_certify_old(c, "Lemma 16", TSRI_AT_MOST, m->near, 4 * s->m * R / s->kappa,
                     "most units that a move by R can flip on a sample: 4 m R / kappa");
    tsri_certify_old(c, "Lemma 16", TSRI_AT_MOST,
                     moved ? tsri_past_most(past, "flips") : (double)NAN, 4 * s->m * R / s->kappa,
                     "most patterns flipped on a sample so far: 4 m R / kappa");
}

/* ---- Theorems 3 and 4 --------------------------------------------------------------------- */

static double rate3(const void *context, double eta)
{
    tsri_masked s = *(const tsri_masked *)context;
    s.eta = eta;
    return tsri_masked_rate3(&s);
}

static double rate4(const void *context, double eta)
{
    tsri_masked s = *(const tsri_masked *)context;
    s.eta = eta;
    return tsri_masked_rate4(&s);
}

/* Widths and floors grow with eta: those of the largest hold for every round. */
static tsr_status theorem3(tsri_certificate *c, const tsri_run *run, const tsri_past *past,
                           const tsri_masked *s)
{
    static const char *const width[] = {"width m: K n^4 / (delta kappa^2 xi theta lambda_0^4)",
                                        "width m: K^3 n B_1 / (delta kappa^2 theta lambda_0^2)",
                                        "width m: K^3 p / delta"};
    static const char *const part[] = {"64 (1-xi)^2 n^3 d / (m lambda_0^2)",
                                       "68 eta tau (theta-xi^2) n^3 kappa^2 / (p lambda_0)",
                                       "(theta-xi^2) n kappa^2 / (6 tau^2 p)",
                                       "(tau-1)^2 p C_1 / (24 tau^2)",
                                       "8 eta^2 (tau-1)^2 n^4 p C_1 / lambda_0^2",
                                       "4 eta (tau-1) p n C_1"};
    double term[TSRI_B1_TERMS], need[TSRI_WIDTH3_TERMS];
    tsri_promise p = {.where = "Theorem 3",
                      .loss = "L_k",
                      .what = "L_0",
                      .rate = rate3,
                      .context = s,
                      .run = run,
                      .floor = tsri_masked_floor3(s),
                      .first = tsri_past_at(past, 0, "loss")};
    tsri_masked_width3(need, s);
    tsri_masked_b1(term, s);
    for (int i = 0; i < TSRI_WIDTH3_TERMS; i++)
        tsri_certify_old(c, "Theorem 3, (6)", TSRI_AT_LEAST, s->m, need[i], "%s", width[i]);
    tsri_certify_old(c, "Theorem 3", TSRI_AT_MOST, s->eta, tsri_masked_step3(s),
                     "step eta: lambda_0 / (max(n,p) n tau)");
    tsri_certify_rate(c, &p, "eta theta tau lambda_0 / 4");
    for (int i = 0; i < TSRI_B1_TERMS; i++)
        tsri_certify_old(c, "Theorem 3, B_1", TSRI_MEASURED, term[i], 0, "term %d: %s", i + 1,
                         part[i]);
    tsri_certify_old(c, "Theorem 3, B_1", TSRI_MEASURED, p.floor, 0, "proven floor B_1");
    return tsri_certify_fall(c, past, &p);
}

static tsr_status theorem4(tsri_certificate *c, const tsri_run *run, const tsri_past *past,
                           const tsri_masked *s, double C)
{
    tsri_promise p = {.where = "Theorem 4",
                      .loss = "L_k",
                      .what = "C^2 n",
                      .rate = rate4,
                      .context = s,
                      .run = run,
                      .floor = tsri_masked_floor4(s),
                      .first = C * C * s->n};
    tsri_certify_old(c, "Theorem 4", TSRI_AT_LEAST, s->m, tsri_masked_width4(s),
                     "width m: tau^2 n^2 K max(n^2,d) / (lambda_0^4 delta)");
    tsri_certify_old(c, "Theorem 4", TSRI_AT_MOST, s->eta, tsri_masked_step4(s),
                     "step eta: lambda_0 / n^2");
    tsri_certify_rate(c, &p, "(1 - (1 - eta lambda_0/2)^tau) / 2");
    tsri_certify_old(c, "Theorem 4", TSRI_MEASURED, p.floor, 0,
                     "proven floor tau (p-1)^2 n^3 d / (lambda_0^2 m)");
    return tsri_certify_fall(c, past, &p);
}

/* Of Bernoulli masks: 1 = dropout, 2 = several samples of it, 3 = local steps. */
static void corollary(tsri_certificate *c, const tsri_masked *s)
{
    int which = s->tau > 1 ? 3 : s->p > 1 ? 2 : 1;
    static const char *const where[] = {"", "Corollary 1", "Corollary 2", "Corollary 3"};
    static const char *const width[] = {"", "width m: n^5 K / (xi^2 lambda_0^4 delta)",
                                        "width m: n^5 K / (xi theta lambda_0^4 delta)",
                                        "width m: n^5 K / (xi theta lambda_0^4 delta)"};
    double most = fmax(fmax(s->K, s->d), which == 3 ? s->p : 0);
    tsri_certify_old(c, where[which], TSRI_AT_LEAST, s->n, most, "n: max(K, d%s)",
                     which == 3 ? ", p" : "");
    tsri_certify_old(c, where[which], TSRI_AT_MOST, fabs(s->kappa * sqrt(s->n) - 1), 1e-6,
                     "| kappa sqrt(n) - 1 |: kappa = n^(-1/2)");
    tsri_certify_old(c, where[which], TSRI_AT_LEAST, s->m, tsri_masked_corollary_width(which, s),
                     "%s", width[which]);
    tsri_certify_old(c, where[which], TSRI_MEASURED, tsri_masked_corollary_floor(which, s), 0,
                     "proven floor");
}

/* ---- The whole ---------------------------------------------------------------------------- */

static void notes(tsri_certificate *c, const tsri_run *run, const tsri_masked *s,
                  const tsri_masked_measure *m)
{
    tsri_certify_note(c, "n %g, d %g, m %g, p %g, tau %g, K %g, kappa %g, eta %g, delta %g", s->n,
                      s->d, s->m, s->p, s->tau, s->K, s->kappa, s->eta, s->delta);
    tsri_certify_note(c, "constants hidden by Omega, O and Theta are taken as 1");
    tsri_certify_note(c, "the theorems bound expectations over masks; L_k is that of this run");
    if (m->kernels > 0 && c->round == 0)
        tsri_certify_note(c, "m o H: %lld kernels at the first weights", (long long)m->kernels);
    const tsri_draw *draw = tsri_team_draws(run);
    if (draw && draw->kind == TSRI_DRAW_CHUNKS)
        tsri_certify_note(c, "units are dealt in equal chunks; Theorem 4 throws each by itself");
    if (c->round > 0 && isnan(m->radius))
        tsri_certify_note(c, "the run began from a file: how far it moved is not known");
}

static tsr_status certify(tsri_certificate *c, tsri_run *run, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_masked_measure m;
    TSR_TRY(tsri_masked_look(&m, run, past));
    tsri_masked s = letters(run, m.lambda_0.value);
    assumptions(c, run, &m, &s);
    kernels(c, &m, past, &s);
    if (!categorical(run)) {
        TSR_TRY(theorem3(c, run, past, &s));
        if (tsri_team_draws(run) && s.xi < 1)
            corollary(c, &s);
    }
    if (categorical(run) || !tsri_team_draws(run))
        TSR_TRY(theorem4(c, run, past, &s, m.largest_target + 1));
    notes(c, run, &s, &m);
done:
    return st;
}

const tsri_paper tsri_paper_masked_neurons = {
    .name = "masked-neurons",
    .title = "Liao, Kyrillidis: On the Convergence of Shallow Neural Network Training with "
             "Randomly Masked Neurons",
    .applies = applies,
    .certify = certify};
