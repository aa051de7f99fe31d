/* gated.c - certificate of Noy, Xu, Aflalo, Zelnik-Manor, Jin, "A Convergence Theory Towards
 * Practical Over-parameterized Deep Neural Networks", for runs of grelu and relu_twin.
 *
 * The theorems are about gated nets under gradient descent on all samples; of a ReLU net (the twin,
 * or a net that was converted) the same is measured and none of them applies. Here: the theorems,
 * what they assume, Theorem 1. gated_rate.c has eigenvalues, step and rate, gated_lemmas.c the
 * lemmas and how far a run moves.
 *
 * Where the paper contradicts itself (the notes of a certificate say all of this):
 *   (13)          prints lambda_max(F F^T) where its proof, (30), has the square
 *   (14), (15)    are written with G G^T, which has rank d_x < m; Theorem 5 and the proof use G^T G
 *   (39)          has l where its proof gives sum |r_i|^2 = 2 l
 *   (43)          takes |a - b|^2 <= |a|^2 + |b|^2, and |y|^2 <= m/d_x, where Assumption 2 is of |y|
 *   (46)          takes the step 1/(beta^2 L); (18) has alpha^2/(4 beta^4 L), which is smaller
 *   section 10.5  bounds |grad_(W_k) y_p|^2 by m^3/(144 d_x d_y), counting m eigenvalues of a
 *                 matrix of rank 1; by Theorem 5 it is at most (27 m/4)^2/(d_x d_y). With the
 *                 m^2/(144 d_x d_y) that Theorem 5 gives, R is (n d_x d_y/m)^(1/2) d_y L^2
 *   Theorem 6     uses Lemma 4, of nearly orthogonal x, for the features of deeper layers, whose
 *                 numbers are all >= 0
 * Constants that Omega, O and tilde hide are not given: such rows are numbers, the measured side
 * over the formula without its constant.
 */
#include "theory/gated_parts.h"

#include "net/grelu.h"
#include "theory/chain.h"
#include "theory/rates.h"

#include <math.h>
#include <string.h>

/* ---- What rows rest on ----------------------------------------------------------------------- */

tsri_seen tsri_gated_some(tsri_seen seen)
{
    if (seen.sight == TSRI_EXTREME)
        seen.sight = TSRI_SOME;
    return seen;
}

tsri_seen tsri_gated_seen(const tsri_gated_file *f, const char *series, tsri_gated_portion p)
{
    return tsri_saw_both(tsri_saw(p.samples, f->reach.n, "samples"),
                         tsri_past_seen(f->past, series));
}

int64_t tsri_gated_latest(const tsri_past *past, const char *series)
{
    int64_t round = past->round;
    while (round >= 0 && isnan(tsri_past_at(past, round, series)))
        round--;
    return round;
}

int64_t tsri_gated_worst(const tsri_past *past, const char *series, const char *bound)
{
    int64_t worst = -1;
    double most = -INFINITY;
    for (int64_t r = 0; r <= past->round; r++) {
        double over = tsri_past_at(past, r, series) - tsri_past_at(past, r, bound);
        if (over > most) {
            most = over;
            worst = r;
        }
    }
    return worst;
}

/* ---- Theorems -------------------------------------------------------------------------------- */

enum {
    DESCENT = TSRI_CONSTANT_RATE | TSRI_NO_MOMENTUM | TSRI_NO_DECAY | TSRI_FULL_BATCHES |
              TSRI_WHOLE_NETWORK | TSRI_ONE_LOCAL_STEP | TSRI_COMMON_DATA | TSRI_FIXED_SAMPLES |
              TSRI_SINGLE_PRECISION | TSRI_PAPER_LOSS,
    MODEL = TSRI_PAPER_MODEL | TSRI_FIXED_GATES,
    DRAWN = MODEL | TSRI_DRAWN_START,
    FAR = TSRI_UNIT_ROWS | TSRI_SEPARATED_ROWS
};

static int theorem(tsri_certificate *c, const char *where, unsigned assumes, const char *chance,
                   double probability)
{
    return tsri_certify_theorem(c, &(tsri_theorem){.where = where,
                                                   .chance = chance,
                                                   .probability = fmax(probability, 0),
                                                   .assumes = assumes});
}

/* fmax passes over NaN: of a chance that is not a number nothing is known. */
static int unknown(tsri_certificate *c, const char *where, unsigned assumes, const char *chance)
{
    return tsri_certify_theorem(
        c,
        &(tsri_theorem){.where = where, .chance = chance, .probability = NAN, .assumes = assumes});
}

