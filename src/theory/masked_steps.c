/* masked_steps.c - Hypothesis 1 of the masked-neurons paper, (2) to (5), and the lemmas about the
 * steps and shares of one round, measured by going through the rounds that come (masked_coming.h).
 *
 * (2) is what Theorems 3 and 4 prove of a round; it is judged there. (3) and (5) contain the
 * expectation of ||y - u_k|| over masks and first weights, of which one run knows one draw. (3)
 * fails where its left side without that term, which is at least 0, is above R. It holds where it is
 * not with what (2) says of the term: E ||y - u_k||^2 <= (1 - alpha)^k E ||y - u_0||^2 + B_1, the
 * first of which is known in closed form. Between the two it is open. Of (5) the ratio of
 * both sides is told, with this run's ||y - u_k||, and what its proof bounds before expectations
 * come in is judged.
 *
 * Of one step the last, and Lemma 5, cannot fail: a unit moves by eta/sqrt(m) ||sum_i r_i x_i||, r
 * the residual, the sum over samples on which it is on. That is at most eta/sqrt(m) sqrt(n) ||r||.
 */
#include "theory/masked_rows.h"

#include "theory/masked_ground.h"

#include <math.h>
#include <stdio.h>

/* The largest of distance + reserve over the rounds so far. */
static double most_of_3(const tsri_masked_view *v, double alpha, double B1)
{
    double most = NAN;
    for (int64_t k = 0; k <= v->past->round; k++) {
        double radius = tsri_past_at(v->past, k, "radius");
        most = fmax(most, radius + tsri_masked_reserve(&v->s, alpha, B1, v->s.K - (double)k));
    }
    return most;
}

/* The same with the expectation as large as (2) allows. */
static double bound_of_3(const tsri_masked_view *v, double alpha, double B1)
{
    double most = NAN, first = tsri_past_at(v->past, 0, "expected");
    for (int64_t k = 0; k <= v->past->round; k++)
        most = fmax(most, tsri_past_at(v->past, k, "radius") +
                              tsri_masked_demand(&v->s, alpha, B1, first, (double)k));
    return most;
}

/* The largest ratio of the sides of (5) over the rounds so far. */
static double most_of_5(const tsri_masked_view *v)
{
    double most = NAN;
    for (int64_t k = 0; k <= v->past->round; k++) {
        double may = tsri_masked_travel(&v->s, sqrt(tsri_past_at(v->past, k, "state")));
        most = fmax(most, tsri_past_at(v->past, k, "travel") / may);
    }
    return most;
}

/* A row about the largest of a series that is kept of rounds that come, with its rounding; `why` it
 * cannot fail, or NULL. */
static void largest(const tsri_masked_view *v, int of, const char *where, const char *name,
                    double required, double blur, const char *why, const char *quantity)
{
    tsri_certify(v->c,
                 &(tsri_condition){.of = of,
                                   .where = where,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_past_most(v->past, name),
                                   .required = required,
                                   .seen = tsri_past_seen(v->past, name),
                                   .blur = blur,
                                   .by_construction = why},
                 "%s", quantity);
}

static void steps(const tsri_masked_view *v, int h1)
{
    const tsri_masked *s = &v->s;
    const char *one =
        v->view->settings->local_steps == 1 ? "Cauchy's inequality, of one step" : NULL;
    int l5 = tsri_certify_theorem(
        v->c, &(tsri_theorem){.where = "Lemma 5",
                              .chance = "1 - 4 delta",
                              .probability = fmax(1 - 4 * s->delta, 0),
                              .assumes = TSRI_ALGORITHM_1 | TSRI_INDEPENDENT_UNITS});
    largest(v, h1, "Hypothesis 1, (4)", "ratio", 1 - s->eta * s->lambda / 2,
            tsri_past_most(v->past, "step_blur"), NULL,
            "largest ||y - u_(t+1)||^2 / ||y - u_t||^2 of a local step of a share: "
            "1 - eta lambda_0/2");
    largest(v, h1, "Hypothesis 1, (5)", "reach", 1, 1e-6, one,
            "largest ||w_(k,t,r) - w_(k,r)|| over eta tau sqrt(n/m) ||y - u_k^l|| (appendix C)");
    tsri_certify_number(v->c, h1, most_of_5(v),
                        "(5): largest ||w_(k,t,r) - w_(k,r)|| over its bound with this run's "
                        "||y - u_k||");
    largest(v, l5, NULL, "drift", 1, tsri_past_most(v->past, "drift_blur"), one,
            "largest |u_(k,t)^l - u_k^l| over eta t sqrt(n) ||y - u_k^l||, on a sample");
}

