/* deep_relu.c - certificates of Zou, Cao, Zhou, Gu, "Stochastic Gradient Descent Optimizes
 * Over-parameterized Deep ReLU Networks".
 *
 * Before a run: the assumptions, what Theorem 4.1 or 4.5 asks for, and Theorem 5.1 (i)-(vii) at
 * W(0). During one: the radius tau that the weights have moved, Theorem 5.3 (i)-(vi) for that tau,
 * Lemma 5.5, and Corollary 4.4's sign of zero error. The paper's absolute constants ("large
 * enough", "small enough") are not known: they are taken as 1, so a row says by which constant it
 * would hold.
 *
 * All is measured on the first training samples (deep_relu.h); Theorem 5.1 is deep_relu_start.c.
 */
#include "theory/deep_relu.h"

#include "base/alloc.h"
#include "data/points.h"
#include "theory/deep_relu_bounds.h"
#include "theory/first.h"
#include "theory/rates.h"

#include <math.h>
#include <string.h>

/* ---- Assumptions --------------------------------------------------------------------------- */

static double phi_of(const tsri_deep_view *s)
{
    int64_t i = 0, j = 0;
    return tsri_least_distance(s->x0, s->n, s->d, &i, &j);
}

static void assumptions(tsri_certificate *c, const tsri_run *run, const tsri_deep_view *s,
                        double phi)
{
    double off = 0, n = (double)s->n, L = (double)s->L, m = (double)tsri_deep_narrowest(s);
    bool lipschitz = run->loss == TSRI_HINGE || run->loss == TSRI_LOGISTIC;
    double curved = run->loss == TSRI_LOGISTIC        ? 0.25
                    : run->loss == TSRI_SQUARED_HINGE ? 2
                                                      : (double)INFINITY;
    for (int64_t i = 0; i < s->n; i++)
        off = fmax(off, fabs(tsri_length(s->x0 + i * s->d, s->d) - 1));
    tsri_certify_old(c, "Assumption 3.3", TSRI_AT_MOST, lipschitz ? 1 : INFINITY, 1,
                     "the largest slope of the loss, rho");
    tsri_certify_old(c, "Assumption 3.4", TSRI_AT_MOST, curved, 2,
                     "the largest curvature of the loss, lambda");
    tsri_certify_old(c, "Assumption 3.5", TSRI_AT_MOST, off, 1e-6, "largest | |x_i| - 1 |");
    tsri_certify_old(c, "Assumption 3.6", TSRI_AT_LEAST, phi, 1e-6, "phi: least |x_i - x_j|");
    tsri_certify_old(c, "Assumption 3.7", TSRI_AT_MOST, (double)tsri_deep_widest(s) / m, 2,
                     "widest over narrowest layer, M/m");
    tsri_certify_old(c, "Theorem 5.1", TSRI_AT_MOST, phi, 1 / L, "phi <= C/L");
    tsri_certify_old(c, "(5.1), first term", TSRI_AT_LEAST, m,
                     pow(L / phi, 4) * log(n * n * L / s->delta), "width m");
    tsri_certify_old(c, "(5.1), second term", TSRI_AT_LEAST, m,
                     pow(10 * sqrt(m) * log(n * L / s->delta), 2.0 / 3),
                     "width m, beta = 0.1 m^(-1/2)");
    tsri_certify_old(c, "(5.1), third term", TSRI_AT_LEAST, m, n * n / phi * log(n * n / phi),
                     "width m");
}

/* ---- Theorems 4.1 and 4.5 ------------------------------------------------------------------ */

/* epsilon is where the run stops by its loss, else the l(0)/n of Corollaries 4.4 and 4.7. */
static tsri_deep_letters letters(const tsri_run *run, const tsri_deep_view *s, double phi)
{
    double n = (double)s->n, below = tsri_config_real(run->config, "stop.below");
    bool stops = strcmp(tsri_config_text(run->config, "stop.metric"), "loss") == 0 && below > 0;
    return (tsri_deep_letters){.n = n,
                               .L = (double)s->L,
                               .m = (double)tsri_deep_narrowest(s),
                               .M = (double)tsri_deep_widest(s),
                               .phi = phi,
                               .epsilon = stops ? below : tsri_margin_loss(run->loss, 0, NULL) / n,
                               .B = run->gd ? 0 : (double)run->batch,
                               .loss = run->loss};
}

