/* gated.c - certificate of Noy, Xu, Aflalo, Zelnik-Manor, Jin, "A Convergence Theory Towards
 * Practical Over-parameterized Deep Neural Networks", for runs of grelu and relu_twin.
 *
 * The theorems are about gated nets; of a ReLU net (the twin, or a net that was converted) the same
 * quantities are measured and nothing is promised: how far gradients move, how many units switch,
 * how many die. Theorem 5 and what follows of it are in gated_rate.c.
 *
 * Departure: Theorem 3's R divides by a lower bound |grad_(W_k) y_p|^2 >= m^3 / (144 d_x d_y)
 * (section 10.5), which counts m eigenvalues of a matrix of rank 1; it contradicts Theorem 5, by
 * which that square is at most (27 m / 4)^2 / (d_x d_y), at large m. With the m^2 / (144 d_x d_y)
 * that Theorem 5 gives, R becomes (n d_x d_y / m)^(1/2) d_y L^2, constants as 1. The certificate
 * has both.
 */
#include "theory/gated_parts.h"

#include "base/alloc.h"
#include "theory/chain.h"
#include "theory/first.h"
#include "theory/rates.h"

#include <math.h>
#include <string.h>

#define EPSILON 0.01 /* the error that Theorem 1's iterations are counted for */

static tsri_gated_letters letters_of(const tsri_run *run, const tsri_gated *v)
{
    return (tsri_gated_letters){.n = (double)run->data->train.n,
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
                        const tsri_gated_letters *s)
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
    tsri_certify_old(c, "section 2.1", TSRI_AT_MOST, off, 1e-5, "largest | |x_i| - 1 |");
    tsri_certify_old(c, "Assumption 1, Lemma 4", TSRI_AT_MOST, delta, 1.0 / 3,
                     "delta: largest |<x_i, x_j>| of two samples, against 1/3");
    tsri_certify_old(c, "Assumption 2", TSRI_AT_MOST, largest_target(run, v), s->m / s->dx,
                     "largest |y_i|, against m/d_x");
    tsri_certify_old(c, "section 2.1", TSRI_AT_LEAST, (double)run->batch, s->n,
                     "samples in a step");
    tsri_certify_old(c, "section 2.1", TSRI_AT_MOST, run->momentum, 0, "momentum");
    tsri_certify_old(c, "section 2.1", TSRI_AT_MOST, run->decay, 0, "weight decay");
}

/* ---- Theorem 1 ------------------------------------------------------------------------------- */

static void theorem_1(tsri_certificate *c, const tsri_run *run, const tsri_gated_letters *s)
{
    double steps = log(pow(s->n, 3) * s->L / (s->dx * EPSILON));
    tsri_certify_old(c, "Theorem 1", TSRI_AT_LEAST, s->L, log(s->n), "depth L: log n");
    tsri_certify_old(c, "Theorem 1", TSRI_AT_LEAST, s->m, s->n * s->n * s->L * s->dy,
                     "width m: n^2 L d_y");
    tsri_certify_old(c, "Theorem 1", TSRI_AT_MOST, s->eta,
                     s->dx / (pow(s->n, 4) * pow(s->L, 3) * s->dy),
                     "step eta: d_x / (n^4 L^3 d_y)");
    tsri_certify_old(c, "Theorem 1", TSRI_AT_LEAST, (double)run->rounds, steps,
                     "rounds of the run: log(n^3 L / (d_x epsilon)), epsilon = %g", EPSILON);
    tsri_certify_old(c, "(46)", TSRI_AT_LEAST, (double)run->rounds, 2 * 81 * 81 * steps,
                     "rounds of the run: the same times 2 x 81^2");
}

/* ---- (4), Theorem 3, Corollary 4 ---------------------------------------------------------------
 */

