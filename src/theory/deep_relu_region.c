/* deep_relu_region.c - rows of Theorem 5.1 (what W(0) has) and of Theorem 5.3 and Lemma 5.5 (what
 * the iterates have that stay near it).
 *
 * Theorem 5.3 is judged at every iterate that was looked at, for its own radius: the rows are of
 * the worst one. tau is known within an interval [low, high] (power iteration), so a bound f(tau)
 * lies between f(low) and f(high), and a row is the ratio of what was measured to it.
 *
 * Departures. (iv) is stated as C' 4^L L sqrt(s log m) + 4^L sqrt(m) tau and proven, in Lemma B.1,
 * as C' 4^L L (sqrt(s log M) + sqrt(M) tau): the latter counts. (v) is stated for tau = O(n^-3) and
 * proven, in Lemma B.5, for O(n^-3 phi^(3/2)). kappa is "small enough": the proof of (i) needs 7/2
 * + tau <= 4, so 1/2; Lemma C.2 needs tau <= 3.5 8^-L. (ii) of Theorem 5.1 is stated for the states
 * and proven for states scaled to length 1 (Corollary A.5).
 */
#include "theory/deep_relu_rows.h"

#include "theory/rates.h"

#include <math.h>
#include <stdio.h>

static const double LEVEL = 0.99; /* of power iteration: chain.h */

/* ---- Theorem 5.1 ---------------------------------------------------------------------------- */

static const char start_text[] = "Theorem 5.1 (%s) does not hold at W(0): %s is %.4g";

static void proven_start(tsri_deep_case *d)
{
    double state = tsri_deep_first(d, "start.state"), weight = tsri_deep_first(d, "weight"),
           apart = tsri_deep_first(d, "start.apart"), near = tsri_deep_first(d, "start.near");
    if (state > 1.5)
        tsri_certify_breach(d->c, TSRI_PROVEN_START, start_text, "i", "largest |x_(l,i)|", state);
    if (weight > 3.5)
        tsri_certify_breach(d->c, TSRI_PROVEN_START, start_text, "i", "largest |W_l|_2", weight);
    if (apart < d->s.phi / 2)
        tsri_certify_breach(d->c, TSRI_PROVEN_START, start_text, "ii", "least |x_(l,i) - x_(l,j)|",
                            apart);
    if (near > 2)
        tsri_certify_breach(d->c, TSRI_PROVEN_START, start_text, "iv",
                            "the number of units, over "
                            "m^(3/2) beta,",
                            near);
}

/* (5.1): the C-bar that this width allows, term by term. */
static void width_numbers(tsri_deep_case *d)
{
    double n = d->s.n, L = d->s.L, m = d->s.m, phi = d->s.phi, delta = d->s.delta;
    double term[3] = {pow(L / phi, 4) * log(n * n * L / delta),
                      pow(10 * sqrt(m) * log(n * L / delta), 2.0 / 3),
                      n * n / phi * log(n * n / phi)};
    static const char *const words[3] = {"L^4 phi^-4 log(n^2 L/delta)",
                                         "[beta^-1 log(n L/delta)]^(2/3), beta = 0.1 m^(-1/2)",
                                         "n^2 phi^-1 log(n^2/phi)"};
    for (int i = 0; i < 3; i++) {
        tsri_condition claim = tsri_deep_number(d->start, "(5.1)", m / term[i]);
        tsri_certify(d->c, &claim, "width m over %s: at least C", words[i]);
    }
    tsri_condition claim = tsri_deep_number(d->start, "Theorem 5.1", phi * L);
    tsri_certify(d->c, &claim, "phi L, of phi <= C/L: at most C");
}

static void explicit_rows(tsri_deep_case *d)
{
    int64_t part = (int64_t)tsri_deep_first(d, "phi.samples"), n = d->view->data->train.n;
    double weight = tsri_deep_first(d, "weight");
    tsri_certify(d->c,
                 &(tsri_condition){.of = d->start,
                                   .where = "Theorem 5.1 (i)",
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_deep_first(d, "start.state"),
                                   .required = 1.5,
                                   .seen = TSRI_SEEN_ALL},
                 "largest |x_(l,i)| at W(0)");
    tsri_certify(d->c,
                 &(tsri_condition){.of = d->start,
                                   .where = "Theorem 5.1 (i)",
                                   .sense = TSRI_AT_MOST,
                                   .measured = weight,
                                   .required = 3.5,
                                   .seen = TSRI_SEEN_ALL,
                                   .interval = {weight, tsri_deep_first(d, "weight.high"), LEVEL}},
                 "largest |W_l|_2 at W(0)");
    tsri_certify(d->c,
                 &(tsri_condition){.of = d->start,
                                   .where = "Theorem 5.1 (ii)",
                                   .sense = TSRI_AT_LEAST,
                                   .measured = tsri_deep_first(d, "start.apart"),
                                   .required = d->s.phi / 2,
                                   .seen = tsri_saw_some(part, n, "samples")},
                 "least |x_(l,i) - x_(l,j)| at W(0), against phi/2");
    tsri_certify(d->c,
                 &(tsri_condition){.of = d->start,
                                   .where = "Theorem 5.1 (iv)",
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_deep_first(d, "start.near"),
                                   .required = 2,
                                   .seen = TSRI_SEEN_ALL},
                 "units within beta = 0.1 m_l^(-1/2) of switching, over m_l^(3/2) beta");
}

