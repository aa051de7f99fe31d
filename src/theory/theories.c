/* theories.c - eleven theories' widths, iterations and steps. */
#include "theory/theories.h"

#include "subnet/draw.h"
#include "theory/deep_relu_bounds.h"
#include "theory/masked_bounds.h"
#include "theory/rnn_bounds.h"

#include <math.h>

tsri_theory_setting tsri_theory_setting_default(void)
{
    return (tsri_theory_setting){.n = 100,
                                 .L = 4,
                                 .d = 10,
                                 .dy = 1,
                                 .epsilon = 0.01,
                                 .delta = 0.1,
                                 .lambda = NAN,
                                 .xi = 0.5,
                                 .p = 4,
                                 .tau = 1,
                                 .kappa = 1,
                                 .phi = 0.1,
                                 .K = NAN};
}

/* ---- GReLU, Table 1 ----------------------------------------------------------------------- */

static void deep(tsri_theory t[5], const tsri_theory_setting *s)
{
    double n = s->n, L = s->L, l = s->lambda, wanted = log(1 / s->epsilon);
    double du = l / (n * n), zhu = pow(n, 24) * pow(L, 12);
    t[0] = (tsri_theory){"Du 2019",
                         "GReLU, Table 1",
                         pow(n, 6) / (pow(l, 4) * pow(s->delta, 3)),
                         wanted / (du * l),
                         du,
                         "delta",
                         "1/lambda_0 = poly(e^L, n); two classes, smooth activation"};
    t[1] = (tsri_theory){"Zou 2018",
                         "GReLU, Table 1",
                         pow(n, 26) * pow(L, 38),
                         pow(n, 8) * pow(L, 9),
                         1 / (pow(n, 29) * pow(L, 47)),
                         "-",
                         "two classes"};
    t[2] = (tsri_theory){"Allen-Zhu 2019",
                         "GReLU, Table 1",
                         zhu,
                         pow(n, 6) * L * L * wanted,
                         1 / (pow(n, 28) * pow(log(zhu), 5) * pow(L, 14)),
                         "e^(-log^2 m)",
                         "times a polynomial of max |y_i|"};
    t[3] = (tsri_theory){"Zou 2019",
                         "GReLU, Table 1",
                         pow(n, 8) * pow(L, 12),
                         n * n * L * L * wanted,
                         1 / (pow(n, 8) * pow(L, 14)),
                         "1/n",
                         ""};
    t[4] = (tsri_theory){"GReLU (Noy 2021)",
                         "GReLU, Table 1",
                         n * n * L * s->dy, /* Theorem 1; the table leaves d_y out (Remark 2) */
                         2 * 81 * 81 * log(pow(n, 3) * L / (s->d * s->epsilon)), /* (46) */
                         s->d / (pow(n, 4) * pow(L, 3) * s->dy),
                         "e^(-sqrt m)",
                         "L at least log n; gates fixed"};
}

/* ---- Masked neurons ----------------------------------------------------------------------- */

static tsri_masked masked(const tsri_theory_setting *s, tsri_draw_kind kind)
{
    tsri_draw draw = {.kind = kind, .workers = (int64_t)s->p, .xi = s->xi};
    return (tsri_masked){.n = s->n,
                         .d = s->d,
                         .m = INFINITY,
                         .p = s->p,
                         .tau = s->tau,
                         .xi = tsri_draw_chance(&draw, 0),
                         .theta = tsri_draw_coverage(&draw),
                         .kappa = s->kappa,
                         .delta = s->delta,
                         .lambda = s->lambda,
                         .C = 2};
}

/* Rounds to come from L_0 ~ n to epsilon: section 7. */
static double rounds(const tsri_theory_setting *s, double rate)
{
    return isnan(s->K) ? log(s->n / s->epsilon) / -log1p(-rate) : s->K;
}

/* The base case has B_1, and with it 1/m, on its right side: down to the m where both agree. The
 * right side falls at most as 1/m, so that the geometric mean of both comes nearer every time. */
static double width(tsri_masked *m, double (*base)(const tsri_masked *))
{
    m->m = base(m);
    for (int i = 0; i < 200; i++)
        m->m = sqrt(m->m) * sqrt(base(m));
    return isnan(m->lambda) ? (double)NAN : m->m;
}