static tsr_status moved(tsri_certificate *c, tsri_run *run, const tsri_gated *v,
                        const tsri_gated *then, tsri_store *first, tsri_past *past,
                        const tsri_gated_letters *s)
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
    tsri_certify_old(c, "(4), (5)", at_most, tau, s->dy * sqrt(s->n / s->m) / L,
                     "tau: largest |W_k - W_k(1)|_2 so far, against d_y sqrt(n/m) / L");
    /* e^(2 theta) / sqrt(theta) is least at theta = 1/4. */
    tsri_certify_old(c, "(50)", at_most, tau, 1 / (27 * L * sqrt(12 * L) * 2 * exp(0.5)),
                     "tau, against 1 / (27 L sqrt(12 L) e^(2 theta) theta^(-1/2)), theta = 1/4");
    double least = tsri_gated_least_gradient(then), square = s->m * s->m / (144 * s->dx * s->dy);
    if (promised) {
        tsri_certify_old(c, "Theorem 3", TSRI_AT_LEAST, s->m,
                         s->n * s->dx * s->dy * s->dy * pow(L, 3), "width m: n d_x d_y^2 L^3");
        tsri_certify_old(c, "section 10.5", TSRI_AT_LEAST, least, s->m * square,
                         "least |grad_(W_k) y_p(1)|^2, against m^3 / (144 d_x d_y)");
        tsri_certify_old(c, "Theorem 5", TSRI_AT_LEAST, least, square,
                         "the same, against the m^2 / (144 d_x d_y) of alpha_x alpha_y");
    }
    tsri_certify_old(c, "Theorem 3, (7)", at_most,
                     far ? tsri_past_most(past, "ratio") : (double)NAN, R,
                     "gradient ratio: largest |grad y_p - grad y_p(1)| / |grad y_p(1)| so far, "
                     "against R = n^(1/2) d_x (L d_y)^2 / m^(5/2)");
    if (promised)
        tsri_certify_old(c, "Theorem 3, with Theorem 5", TSRI_AT_MOST,
                         far ? tsri_past_most(past, "ratio") : (double)NAN,
                         sqrt(s->n * s->dx * s->dy / s->m) * s->dy * L * L,
                         "the same, against R with that: (n d_x d_y / m)^(1/2) d_y L^2");
    tsri_certify_old(c, "Corollary 4, (8)", at_most,
                     far ? tsri_past_most(past, "kernel") : (double)NAN, 3 * R,
                     "kernel: largest |K_ij - K_ij(1)| / sqrt(K_ii(1) K_jj(1)) so far, against 3R");
    tsri_certify_old(c, "Corollary 4's proof", TSRI_AT_MOST, far ? kernel : (double)NAN,
                     2 * ratio + ratio * ratio,
                     "the same now, against 2r + r^2, r the ratio measured");
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
    tsri_certify_old(c, v->gated ? "section 2.1" : "section 6.3", at_most, since, 0,
                     v->gated ? "part of the gates that changed since the start"
                              : "part of the ReLU patterns that changed since the start");
    if (memory && memory->words == v->L * v->n * v->words && memory->pattern_round < c->round) {
        double epochs = (double)(c->round - memory->pattern_round) / run->epoch_rounds;
        double last = tsri_gated_hamming(v, memory->pattern);
        tsri_certify_old(c, "section 6.3", at_most, last, 0,
                         "Hamming distance of the patterns to those of round %lld, %.3g epochs ago",
                         (long long)memory->pattern_round, epochs);
        TSR_TRY(tsri_past_keep(past, "hamming", last));
    }
    tsri_certify_old(c, "section 4.3", TSRI_MEASURED, (double)born, 0,
                     "units born dead: off for every sample at first, of %lld",
                     (long long)(v->L * v->m));
    tsri_certify_old(c, "section 4.3, Remark 3", at_most, (double)died, 0,
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
    tsri_certify_old(c, "section 6.3", TSRI_MEASURED, norm, 0, "|g_t|, the gradient of the loss");
    tsri_certify_old(c, "section 6.3", TSRI_MEASURED, change, 0,
                     "|g_t - g_(t-1)|, the distance to that of the round before");
    TSR_TRY(tsri_past_keep(past, "gradient", norm));
    TSR_TRY(tsri_past_keep(past, "gradient_change", change));
done:
    return st;
}

/* ---- The paper ---------------------------------------------------------------------------------
 */

static void notes(tsri_certificate *c, const tsri_run *run, const tsri_gated *v,
                  const tsri_gated_letters *s)
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
    tsri_gated_letters s = letters_of(run, &now);
    TSR_TRY(keep_loss(run, past));
    assumptions(c, run, &now, &s);
    if (now.gated) {
        theorem_1(c, run, &s);
        TSR_TRY(tsri_gated_eigenvalues(c, run, &now, past, &s));
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