/* Lemma 25, exactly. */
static void variance(const tsri_masked_view *v)
{
    const tsri_masked *s = &v->s;
    int l25 = tsri_certify_theorem(
        v->c,
        &(tsri_theorem){.where = "Lemma 25",
                        .chance = "1 - n e^(-m/32)",
                        .probability = fmax(1 - s->n * exp(-s->m / 32), 0),
                        .assumes = TSRI_UNIT_ROWS | TSRI_DRAWN_START | TSRI_INDEPENDENT_UNITS |
                                   TSRI_EQUAL_SHARES | TSRI_PAPER_MODEL});
    largest(v, l25, NULL, "variance", tsri_masked_variance(s), 0, NULL,
            "largest E ||u_k - u_k^l||^2 over a mask, in closed form: 4 xi (1-xi) n kappa^2");
}

/* A number of draws of masks with its interval. */
static void part_of(const tsri_masked_view *v, int of, const char *name, const char *quantity)
{
    char low[TSRI_KEPT_NAME], high[TSRI_KEPT_NAME];
    (void)snprintf(low, sizeof low, "%s_low", name);
    (void)snprintf(high, sizeof high, "%s_high", name);
    tsri_condition part = {.of = of, .measured = tsri_past_now(v->past, name)};
    part.interval =
        (tsri_interval){tsri_past_now(v->past, low), tsri_past_now(v->past, high), 0.95};
    tsri_certify(v->c, &part, "%s", quantity);
}

/* Lemmas 1 and 2, over draws of the round at hand. */
static void biases(const tsri_masked_view *v)
{
    double bias = tsri_past_now(v->past, "bias");
    if (v->dealt || isnan(bias))
        return;
    int l1 = tsri_certify_theorem(
        v->c, &(tsri_theorem){.where = "Lemma 1", .chance = "", .probability = NAN});
    tsri_certify_number(v->c, l1, tsri_past_now(v->past, "mixing"),
                        "bias of the mixing function over theta u, on the sample where it is "
                        "largest: theta (1-xi)/sqrt(m) a_r relu(<w_r, x_i>)");
    part_of(v, l1, "mixing_part",
            "part of that bias that draws of masks have, on all samples: 1 in expectation");
    tsri_certify_number(v->c, l1, tsri_past_now(v->past, "mixing_missed"),
                        "samples on which the interval of that part (95 %%) is beside 1: about one "
                        "in twenty");
    int l2 = tsri_certify_theorem(
        v->c, &(tsri_theorem){.where = "Lemma 2", .chance = "", .probability = NAN});
    tsri_certify_number(v->c, l2, bias,
                        "bias of the mixed gradient over theta/xi dL/dw: ||theta (1-xi)/m sum_i "
                        "x_i relu(<w_r, x_i>)||");
    part_of(v, l2, "along", "part of that bias that draws of masks have: 1 in expectation");
}

static void condition_3(const tsri_masked_view *v, int h1, double alpha, double B1, double R)
{
    double all = bound_of_3(v, alpha, B1);
    bool enough = alpha > 0 && alpha < 1 && all <= R;
    tsri_certify(v->c,
                 &(tsri_condition){.of = h1,
                                   .where = "Hypothesis 1, (3)",
                                   .sense = TSRI_AT_MOST,
                                   .measured = enough ? all : most_of_3(v, alpha, B1),
                                   .required = R,
                                   .seen = tsri_past_seen(v->past, "radius"),
                                   .unproven = enough ? NULL
                                                      : "its term with E ||y - u_k||, at least 0, "
                                                        "is left out: the whole is larger by that"},
                 "largest ||w_(k,r) - w_(0,r)|| + 2 eta tau sqrt(2nK/(m delta)) %s: R",
                 enough ? "(E ||y - u_k||/alpha, by (2), + (K-k) B)" : "(K-k) B");
}

void tsri_masked_hypothesis(const tsri_masked_view *v, double alpha, double B1, double R)
{
    const tsri_masked *s = &v->s;
    int h1 = tsri_certify_theorem(
        v->c, &(tsri_theorem){.where = "Hypothesis 1",
                              .chance = "1 - 4 delta",
                              .probability = fmax(1 - 4 * s->delta, 0),
                              .assumes = TSRI_ALGORITHM_1 | TSRI_INDEPENDENT_UNITS});
    tsri_certify(v->c,
                 &(tsri_condition){.of = h1,
                                   .where = "appendix C",
                                   .sense = TSRI_AT_MOST,
                                   .measured = s->eta,
                                   .required = tsri_masked_step1(s),
                                   .seen = TSRI_SEEN_ALL},
                 "step eta: lambda_0 / (4n^2)");
    tsri_masked_distance(v, h1, "appendix C", tsri_masked_radius(s, 64), "kappa lambda_0 / (64n)");
    condition_3(v, h1, alpha, B1, R);
    steps(v, h1);
    if (v->whole)
        return;
    variance(v);
    biases(v);
}