static void shallow(tsri_theory t[2], const tsri_theory_setting *s)
{
    tsri_masked three = masked(s, TSRI_DRAW_BERNOULLI), four = masked(s, TSRI_DRAW_CATEGORICAL);
    three.eta = tsri_masked_step3(&three);
    three.K = rounds(s, tsri_masked_rate3(&three));
    t[0] = (tsri_theory){"masked, Bernoulli",
                         "masked-neurons, Th. 3",
                         width(&three, tsri_masked_width3),
                         three.K,
                         three.eta,
                         "delta",
                         "one hidden layer; |y| <= 1; up to the floor B_1"};
    four.eta = tsri_masked_step1(&four);
    four.K = rounds(s, tsri_masked_rate4(&four));
    t[1] = (tsri_theory){"masked, categorical",
                         "masked-neurons, Th. 4",
                         width(&four, tsri_masked_width4),
                         four.K,
                         four.eta,
                         "delta",
                         "one hidden layer; |y| <= 1; up to a floor; xi = 1/p"};
}

/* ---- Recurrent networks ------------------------------------------------------------------- */

static const char *const recurrent_where[] = {"relu-rnn, Th. 1", "relu-rnn, Th. 2"};

/* L positions, dy outputs at each. */
static tsri_rnn_asked asked(const tsri_theory_setting *s, bool sgd)
{
    return tsri_rnn_ask(&(tsri_rnn_letters){
        .n = s->n, .L = s->L, .d = s->dy, .delta = s->phi, .epsilon = s->epsilon, .sgd = sgd});
}

static void recurrent(tsri_theory t[2], const tsri_theory_setting *s)
{
    for (int sgd = 0; sgd < 2; sgd++) {
        tsri_rnn_asked a = asked(s, sgd);
        t[sgd] = (tsri_theory){.name = sgd ? "RNN, SGD" : "RNN, GD",
                               .where = recurrent_where[sgd],
                               .width = pow(10, a.width),
                               .iterations = pow(10, a.iterations),
                               .step = pow(10, a.step),
                               .probability = "e^(-rho^2)",
                               .remark = sgd ? "L positions; C >= 274; step with rho^42"
                                             : "L positions; C >= 286 of m >= C varrho^C"};
    }
}

/* ---- Deep ReLU ---------------------------------------------------------------------------- */

static const char *const deep_where[] = {"deep-relu-sgd, Th. 4.1", "deep-relu-sgd, Th. 4.5"};

/* Layers of one width m, from outputs near 0, so a loss of log 2. The width has log m on its right
 * side: with log10 m = w it is w = fixed + 6 log10(w ln 10). Step and K eta go as 1/m. */
static tsri_theory_logs deep_logs(const tsri_theory_setting *s, bool sgd)
{
    tsri_deep_letters one = {.n = s->n,
                             .L = s->L,
                             .m = 1,
                             .M = 1,
                             .last = 1,
                             .phi = s->phi,
                             .epsilon = s->epsilon,
                             .first = log(2),
                             .rho = tsri_loss_logistic.steepest,
                             .lambda = tsri_loss_logistic.curved,
                             .B = sgd ? 1 : 0,
                             .delta = s->delta,
                             .loss = &tsri_loss_logistic};
    tsri_deep_letters e = one;
    e.M = exp(1); /* log M = 1 */
    double fixed = tsri_deep_log_width(&e), w = fixed;
    for (int i = 0; i < 100; i++)
        w = fixed + 6 * log10(fmax(w, 1) * log(10));
    return (tsri_theory_logs){w, tsri_deep_log_steps(&one), tsri_deep_log_step(&one) - w};
}

static void deep_relu(tsri_theory t[2], const tsri_theory_setting *s)
{
    for (int sgd = 0; sgd < 2; sgd++) {
        tsri_theory_logs a = deep_logs(s, sgd);
        t[sgd] = (tsri_theory){.name = sgd ? "deep ReLU, SGD" : "deep ReLU, GD",
                               .where = deep_where[sgd],
                               .width = pow(10, a.width),
                               .iterations = pow(10, a.iterations),
                               .step = pow(10, a.step),
                               .probability = sgd ? "delta" : "-",
                               .remark = sgd ? "two classes, logistic loss; batches of 1; the best "
                                               "iterate; c_0 = C_0 = 1"
                                             : "two classes, logistic loss; c_0 = C_0 = 1"};
    }
}

void tsri_theories(tsri_theory theory[TSRI_THEORIES], const tsri_theory_setting *s)
{
    deep(theory, s);
    shallow(theory + 5, s);
    recurrent(theory + 7, s);
    deep_relu(theory + 9, s);
}

tsri_theory_logs tsri_theory_logs_of(const tsri_theory *theory, const tsri_theory_setting *s)
{
    for (int sgd = 0; sgd < 2; sgd++)
        if (theory->where == recurrent_where[sgd]) {
            tsri_rnn_asked a = asked(s, sgd);
            return (tsri_theory_logs){a.width, a.iterations, a.step};
        } else if (theory->where == deep_where[sgd]) {
            return deep_logs(s, sgd);
        }
    return (tsri_theory_logs){log10(theory->width), log10(theory->iterations), log10(theory->step)};
}
