/* loft_lemmas.c - LoFT's certificate: Assumption 1, Lemmas 1 to 5, mixing of shares (appendix
 * B). */
#include "theory/loft_parts.h"

static void letter(tsri_certificate *c, const char *where, double value, const char *what)
{
    tsri_certify(c, &(tsri_condition){.where = where, .measured = value}, "%s", what);
}

static void data_rows(tsri_certificate *c, const tsri_loft_view *v)
{
    const tsri_loft_data *f = &v->data;
    tsri_certify(c,
                 &(tsri_condition){.where = "Assumption 1",
                                   .sense = TSRI_AT_MOST,
                                   .measured = f->norm_error,
                                   .required = TSRI_LOFT_LENGTH_ERROR,
                                   .seen = TSRI_SEEN_ALL},
                 "largest | ||x_i|| sqrt(q) - 1 |: images of length q^(-1/2)");
    tsri_certify(c,
                 &(tsri_condition){.where = "Assumption 1",
                                   .sense = TSRI_AT_MOST,
                                   .measured = (double)f->equal,
                                   .required = 0,
                                   .seen = TSRI_SEEN_ALL},
                 "images that are equal to another: all different");
    letter(c, "Assumption 1", f->largest_target, "C = max |y_i|");
    letter(c, "section 5", v->s.xi, "xi, the chance of a filter");
    letter(c, "section 5", v->s.theta, "theta, the chance to be in a share");
}

static void kernel_rows(tsri_certificate *c, const tsri_loft_view *v)
{
    tsri_certify(c,
                 &(tsri_condition){.of = v->kernels,
                                   .sense = TSRI_AT_LEAST,
                                   .measured = tsri_loft_at_start(v, "lambda_0"),
                                   .required = tsri_loft_at_start(v, "lambda_0_error"),
                                   .seen = tsri_saw(v->kernel.part, v->kernel.whole, "samples")},
                 "lambda_0, smallest eigenvalue of H_inf: above its error");
}

/* lambda_0 is at most the mean of the diagonal, 1/(2 p^2): R is at most kappa/24. */
static void scale_rows(tsri_certificate *c, const tsri_loft_view *v)
{
    const tsri_loft *s = &v->s;
    double R = tsri_loft_radius(s);
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma2,
                                   .where = "Lemmas 2, 3",
                                   .sense = TSRI_AT_MOST,
                                   .measured = s->kappa,
                                   .required = 1,
                                   .seen = TSRI_SEEN_ALL},
                 "kappa, the deviation of the first weights");
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma2,
                                   .where = "Lemmas 2, 3",
                                   .sense = TSRI_AT_MOST,
                                   .measured = R,
                                   .required = s->kappa * fmin(sqrt(s->d / 32), sqrt(0.5)),
                                   .seen = v->kernel,
                                   .by_construction = "lambda_0 <= 1/(2 p^2)"},
                 "R = kappa lambda_0 / (12 n): kappa sqrt(d/32) and kappa/sqrt(2)");
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma2,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_loft_at_start(v, "start"),
                                   .required = tsri_loft_start(s),
                                   .seen = v->kernel},
                 "||W_0||_F: kappa sqrt(2md) - sqrt(m) R");
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma3,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_loft_at_start(v, "most_square"),
                                   .required = tsri_loft_patch(s),
                                   .seen = v->kernel},
                 "largest sum_r <w_0,r, patch>^2: 2 m kappa^2 - m R^2");
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma3,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_loft_at_start(v, "all_squares"),
                                   .required = s->n * s->p * tsri_loft_patch(s),
                                   .seen = v->kernel},
                 "the same over all patches: n p (2 m kappa^2 - m R^2)");
}

/* E ||y - u_0||^2 in closed form: the signs are independent, so a filter and pixel adds the mean
 * of relu(<w, x^(j)>)^2, kappa^2 |x^(j)|^2 / 2. */
static void start_rows(tsri_certificate *c, const tsri_loft_view *v)
{
    const tsri_loft *s = &v->s;
    double C = v->data.largest_target, scale = s->xi * s->kappa / s->p;
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma4,
                                   .sense = TSRI_AT_MOST,
                                   .measured = v->data.squares +
                                               scale * scale * tsri_loft_at_start(v, "energy") / 2,
                                   .required = (1 / s->p + C * C) * s->n,
                                   .seen = TSRI_SEEN_ALL},
                 "E ||y - u_0||^2 over first weights: (1/p + C^2) n");
    tsri_certify_number(c, v->lemma4, tsri_loft_at_start(v, "loss"), "||y - u_0||^2 of this run");
}