/* " of 40 of 50000 samples", where not all were looked at. */
static const char *part_text(char text[64], const tsri_deep_case *d, const char *name)
{
    int64_t part = (int64_t)tsri_deep_first(d, name), n = d->view->data->train.n;
    text[0] = '\0';
    if (part < n)
        (void)snprintf(text, 64, ", of %lld of %lld samples", (long long)part, (long long)n);
    return text;
}

static void constant_rows(tsri_deep_case *d)
{
    double n = d->s.n, L = d->s.L, phi = d->s.phi;
    long long s = tsri_deep_sparsity(d->view);
    char part[64];
    tsri_condition claim =
        tsri_deep_number(d->start, "Theorem 5.1 (iii)",
                         tsri_deep_first(d, "start.output") / sqrt(log(n / d->s.delta)));
    tsri_certify(d->c, &claim, "largest |y_i| at W(0) over sqrt(log(n/delta)): at most C");
    claim = tsri_deep_number(d->start, "Theorem 5.1 (v)", tsri_deep_first(d, "start.chain") / L);
    if (d->net.L > 1)
        tsri_certify(d->c, &claim,
                     "largest |W_l2^T Sigma W^T ... W_l1^T|_2 at W(0)%s, over L: at most C'",
                     part_text(part, d, "start.chain.samples"));
    claim = tsri_deep_number(d->start, "Theorem 5.1 (vi)",
                             tsri_deep_first(d, "sparse") / (L * sqrt((double)s * log(d->s.M))));
    tsri_certify(d->c, &claim,
                 "supremum over %lld-sparse a at W(0), over L sqrt(s log M): at most C'", s);
    (void)part_text(part, d, "start.nodes.samples");
    claim = tsri_deep_number(d->start, "Theorem 5.1 (vii)",
                             tsri_deep_first(d, "start.nodes") * n / (d->s.last * phi));
    tsri_certify(d->c, &claim,
                 "fewest nodes with a gradient of |a|_inf phi / n^2 that a search over a%s found, "
                 "over m_L phi / n: at least C'",
                 part);
    claim = tsri_deep_number(d->start, "Theorem 5.1 (vii)",
                             log10(tsri_deep_first(d, "start.form")) + 3 * log10(n) -
                                 log10(d->s.last) - 3 * log10(phi));
    tsri_certify(
        d->c, &claim,
        "log10 of the least sum_j |g_j|^2 over all a%s, over |a|_inf^2 m_L phi^3 / n^5: at "
        "least C' C''^2",
        part);
}

void tsri_deep_start_rows(tsri_deep_case *d)
{
    proven_start(d);
    explicit_rows(d);
    width_numbers(d);
    constant_rows(d);
}

/* ---- Theorem 5.3 ---------------------------------------------------------------------------- */

/* A measured number over its bound, at the worst round looked at. A round whose bound says nothing
 * counts only when no other does. */
typedef struct worst {
    double low, high; /* the ratio lies between */
    double trivial;   /* the largest ratio that there can be, in the round of the worst */
    int64_t round;
} worst;

/* `value` over bound(d, tau); `most` is the name of what it cannot exceed, or NULL: 1. */
static worst worst_of(const tsri_deep_case *d, const char *value, const char *most,
                      double (*bound)(const tsri_deep_case *d, double tau))
{
    worst w = {NAN, NAN, NAN, 0};
    bool informative = false;
    for (int64_t r = 1; r <= d->past->round; r++) {
        double x = tsri_past_at(d->past, r, value), tau = tsri_past_at(d->past, r, "tau"),
               high = tsri_past_at(d->past, r, "tau.high");
        double top = most ? tsri_past_at(d->past, r, most) : 1;
        if (isnan(x) || isnan(tau))
            continue;
        worst at = {x > 0 ? x / bound(d, high) : 0, x > 0 ? x / bound(d, tau) : 0,
                    top / bound(d, tau), r};
        bool informs = at.trivial > 1 || at.low > 1;
        if ((informative && !informs) ||
            (informative == informs && !isnan(w.high) && at.high <= w.high))
            continue;
        informative = informs;
        w = at;
    }
    return w;
}

