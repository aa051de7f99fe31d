/* deep_relu.c - certificates of Zou, Cao, Zhou, Gu, "Stochastic Gradient Descent Optimizes
 * Over-parameterized Deep ReLU Networks".
 *
 * Here: the assumptions, Theorems 4.1 and 4.5 and their corollaries; Theorems 5.1 and 5.3 are
 * deep_relu_region.c. Constants that the appendix states are used (4^L, 2^(10L+2), 3 4^L, ...);
 * where one is not given (c_0, C_0, C', C'', C_1, C_2) a row is a number: the constant that this
 * run asks for or allows.
 *
 * Departures. Assumption 3.1 asks for l'(x) -> 0 as x -> -infinity, which contradicts
 * Assumption 3.2 and holds for no loss of the paper: it is read as x -> infinity. Gradient descent
 * is judged by its last iterate, stochastic gradient descent by its best (Lemmas 5.6, 5.8).
 * Remark 4.3 lets gradient descent have a loss whose slope is bounded along the way only; of
 * stochastic descent it says nothing. Theorem 5.3 lists Assumption 3.3 but its proof (Lemmas B.1 to
 * B.6) does not use it.
 */
#include "theory/deep_relu_rows.h"

#include "run/stop_metric.h"
#include "theory/rates.h"
#include "train/iterate.h"

#include <math.h>
#include <stdio.h>

/* Rows and numbers of single precision: lengths are known to some 2^-24. */
static const double ROUNDING = 1e-6;

double tsri_deep_first(const tsri_deep_case *d, const char *name)
{
    return tsri_past_at(d->past, 0, name);
}

tsri_condition tsri_deep_number(int of, const char *where, double value)
{
    return (tsri_condition){.of = of, .where = where, .sense = TSRI_MEASURED, .measured = value};
}

bool tsri_deep_broken(const tsri_deep_case *d, int theorem)
{
    for (int64_t i = 0; i < d->c->breaches; i++)
        if (d->c->breach[i].assumption & d->c->theorem[theorem].assumes)
            return true;
    return false;
}

/* ---- Letters and theorems ------------------------------------------------------------------ */

/* epsilon is where the run stops by its loss, else the l(0)/n of Corollaries 4.4 and 4.7. */
static double epsilon_of(const tsri_run_view *view, bool *given)
{
    double below = tsri_config_real(view->settings->config, "stop.below");
    const tsri_stop_metric *stop = tsri_stop_metric_of(view->settings->config);
    *given = stop->on == TSRI_STOP_ON_TRAINING && !stop->error && below > 0;
    return *given ? below
                  : tsri_margin_loss(view->settings->loss, 0, NULL) / (double)view->data->train.n;
}

static void letters(tsri_deep_case *d)
{
    const tsri_run_view *view = d->view;
    bool given;
    double rho = view->settings->loss->steepest, lambda = view->settings->loss->curved;
    double steepest = tsri_past_most(d->past, "steepest");
    d->stochastic = tsri_deep_draws(view);
    d->remark = !isfinite(rho);
    d->steps = (double)(view->settings->rounds * view->settings->local_steps);
    if (view->settings->loss->curves_as_falls)
        lambda = steepest;
    d->s = (tsri_deep_letters){.n = (double)view->data->train.n,
                               .L = (double)d->net.L,
                               .m = (double)d->net.narrowest,
                               .M = (double)d->net.widest,
                               .last = (double)d->net.layer[d->net.L - 1].m,
                               .phi = tsri_deep_first(d, "phi"),
                               .epsilon = epsilon_of(view, &given),
                               .first = tsri_deep_first(d, "loss"),
                               .rho = d->remark ? steepest : rho,
                               .lambda = lambda,
                               .B = d->stochastic ? (double)view->settings->batch : 0,
                               .delta = tsri_config_real(view->settings->config, "certify.delta"),
                               .loss = view->settings->loss};
}