/* theta: 1/4 in Theorem 5, where (50) allows most; 1/5, the end, in Lemma 3; 1/2, the end, else. */
static tsri_gated_theorems theorems(tsri_certificate *c, const tsri_gated_letters *s)
{
    double L = s->L, m = s->m, root = sqrt(m), both = s->dx + s->dy, most = fmax(s->dx, s->dy);
    tsri_gated_theorems t = {0};
    t.one = unknown(c, "Theorem 1", DESCENT | DRAWN | FAR | TSRI_BOUNDED_TARGETS,
                    "1 - exp(-Omega(sqrt(m)))");
    t.three = unknown(c, "Theorem 3", DRAWN | TSRI_UNIT_ROWS, "1 - exp(-Omega(m))");
    t.five = theorem(c, "Theorem 5", DRAWN,
                     "1 - 3 L^2 sqrt(m) exp(-theta m/(4L) + 6 sqrt(m) + 3 max(d_x, d_y)), "
                     "theta = 1/4",
                     1 - 3 * L * L * root * exp(-m / (16 * L) + 6 * root + 3 * most));
    t.six = unknown(c, "Theorem 6", DRAWN | FAR,
                    "1 - (4 L^2 + n^2) exp(-Omega(sqrt(m) + max(d_x, d_y)))");
    t.two_l = theorem(c, "Lemma 2", DESCENT | MODEL | TSRI_UNIT_ROWS, "", NAN);
    t.three_l = theorem(c, "Lemma 3", DESCENT | DRAWN | TSRI_UNIT_ROWS,
                        "1 - L^2 sqrt(m) exp(-theta m/(4L) + 6 sqrt(m)), theta = 1/5",
                        1 - L * L * root * exp(-m / (20 * L) + 6 * root));
    t.four_l = unknown(c, "Lemma 4", DRAWN | FAR, "1 - exp(-Omega(m))");
    t.five_l = theorem(c, "Lemma 5", DRAWN, "1 - 2L exp(-theta^2 m/(16 L^2)), theta = 1/2",
                       1 - 2 * L * exp(-m / (64 * L * L)));
    t.seven_l = theorem(c, "Lemma 7", DRAWN, "1 - 4 L^2 exp(-theta^2 m/(16 L^2)), theta = 1/2",
                        1 - 4 * L * L * exp(-m / (64 * L * L)));
    t.steep = theorem(c, "(39)", MODEL | TSRI_PAPER_LOSS | TSRI_UNIT_ROWS, "", NAN);
    t.start = theorem(c, "(43)", DRAWN | TSRI_PAPER_LOSS | TSRI_UNIT_ROWS | TSRI_BOUNDED_TARGETS,
                      "1 - 4 L^2 exp(-theta^2 m/(8 L^2) + 3 d_x + 3 d_y), theta = 1/2",
                      1 - 4 * L * L * exp(-m / (32 * L * L) + 3 * both));
    t.ends = theorem(c, "(47)", TSRI_DRAWN_START, "1 - 2 exp(-m min(d_x, d_y)/4)",
                     1 - 2 * exp(-m * fmin(s->dx, s->dy) / 4));
    t.kernel = theorem(c, "(14) to (17)", MODEL | TSRI_UNIT_ROWS, "", NAN);
    t.fixed = theorem(c, "Remark 3", MODEL, "", NAN);
    return t;
}

/* ---- Assumptions ----------------------------------------------------------------------------- */

static void model_breaches(const tsri_gated_file *f)
{
    int64_t rank = tsri_config_int(f->view->settings->config, "model.gate_rank");
    if (!tsri_net_gated(f->view->net))
        tsri_certify_breach(f->c, MODEL,
                            f->view->position->converted >= 0
                                ? "the net became a ReLU net after round %lld"
                                : "a ReLU net: its gates change with its weights",
                            (long long)f->view->position->converted);
    if (rank > 0)
        tsri_certify_breach(f->c, TSRI_DRAWN_START,
                            "Psi is a product of rank %lld (model.gate_rank)", (long long)rank);
    if (!f->view->settings->loss->squares)
        tsri_certify_breach(f->c, TSRI_PAPER_LOSS, "the loss is not half the sum of squares");
}

/* Rows are floats: a length is 1 to about 1e-6. */
#define LENGTH_OFF 1e-5