static double far_bound(const tsri_deep_case *d, double tau)
{
    return pow(8, d->s.L) * tau / 7;
}

static double flip_bound(const tsri_deep_case *d, double tau)
{
    return 3 * pow(4, d->s.L) * pow(tau, 2.0 / 3);
}

static tsri_condition ratio(const tsri_deep_case *d, const char *where, const worst *w,
                            const char *most)
{
    return (tsri_condition){.of = d->region,
                            .where = where,
                            .sense = TSRI_AT_MOST,
                            .measured = w->high,
                            .required = 1,
                            .seen = tsri_past_seen(d->past, "tau"),
                            .interval = {w->low, w->high, LEVEL},
                            .trivial = {most, w->trivial},
                            .worst = &w->round};
}

static void perturbation_rows(tsri_deep_case *d)
{
    double weight = tsri_past_most(d->past, "weight");
    worst far = worst_of(d, "moved", "reach", far_bound),
          flips = worst_of(d, "flipped", NULL, flip_bound);
    tsri_condition claim = {.of = d->region,
                            .where = "Theorem 5.3 (i)",
                            .sense = TSRI_AT_MOST,
                            .measured = weight,
                            .required = 4,
                            .seen = tsri_past_seen(d->past, "weight"),
                            .interval = {weight, tsri_past_most(d->past, "weight.high"), LEVEL}};
    tsri_certify(d->c, &claim, "largest |W_l|_2 of all rounds");
    claim = ratio(d, "Theorem 5.3 (ii)", &far, "|x| + |x(0)|");
    tsri_certify(d->c, &claim, "largest |x_(l,i) - x_(l,i)(0)| over 8^L tau / 7");
    claim = ratio(d, "Theorem 5.3 (iii)", &flips, "all units");
    tsri_certify(d->c, &claim,
                 "largest part of a layer's units that switched over 3 4^L tau^(2/3)");
}

/* (vi): |gradient|_F over 4^L sqrt(M) times the mean slope of `count` samples. */
static void gradient_row(tsri_deep_case *d, const char *gradient, const char *slopes, double count,
                         const char *whose)
{
    double most = NAN;
    int64_t at = 0;
    for (int64_t r = 0; r <= d->past->round; r++) {
        double g = tsri_past_at(d->past, r, gradient), sum = tsri_past_at(d->past, r, slopes);
        double by = pow(4, d->s.L) * sqrt(d->s.M) * sum / count;
        if (isnan(g) || isnan(sum))
            continue;
        if (isnan(most) || (g > 0 && g / by > most)) {
            most = g > 0 ? g / by : 0;
            at = r;
        }
    }
    tsri_certify(d->c,
                 &(tsri_condition){.of = d->region,
                                   .where = "Theorem 5.3 (vi)",
                                   .sense = TSRI_AT_MOST,
                                   .measured = most,
                                   .required = 1,
                                   .seen = tsri_past_seen(d->past, gradient),
                                   .worst = &at},
                 "largest |grad_(W_l)|_F of %s over 4^L sqrt(M) times the mean slope", whose);
}

/* (iv), (v): the constants that all rounds so far ask for or allow. */
static void constant_numbers(tsri_deep_case *d)
{
    double C = NAN, c0 = NAN, power = pow(4, d->s.L) * d->s.L;
    double s = (double)tsri_deep_sparsity(d->view);
    for (int64_t r = 0; r <= d->past->round; r++) {
        double sup = tsri_past_at(d->past, r, "sparse"), tau = tsri_past_at(d->past, r, "tau");
        double g = tsri_past_at(d->past, r, "gradient.last"),
               sum = tsri_past_at(d->past, r, "slopes");
        C = fmax(C, sup / (power * (sqrt(s * log(d->s.M)) + sqrt(d->s.M) * tau)));
        if (sum > 0)
            c0 = fmin(c0, 2 * log10(g / sum));
    }
    tsri_condition claim = tsri_deep_number(d->region, "Theorem 5.3 (iv)", C);
    tsri_certify(d->c, &claim,
                 "supremum over %.0f-sparse a over 4^L L (sqrt(s log M) + sqrt(M) tau), largest so "
                 "far: at most C'",
                 s);
    claim = tsri_deep_number(d->region, "Theorem 5.3 (v)",
                             c0 + 7 * log10(d->s.n) - log10(d->s.last) - 3 * log10(d->s.phi));
    tsri_certify(d->c, &claim,
                 "log10 of |grad_(W_L) L_S|_F^2 over m_L phi^3 / n^7 (sum of slopes)^2, least so "
                 "far: at least c_0");
}