static void convergence(tsri_certificate *c, const tsri_run *run, const tsri_deep_letters *s)
{
    const char *where = s->B > 0 ? "Theorem 4.5" : "Theorem 4.1";
    tsri_certify_old(c, where, TSRI_AT_LEAST, s->m, tsri_deep_width(s),
                     "width m that brings the loss to %.3g", s->epsilon);
    tsri_certify_old(c, where, TSRI_AT_MOST, tsri_rates_of(run).most, tsri_deep_step(s),
                     "step eta: %s e^-L", s->B > 0 ? "B phi^3 / (n^6 M)" : "phi^3 / (n^5 M)");
    tsri_certify_old(c, where, TSRI_AT_LEAST, tsri_rates_sum(run, 0, run->rounds),
                     tsri_deep_path(s), "K eta, the sum of the steps of all rounds");
    tsri_certify_old(c, where, TSRI_AT_LEAST, (double)run->rounds,
                     ceil(tsri_deep_path(s) / tsri_deep_step(s)),
                     "iterations K, with the theorem's own step");
}

/* ---- Theorem 5.3 ---------------------------------------------------------------------------- */

static tsr_status radius(tsri_norm *tau, const tsri_run *run, const tsri_deep_view *now,
                         const tsri_deep_view *then)
{
    tsr_status st = TSR_OK;
    *tau = (tsri_norm){0};
    for (int64_t l = 0; l < now->L; l++) {
        const tsri_deep_layer *a = &now->layer[l], *b = &then->layer[l];
        tsri_factor f = {a->w, a->m, a->inputs, NULL}, g = {b->w, b->m, b->inputs, NULL};
        tsri_norm norm;
        TSR_TRY(tsri_chain_norm(&norm, &(tsri_chain){&f, 1}, &(tsri_chain){&g, 1}, TSRI_DEEP_STEPS,
                                run->seed, run->pool));
        tsri_deep_keep_larger(tau, &norm);
    }
done:
    return st;
}

/* Largest |x~ - x|, and the largest part of a layer's units that switched, over 3 4^L tau^(2/3). */
static void moved(double *distance, double *flipped, const tsri_deep_view *now,
                  const tsri_deep_view *then)
{
    *distance = *flipped = 0;
    for (int64_t l = 0; l < now->L; l++) {
        const tsri_deep_layer *a = &now->layer[l], *b = &then->layer[l];
        for (int64_t i = 0; i < now->n; i++) {
            double squares = 0;
            int64_t flips = 0;
            for (int64_t j = i * a->m; j < (i + 1) * a->m; j++) {
                double far = (double)a->x[j] - (double)b->x[j];
                squares += far * far;
                flips += (a->z[j] > 0) != (b->z[j] > 0);
            }
            *distance = fmax(*distance, sqrt(squares));
            *flipped = fmax(*flipped, (double)flips / (double)a->m);
        }
    }
}

/* |grad_(W_l) L|_F of every layer, L the mean over the first `count` samples; spoils store.g. */
static tsr_status gradients(double *norm, tsri_run *run, const tsri_deep_view *s, int64_t count)
{
    tsr_status st = TSR_OK;
    tsri_plan *plan = NULL;
    tsri_loss loss = {.kind = run->loss,
                      .valid = count,
                      .label = run->data->train.label,
                      .target = run->data->train.target};
    TSR_TRY(tsri_plan_create(&plan, &run->store, run->backend, run->pool, count, true));
    TSR_TRY(tsri_plan_forward(plan, s->x0));
    TSR_TRY(tsri_plan_loss(plan, &loss));
    TSR_TRY(tsri_plan_backward(plan));
    for (int64_t l = 0; l < s->L; l++)
        norm[l] = tsri_length((const float *)run->store.g + run->net->param[l].offset,
                              run->net->param[l].count);
done:
    tsri_plan_destroy(plan);
    return st;
}