static void theorems(tsri_deep_case *d)
{
    const unsigned start =
                       TSRI_DRAWN_START | TSRI_UNIT_ROWS | TSRI_DISTINCT_ROWS | TSRI_LIKE_WIDTHS,
                   region = start | TSRI_PROVEN_START,
                   way = region | TSRI_WHOLE_NETWORK | TSRI_NO_MOMENTUM | TSRI_NO_DECAY |
                         TSRI_CONSTANT_RATE | TSRI_FIXED_SAMPLES | TSRI_SINGLE_PRECISION |
                         TSRI_LIPSCHITZ_LOSS,
                   loss = TSRI_SMOOTH_LOSS;
    double with = 1 - d->s.delta;
    d->start = tsri_certify_theorem(d->c, &(tsri_theorem){"Theorem 5.1", "1 - delta", with, start});
    d->region = tsri_certify_theorem(
        d->c, &(tsri_theorem){"Theorem 5.3", "1 - delta (of Theorem 5.1)", with, region});
    if (d->stochastic) {
        d->radius = tsri_certify_theorem(
            d->c, &(tsri_theorem){"Lemma 5.7", "1 - delta (of Theorem 5.1)", with, way});
        d->descent =
            tsri_certify_theorem(d->c, &(tsri_theorem){"Theorem 4.5", "high; 1 - 1/C in Lemma 5.8",
                                                       NAN, way | loss | TSRI_INDEPENDENT_BATCHES});
    } else {
        d->radius =
            tsri_certify_theorem(d->c, &(tsri_theorem){"Lemma 5.5", "1 - delta (of Theorem 5.1)",
                                                       with, way | TSRI_FULL_BATCHES});
        d->descent = tsri_certify_theorem(
            d->c, &(tsri_theorem){"Theorem 4.1", "high", NAN, way | loss | TSRI_FULL_BATCHES});
    }
}

/* ---- Assumptions --------------------------------------------------------------------------- */

static void loss_assumptions(tsri_deep_case *d)
{
    const tsri_loss_kind *l = d->view->settings->loss;
    char tail[80];
    tsri_condition claim;
    if (isinf(l->turn))
        (void)snprintf(tail, sizeof tail, "%.3g l^%g", l->after, l->power);
    else if (isinf(l->after))
        (void)snprintf(tail, sizeof tail, "%.3g below x_0 = %g", l->before, l->turn);
    else
        (void)snprintf(tail, sizeof tail, "%.3g below x_0 = %g, %.3g l^%g from there on", l->before,
                       l->turn, l->after, l->power);
    tsri_certify(d->c,
                 &(tsri_condition){.where = "Assumption 3.1",
                                   .sense = TSRI_AT_MOST,
                                   .measured = -tsri_past_least(d->past, "flattest"),
                                   .required = 0,
                                   .seen = tsri_past_seen(d->past, "flattest"),
                                   .by_construction = "the formula of the loss"},
                 "largest l'(y_i f(x_i))");
    tsri_certify(d->c,
                 &(tsri_condition){.where = "Assumption 3.2",
                                   .sense = TSRI_AT_LEAST,
                                   .measured = tsri_past_least(d->past, "tail"),
                                   .required = 1 - 1e-12, /* of rounding, in double */
                                   .seen = tsri_past_seen(d->past, "tail"),
                                   .by_construction = "the formula of the loss"},
                 "least |l'(y_i f(x_i))| over %s", tail);
    claim = tsri_deep_number(0, "Assumption 3.3", d->s.rho);
    tsri_certify(d->c, &claim, "rho, the steepest slope of the loss%s",
                 d->remark ? " that was seen (Remark 4.3)" : "");
    claim =
        tsri_deep_number(0, "Assumption 3.4", isfinite(d->s.lambda) ? d->s.lambda : (double)NAN);
    tsri_certify(d->c, &claim, "lambda, the largest curvature of the loss%s",
                 d->view->settings->loss->curves_as_falls ? " that was seen" : "");
    if (d->remark && d->stochastic)
        tsri_certify_breach(d->c, TSRI_LIPSCHITZ_LOSS,
                            "the slope of the loss has no bound, and Remark 4.3 is about gradient "
                            "descent");
    if (!isfinite(d->s.lambda) && d->view->settings->loss->kink)
        tsri_certify_breach(d->c, TSRI_SMOOTH_LOSS, "%s", d->view->settings->loss->kink);
}