/* ---- The radius ----------------------------------------------------------------------------- */

static void radius_row(tsri_deep_case *d, int of, const char *where, double required,
                       const char *what)
{
    double tau = tsri_past_most(d->past, "tau");
    tsri_certify(d->c,
                 &(tsri_condition){.of = of,
                                   .where = where,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tau,
                                   .required = required,
                                   .seen = tsri_past_seen(d->past, "tau"),
                                   .interval = {tau, tsri_past_most(d->past, "tau.high"), LEVEL}},
                 "radius tau: largest |W_l - W_l(0)|_2 of all rounds, %s", what);
}

static void radius_numbers(tsri_deep_case *d)
{
    double tau = log10(tsri_past_most(d->past, "tau")), n = log10(d->s.n), phi = log10(d->s.phi),
           L = d->s.L;
    tsri_condition claim = tsri_deep_number(d->region, "Lemma B.5",
                                            tau - 1.5 * phi + 1.5 * (L + 2) * log10(4) + 3 * n);
    tsri_certify(d->c, &claim,
                 "log10 of tau over phi^(3/2) / (4^(3(L+2)/2) n^3): at most C_2^(3/2)");
    claim = tsri_deep_number(d->region, "Lemma B.5", tau - log10(3.5) - phi + L * log10(8) + 2 * n);
    tsri_certify(d->c, &claim, "log10 of tau over 3.5 phi / (8^L n^2): at most C_1");
    claim = tsri_deep_number(d->descent, d->stochastic ? "Lemma 5.8" : "Lemma 5.6",
                             tau - tsri_deep_log_radius(&d->s));
    if (!tsri_deep_broken(d, d->descent))
        tsri_certify(d->c, &claim,
                     "log10 of tau over (m_L phi^3 / (2^(12L+2) n^5 M log M))^3: at most "
                     "(c_0/C_0)^3");
}

/* Lemma 5.5: |W_l(k) - W_l(0)|_2 <= 4^L M^(1/2) rho k eta for every k. The Frobenius norm is above
 * the spectral one, over the root of the rank below it; both are there for every round. */
static void path_row(tsri_deep_case *d)
{
    double by = pow(4, d->s.L) * sqrt(d->s.M) * d->s.rho * (double)d->view->settings->local_steps;
    double low = NAN, high = NAN;
    int64_t at = 0;
    tsri_seen seen = tsri_past_seen(d->past, "way"), slopes = tsri_past_seen(d->past, "steepest");
    for (int64_t r = 1; r <= d->past->round; r++) {
        double bound = by * tsri_rates_sum(d->view->settings, d->view->position, 0, r),
               way = tsri_past_at(d->past, r, "way"), least = tsri_past_at(d->past, r, "way.low");
        if (isnan(way))
            continue;
        low = fmax(low, least > 0 ? least / bound : 0);
        if (isnan(high) || (way > 0 && way / bound > high)) {
            high = way > 0 ? way / bound : 0;
            at = r;
        }
    }
    if (d->remark && slopes.sight != TSRI_ALL && high > 1)
        seen = tsri_saw_some(slopes.part, slopes.whole, "rounds"); /* rho may be larger */
    tsri_certify(d->c,
                 &(tsri_condition){.of = d->radius,
                                   .sense = TSRI_AT_MOST,
                                   .measured = high,
                                   .required = 1,
                                   .seen = seen,
                                   .interval = {low, high, 1},
                                   .worst = &at},
                 "largest |W_l(k) - W_l(0)| over 4^L sqrt(M) rho k eta, in the Frobenius norm%s",
                 d->remark ? "; rho by Remark 4.3" : "");
}

void tsri_deep_region_rows(tsri_deep_case *d)
{
    radius_row(d, d->region, "Theorem 5.3", 0.5, "against kappa = 1/2");
    radius_row(d, d->region, "Lemma C.2", 3.5 * pow(8, -d->s.L), "against 3.5 8^-L");
    radius_numbers(d);
    perturbation_rows(d);
    gradient_row(d, "gradient", "slopes", d->s.n, "L_S");
    if (d->stochastic)
        gradient_row(d, "batch.gradient", "batch.slopes", (double)d->view->settings->batch,
                     "the next step's batch");
    constant_numbers(d);
    path_row(d);
}