static double steepest(const tsri_run *run, const tsri_deep_view *s)
{
    double most = 0;
    for (int64_t i = 0; i < s->n; i++)
        most = fmax(most, -tsri_deep_slope(run, s, i));
    return most;
}

static double slopes(const tsri_run *run, const tsri_deep_view *s, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum -= tsri_deep_slope(run, s, i);
    return sum;
}

static double largest(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, x[i]);
    return most;
}

/* (v), (vi), and (vi) of a mini-batch: the first B samples. */
static tsr_status gradient_rows(tsri_certificate *c, tsri_run *run, const tsri_deep_view *now,
                                double phi)
{
    tsr_status st = TSR_OK;
    double *norm = NULL, n = (double)now->n, sum = slopes(run, now, now->n);
    double most = pow(4, (double)now->L) * sqrt((double)tsri_deep_widest(now));
    double mL = (double)now->layer[now->L - 1].m;
    TSR_TRY(tsri_alloc(&norm, now->L, sizeof *norm));
    TSR_TRY(gradients(norm, run, now, now->n));
    tsri_certify_old(c, "Theorem 5.3 (v)", TSRI_AT_LEAST, norm[now->L - 1] * norm[now->L - 1],
                     mL * pow(phi, 3) / pow(n, 7) * sum * sum,
                     "|grad_(W_L) L_S|_F^2, against c m_L phi^3 / n^7 (sum of slopes)^2");
    tsri_certify_old(c, "Theorem 5.3 (vi)", TSRI_AT_MOST, largest(norm, now->L), most / n * sum,
                     "largest |grad_(W_l) L_S|_F, against 4^L sqrt(M) / n times the sum of slopes");
    int64_t B = run->batch < now->n ? run->batch : now->n;
    if (run->gd)
        goto done;
    TSR_TRY(gradients(norm, run, now, B));
    tsri_certify_old(c, "Theorem 5.3 (vi)", TSRI_AT_MOST, largest(norm, now->L),
                     most / (double)B * slopes(run, now, B),
                     "the same of the first %lld samples, a mini-batch", (long long)B);
done:
    tsri_free(norm);
    return st;
}

static tsr_status theorem_5_3(tsri_certificate *c, tsri_run *run, const tsri_deep_view *now,
                              const tsri_deep_view *then, double phi)
{
    tsr_status st = TSR_OK;
    double L = (double)now->L, m = (double)tsri_deep_narrowest(now), power = pow(4, L), distance,
           flipped, sup;
    int64_t sparsity = tsri_deep_sparsity_of(now);
    tsri_norm tau, weight;
    TSR_TRY(radius(&tau, run, now, then));
    TSR_TRY(tsri_deep_largest_weight(&weight, run, now));
    TSR_TRY(tsri_deep_largest_sparse(&sup, run, now, sparsity));
    moved(&distance, &flipped, now, then);
    tsri_deep_letters s = letters(run, now, phi);
    tsri_deep_certify_norm(c, "Theorem 5.3", &tau, 1,
                           "radius tau: largest |W_l - W_l(0)|_2, against kappa");
    tsri_deep_certify_norm(c, "Theorem 5.3 (v), radius", &tau, exp(-L) / pow(s.n, 3),
                           "radius tau, against n^-3 e^-L");
    tsri_deep_certify_norm(c, s.B > 0 ? "Lemma 5.8" : "Lemma 5.6", &tau, tsri_deep_radius(&s),
                           "radius tau, against n^-15 phi^9 e^-L");
    tsri_deep_certify_norm(c, "Theorem 5.3 (i)", &weight, 4, "largest |W_l|_2");
    tsri_certify_old(c, "Theorem 5.3 (ii)", TSRI_AT_MOST, distance, pow(8, L) * tau.value / 7,
                     "largest |x_(l,i) - x_(l,i)(0)|, against 8^L tau / 7");
    tsri_certify_old(c, "Theorem 5.3 (iii)", TSRI_AT_MOST, flipped,
                     3 * power * pow(tau.value, 2.0 / 3),
                     "largest part of a layer's units that switched, against 3 4^L tau^(2/3)");
    tsri_certify_old(c, "Theorem 5.3 (iv)", TSRI_AT_MOST, sup,
                     power * L * sqrt((double)sparsity * log(m)) + power * sqrt(m) * tau.value,
                     "supremum over %lld-sparse a, against C 4^L L sqrt(s log m) + 4^L sqrt(m) tau",
                     (long long)sparsity);
    TSR_TRY(gradient_rows(c, run, now, phi));
    /* Assumption 3.3's constant; losses without one have the steepest slope seen (Remark 4.3). */
    double rho = run->loss == TSRI_HINGE || run->loss == TSRI_LOGISTIC
                     ? 1
                     : fmax(steepest(run, now), steepest(run, then));
    tsri_certify_old(c, "Lemma 5.5", TSRI_AT_MOST, tau.value,
                     power * sqrt((double)tsri_deep_widest(now)) * rho *
                         tsri_rates_sum(run, 0, run->round),
                     "radius tau, against 4^L sqrt(M) rho k eta");
done:
    return st;
}