static void flip_rows(tsri_certificate *c, const tsri_loft_view *v)
{
    const tsri_loft *s = &v->s;
    tsri_trivial all = {"the number of filters", s->m};
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma1,
                                   .sense = TSRI_AT_LEAST,
                                   .measured = s->m,
                                   .required = tsri_loft_width_near(s),
                                   .seen = v->kernel},
                 "width m: kappa log(np/delta) / R, R = kappa lambda_0 / (12 n)");
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma1,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_loft_at_start(v, "near"),
                                   .required = tsri_loft_near(s),
                                   .seen = v->kernel,
                                   .trivial = all},
                 "most filters that a move by R can flip on a patch: 3 m R / kappa");
    tsri_certify(
        c,
        &(tsri_condition){.of = v->lemma1,
                          .sense = TSRI_AT_MOST,
                          .measured = tsri_loft_most(v, "flips"),
                          .required = tsri_loft_near(s),
                          .seen = tsri_saw_both(v->kernel, tsri_past_seen(v->past, "flips")),
                          .trivial = all},
        "most patterns flipped on a patch so far: 3 m R / kappa");
}

/* H is a Gram matrix of gradients of length 1/sqrt(p) at most: entries go from -1/p to 1/p. */
static void lemma5_rows(tsri_certificate *c, const tsri_loft_view *v)
{
    const tsri_loft *s = &v->s;
    tsri_trivial apart = {"what entries of H can differ, 2/p", 2 / s->p};
    tsri_seen looked = tsri_saw_both(v->kernel, tsri_past_seen(v->past, "lambda"));
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma5,
                                   .sense = TSRI_AT_LEAST,
                                   .measured = s->m,
                                   .required = tsri_loft_width_first(s),
                                   .seen = v->kernel},
                 "width m for H(0): 16 n^2 log(2 n^2/delta) / lambda_0^2");
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma5,
                                   .sense = TSRI_AT_LEAST,
                                   .measured = s->m,
                                   .required = tsri_loft_width_later(s),
                                   .seen = v->kernel},
                 "width m for H(t): log(np/delta) / R");
    tsri_certify(
        c,
        &(tsri_condition){.of = v->lemma5,
                          .sense = TSRI_AT_MOST,
                          .measured = tsri_loft_most(v, "radius"),
                          .required = tsri_loft_radius(s),
                          .seen = tsri_saw_both(v->kernel, tsri_past_seen(v->past, "radius"))},
        "largest ||w_r - w_0,r|| so far: R = kappa lambda_0 / (12 n)");
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma5,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_loft_at_start(v, "entry_first"),
                                   .required = tsri_loft_entry_first(s),
                                   .seen = tsri_saw(v->kernel.part, v->kernel.whole, "samples"),
                                   .trivial = apart},
                 "largest |H(0) - H_inf| of an entry: log(n/delta) / sqrt(m)");
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma5,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_loft_most(v, "entry_later"),
                                   .required = tsri_loft_entry_later(s),
                                   .seen = looked,
                                   .trivial = apart},
                 "largest |H(t) - H(0)| of an entry so far: 3 R / kappa");
    tsri_certify(c,
                 &(tsri_condition){.of = v->lemma5,
                                   .sense = TSRI_AT_LEAST,
                                   .measured = tsri_past_least(v->past, "lambda"),
                                   .required = s->lambda / 2,
                                   .seen = looked,
                                   .trivial = {"0, as kernels have no negative eigenvalues", 0}},
                 "least lambda_min(H(t)) so far: lambda_0/2");
}

static void mixing_rows(tsri_certificate *c, const tsri_loft_view *v)
{
    const tsri_loft *s = &v->s;
    const char *whole = s->xi < 1 ? NULL : "shares that are the whole network";
    tsri_certify(c,
                 &(tsri_condition){.of = v->mixing,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_past_most(v->past, "spread"),
                                   .required = tsri_loft_spread(s),
                                   .seen = tsri_past_seen(v->past, "spread"),
                                   .by_construction = whole},
                 "largest E ||u~_r - u||^2 of a filter in a share, over filters and rounds: "
                 "8 n kappa^2 (theta-xi^2) / S");
    tsri_certify(c,
                 &(tsri_condition){.of = v->claim,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_loft_mixing(s),
                                   .required = tsri_loft_mixing_claimed(s),
                                   .seen = TSRI_SEEN_ALL,
                                   .by_construction = whole},
                 "E nu^^2 of two filters: theta^2 (1-xi) / S, as the paper says");
}

void tsri_loft_lemmas(tsri_certificate *c, const tsri_loft_view *v)
{
    data_rows(c, v);
    kernel_rows(c, v);
    flip_rows(c, v);
    scale_rows(c, v);
    start_rows(c, v);
    lemma5_rows(c, v);
    mixing_rows(c, v);
}
