/* The papers' formulas at settings where they can be worked out by hand. */
#include "testing.h"

#include "theory/deep_relu_bounds.h"
#include "theory/loft_bounds.h"
#include "theory/masked_bounds.h"
#include "theory/rnn_bounds.h"
#include "theory/theories.h"

#include <math.h>

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fabs(want)))
        fail_msg("%.17g is not %.17g", got, want);
}

/* n 2, d 3, m 10, p 2, tau 2, K 4, xi 1/2, theta 3/4, kappa 1/2, eta 0.1, delta 1/2, lambda 1/4,
 * C 2. */
static const tsri_masked s = {2, 3, 10, 2, 2, 4, 0.5, 0.75, 0.5, 0.1, 0.5, 0.25, 2};

static void test_masked(void **state)
{
    (void)state;
    double term[TSRI_B1_TERMS], width[TSRI_WIDTH3_TERMS];
    near(tsri_masked_order2(&s), 4 * log(32) / (0.5 * 0.0625));
    double m2 = tsri_masked_width2(&s); /* there the union bound is delta */
    near(4 * 2 * 4 * (2 * exp(-m2 * 0.015625 / 8) + exp(-m2 * 0.125 / 240)), 0.5);
    near(tsri_masked_radius(&s, 8), 0.125 / 16);
    near(tsri_masked_radius(&s, 192), 0.125 / 384);
    near(tsri_masked_radius3(&s), 0.0625 / 288); /* Lemma 12's, xi being below 3/4 */
    near(tsri_masked_step1(&s), 0.25 / 16);
    near(tsri_masked_step6(&s), 0.25 / 64);
    near(tsri_masked_step10(&s), 0.25 / 384);
    near(tsri_masked_step3(&s), 0.25 / 384);
    near(tsri_masked_rate3(&s), 0.1 * 0.75 * 2 * 0.25 / 4);
    tsri_masked_b1(term, &s);
    double C1 = 4 * 0.5625 * 0.5 * 2 * 0.25 / 2; /* 0.28125 */
    near(term[0], 64 * 0.25 * 8 * 3 / (10 * 0.0625));
    near(term[1], 68 * 0.1 * 2 * 0.5 * 8 * 0.25 / (2 * 0.25));
    near(term[2], 0.5 * 2 * 0.25 / (6 * 4 * 2));
    near(term[3], 2 * C1 / 96);
    near(term[4], 8 * 0.01 * 16 * 2 * C1 / 0.0625);
    near(term[5], 4 * 0.1 * 2 * 2 * C1);
    double B1 = term[0] + term[1] + term[2] + term[3] + term[4] + term[5];
    near(tsri_masked_floor3(&s), B1);
    tsri_masked_order3(width, &s);
    near(width[0], 8 * 16 / (0.25 * 0.5 * 0.75 * 0.00390625));
    near(width[1], 8 * 2 * 16 * B1 / (0.25 * 0.75 * 0.0625));
    near(width[2], 8 * 16 * 2);
    double B = sqrt(B1 / 0.009375) + 0.5 * sqrt(0.25 * 4), R = 0.0625 / 288;
    near(tsri_masked_B(&s, 0.009375, B1), B);
    near(tsri_masked_reserve(&s, 0.009375, B1, 3), 0.4 * sqrt(3.2) * 3 * B);
    near(tsri_masked_travel(&s, 5), 0.2 * sqrt(3.2) * 5 + 0.4 * sqrt(2 * 0.25 * 2 * 4 / 5.0));
    near(tsri_masked_width3(&s), pow(0.4 * (2 * sqrt(2) / 0.009375 + 4 * B) / R, 2) * 32);
    /* At that m, with that B_1, the base case of the induction is an equality. */
    tsri_masked at = s;
    at.m = tsri_masked_width3(&s);
    near(0.4 * sqrt(16 / (at.m * 0.5)) * (2 * sqrt(2) / 0.009375 + 4 * B), R);
    near(tsri_masked_order4(&s), 4 * 4 * 32 / (0.25 * 0.00390625 * 0.5)); /* p K^2 is largest */
    near(tsri_masked_rate4(&s), (1 - pow(1 - 0.0125, 2)) / 2);
    near(tsri_masked_floor4(&s), 256 * 2 * 0.25 * 8 * 3 / (0.0625 * 10));
    near(tsri_masked_gain4(&s), 64 * 0.1 * 2 * 0.25 * 8 * 3 / (0.25 * 10));
    near(tsri_masked_corollary_order(TSRI_COROLLARY_DROPOUT, &s),
         32 * 4 / (0.25 * 0.00390625 * 0.5));
    near(tsri_masked_corollary_order(TSRI_COROLLARY_IST, &s), 32 * 4 / (0.375 * 0.00390625 * 0.5));
    near(tsri_masked_flips(&s, 0.01), 0.8);
    near(tsri_masked_length(&s, 0.01), 0.5 * sqrt(60) - sqrt(10) * 0.01);
    near(tsri_masked_squares(&s, 0.1), 5 - 0.1);
    near(tsri_masked_variance(&s), 0.5);
    near(tsri_masked_corollary_floor(TSRI_COROLLARY_DROPOUT, &s), 0.5);
    near(tsri_masked_corollary_floor(TSRI_COROLLARY_MULTISAMPLE, &s), 0.25 / 8 + 0.5 / 2);
    near(tsri_masked_corollary_floor(TSRI_COROLLARY_IST, &s),
         0.25 / 8 + 0.25 / 2 + 0.25 * 0.5625 * 0.5);
}

