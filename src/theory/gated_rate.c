/* gated_rate.c - how fast a gated net must learn: Theorem 5 and Lemma 3 of Noy et al.
 *
 * (14) to (17) are about eigenvalues of the products G before and F behind each layer's weights;
 * (18) and (19) make a step and a rate of them, which the run's own losses are held against; the
 * exact tangent kernel has a least eigenvalue to compare.
 *
 * Departure: (14) and (15) are written with G G^T, which has rank d_x < m; Theorem 5 and the proof
 * use G^T G, and so do we.
 */
#include "theory/gated_parts.h"

#include "base/alloc.h"
#include "theory/fall.h"
#include "theory/rates.h"
#include "theory/spectrum.h"
#include "theory/tangent.h"

#include <math.h>

/* (18), theta at its end 1/5, where the step is largest. */
static double step_18(double alpha, double beta, double beta_x, double first,
                      const tsri_gated_letters *s)
{
    double theta = 0.2, half = exp(theta / 2) / sqrt(theta), L = s->L;
    double a2 = alpha * alpha, b2 = beta * beta;
    if (isnan(alpha) || isnan(beta)) /* fmin would pass over them */
        return (double)NAN;
    double step = fmin(a2 / (12 * b2 * beta_x * L), 1 / (3 * L));
    step = fmin(step, fmin(a2 / (4 * b2 * b2 * L), 1 / (b2 * L)));
    step = fmin(step, 1 / (4 * sqrt(2) * sqrt(L) * half * beta * sqrt(first)));
    return fmin(step, a2 / (1024 * s->n * pow(half, 4) * b2 * first));
}

/* (19): context is alpha^2 L / 2. */
static double rate_19(const void *context, double eta)
{
    return eta * *(const double *)context;
}

/* (42) for rates that change: after so many rounds they sum to log(l_0 / l_t) / half. Behind the
 * run's end its last rate goes on. */
static double rounds_needed(const tsri_run *run, double half, double ratio)
{
    double left = log(ratio) / half;
    int64_t t = 0;
    if (isnan(left))
        return left;
    for (; t < run->rounds && left > 0; t++)
        left -= tsri_rate_of(run, t);
    return (double)t + left / tsri_rate_of(run, left > 0 || t == 0 ? t : t - 1);
}

/* The rate of (19) with the alpha of this run against its losses. */
static tsr_status rate_rows(tsri_certificate *c, const tsri_run *run, const tsri_past *past,
                            double alpha, const tsri_gated_letters *s)
{
    tsr_status st = TSR_OK;
    double half = alpha * alpha * s->L / 2, first = tsri_past_at(past, 0, "loss"),
           now = tsri_past_now(past, "loss");
    bool constant = tsri_rates_of(run).constant;
    tsri_promise p = {.where = "(19)",
                      .loss = "L_k",
                      .what = "L_0",
                      .rate = rate_19,
                      .context = &half,
                      .run = run,
                      .first = first};
    tsri_certify_rate(c, &p, "eta alpha^2 L / 2");
    tsri_certify_old(c, "(42)", TSRI_AT_MOST, c->round > 0 ? (double)c->round : (double)NAN,
                     constant ? log(first / now) / (half * s->eta)
                              : rounds_needed(run, half, first / now),
                     constant ? "rounds done: 2 / (eta alpha^2 L) log(l_0 / l_t)"
                              : "rounds done: so many that their eta_t sum to 2 / (alpha^2 L) "
                                "log(l_0 / l_t)");
    if (run->loss == TSRI_HALF_SQUARES)
        TSR_TRY(tsri_certify_fall(c, past, &p));
done:
    return st;
}

/* The exact kernel of output 0 on the samples in view: (14) to (17) give it L alpha^2 / 2. */
static tsr_status kernel_row(tsri_certificate *c, tsri_run *run, const tsri_gated *v, double alpha)
{
    tsr_status st = TSR_OK;
    double *k = NULL;
    tsri_eigen least, most;
    tsri_tangent options = {.output = 0};
    TSR_TRY(tsri_alloc(&k, v->n * v->n, sizeof *k));
    TSR_TRY(tsri_tangent_kernel(k, &run->store, run->backend, run->pool, v->x, v->n, &options));
    TSR_TRY(tsri_spectrum_ends(&least, &most, k, v->n, run->pool));
    tsri_certify_old(c, "(14) to (17)", TSRI_AT_LEAST, least.value,
                     (double)v->L * alpha * alpha / 2,
                     "least eigenvalue of the tangent kernel of output 0: L alpha^2 / 2");
    tsri_certify_old(c, "(6)", TSRI_MEASURED, most.value, 0,
                     "its largest eigenvalue; descent is stable below the step 2 over it");
done:
    tsri_free(k);
    return st;
}

tsr_status tsri_gated_eigenvalues(tsri_certificate *c, tsri_run *run, const tsri_gated *v,
                                  tsri_past *past, const tsri_gated_letters *s)
{
    tsr_status st = TSR_OK;
    tsri_gated_ends e;
    double cross, first = tsri_past_at(past, 0, "loss") / 2;
    TSR_TRY(tsri_gated_ends_of(&e, v, &run->store, run->pool));
    TSR_TRY(tsri_gated_cross(&cross, v));
    double alpha = sqrt(e.alpha_x * e.alpha_y), beta = sqrt(e.beta_x * e.beta_y);
    tsri_certify_old(c, "(14), Theorem 5", TSRI_AT_LEAST, e.alpha_x, s->m / (12 * s->dx),
                     "alpha_x: least eigenvalue of G^T G, against m/(12 d_x)");
    tsri_certify_old(c, "(14), Theorem 5", TSRI_AT_LEAST, e.alpha_y, s->m / (12 * s->dy),
                     "alpha_y: least eigenvalue of F F^T, against m/(12 d_y)");
    tsri_certify_old(c, "(15), Theorem 5", TSRI_AT_MOST, e.beta_x, 27 * s->m / (4 * s->dx),
                     "beta_x: largest eigenvalue of G^T G, against 27m/(4 d_x)");
    tsri_certify_old(c, "(15), Theorem 5", TSRI_AT_MOST, e.beta_y, 27 * s->m / (4 * s->dy),
                     "beta_y: largest eigenvalue of F F^T, against 27m/(4 d_y)");
    tsri_certify_old(c, "(16)", TSRI_MEASURED, cross / (beta * beta), 0,
                     "gamma: largest |<G x_j, G x_i>| |F_j F_i^T| of two samples, over beta^2");
    tsri_certify_old(c, "(17)", TSRI_AT_MOST, cross * s->n, alpha * alpha / 2,
                     "beta^2 gamma n, against alpha^2 / 2");
    TSR_TRY(tsri_past_keep(past, "alpha", alpha));
    TSR_TRY(tsri_past_keep(past, "beta", beta));
    TSR_TRY(tsri_past_keep(past, "beta_x", e.beta_x));
    double low = tsri_past_least(past, "alpha");
    if (run->loss == TSRI_HALF_SQUARES) {
        tsri_certify_old(
            c, "(18)", TSRI_AT_MOST, s->eta,
            step_18(low, tsri_past_most(past, "beta"), tsri_past_most(past, "beta_x"), first, s),
            "step eta: Lemma 3's, with the alpha, beta and l_0 measured");
        TSR_TRY(rate_rows(c, run, past, low, s));
    }
    TSR_TRY(kernel_row(c, run, v, alpha));
    if (e.few < v->pairs)
        tsri_certify_note(c, "G was multiplied out for %lld samples, F for %lld", (long long)e.few,
                          (long long)v->pairs);
done:
    return st;
}