static void data_rows(const tsri_gated_file *f)
{
    const tsri_past *past = f->past;
    double off = tsri_past_at(past, 0, "off"), delta = tsri_past_at(past, 0, "delta");
    double target = tsri_past_at(past, 0, "target"), bound = f->s.m / f->s.dx;
    if (off > LENGTH_OFF)
        tsri_certify_breach(f->c, TSRI_UNIT_ROWS, "row %.0f has a length that is off 1 by %.3g",
                            tsri_past_at(past, 0, "off_row") + 1, off);
    if (delta > 1.0 / 3)
        tsri_certify_breach(f->c, TSRI_SEPARATED_ROWS, "|<x_i, x_j>| of rows %.0f and %.0f is %.3g",
                            tsri_past_at(past, 0, "delta_row") + 1,
                            tsri_past_at(past, 0, "delta_row_2") + 1, delta);
    if (target > bound)
        tsri_certify_breach(f->c, TSRI_BOUNDED_TARGETS, "the target of row %.0f has length %.3g",
                            tsri_past_at(past, 0, "target_row") + 1, target);
    tsri_certify(f->c,
                 &(tsri_condition){.where = "section 2.1",
                                   .sense = TSRI_AT_MOST,
                                   .measured = off,
                                   .required = LENGTH_OFF,
                                   .seen = TSRI_SEEN_ALL},
                 "largest | |x_i| - 1 |");
    tsri_certify(f->c,
                 &(tsri_condition){.where = "Assumption 1, Lemma 4",
                                   .sense = TSRI_AT_MOST,
                                   .measured = delta,
                                   .required = 1.0 / 3,
                                   .seen = tsri_saw(f->reach.inputs.samples, f->reach.n, "samples"),
                                   .by_construction = f->reach.n < 2 ? "having one sample" : NULL},
                 "delta: largest |<x_i, x_j>| of two samples, against 1/3");
    tsri_certify(f->c,
                 &(tsri_condition){.where = "Assumption 2",
                                   .sense = TSRI_AT_MOST,
                                   .measured = target,
                                   .required = bound,
                                   .seen = TSRI_SEEN_ALL},
                 "largest |y_i|, against m/d_x");
}

/* ---- Theorem 1, (43), (47) ------------------------------------------------------------------- */

static void theorem_1(const tsri_gated_file *f)
{
    const tsri_gated_letters *s = &f->s;
    int64_t latest = tsri_gated_latest(f->past, "loss");
    double steps = (double)(latest * f->view->settings->local_steps);
    double error = latest > 0 ? tsri_past_at(f->past, latest, "loss") / 2 : (double)NAN;
    tsri_certify_number(f->c, f->of.one, s->L / log(s->n),
                        "depth L over log n: what Omega would have to hide");
    tsri_certify_number(f->c, f->of.one, s->m / (s->n * s->n * s->L * s->dy),
                        "width m over n^2 L d_y: what Omega and its logarithms would have to hide");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.one,
                                   .sense = TSRI_AT_MOST,
                                   .measured = s->eta,
                                   .required = s->dx / (pow(s->n, 4) * pow(s->L, 3) * s->dy),
                                   .seen = TSRI_SEEN_ALL},
                 "step eta: d_x / (n^4 L^3 d_y)");
    tsri_certify_number(f->c, f->of.one, steps / log(pow(s->n, 3) * s->L / (s->dx * error)),
                        "steps done over log(n^3 L / (d_x epsilon)), epsilon the error l reached: "
                        "what O would have to hide");
}

static double frobenius(const tsri_run_view *view, const char *name)
{
    const tsri_param *p = &view->net->param[tsri_net_param(view->net, name)];
    return tsri_length((const float *)view->seen.w + p->offset, p->count);
}

static void start_rows(const tsri_gated_file *f)
{
    const tsri_gated_letters *s = &f->s;
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.start,
                                   .sense = TSRI_AT_MOST,
                                   .measured = tsri_past_at(f->past, 0, "loss") / 2,
                                   .required = 4 * s->m * s->n / s->dx,
                                   .seen = TSRI_SEEN_ALL},
                 "l_0: 4 m n / d_x");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.ends,
                                   .sense = TSRI_AT_MOST,
                                   .measured = frobenius(f->view, "b.weight"),
                                   .required = sqrt(5 * s->m),
                                   .seen = TSRI_SEEN_ALL},
                 "|B|_F: sqrt(5 m)");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.ends,
                                   .sense = TSRI_AT_MOST,
                                   .measured = frobenius(f->view, "c.weight"),
                                   .required = sqrt(5 * s->m),
                                   .seen = TSRI_SEEN_ALL},
                 "|C|_F: sqrt(5 m)");
}