/* One share of everything, one step: no error term is left in either theorem. */
static void test_masked_whole(void **state)
{
    (void)state;
    tsri_masked whole = s;
    whole.p = whole.tau = whole.xi = whole.theta = 1;
    assert_true(tsri_masked_floor3(&whole) == 0 && tsri_masked_floor4(&whole) == 0);
}

static void test_loft(void **state)
{
    (void)state;
    /* n 2, d 9, p 4, m 16, S 4, T 5, xi 1/2, theta 15/16, kappa 1/2, eta 0.1, delta 1/4, l 1/4,
     * eta^2 T 0.05 */
    static const tsri_loft l = {2, 9, 4, 16, 4, 5, 0.5, 0.9375, 0.5, 0.1, 0.25, 0.25, 0.05, 0.5};
    double R = 0.125 / 24; /* kappa lambda_0 / (12 n) */
    near(tsri_loft_radius(&l), R);
    near(tsri_loft_near(&l), 96 * R);
    near(tsri_loft_width_near(&l), 0.5 * log(32) / R);
    assert_true(tsri_loft_chance_near(&l) == 0); /* 1 - 8 e^(-1/6) */
    near(tsri_loft_start(&l), 0.5 * sqrt(288) - 4 * R);
    near(tsri_loft_patch(&l), 8 - 16 * R * R);
    near(tsri_loft_width_first(&l), 16 * 4 * log(32) / 0.0625);
    near(tsri_loft_width_later(&l), log(32) / R);
    near(tsri_loft_entry_first(&l), log(8) / 4);
    near(tsri_loft_entry_later(&l), 6 * R);
    /* N ~ Binomial(4, 1/2): E[1/N; N > 0] = (4 + 6/2 + 4/3 + 1/4) / 16. */
    double inverse = (4 + 3 + 4.0 / 3 + 0.25) / 16, V = 0.25 * inverse / 0.9375;
    near(tsri_loft_variance(&l), V);
    near(tsri_loft_spread(&l), 8 * 2 * 0.25 * 0.6875 / 4);
    near(tsri_loft_mixing(&l), 0.9375 * (0.25 + V) - 0.25 * 0.87890625);
    near(tsri_loft_mixing_claimed(&l), 0.87890625 * 0.5 / 4);
    near(tsri_loft_width1_formula(&l), 16.0 * 25 * 9 / (0.015625 * 0.0625));
    near(tsri_loft_width2_formula(&l), 8.0 * 25 * 9 / (0.00390625 * 0.0625 * 0.25));
    near(tsri_loft_step_formula(&l), 0.0625);
    near(tsri_loft_bound_m_formula(&l), 4 * 3 / (0.0625 * 0.5 * 2 * 0.5));
    near(tsri_loft_bound_S_formula(&l), 2 * 0.01 * 5 * 0.87890625 * 0.5 * 0.25 / 4);
    near(tsri_loft_moved_formula(&l, 3),
         sqrt(0.125) * 4 * 3 + 0.5 * 0.9375 * (0.25 * 4 * 3 / (16 * 0.25) + sqrt(0.6875 / 64)));
    near(tsri_loft_rate(&l), 0.9375 * 0.1 * 0.25 / 2);
    near(tsri_loft_floor1_formula(&l), 0.25 * 8 * 9 / (16 * 0.0625) + 2 * 0.25 * 0.6875 / 4);
    near(tsri_loft_floor2_formula(&l), 0.0625 * 8 * 9 / (16 * 0.0625) + 2 * 0.25 * 0.6875 / 4);
    near(tsri_loft_step_C(&l), 0.5);
    near(tsri_loft_radius_C(&l), 2);
    double first = 3 * 0.5 * sqrt(72) / (0.25 * 0.5 * 2) * (3 + 2), second = 4 * 2 * 0.75;
    double third = 2 * 0.87890625 * 0.5 * 0.25 * 2 / 4, fourth = 3 * 0.25 * 4 / 0.5 * 10;
    near(tsri_loft_drift_C(&l, 0.1, 3, 10, 2), 0.1 * (first + second) + 0.01 * (third + fourth));
}

