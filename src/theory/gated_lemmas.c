/* gated_lemmas.c - what Lemmas 2, 4, 5, 7, Theorem 6 and (39) of Noy et al. bound, and how far a
 * run moves: (4), (5), (50), Theorem 3, Corollary 4, sections 4.3 and 6.3. */
#include "theory/gated_parts.h"

#include <math.h>
#include <stdio.h>

/* e^(theta/2) / sqrt(theta) falls up to theta = 1: least at the end 1/2 of Lemmas 5 and 7. */
static double half_end(void)
{
    return exp(0.25) * sqrt(2);
}

/* ---- One step: Lemma 2, (39) ----------------------------------------------------------------- */

static void step_rows(const tsri_gated_file *f)
{
    static const char *const bound[] = {"fall_bound", "fall_printed"};
    static const char *const words[] = {
        "change of l in one step, with lambda_max^2 of (30) in Lambda_i",
        "the same with lambda_max, as (13) is printed"};
    for (int i = 0; i < 2; i++) {
        int64_t r = tsri_gated_worst(f->past, "fall", bound[i]);
        tsri_certify(f->c,
                     &(tsri_condition){.of = f->of.two_l,
                                       .where = "Lemma 2, (13)",
                                       .sense = TSRI_AT_MOST,
                                       .measured = tsri_past_at(f->past, r, "fall"),
                                       .required = tsri_past_at(f->past, r, bound[i]),
                                       .seen = tsri_past_seen(f->past, "fall"),
                                       .trivial = {"0: the loss may rise", 0},
                                       .worst = &r},
                     "%s", words[i]);
    }
    int64_t r = tsri_gated_worst(f->past, "steepest", "steepest_bound");
    double low = tsri_past_at(f->past, r, "steepest");
    tsri_seen seen = tsri_saw_both(tsri_gated_seen(f, "steepest", f->reach.pairs),
                                   tsri_gated_seen(f, "steepest", f->reach.G));
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.steep,
                                   .sense = TSRI_AT_MOST,
                                   .measured = low,
                                   .required = tsri_past_at(f->past, r, "steepest_bound"),
                                   .seen = tsri_gated_some(seen),
                                   .interval = {low, tsri_past_at(f->past, r, "steepest_high"),
                                                1 - TSRI_GATED_CHANCE},
                                   .worst = &r},
                 "largest |grad_k l|_2^2: (beta^2 + n gamma beta^2) l");
}

/* ---- Lemmas 4, 5, 7 -------------------------------------------------------------------------- */

static void overlap_rows(const tsri_gated_file *f)
{
    tsri_seen seen = tsri_saw(f->reach.pairs.samples, f->reach.n, "samples");
    const char *alone = f->reach.n < 2 ? "having one sample" : NULL;
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.four_l,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_past_at(f->past, 0, "overlap_0"),
                                   .required = f->s.m / 3,
                                   .seen = seen,
                                   .by_construction = alone},
                 "most units of D_0 that are on for two samples, against m/3");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.four_l,
                                   .where = "Theorem 6's proof",
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_past_at(f->past, 0, "overlap"),
                                   .required = f->s.m / 3,
                                   .seen = seen,
                                   .by_construction = alone},
                 "the same of D_1 .. D_L, to which it applies Lemma 4");
}

static void chain_rows(const tsri_gated_file *f)
{
    double root = sqrt(f->s.L) * half_end();
    double first = tsri_past_at(f->past, 0, "chain"), most = tsri_past_most(f->past, "chain");
    double level = isnan(most) ? 0 : 1 - TSRI_GATED_CHANCE;
    tsri_certify(
        f->c,
        &(tsri_condition){.of = f->of.five_l,
                          .sense = TSRI_AT_MOST,
                          .measured = first,
                          .required = sqrt(12) * root,
                          .seen = tsri_saw(f->reach.chains.samples, f->reach.n, "samples"),
                          .interval = {first, tsri_past_at(f->past, 0, "chain_high"), level}},
        "largest |Z_(a,b)|_2 at first: sqrt(12 L) e^(theta/2) theta^(-1/2), theta = 1/2");
    tsri_certify(
        f->c,
        &(tsri_condition){.of = f->of.seven_l,
                          .sense = TSRI_AT_MOST,
                          .measured = most,
                          .required = 4 * root,
                          .seen = tsri_gated_seen(f, "chain", f->reach.chains),
                          .interval = {most, tsri_past_most(f->past, "chain_high"), level}},
        "largest |Z_(a,b)|_2 so far: 4 sqrt(L) e^(theta/2) theta^(-1/2), theta = 1/2");
}

