/* gated.c - certificate of Noy, Xu, Aflalo, Zelnik-Manor, Jin, "A Convergence Theory Towards
 * Practical Over-parameterized Deep Neural Networks", for runs of grelu and relu_twin.
 *
 * The theorems are about gated nets; of a ReLU net (the twin, or a net that was converted) the same
 * quantities are measured and nothing is promised: how far gradients move, how many units switch,
 * how many die. Departures: (14) and (15) are written with G G^T, which has rank d_x < m; Theorem 5
 * and the proof use G^T G, and so do we.
 *
 * Theorem 3's R divides by a lower bound |grad_(W_k) y_p|^2 >= m^3 / (144 d_x d_y) (section 10.5),
 * which counts m eigenvalues of a matrix of rank 1; it contradicts Theorem 5, by which that square
 * is at most (27 m / 4)^2 / (d_x d_y), at large m. With the m^2 / (144 d_x d_y) that Theorem 5
 * gives, R becomes (n d_x d_y / m)^(1/2) d_y L^2, constants as 1. The certificate has both.
 */
#include "theory/gated.h"

#include "base/alloc.h"
#include "theory/chain.h"
#include "theory/fall.h"
#include "theory/first.h"
#include "theory/spectrum.h"
#include "theory/tangent.h"

#include <math.h>
#include <string.h>

#define EPSILON 0.01 /* the error that Theorem 1's iterations are counted for */

/* The paper's letters for a run; of a schedule eta is the largest (rates.h). */
typedef struct letters {
    double n, dx, dy, L, m, eta;
} letters;

static letters letters_of(const tsri_run *run, const tsri_gated *v)
{
    return (letters){.n = (double)run->data->train.n,
                     .dx = (double)v->d,
                     .dy = (double)v->dy,
                     .L = (double)v->L,
                     .m = (double)v->m,
                     .eta = tsri_rates_of(run).most};
}

/* ---- Assumptions ----------------------------------------------------------------------------- */

static double largest_target(const tsri_run *run, const tsri_gated *v)
{
    double most = 0;
    const tsri_part *part = &run->data->train;
    if (!part->target)
        return 1; /* one of the classes: a unit vector */
    for (int64_t i = 0; i < part->n; i++)
        most = fmax(most, tsri_length(part->target + i * v->dy, v->dy));
    return most;
}

static void assumptions(tsri_certificate *c, const tsri_run *run, const tsri_gated *v,
                        const letters *s)
{
    double off = 0, delta = 0;
    for (int64_t i = 0; i < v->n; i++) {
        const float *x = v->x + i * v->d;
        off = fmax(off, fabs(tsri_length(x, v->d) - 1));
        for (int64_t j = 0; j < i; j++) {
            double sum = 0;
            for (int64_t e = 0; e < v->d; e++)
                sum += (double)x[e] * (double)v->x[j * v->d + e];
            delta = fmax(delta, fabs(sum));
        }
    }
    /* Rows are floats: a length is 1 to about 1e-6. */
    tsri_certify(c, "section 2.1", TSRI_AT_MOST, off, 1e-5, "largest | |x_i| - 1 |");
    tsri_certify(c, "Assumption 1, Lemma 4", TSRI_AT_MOST, delta, 1.0 / 3,
                 "delta: largest |<x_i, x_j>| of two samples, against 1/3");
    tsri_certify(c, "Assumption 2", TSRI_AT_MOST, largest_target(run, v), s->m / s->dx,
                 "largest |y_i|, against m/d_x");
    tsri_certify(c, "section 2.1", TSRI_AT_LEAST, (double)run->batch, s->n, "samples in a step");
    tsri_certify_rates(c, "section 2.1", run);
    tsri_certify(c, "section 2.1", TSRI_AT_MOST, run->momentum, 0, "momentum");
    tsri_certify(c, "section 2.1", TSRI_AT_MOST, run->decay, 0, "weight decay");
}

/* ---- Theorem 1 ------------------------------------------------------------------------------- */

static void theorem_1(tsri_certificate *c, const tsri_run *run, const letters *s)
{
    double steps = log(pow(s->n, 3) * s->L / (s->dx * EPSILON));
    tsri_certify(c, "Theorem 1", TSRI_AT_LEAST, s->L, log(s->n), "depth L: log n");
    tsri_certify(c, "Theorem 1", TSRI_AT_LEAST, s->m, s->n * s->n * s->L * s->dy,
                 "width m: n^2 L d_y");
    tsri_certify(c, "Theorem 1", TSRI_AT_MOST, s->eta,
                 s->dx / (pow(s->n, 4) * pow(s->L, 3) * s->dy), "step eta: d_x / (n^4 L^3 d_y)");
    tsri_certify(c, "Theorem 1", TSRI_AT_LEAST, (double)run->rounds, steps,
                 "rounds of the run: log(n^3 L / (d_x epsilon)), epsilon = %g", EPSILON);
    tsri_certify(c, "(46)", TSRI_AT_LEAST, (double)run->rounds, 2 * 81 * 81 * steps,
                 "rounds of the run: the same times 2 x 81^2");
}