static void test_theories(void **state)
{
    (void)state;
    tsri_theory t[TSRI_THEORIES];
    tsri_theory_setting set = tsri_theory_setting_default();
    set.n = 10;
    set.L = 2;
    set.d = 5;
    tsri_theories(t, &set);
    near(t[1].width, 1e26 * pow(2, 38));
    near(t[3].iterations, 100 * 4 * log(100));
    near(t[4].width, 200);
    near(t[4].iterations, 13122 * log(1000 * 2 / 0.05));
    near(t[4].step, 5 / (1e4 * 8));
    set.dy = 3;
    tsri_theories(t, &set);
    near(t[4].width, 600);
    set.dy = 1;
    tsri_theories(t, &set);
    assert_true(isnan(t[0].width) && isnan(t[5].width) && isnan(t[6].step));
    near(tsri_theory_logs_of(&t[4], &set).width, log10(200));
    /* The recurrent width is C varrho^C of itself; step and T follow from it. */
    for (int sgd = 0; sgd < 2; sgd++) {
        tsri_theory_logs r = tsri_theory_logs_of(&t[7 + sgd], &set);
        double logm = r.width * log(10), delta = 1 / (4e6 * pow(logm, 3));
        double C = sgd ? 274 : 286, rho = log10(20 * logm);
        near(r.width, log10(C) + C * log10(20 / delta * (logm + log(100))));
        near(r.step + r.iterations, /* T eta = rho^15 / (delta m) log(1/epsilon) */
             15 * rho - log10(delta) - r.width + log10(log(100)));
        assert_true(isinf(t[7 + sgd].width) && t[7 + sgd].step == 0);
    }
    set.lambda = 0.5;
    set.K = 7;
    tsri_theories(t, &set);
    near(t[0].step, 0.005);
    near(t[0].iterations, log(100) / 0.0025);
    assert_true(t[5].iterations == 7 && t[6].iterations == 7 && t[5].width > 0);
    /* The width of Theorem 3 is a fixed point of its own B_1: it satisfies the base case. */
    tsri_masked m = {10, 5,         t[5].width, set.p, 1, 7, 0.5, 1 - pow(0.5, set.p),
                     1,  t[5].step, 0.1,        0.5,   2};
    near(tsri_masked_width3(&m), t[5].width);
    near(t[5].step, 0.5 / 4800);
    near(t[6].step, 0.5 / 400);
}

/* n 2, L 1, m 8, M = m_L = 16, phi 1/2, from a loss of 1 to 1/4, by hand from the proofs of Lemmas
 * 5.6 and 5.8: X of K eta = X / (c_0 m phi^3), which is X here. */