static void data_assumptions(tsri_deep_case *d)
{
    double off = tsri_deep_first(d, "length.off"), ratio = d->s.M / d->s.m;
    long long longest = (long long)tsri_deep_first(d, "length.sample") + 1,
              i = (long long)tsri_deep_first(d, "phi.first") + 1,
              j = (long long)tsri_deep_first(d, "phi.second") + 1;
    int64_t part = (int64_t)tsri_deep_first(d, "phi.samples"), n = d->view->data->train.n;
    char pair[64] = ""; /* one sample looked at has none */
    if (i > 0)
        (void)snprintf(pair, sizeof pair, ", of samples %lld and %lld", i, j);
    tsri_certify(d->c,
                 &(tsri_condition){.where = "Assumption 3.5",
                                   .sense = TSRI_AT_MOST,
                                   .measured = off,
                                   .required = ROUNDING,
                                   .seen = TSRI_SEEN_ALL},
                 "largest | |x_i| - 1 |, of sample %lld", longest);
    tsri_certify(d->c,
                 &(tsri_condition){.where = "Assumption 3.6",
                                   .sense = TSRI_AT_LEAST,
                                   .measured = d->s.phi,
                                   .required = ROUNDING,
                                   .seen = tsri_saw(part, n, "samples")},
                 "phi: least |x_i - x_j|%s", pair);
    tsri_certify(d->c,
                 &(tsri_condition){.where = "Assumption 3.7",
                                   .sense = TSRI_AT_MOST,
                                   .measured = ratio,
                                   .required = 2,
                                   .seen = TSRI_SEEN_ALL},
                 "widest over narrowest layer, M/m");
    if (off > ROUNDING)
        tsri_certify_breach(d->c, TSRI_UNIT_ROWS, "the length of sample %lld is off 1 by %.3g",
                            longest, off);
    if (d->s.phi < ROUNDING)
        tsri_certify_breach(d->c, TSRI_DISTINCT_ROWS, "samples %lld and %lld are %.3g apart", i, j,
                            d->s.phi);
    if (ratio > 2)
        tsri_certify_breach(d->c, TSRI_LIKE_WIDTHS, "the widest layer is %.3g times the narrowest",
                            ratio);
}

/* ---- Theorems 4.1 and 4.5 ------------------------------------------------------------------ */

/* What m, eta and K ask of c_0 and C_0. */
static void demands(tsri_deep_case *d)
{
    const tsri_deep_letters *s = &d->s;
    double eta = log10(tsri_rates_of(d->view->settings, d->view->position).most),
           K = log10(d->steps);
    double path =
        log10(tsri_rates_sum(d->view->settings, d->view->position, 0, d->view->settings->rounds) *
              (double)d->view->settings->local_steps);
    if (tsri_deep_broken(d, d->descent))
        return;
    tsri_certify_number(
        d->c, d->descent, log10(s->m) - tsri_deep_log_width(s),
        "log10 of width m over the 10^%.6g that brings the loss to %.3g with C_0 = c_0 "
        "= 1: at least C_0^6 / c_0^8",
        tsri_deep_log_width(s), s->epsilon);
    tsri_certify_number(
        d->c, d->descent, eta - tsri_deep_log_step(s),
        "log10 of eta over m_L phi^3 %s / (2^(10L+2) n^%d M^2 (lambda + rho)): at most "
        "c_0",
        d->stochastic ? "B" : "", d->stochastic ? 6 : 5);
    tsri_certify_number(
        d->c, d->descent, path - tsri_deep_log_path(s),
        "log10 of K eta, all steps of the run, over what the proof needs with c_0 = 1: "
        "at least 1/c_0");
    tsri_certify_number(
        d->c, d->descent, K - tsri_deep_log_steps(s),
        "log10 of the steps K over those of the largest step allowed with c_0 = 1: at "
        "least 1/c_0^2");
}

/* Of the last iterate (gradient descent) or the best (stochastic): what was measured, and how much
 * of the run that speaks for. A point that was found is found; one that was not may come. */
static tsri_condition reached(const tsri_deep_case *d, const char *name, double required)
{
    bool over = d->view->position->round == d->view->settings->rounds ||
                tsri_iterate_enough(d->view->settings, d->view->position);
    tsri_seen looked = tsri_past_seen(d->past, name);
    tsri_condition claim = {.of = d->descent,
                            .sense = TSRI_AT_MOST,
                            .measured = d->stochastic ? tsri_past_least(d->past, name)
                                                      : tsri_past_now(d->past, name),
                            .required = required,
                            .seen = TSRI_SEEN_ALL};
    if (d->stochastic && claim.measured <= required)
        return claim;
    if (!over)
        claim.seen = tsri_saw_some(d->view->position->round, d->view->settings->rounds, "rounds");
    else if (d->stochastic && (looked.sight != TSRI_ALL || d->view->settings->local_steps > 1))
        claim.seen =
            tsri_saw_some(looked.part, looked.whole * d->view->settings->local_steps, "iterates");
    return claim;
}

