/* loft.c - certificate of "LoFT: Finding Lottery Tickets through Filter-wise Training" (Wang, Dun,
 * Liao, Jermaine, Kyrillidis 2022), section 5 and appendices B, C: the one-hidden-layer CNN (model
 * cnn1, one output), masks thrown filter by filter, one local step (scheme masked), beside gradient
 * descent on the xi-scaled network from the same start.
 *
 * Constants. The theorems hide theirs; the displays of their proofs have them. So the hidden ones
 * are numbers here (how large a constant this run needs or allows), and what is judged are the
 * lemmas and Theorem 1 as the display before last of appendix C has it, summed over the rounds.
 *
 * What is damaged in the paper, and what is done here:
 *   - Lemma 2 is stated with probability 1 - e^(md/32): the minus sign is missing.
 *   - Lemma 3 writes x_i where B.4 sums over patches: here it is asked of every patch.
 *   - Lemma 5's proof bounds entries by log(n/delta) / sqrt(m) and asks for a width with one log:
 * the width here is what its Hoeffding inequality gives, 16 n^2 log(2 n^2/delta) / lambda_0^2.
 *   - B.5 loses a factor xi between E[I_1] and H(t), so the rate theta eta lambda_0 / 2 of Theorem
 * 2 and Corollary 1 is 1/xi times what is proven: with xi < 1/4 a run can fall more slowly.
 *   - Corollary 1's floor has xi (1-xi), Theorem 2's, which is proven, xi^2 (1-xi)^2.
 *   - C.2 says E nu^^2 = theta^2 (1-xi) / S. That is not so; a row compares it with what it is.
 *   - The displays of C drop the factor 2 and theta/xi of Q_1, have m^2 for n^2 once and put a
 *     lambda_0 beside eta^2 in the term of the shares: here n^2, and no lambda_0, as derived in
 * C.2.
 *   - C begins with "each filter is included in one and only one subnetwork"; its masks overlap.
 */
#include "theory/loft_parts.h"

#include "theory/ntk.h"
#include "theory/rates.h"

#include <math.h>

static bool applies(const tsri_run_view *view)
{
    return view->net->outputs == 1 && view->data->train.target && view->settings->loss->squares;
}

/* ---- Theorems ------------------------------------------------------------------------------- */

static void breaches(tsri_certificate *c, const tsri_loft_view *v)
{
    const tsri_loft_data *f = &v->data;
    if (f->norm_error > TSRI_LOFT_LENGTH_ERROR)
        tsri_certify_breach(c, TSRI_UNIT_ROWS,
                            "the length of image %lld is off by %.2g of q^(-1/2)",
                            (long long)f->worst + 1, f->norm_error);
    if (f->equal > 0)
        tsri_certify_breach(c, TSRI_DISTINCT_ROWS, "images %lld and %lld are equal",
                            (long long)f->twin + 1, (long long)f->image + 1);
    if (v->s.kappa == 0)
        tsri_certify_breach(c, TSRI_DRAWN_START, "kappa is 0: all first weights are 0");
    if (fabs(tsri_shallow_xi(v->view->net) - v->s.xi) > 1e-12)
        tsri_certify_breach(c, TSRI_PAPER_MODEL,
                            "the whole network lacks the factor xi (scheme.scale: none)");
}