static void test_deep_relu(void **state)
{
    (void)state;
    tsri_deep_letters d = {.n = 2,
                           .L = 1,
                           .m = 8,
                           .M = 16,
                           .last = 16,
                           .phi = 0.5,
                           .epsilon = 0.25,
                           .first = 1,
                           .rho = 1,
                           .lambda = 1,
                           .delta = 0.5,
                           .loss = &tsri_loss_hinge};
    const double log2 = log(2), log16 = log(16);
    double step = 16 * 0.125 / (4096 * 32 * 256 * 2), X = 2 * 128 * 0.75;
    near(tsri_deep_log_path(&d), log10(X)); /* x_0 > -inf, p < 1/2 */
    near(tsri_deep_log_step(&d), log10(step));
    near(tsri_deep_log_steps(&d), log10(X / step));
    near(tsri_deep_log_radius(&d), 3 * log10(16 * 0.125 / (16384 * 32 * 16 * log16)));
    near(tsri_deep_log_width(&d), log10(X * X * 16 * pow(16384 * 32 * log16, 6) * ldexp(1, 24)));
    d.loss = &tsri_loss_squared_hinge; /* x_0 = -inf, p = 1/2: l' = 2 l^(1/2) */
    near(tsri_deep_log_path(&d), log10(2 * 64 / 4.0 * log(4)));
    d.loss = &tsri_loss_exponential; /* x_0 = -inf, p = 1: 1/epsilon - 1/first = 3 */
    near(tsri_deep_log_path(&d), log10(2 * 32 * 3));
    d.loss = &tsri_loss_logistic; /* x_0 > -inf, p = 1; alpha_0 = 1/2, alpha_1 = 1/(2 log 2) */
    near(tsri_deep_log_path(&d), log10(256 * 4 * 0.75 + 64 * 4 * log2 * log2 * 3));
    d.B = 1; /* stochastic; Markov's C is 2 */
    near(tsri_deep_log_path(&d), log10(2 * (256 * 4 + 64 * 4 * log2 * log2 * 16)));
    near(tsri_deep_log_step(&d), log10(step / 2));
    d.loss = &tsri_loss_exponential;
    near(tsri_deep_log_path(&d), log10(64 * 7));
    d.loss = &tsri_loss_squared_hinge;
    near(tsri_deep_log_path(&d), log10(32 * log(8)));
    d.loss = &tsri_loss_hinge;
    near(tsri_deep_log_path(&d), log10(512));
    d.n = 50000; /* n^44 is beyond what a double holds */
    d.L = 5;
    d.phi = 1e-3;
    assert_true(isfinite(tsri_deep_log_width(&d)) && tsri_deep_log_width(&d) > 308);
    d.epsilon = 2; /* it is there already */
    assert_true(isnan(tsri_deep_log_path(&d)));
}

/* The calculator's width is the least m that is what the certificate's formula asks of it, its step
 * and iterations are those of that width; of n = 2, where a double holds it. */
static void test_deep_relu_theory(void **state)
{
    (void)state;
    tsri_theory t[TSRI_THEORIES];
    tsri_theory_setting set = tsri_theory_setting_default();
    set.n = 2;
    set.L = 1;
    set.phi = 1;
    set.epsilon = 0.1;
    tsri_theories(t, &set);
    for (int sgd = 0; sgd < 2; sgd++) {
        double m = t[9 + sgd].width;
        tsri_deep_letters d = {.n = 2,
                               .L = 1,
                               .m = m,
                               .M = m,
                               .last = m,
                               .phi = 1,
                               .epsilon = 0.1,
                               .first = log(2),
                               .rho = 1,
                               .lambda = 0.25,
                               .B = sgd ? 1 : 0,
                               .delta = set.delta,
                               .loss = &tsri_loss_logistic};
        near(tsri_deep_log_width(&d), log10(m));
        near(tsri_deep_log_step(&d), log10(t[9 + sgd].step));
        near(tsri_deep_log_steps(&d), log10(t[9 + sgd].iterations));
    }
    set.n = 1e6; /* beyond doubles: by its logarithm */
    set.L = 10;
    tsri_theories(t, &set);
    assert_true(isinf(t[9].width) && tsri_theory_logs_of(&t[9], &set).width > 308);
}