/* ---- Theorem 5, (14) to (19) ------------------------------------------------------------------
 */

/* (18), theta at its end 1/5, where the step is largest. */
static double step_18(double alpha, double beta, double beta_x, double first, const letters *s)
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
                            double alpha, const letters *s)
{
    tsr_status st = TSR_OK;
    double half = alpha * alpha * s->L / 2, first = tsri_past_real(past, 0, "loss"),
           now = tsri_past_real(past, past->count - 1, "loss");
    bool constant = tsri_rates_of(run).constant;
    tsri_promise p = {.where = "(19)",
                      .loss = "L_k",
                      .what = "L_0",
                      .rate = rate_19,
                      .context = &half,
                      .run = run,
                      .first = first};
    tsri_certify_rate(c, &p, "eta alpha^2 L / 2");
    tsri_certify(c, "(42)", TSRI_AT_MOST, c->round > 0 ? (double)c->round : (double)NAN,
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
    tsri_certify(c, "(14) to (17)", TSRI_AT_LEAST, least.value, (double)v->L * alpha * alpha / 2,
                 "least eigenvalue of the tangent kernel of output 0: L alpha^2 / 2");
    tsri_certify(c, "(6)", TSRI_MEASURED, most.value, 0,
                 "its largest eigenvalue; descent is stable below the step 2 over it");
done:
    tsri_free(k);
    return st;
}

static tsr_status eigenvalues(tsri_certificate *c, tsri_run *run, const tsri_gated *v,
                              tsri_past *past, const letters *s)
{
    tsr_status st = TSR_OK;
    tsri_gated_ends e;
    double cross, first = tsri_past_real(past, 0, "loss") / 2;
    TSR_TRY(tsri_gated_ends_of(&e, v, &run->store, run->pool));
    TSR_TRY(tsri_gated_cross(&cross, v));
    double alpha = sqrt(e.alpha_x * e.alpha_y), beta = sqrt(e.beta_x * e.beta_y);
    tsri_certify(c, "(14), Theorem 5", TSRI_AT_LEAST, e.alpha_x, s->m / (12 * s->dx),
                 "alpha_x: least eigenvalue of G^T G, against m/(12 d_x)");
    tsri_certify(c, "(14), Theorem 5", TSRI_AT_LEAST, e.alpha_y, s->m / (12 * s->dy),
                 "alpha_y: least eigenvalue of F F^T, against m/(12 d_y)");
    tsri_certify(c, "(15), Theorem 5", TSRI_AT_MOST, e.beta_x, 27 * s->m / (4 * s->dx),
                 "beta_x: largest eigenvalue of G^T G, against 27m/(4 d_x)");
    tsri_certify(c, "(15), Theorem 5", TSRI_AT_MOST, e.beta_y, 27 * s->m / (4 * s->dy),
                 "beta_y: largest eigenvalue of F F^T, against 27m/(4 d_y)");
    tsri_certify(c, "(16)", TSRI_MEASURED, cross / (beta * beta), 0,
                 "gamma: largest |<G x_j, G x_i>| |F_j F_i^T| of two samples, over beta^2");
    tsri_certify(c, "(17)", TSRI_AT_MOST, cross * s->n, alpha * alpha / 2,
                 "beta^2 gamma n, against alpha^2 / 2");
    TSR_TRY(tsri_past_keep(past, "alpha", alpha));
    TSR_TRY(tsri_past_keep(past, "beta", beta));
    TSR_TRY(tsri_past_keep(past, "beta_x", e.beta_x));
    double low = tsri_past_least(past, "alpha");
    if (run->loss == TSRI_HALF_SQUARES) {
        tsri_certify(
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

/* ---- (4), Theorem 3, Corollary 4 ---------------------------------------------------------------
 */

static tsr_status moved(tsri_certificate *c, tsri_run *run, const tsri_gated *v,
                        const tsri_gated *then, tsri_store *first, tsri_past *past,
                        const letters *s)
{
    tsr_status st = TSR_OK;
    double tau, high, ratio, kernel, L = s->L;
    double R = sqrt(s->n) * s->dx * pow(L * s->dy, 2) / pow(s->m, 2.5);
    TSR_TRY(tsri_gated_tau(&tau, &high, run, &run->store, first));
    tsri_gated_moved(&ratio, &kernel, v, then);
    TSR_TRY(tsri_past_keep(past, "tau", tau));
    TSR_TRY(tsri_past_keep(past, "ratio", ratio));
    TSR_TRY(tsri_past_keep(past, "kernel", kernel));
    bool far = c->round > 0, promised = v->gated;
    tau = far ? tsri_past_most(past, "tau") : (double)NAN;
    tsri_sense at_most = promised ? TSRI_AT_MOST : TSRI_MEASURED;
    tsri_certify(c, "(4), (5)", at_most, tau, s->dy * sqrt(s->n / s->m) / L,
                 "tau: largest |W_k - W_k(1)|_2 so far, against d_y sqrt(n/m) / L");
    /* e^(2 theta) / sqrt(theta) is least at theta = 1/4. */
    tsri_certify(c, "(50)", at_most, tau, 1 / (27 * L * sqrt(12 * L) * 2 * exp(0.5)),
                 "tau, against 1 / (27 L sqrt(12 L) e^(2 theta) theta^(-1/2)), theta = 1/4");
    double least = tsri_gated_least_gradient(then), square = s->m * s->m / (144 * s->dx * s->dy);
    if (promised) {
        tsri_certify(c, "Theorem 3", TSRI_AT_LEAST, s->m, s->n * s->dx * s->dy * s->dy * pow(L, 3),
                     "width m: n d_x d_y^2 L^3");
        tsri_certify(c, "section 10.5", TSRI_AT_LEAST, least, s->m * square,
                     "least |grad_(W_k) y_p(1)|^2, against m^3 / (144 d_x d_y)");
        tsri_certify(c, "Theorem 5", TSRI_AT_LEAST, least, square,
                     "the same, against the m^2 / (144 d_x d_y) of alpha_x alpha_y");
    }
    tsri_certify(c, "Theorem 3, (7)", at_most, far ? tsri_past_most(past, "ratio") : (double)NAN, R,
                 "gradient ratio: largest |grad y_p - grad y_p(1)| / |grad y_p(1)| so far, "
                 "against R = n^(1/2) d_x (L d_y)^2 / m^(5/2)");
    if (promised)
        tsri_certify(c, "Theorem 3, with Theorem 5", TSRI_AT_MOST,
                     far ? tsri_past_most(past, "ratio") : (double)NAN,
                     sqrt(s->n * s->dx * s->dy / s->m) * s->dy * L * L,
                     "the same, against R with that: (n d_x d_y / m)^(1/2) d_y L^2");
    tsri_certify(c, "Corollary 4, (8)", at_most, far ? tsri_past_most(past, "kernel") : (double)NAN,
                 3 * R,
                 "kernel: largest |K_ij - K_ij(1)| / sqrt(K_ii(1) K_jj(1)) so far, against 3R");
    tsri_certify(c, "Corollary 4's proof", TSRI_AT_MOST, far ? kernel : (double)NAN,
                 2 * ratio + ratio * ratio, "the same now, against 2r + r^2, r the ratio measured");
done:
    return st;
}

/* ---- Section 6.3 and Remark 3 ------------------------------------------------------------------
 */

static tsr_status remember(tsri_memory *memory, const tsri_gated *v, int64_t round)
{
    tsr_status st = TSR_OK;
    int64_t words = v->L * v->n * v->words;
    if (memory->words != words) {
        TSRI_FREE(memory->pattern);
        memory->words = 0;
        TSR_TRY(tsri_alloc(&memory->pattern, words, sizeof *memory->pattern));
        memory->words = words;
    }
    memcpy(memory->pattern, v->on + v->n * v->words, (size_t)words * sizeof *v->on);
    memory->pattern_round = round;
done:
    return st;
}

static tsr_status patterns(tsri_certificate *c, const tsri_run *run, const tsri_gated *v,
                           const tsri_gated *then, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_memory *memory = past->memory;
    int64_t dead, died, born, none;
    double since = tsri_gated_hamming(v, then->on + then->n * then->words);
    tsri_gated_dead(&dead, &died, v, then);
    tsri_gated_dead(&born, &none, then, then);
    tsri_sense at_most = v->gated ? TSRI_AT_MOST : TSRI_MEASURED;
    tsri_certify(c, v->gated ? "section 2.1" : "section 6.3", at_most, since, 0,
                 v->gated ? "part of the gates that changed since the start"
                          : "part of the ReLU patterns that changed since the start");
    if (memory && memory->words == v->L * v->n * v->words && memory->pattern_round < c->round) {
        double epochs = (double)(c->round - memory->pattern_round) / run->epoch_rounds;
        double last = tsri_gated_hamming(v, memory->pattern);
        tsri_certify(c, "section 6.3", at_most, last, 0,
                     "Hamming distance of the patterns to those of round %lld, %.3g epochs ago",
                     (long long)memory->pattern_round, epochs);
        TSR_TRY(tsri_past_keep(past, "hamming", last));
    }
    tsri_certify(c, "section 4.3", TSRI_MEASURED, (double)born, 0,
                 "units born dead: off for every sample at first, of %lld",
                 (long long)(v->L * v->m));
    tsri_certify(c, "section 4.3, Remark 3", at_most, (double)died, 0,
                 "units that died since: on for a sample at first, off for every one now");
    TSR_TRY(tsri_past_keep(past, "died", (double)died));
    if (memory)
        TSR_TRY(remember(memory, v, c->round));
done:
    return st;
}

static tsr_status gradients(tsri_certificate *c, tsri_run *run, const tsri_gated *v,
                            tsri_past *past)
{
    tsr_status st = TSR_OK;
    const tsri_memory *memory = past->memory;
    bool known = memory && memory->before && memory->before_round == c->round - 1 &&
                 memory->before_converted == run->converted &&
                 memory->before_count == run->net->trained;
    double norm, change;
    TSR_TRY(tsri_gated_gradients(&norm, &change, run, v, known ? memory->before : NULL));
    tsri_certify(c, "section 6.3", TSRI_MEASURED, norm, 0, "|g_t|, the gradient of the loss");
    tsri_certify(c, "section 6.3", TSRI_MEASURED, change, 0,
                 "|g_t - g_(t-1)|, the distance to that of the round before");
    TSR_TRY(tsri_past_keep(past, "gradient", norm));
    TSR_TRY(tsri_past_keep(past, "gradient_change", change));
done:
    return st;
}

/* ---- The paper ---------------------------------------------------------------------------------
 */

static void notes(tsri_certificate *c, const tsri_run *run, const tsri_gated *v, const letters *s)
{
    tsri_certify_note(c,
                      "n %g, d_x %g, d_y %g, L %g, m %g, eta %g; constants that Omega and O "
                      "hide, and logarithms under a tilde, are taken as 1",
                      s->n, s->dx, s->dy, s->L, s->m, s->eta);
    if (!v->gated)
        tsri_certify_note(c,
                          "a ReLU net: the theorems speak of gated nets; these are measurements");
    if (run->converted >= 0)
        tsri_certify_note(c,
                          "the gated net was converted after round %lld: what is counted from the "
                          "start has that jump in it",
                          (long long)run->converted);
    if (v->n < run->data->train.n)
        tsri_certify_note(c,
                          "patterns, gradients and the kernel are those of the first %lld training "
                          "samples, pairs those of %lld",
                          (long long)v->n, (long long)v->pairs);
    if (run->loss != TSRI_HALF_SQUARES)
        tsri_certify_note(c, "the loss is not the sum of squares: no step and rate is proven");
}

static tsr_status keep_loss(tsri_run *run, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsr_result r;
    TSR_TRY(tsri_evaluate(&r, &run->store, run->backend, run->pool, run->data, &run->data->train,
                          run->loss));
    TSR_TRY(tsri_past_keep(past, "loss", r.loss));
done:
    return st;
}

static tsr_status certify(tsri_certificate *c, tsri_run *run, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_gated now = {0}, then = {0};
    tsri_store first = {0};
    TSR_TRY(tsri_first_weights(&first, run));
    TSR_TRY(tsri_gated_init(&now, run, &run->store));
    TSR_TRY(tsri_gated_init(&then, run, &first));
    letters s = letters_of(run, &now);
    TSR_TRY(keep_loss(run, past));
    assumptions(c, run, &now, &s);
    if (now.gated) {
        theorem_1(c, run, &s);
        TSR_TRY(eigenvalues(c, run, &now, past, &s));
    }
    TSR_TRY(moved(c, run, &now, &then, &first, past, &s));
    TSR_TRY(gradients(c, run, &now, past));
    TSR_TRY(patterns(c, run, &now, &then, past));
    notes(c, run, &now, &s);
done:
    tsri_gated_fini(&now);
    tsri_gated_fini(&then);
    tsri_store_fini(&first);
    return st;
}

static bool applies(const tsri_run *run)
{
    const char *name = tsri_config_text(run->config, "model.name");
    return strcmp(name, "grelu") == 0 || strcmp(name, "relu_twin") == 0;
}

const tsri_paper tsri_paper_gated = {
    .name = "grelu",
    .title = "Noy, Xu, Aflalo, Zelnik-Manor, Jin: A Convergence Theory Towards Practical "
             "Over-parameterized Deep Neural Networks",
    .remembers = true,
    .applies = applies,
    .certify = certify,
};