/* ---- Notes ----------------------------------------------------------------------------------- */

static void long_note(const tsri_gated_file *f, const char *what, tsri_gated_portion p)
{
    if (p.samples < f->reach.n)
        tsri_certify_long(f->c, what, p.all);
}

static void notes(const tsri_gated_file *f)
{
    const tsri_gated_letters *s = &f->s;
    bool gated = tsri_net_gated(f->view->net);
    tsri_certify_note(f->c, "n %g, d_x %g, d_y %g, L %g, m %g, eta %g", s->n, s->dx, s->dy, s->L,
                      s->m, s->eta);
    long_note(f, "pairs of inputs", f->reach.inputs);
    long_note(f, "pairs of samples: gradients, F, (16), kernel", f->reach.pairs);
    long_note(f, "patterns and dead units, sample by sample", f->reach.gates);
    if (!gated)
        return;
    long_note(f, "eigenvalues of G^T G, sample by sample", f->reach.G);
    long_note(f, "norms of Z, sample by sample", f->reach.chains);
    tsri_certify_note(f->c, "(13) prints lambda_max(F F^T) where its proof, (30), has the square: "
                            "both are shown");
    tsri_certify_note(f->c, "(39) has l where its proof gives twice that: it may fail by 2");
    tsri_certify_note(f->c, "(46) takes the step 1/(beta^2 L), which (18) does not allow: "
                            "alpha^2/(4 beta^4 L) is smaller");
    tsri_certify_note(f->c, "Theorem 6 uses Lemma 4, of nearly orthogonal x, for the features of "
                            "deeper layers, which are not nearly orthogonal");
    tsri_certify_note(f->c, "section 10.5 has m^3 where Theorem 5 gives m^2; R with that is "
                            "(n d_x d_y / m)^(1/2) d_y L^2");
}

/* ---- The paper ------------------------------------------------------------------------------- */

static tsri_gated_letters letters_of(const tsri_run_view *view)
{
    const tsri_param *c = &view->net->param[tsri_net_param(view->net, "c.weight")];
    return (tsri_gated_letters){.n = (double)view->data->train.n,
                                .dx = (double)c->shape[1],
                                .dy = (double)view->net->outputs,
                                .L = (double)tsri_grelu_layers(view->net),
                                .m = (double)c->shape[0],
                                .eta = tsri_rates_of(view->settings, view->position).most};
}

/* The samples that each measurement looked at, so that it can be checked. */
static tsr_status trace(const tsri_run_view *view, const tsri_gated_reach *r)
{
    tsr_status st = TSR_OK;
    const struct {
        const char *name;
        tsri_gated_portion p;
    } part[] = {{"pairs", r->pairs},
                {"G", r->G},
                {"chains", r->chains},
                {"gates", r->gates},
                {"inputs", r->inputs}};
    if (!view->notes)
        return TSR_OK;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        int64_t count = part[i].p.samples;
        tsri_tensor t = {.dtype = TSRI_I64, .dims = 1, .shape = {1}, .data = &count};
        TSR_TRY(tsri_note(view, &t, "first_samples.%s", part[i].name));
    }
    TSR_TRY(tsri_notes_write(view, "certificate"));
done:
    return st;
}

static tsr_status certify(tsri_certificate *c, const tsri_run_view *view, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_gated_file f = {
        .c = c,
        .view = view,
        .past = past,
        .reach = tsri_gated_reach_of(view->net, view->data, tsri_effort(view->settings)),
        .s = letters_of(view)};
    f.of = theorems(c, &f.s);
    model_breaches(&f);
    data_rows(&f);
    theorem_1(&f);
    start_rows(&f);
    TSR_TRY(tsri_gated_rate_rows(&f));
    tsri_gated_lemma_rows(&f);
    tsri_gated_moved_rows(&f);
    notes(&f);
    TSR_TRY(trace(view, &f.reach));
done:
    return st;
}

const tsri_paper tsri_paper_gated = {
    .name = "grelu",
    .about = "grelu and relu_twin",
    .title = "Noy, Xu, Aflalo, Zelnik-Manor, Jin: A Convergence Theory Towards Practical "
             "Over-parameterized Deep Neural Networks",
    .remembers = true,
    .look = tsri_gated_look,
    .certify = certify,
    .forget = tsri_gated_forget,
};