/* Assumption 3.2 of each loss, on a grid: |l'| is not below its bound, and meets it somewhere. */
static void test_deep_relu_tails(void **state)
{
    (void)state;
    const tsri_loss_kind *const loss[] = {&tsri_loss_hinge, &tsri_loss_squared_hinge,
                                          &tsri_loss_exponential, &tsri_loss_logistic};
    for (int k = 0; k < 4; k++) {
        double least = INFINITY;
        for (int i = -4000; i <= 4000; i++) {
            double slope, x = i / 100.0, value = tsri_margin_loss(loss[k], x, &slope);
            double bound = tsri_deep_least_slope(loss[k], x, value);
            if (bound > 0)
                least = fmin(least, -slope / bound);
        }
        assert_true(least > 1 - 1e-12 && least < 1 + 1e-12);
    }
}

/* n L d = 4, log m = 2, delta 1/2, epsilon 1/e. T eta of both theorems is rho^15 / (delta m) times
 * log(1/epsilon): Appendix H's T = rho^15 / (eta delta m). */
static void test_rnn(void **state)
{
    (void)state;
    tsri_rnn_letters r = {2, 2, 1, exp(2), 0.5, exp(-1), false};
    near(tsri_rnn_rho(&r), 8);
    near(tsri_rnn_varrho(&r), 4 / 0.5 * 3);
    near(tsri_rnn_step(&r), 0.5 / (ldexp(1, 132) * exp(2)));
    near(tsri_rnn_rounds(&r), ldexp(1, 177) * 4);
    near(tsri_rnn_rate(&r, 0.1), 0.05 * exp(2) / ldexp(1, 45));
    near(tsri_rnn_radius(&r), pow(24, 50));
    near(tsri_rnn_rounds_most(&r), ldexp(1, 177) * 4 * pow(24, 28));
    near(tsri_rnn_log_width(&r), log10(286) + 286 * log10(24));
    near(tsri_rnn_delta_most(2, exp(2)), 1 / 32e6);
    near(tsri_rnn_beta_plus(&r), 0.5 / 64);
    near(tsri_rnn_beta_minus(&r), 0.5 / ldexp(1, 30));
    /* tau_1 = 5 C L^4 (L + 2) tau = 5 * 3 * 16 * 4 * 0.1 = 96, tau_5 = 288, tau_2 = 4608 */
    tsri_rnn_stability b = tsri_rnn_stable(&r, 3, 0.1);
    near(b.g, (96 + 4608) / exp(1));
    near(b.flips, 10 * pow(96, 2.0 / 3) * exp(4.0 / 3));
    near(b.flip_g, 288 / exp(1));
    near(tsri_rnn_c9_form(&r, 8), 2 * 64 * 2 * exp(2.0 / 3));
    near(tsri_rnn_c10_form(&r, 8, 64), ldexp(1, 24) * 4 * 32 / exp(4.0 / 3));
    near(tsri_rnn_c11a_form(&r, 64, 8), 512 * 2 * 2 / exp(1.0 / 3));
    near(tsri_rnn_c11b_form(&r, 64, 8), ldexp(1, 36) * 32 * 32 / exp(2.0 / 3));
    near(tsri_rnn_smooth_form(&r, 8, 3, 0.5),
         ldexp(1, 33) * 2 * exp(2.0 / 3) * 3 * 0.5 + ldexp(1, 18) * 2 * exp(2) * 0.25);
    for (int sgd = 0; sgd < 2; sgd++) {
        r.sgd = sgd;
        near(tsri_rnn_rounds(&r) * tsri_rnn_step(&r), ldexp(1, 45) / (0.5 * exp(2)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_masked),
                                       cmocka_unit_test(test_masked_whole),
                                       cmocka_unit_test(test_deep_relu),
                                       cmocka_unit_test(test_deep_relu_tails),
                                       cmocka_unit_test(test_deep_relu_theory),
                                       cmocka_unit_test(test_rnn),
                                       cmocka_unit_test(test_loft),
                                       cmocka_unit_test(test_theories)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