/* ---- tau and what must be small for it ------------------------------------------------------ */

static void tau_row(const tsri_gated_file *f, int of, const char *where, double required,
                    const char *words)
{
    bool far = f->past->round > 0;
    double tau = far ? tsri_past_most(f->past, "tau") : (double)NAN;
    tsri_certify(f->c,
                 &(tsri_condition){.of = of,
                                   .where = where,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tau,
                                   .required = required,
                                   .seen = tsri_past_seen(f->past, "tau_high"),
                                   .interval = {tau, tsri_past_most(f->past, "tau_high"),
                                                far ? 1 - TSRI_GATED_CHANCE : 0}},
                 "%s", words);
}

static void tau_rows(const tsri_gated_file *f)
{
    double L = f->s.L;
    /* e^(2 theta) / sqrt(theta) is least at theta = 1/4. */
    tau_row(f, f->of.five, "(50)", 1 / (27 * L * sqrt(12 * L) * 2 * exp(0.5)),
            "tau: largest |W_k - W_k(1)|_2 so far, against 1 / (27 L sqrt(12 L) e^(2 theta) "
            "theta^(-1/2)), theta = 1/4");
    tau_row(f, f->of.seven_l, "Lemma 7", 1 / (9 * sqrt(12) * half_end() * pow(L, 1.5)),
            "tau, against 1 / (9 sqrt(12) e^(theta/2) theta^(-1/2) L^(3/2)), theta = 1/2");
    tau_row(f, f->of.six, "Theorem 6", pow(L, -1.5), "tau, against L^(-3/2)");
}

static void fitted_rows(const tsri_gated_file *f)
{
    const tsri_gated_letters *s = &f->s;
    double tau = f->past->round > 0 ? tsri_past_most(f->past, "tau") : (double)NAN;
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.one,
                                   .where = "(5)",
                                   .measured = tau * s->L / (s->dy * sqrt(s->n / s->m))},
                 "tau over d_y n^(1/2) m^(-1/2) / L: what O would have to hide");
    tsri_certify_number(f->c, f->of.six, tsri_past_most(f->past, "far_f"),
                        "C' that |F_j F_i^T| <= C' (m^(-1/4) + (5/6)^(L-k) + L^(3/2) tau) beta_y "
                        "would need, largest so far");
    tsri_certify_number(f->c, f->of.six, tsri_past_most(f->past, "far_g"),
                        "C' that |<G x_j, G x_i>| <= C' (m^(-1/4) + delta (5/6)^k + L^(3/2) tau) "
                        "beta_x would need, largest so far");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.six,
                                   .where = "(52)",
                                   .measured = tsri_past_most(f->past, "gamma")},
                 "C'' that gamma = C'' (L^3 tau^2 + delta (5/6)^L + m^(-1/2)) would need, largest "
                 "so far");
}

void tsri_gated_lemma_rows(tsri_gated_file *f)
{
    step_rows(f);
    overlap_rows(f);
    chain_rows(f);
    tau_rows(f);
    fitted_rows(f);
}

/* ---- Theorem 3, Corollary 4 ------------------------------------------------------------------ */

static void gradient_rows(const tsri_gated_file *f)
{
    const tsri_gated_letters *s = &f->s;
    double least = tsri_past_at(f->past, 0, "least_gradient");
    double square = s->m * s->m / (144 * s->dx * s->dy);
    tsri_seen seen = tsri_saw(f->reach.pairs.samples, f->reach.n, "samples");
    tsri_certify_number(f->c, f->of.three, s->m / (s->n * s->dx * s->dy * s->dy * pow(s->L, 3)),
                        "width m over n d_x d_y^2 L^3: what Omega would have to hide");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.three,
                                   .where = "section 10.5",
                                   .sense = TSRI_AT_LEAST,
                                   .measured = least,
                                   .required = s->m * square,
                                   .seen = seen},
                 "least |grad_(W_k) y_p(1)|^2, against m^3 / (144 d_x d_y)");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.five,
                                   .where = "section 10.5, Theorem 5",
                                   .sense = TSRI_AT_LEAST,
                                   .measured = least,
                                   .required = square,
                                   .seen = seen},
                 "the same, against the m^2 / (144 d_x d_y) of alpha_x alpha_y");
}