static void promises(tsri_deep_case *d)
{
    const char *which = d->stochastic ? "best iterate so far" : "last iterate",
               *corollary = d->stochastic ? "Corollary 4.7" : "Corollary 4.4";
    double zero = tsri_margin_loss(d->view->settings->loss, 0, NULL) / d->s.n;
    bool given;
    double epsilon = epsilon_of(d->view, &given);
    tsri_condition claim = reached(d, "loss", epsilon);
    claim.trivial = (tsri_trivial){"the first loss", d->s.first};
    if (given)
        tsri_certify(d->c, &claim, "L_S of the %s, against epsilon", which);
    claim = reached(d, "loss", zero);
    claim.where = corollary;
    claim.trivial = (tsri_trivial){"the first loss", d->s.first};
    tsri_certify(d->c, &claim, "L_S of the %s, against l(0)/n", which);
    claim = reached(d, "wrong", 0);
    claim.where = corollary;
    tsri_certify(d->c, &claim, "samples on the wrong side, of the %s", which);
}

/* ---- The paper ------------------------------------------------------------------------------ */

static void notes(tsri_deep_case *d)
{
    int64_t n = d->view->data->train.n;
    tsri_certify_note(
        d->c, "Assumption 3.1's l'(x) -> 0 for x -> -infinity contradicts Assumption 3.2; it "
              "is read as x -> infinity");
    tsri_certify_note(
        d->c,
        "c_0, C_0 = sqrt(3) C' + 1, C', C'', C_1, C_2 and C are absolute constants that "
        "the paper does not give: their rows are numbers, most as log10; s is log(n "
        "L^2/delta), delta %g",
        d->s.delta);
    tsri_certify_note(
        d->c,
        "Theorem 5.3 (iv) and the radius of (v) are taken as Lemmas B.1 and B.5 prove "
        "them%s",
        d->stochastic ? ", K eta as the proof of Lemma 5.8 ends, with 1/delta for "
                        "Markov's C"
                      : "");
    if (d->net.d > 2 * d->net.layer[0].m)
        tsri_certify_note(
            d->c,
            "|W_1|_2 <= 7/2 needs inputs of at most about 2 m_1 = %lld numbers, which "
            "Assumption 3.7 does not ask for: these have %lld",
            (long long)(2 * d->net.layer[0].m), (long long)d->net.d);
    if (tsri_deep_first(d, "phi.samples") < d->s.n)
        tsri_certify_long(d->c, "phi and Theorem 5.1 (ii)", tsri_deep_least_operations(&d->net, n));
    if (tsri_deep_first(d, "start.chain.samples") < d->s.n)
        tsri_certify_long(d->c, "Theorem 5.1 (v)", tsri_deep_chain_operations(&d->net, n));
}

static tsr_status certify(tsri_certificate *c, const tsri_run_view *view, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_deep_case d = {.c = c, .view = view, .past = past};
    TSR_TRY(tsri_deep_net_init(&d.net, view, view->seen.w));
    letters(&d);
    theorems(&d);
    loss_assumptions(&d);
    data_assumptions(&d);
    tsri_deep_start_rows(&d);
    demands(&d);
    if (view->position->round > 0)
        tsri_deep_region_rows(&d);
    promises(&d);
    notes(&d);
done:
    tsri_deep_net_fini(&d.net);
    return st;
}

/* Two classes, one output, a loss of margins. */
static bool applies(const tsri_run_view *view)
{
    return view->net->outputs == 1 && view->settings->loss->margin;
}

const tsri_paper tsri_paper_deep_relu = {
    .name = "deep-relu-sgd",
    .about = "relu_deep with two classes and a loss of margins",
    .title = "Zou, Cao, Zhou, Gu: Stochastic Gradient Descent Optimizes Over-parameterized Deep "
             "ReLU Networks",
    .applies = applies,
    .look = tsri_deep_look,
    .certify = certify,
    .forget = tsri_deep_forget,
};