static void zero_error(tsri_certificate *c, const tsri_run *run, const tsri_deep_view *s)
{
    double sum = 0, n = (double)s->n;
    int64_t wrong = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double z = tsri_deep_sign(run, i) * s->y[i];
        sum += tsri_margin_loss(run->loss, z, NULL);
        wrong += !(z > 0);
    }
    tsri_certify_old(c, "Corollary 4.4", TSRI_AT_MOST, sum / n,
                     tsri_margin_loss(run->loss, 0, NULL) / n, "training loss, against l(0)/n");
    tsri_certify_old(c, "Corollary 4.4", TSRI_AT_MOST, (double)wrong, 0,
                     "samples on the wrong side");
}

/* ---- The paper ------------------------------------------------------------------------------ */

static tsr_status certify(tsri_certificate *c, tsri_run *run, tsri_past *past)
{
    (void)past; /* what is measured needs the first weights only */
    tsr_status st = TSR_OK;
    tsri_deep_view now = {0}, then = {0};
    tsri_store first = {0};
    TSR_TRY(tsri_deep_view_init(&now, run, run->store.w));
    double phi = phi_of(&now);
    assumptions(c, run, &now, phi);
    if (run->round == 0) {
        tsri_deep_letters s = letters(run, &now, phi);
        convergence(c, run, &s);
        TSR_TRY(tsri_deep_theorem_5_1(c, run, &now, phi));
    } else {
        TSR_TRY(tsri_first_weights(&first, run));
        TSR_TRY(tsri_deep_view_init(&then, run, first.w));
        TSR_TRY(theorem_5_3(c, run, &now, &then, phi));
    }
    zero_error(c, run, &now);
    tsri_certify_note(c,
                      "the paper's absolute constants are taken as 1, delta as %g; a row that "
                      "fails by a factor of k holds with a constant of k",
                      now.delta);
    if (now.n < run->data->train.n)
        tsri_certify_note(c, "n is %lld: the first training samples", (long long)now.n);
    tsri_certify_note(c,
                      "chains of (v), (vi) and 5.3 (iv) are those of %d samples; (vii) was tried "
                      "on unit vectors, on the slopes of the loss and on %d random signs, not on "
                      "every a",
                      TSRI_DEEP_FEW, TSRI_DEEP_SIGNS);
done:
    tsri_deep_view_fini(&now);
    tsri_deep_view_fini(&then);
    tsri_store_fini(&first);
    return st;
}

/* Two classes, one output, a loss of margins. */
static bool applies(const tsri_run *run)
{
    return strcmp(tsri_config_text(run->config, "model.name"), "relu_deep") == 0 &&
           run->net->outputs == 1 && tsri_loss_of_margin(run->loss);
}

const tsri_paper tsri_paper_deep_relu = {
    .name = "deep-relu-sgd",
    .title = "Zou, Cao, Zhou, Gu: Stochastic Gradient Descent Optimizes Over-parameterized Deep "
             "ReLU Networks",
    .applies = applies,
    .certify = certify,
};