static void ratio_rows(const tsri_gated_file *f)
{
    const tsri_gated_letters *s = &f->s;
    bool far = f->past->round > 0;
    double R = sqrt(s->n) * s->dx * pow(s->L * s->dy, 2) / pow(s->m, 2.5);
    double ratio = far ? tsri_past_most(f->past, "ratio") : (double)NAN;
    double kernel = far ? tsri_past_most(f->past, "kernel") : (double)NAN;
    tsri_certify(f->c, &(tsri_condition){.of = f->of.three, .where = "(7)", .measured = ratio},
                 "gradient ratio: largest |grad y_p - grad y_p(1)| / |grad y_p(1)| so far");
    tsri_certify(f->c, &(tsri_condition){.of = f->of.three, .where = "(7)", .measured = ratio / R},
                 "the same over R = n^(1/2) d_x (L d_y)^2 / m^(5/2): what O would have to hide");
    tsri_certify(f->c,
                 &(tsri_condition){
                     .of = f->of.three,
                     .where = "(7), Theorem 5",
                     .measured = ratio / (sqrt(s->n * s->dx * s->dy / s->m) * s->dy * s->L * s->L)},
                 "the same over R with that: (n d_x d_y / m)^(1/2) d_y L^2");
    tsri_certify(
        f->c,
        &(tsri_condition){.of = f->of.three,
                          .where = "Corollary 4, (8)",
                          .sense = TSRI_AT_MOST,
                          .measured = kernel,
                          .required = 3 * ratio,
                          .seen = tsri_gated_some(tsri_gated_seen(f, "kernel", f->reach.pairs)),
                          .by_construction =
                              ratio <= 1 ? "the triangle inequality: 2r + r^2 <= 3r" : NULL},
        "kernel: largest |K_ij - K_ij(1)| / sqrt(K_ii(1) K_jj(1)) so far, against 3r, r "
        "the gradient ratio measured");
}

/* ---- Sections 6.3, 4.3 ----------------------------------------------------------------------- */

/* `words` end with the round: "round 7". */
static void number_now(const tsri_gated_file *f, const char *where, const char *series,
                       tsri_seen seen, const char *words)
{
    int64_t r = tsri_gated_latest(f->past, series);
    char when[32] = "no round yet";
    if (r >= 0)
        (void)snprintf(when, sizeof when, "round %lld", (long long)r);
    tsri_certify(f->c,
                 &(tsri_condition){
                     .where = where, .measured = tsri_past_at(f->past, r, series), .seen = seen},
                 "%s%s", words, when);
}

static void pattern_rows(const tsri_gated_file *f)
{
    bool gated = tsri_net_gated(f->view->net);
    double changed = tsri_past_most(f->past, "switched");
    const char *why = "gates that training leaves alone";
    tsri_seen seen = tsri_saw_some(f->reach.gates.samples, f->reach.n, "samples");
    tsri_certify(f->c,
                 &(tsri_condition){.where = "section 4.3",
                                   .measured = tsri_past_at(f->past, 0, "born"),
                                   .seen = seen},
                 "units born dead: off at first for each of the %lld samples looked at",
                 (long long)f->reach.gates.samples);
    if (!gated) {
        number_now(f, "section 6.3", "switched", seen,
                   "part of the ReLU patterns that changed since the start, at ");
        number_now(f, "section 6.3", "hamming", seen,
                   "part that changed in the last round looked at, ");
        number_now(f, "section 4.3", "died", seen,
                   "units that died: on for a sample at first, off for every one at ");
    }
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.fixed,
                                   .where = "section 2.1",
                                   .sense = TSRI_AT_MOST,
                                   .measured = gated ? changed : (double)NAN,
                                   .required = 0,
                                   .seen = tsri_past_seen(f->past, "switched"),
                                   .by_construction = why},
                 "part of the numbers that fix the gates (C, Psi) and of B that changed");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.fixed,
                                   .sense = TSRI_AT_MOST,
                                   .measured = gated && !(changed > 0) ? 0 : (double)NAN,
                                   .required = 0,
                                   .seen = tsri_past_seen(f->past, "switched"),
                                   .by_construction = why},
                 "units that died: on for a sample at first, off for every one now");
}

void tsri_gated_moved_rows(tsri_gated_file *f)
{
    gradient_rows(f);
    ratio_rows(f);
    number_now(f, "section 6.3", "gradient", TSRI_SEEN_ALL, "|g_t|, the gradient of the loss, at ");
    number_now(f, "section 6.3", "gradient_change", TSRI_SEEN_ALL,
               "|g_t - g_(t-1)|, the distance to that of the round before, at ");
    pattern_rows(f);
}
