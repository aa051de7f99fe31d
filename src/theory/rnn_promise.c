/* rnn_promise.c - Theorems 1 (gradient descent) and 2 (stochastic) of the recurrent paper: the
 * sizes that they ask for, and what they promise. Local steps of one worker are steps. */
#include "theory/rnn_parts.h"

#include "theory/rates.h"

#include <float.h>
#include <math.h>

static void main_row(tsri_certificate *c, const tsri_rnn_case *k, tsri_sense sense, double measured,
                     double required, const char *quantity)
{
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.main,
                                   .sense = sense,
                                   .measured = measured,
                                   .required = required,
                                   .seen = TSRI_SEEN_ALL},
                 "%s", quantity);
}

void tsri_rnn_certify_sizes(tsri_certificate *c, const tsri_rnn_case *k)
{
    const tsri_run_view *view = k->view;
    bool sgd = k->s.sgd;
    double T = (double)view->settings->rounds * (double)view->settings->local_steps;
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.main,
                                   .sense = TSRI_AT_LEAST,
                                   .measured = log10(k->s.m),
                                   .required = tsri_rnn_log_width(&k->s),
                                   .seen = TSRI_SEEN_ALL,
                                   .unproven = "the paper's C is at least that, and not known"},
                 "log10 of the width m: C varrho^C, of which the proof needs C >= %.0f",
                 tsri_rnn_power(&k->s));
    main_row(c, k, TSRI_AT_MOST,
             tsri_rnn_paper_step(view, tsri_rates_of(view->settings, view->position).most),
             tsri_rnn_step(&k->s),
             sgd ? "step eta: delta / (rho^42 m)" : "step eta: delta / (rho^44 m)");
    main_row(c, k, TSRI_AT_LEAST, T, tsri_rnn_rounds(&k->s),
             sgd ? "iterations T: rho^57 / delta^2 log(1/epsilon)"
                 : "iterations T: rho^59 / delta^2 log(1/epsilon)");
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.main,
                                   .sense = TSRI_AT_MOST,
                                   .measured = T,
                                   .required = tsri_rnn_rounds_most(&k->s),
                                   .seen = TSRI_SEEN_ALL,
                                   .trivial = {"the most rounds that can be counted", 9e18}},
                 "iterations T: that times varrho^28");
}

/* The largest ratio of f(W) to f at the look before: what falls in every step falls between
 * looks. */
static double largest_ratio(const tsri_past *past)
{
    double most = NAN, before = NAN;
    for (int64_t r = 0; r <= past->round; r++) {
        double f = tsri_past_at(past, r, "loss");
        if (isnan(f))
            continue;
        most = fmax(most, f / before);
        before = f;
    }
    return most;
}

/* (H.1), (I.1): the ball of the proofs. */
static void ball(tsri_certificate *c, const tsri_rnn_case *k, const tsri_past *past)
{
    tsri_certify(c,
                 &(tsri_condition){.of = k->of.main,
                                   .where = k->s.sgd ? "(I.1)" : "(H.1)",
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_past_most(past, "radius"),
                                   .required = tsri_rnn_radius(&k->s),
                                   .seen = tsri_past_seen(past, "radius"),
                                   .trivial = {"the largest distance that floats have",
                                               pow(k->s.m, 1.5) * (double)FLT_MAX}},
                 "largest sqrt(m) |W - W(0)|_F so far, against varrho^50");
}

void tsri_rnn_certify_promises(tsri_certificate *c, const tsri_rnn_case *k, const tsri_past *past,
                               double f)
{
    const tsri_run_view *view = k->view;
    double T = (double)view->position->round * (double)view->settings->local_steps,
           first = tsri_past_at(past, 0, "loss");
    double rate = tsri_rnn_rate(
        &k->s, tsri_rnn_paper_step(view, tsri_rates_of(view->settings, view->position).most));
    if (view->position->round == 0) {
        tsri_certify_number(c, k->of.main,
                            f / (k->s.n * pow(tsri_rnn_rho(&k->s), 2) * pow(k->s.L, 3)),
                            "f(W(0)) over n rho^2 L^3: the constant of O");
        return;
    }
    ball(c, k, past);
    tsri_certify_number(
        c, k->of.main, -expm1(log(f / first) / T) / rate,
        "mean fall of f in a step over eta delta m / rho^15: the constant of Omega");
    if (!k->s.sgd) /* of the stochastic one only the mean falls */
        tsri_certify(
            c,
            &(tsri_condition){.of = k->of.main,
                              .sense = TSRI_AT_MOST,
                              .measured = largest_ratio(past),
                              .required = nextafter(1, 0), /* it falls, or fails */
                              .seen = tsri_past_seen(past, "loss")},
            "largest f(W) over f(W) at the look before: below 1 whatever the constant of Omega is");
    main_row(c, k, TSRI_AT_MOST, T >= tsri_rnn_rounds(&k->s) ? f : (double)NAN, k->s.epsilon,
             "f(W(T)) <= epsilon from the T on that the theorem asks for");
}