static void theorems(tsri_certificate *c, tsri_loft_view *v)
{
    const tsri_loft *s = &v->s;
    unsigned start = TSRI_DRAWN_START | TSRI_UNIT_ROWS;
    unsigned kernel = start | TSRI_DISTINCT_ROWS;
    unsigned view = kernel | TSRI_CONSTANT_RATE | TSRI_NO_MOMENTUM | TSRI_NO_DECAY |
                    TSRI_FULL_BATCHES | TSRI_ONE_LOCAL_STEP | TSRI_BERNOULLI_MASKS |
                    TSRI_COMMON_DATA | TSRI_FIXED_SAMPLES | TSRI_SINGLE_PRECISION |
                    TSRI_PAPER_MODEL;
    v->kernels = tsri_certify_theorem(
        c, &(tsri_theorem){"appendix B.3", "", NAN, TSRI_UNIT_ROWS | TSRI_DISTINCT_ROWS});
    v->lemma1 = tsri_certify_theorem(
        c, &(tsri_theorem){"Lemma 1", "1 - np e^(-mR/kappa)", tsri_loft_chance_near(s), start});
    v->lemma2 =
        tsri_certify_theorem(c, &(tsri_theorem){"Lemma 2", "1 - e^(-md/32)",
                                                1 - exp(-s->m * s->d / 32), TSRI_DRAWN_START});
    v->lemma3 =
        tsri_certify_theorem(c, &(tsri_theorem){"Lemma 3", "1 - n e^(-m/32)",
                                                fmax(0, 1 - s->n * exp(-s->m / 32)), start});
    v->lemma4 =
        tsri_certify_theorem(c, &(tsri_theorem){"Lemma 4", "", NAN, start | TSRI_PAPER_MODEL});
    v->lemma5 =
        tsri_certify_theorem(c, &(tsri_theorem){"Lemma 5", "1 - delta", 1 - s->delta, kernel});
    v->mixing = tsri_certify_theorem(
        c, &(tsri_theorem){"appendix B.4", "high", NAN, start | TSRI_BERNOULLI_MASKS});
    v->claim =
        tsri_certify_theorem(c, &(tsri_theorem){"appendix C.2", "", NAN, TSRI_BERNOULLI_MASKS});
    v->theorem2 =
        tsri_certify_theorem(c, &(tsri_theorem){"Theorem 2 (app.)", "1 - O(delta)", NAN, view});
    v->theorem1 = tsri_certify_theorem(c, &(tsri_theorem){"Theorem 1", "1 - O(delta)", NAN, view});
    v->corollary1 =
        tsri_certify_theorem(c, &(tsri_theorem){"Corollary 1", "1 - O(delta)", NAN, view});
}

/* ---- The whole ------------------------------------------------------------------------------ */

static void notes(tsri_certificate *c, const tsri_loft_view *v)
{
    const tsri_loft *s = &v->s;
    const tsri_run_view *view = v->view;
    tsri_certify_note(c, "n %g, d %g, p %g, m %g, S %g, T %g, kappa %g, eta %g, delta %g", s->n,
                      s->d, s->p, s->m, s->S, s->T, s->kappa, s->eta, s->delta);
    tsri_certify_note(c, "constants that Omega and O hide are numbers, what is judged has the "
                         "constants of the proofs' displays");
    if (v->kernel.part < v->kernel.whole)
        tsri_certify_long(c, "samples of H_inf and H(t)",
                          tsri_loft_kernel_operations(view, view->data->train.n));
    if (!tsri_loft_descends(view))
        tsri_certify_note(c, "gradient descent beside the run takes certify.budget: %.2g",
                          tsri_loft_budget(view, false));
    if (s->xi >= 1 || tsri_loft_draws(view))
        tsri_certify_note(c,
                          s->xi < 1 ? "means are over %d draws of masks from the same start"
                                    : "every share is the whole network: there are no masks",
                          TSRI_LOFT_DRAWS);
    else if (!tsri_loft_masks(view))
        tsri_certify_note(c, "the theorems bound means over masks, these numbers are of this run, "
                             "whose rounds are not theirs");
    else
        tsri_certify_note(c,
                          "the theorems bound means over masks, these numbers are of this run; "
                          "%d draws of them take certify.budget: %.2g",
                          TSRI_LOFT_DRAWS, tsri_loft_budget(view, true));
}

static tsr_status certify(tsri_certificate *c, const tsri_run_view *view, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_loft_view v = {.view = view,
                        .past = past,
                        .s = tsri_loft_letters(view, past),
                        .moved = c->round > 0,
                        .draws = tsri_saw_one("draw of masks")};
    int64_t T = v.moved ? c->round : view->settings->rounds;
    v.kernel = tsri_saw_some(tsri_loft_kernel_samples(view), view->data->train.n, "samples");
    if (v.s.xi >= 1 || tsri_loft_draws(view))
        v.draws = TSRI_SEEN_ALL;
    v.s.squares = tsri_rates_squares(view->settings, view->position, 0, T);
    v.s.steps = tsri_rates_sum(view->settings, view->position, 0, T);
    TSR_TRY(tsri_loft_look_at_data(&v.data, view->data, view->net));
    theorems(c, &v);
    breaches(c, &v);
    tsri_loft_lemmas(c, &v);
    TSR_TRY(tsri_loft_theorems(c, &v));
    notes(c, &v);
done:
    return st;
}

const tsri_paper tsri_paper_loft = {
    .name = "loft",
    .about = "cnn1 with one real target and loss half_squares",
    .title = "Wang, Dun, Liao, Jermaine, Kyrillidis: LoFT: Finding Lottery Tickets through "
             "Filter-wise Training",
    .applies = applies,
    .look = tsri_loft_look,
    .certify = certify,
    .forget = tsri_loft_forget};
