/* gated_rate.c - how fast a gated net must learn: Theorem 5 and Lemma 3 of Noy et al.
 *
 * (14) to (17) are about eigenvalues of the products G before and F after each layer's weights;
 * (18) and (19) make a step and a rate of them, which the run's own losses are held against. All
 * numbers are the worst of the rounds so far. A bound that is made of eigenvalues of a part of the
 * samples, or rounds, may be too strict: such rows are open.
 */
#include "theory/gated_parts.h"

#include "theory/fall.h"
#include "theory/rates.h"

#include <math.h>

/* ---- (14) to (17) ---------------------------------------------------------------------------- */

static void eigen_rows(const tsri_gated_file *f)
{
    const tsri_gated_letters *s = &f->s;
    const struct {
        const char *series, *far; /* the end that is certain, and the other one */
        tsri_sense sense;
        double required;
        tsri_gated_portion part;
        const char *words;
    } row[] = {{"alpha_x", "alpha_x_low", TSRI_AT_LEAST, s->m / (12 * s->dx), f->reach.G,
                "alpha_x: least eigenvalue of G^T G, against m/(12 d_x)"},
               {"alpha_y", NULL, TSRI_AT_LEAST, s->m / (12 * s->dy), f->reach.pairs,
                "alpha_y: least eigenvalue of F F^T, against m/(12 d_y)"},
               {"beta_x", "beta_x_high", TSRI_AT_MOST, 27 * s->m / (4 * s->dx), f->reach.G,
                "beta_x: largest eigenvalue of G^T G, against 27m/(4 d_x)"},
               {"beta_y", NULL, TSRI_AT_MOST, 27 * s->m / (4 * s->dy), f->reach.pairs,
                "beta_y: largest eigenvalue of F F^T, against 27m/(4 d_y)"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        bool least = row[i].sense == TSRI_AT_LEAST;
        double (*worst)(const tsri_past *, const char *) = least ? tsri_past_least : tsri_past_most;
        double value = worst(f->past, row[i].series);
        double far = row[i].far ? worst(f->past, row[i].far) : value;
        tsri_condition claim = {.of = f->of.five,
                                .where = least ? "(14), Theorem 5" : "(15), Theorem 5",
                                .sense = row[i].sense,
                                .measured = value,
                                .required = row[i].required,
                                .seen = tsri_gated_seen(f, row[i].series, row[i].part)};
        if (value > far || value < far) /* Lanczos, proven by Cholesky's factor */
            claim.interval = (tsri_interval){fmin(value, far), fmax(value, far), 1};
        tsri_certify(f->c, &claim, "%s", row[i].words);
    }
}

/* What (16) to (19) are made of. */
typedef struct ends {
    double alpha2, beta2, beta_x; /* least alpha_x alpha_y, largest beta_x beta_y so far */
    tsri_seen seen;               /* of all of them */
} ends;

static ends ends_of(const tsri_gated_file *f)
{
    return (ends){.alpha2 =
                      tsri_past_least(f->past, "alpha_x") * tsri_past_least(f->past, "alpha_y"),
                  .beta2 = tsri_past_most(f->past, "beta_x") * tsri_past_most(f->past, "beta_y"),
                  .beta_x = tsri_past_most(f->past, "beta_x"),
                  .seen = tsri_saw_both(tsri_gated_seen(f, "alpha_x", f->reach.G),
                                        tsri_gated_seen(f, "alpha_y", f->reach.pairs))};
}

static void cross_rows(const tsri_gated_file *f, const ends *e)
{
    double cross = tsri_past_most(f->past, "cross");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.three_l,
                                   .where = "(16)",
                                   .sense = TSRI_MEASURED,
                                   .measured = cross / e->beta2},
                 "gamma: largest |<G x_j, G x_i>| |F_j F_i^T| of two samples so far, over beta^2");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.three_l,
                                   .where = "(17)",
                                   .sense = TSRI_AT_MOST,
                                   .measured = cross * f->s.n,
                                   .required = e->alpha2 / 2,
                                   .seen = e->seen},
                 "beta^2 gamma n, against alpha^2 / 2");
}

/* Gershgorin on the kernel of all outputs: L alpha^2 on its diagonal's blocks, L gamma beta^2 on
 * each of the n - 1 beside, so by (17) no eigenvalue is below L alpha^2 / 2. */
static void kernel_rows(const tsri_gated_file *f, const ends *e)
{
    enum { EXACT = 1500 }; /* spectrum.h: above it Lanczos' value is no lower bound */
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.kernel,
                                   .sense = TSRI_AT_LEAST,
                                   .measured = tsri_past_least(f->past, "lambda"),
                                   .required = f->s.L * e->alpha2 / 2,
                                   .seen = tsri_gated_some(e->seen),
                                   .trivial = {"0, the least of any kernel", 0},
                                   .unproven = f->reach.pairs.samples > EXACT
                                                   ? "the least eigenvalue is Lanczos' upper bound"
                                                   : NULL},
                 "least eigenvalue of the tangent kernel of output 0 so far: L alpha^2 / 2");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.kernel,
                                   .where = "(6)",
                                   .sense = TSRI_MEASURED,
                                   .measured = tsri_past_most(f->past, "lambda_most")},
                 "its largest eigenvalue so far; descent is stable below the step 2 over it");
}

/* ---- (18), (19), (42), (46) ------------------------------------------------------------------ */

/* (18), theta at its end 1/5, where the step is largest. */
static double step_18(const ends *e, double first, const tsri_gated_letters *s)
{
    double theta = 0.2, half = exp(theta / 2) / sqrt(theta), L = s->L, a2 = e->alpha2,
           b2 = e->beta2;
    if (isnan(a2) || isnan(b2)) /* fmin would pass over them */
        return (double)NAN;
    double step = fmin(a2 / (12 * b2 * e->beta_x * L), 1 / (3 * L));
    step = fmin(step, fmin(a2 / (4 * b2 * b2 * L), 1 / (b2 * L)));
    step = fmin(step, 1 / (4 * sqrt(2) * sqrt(L) * half * sqrt(b2) * sqrt(first)));
    return fmin(step, a2 / (1024 * s->n * pow(half, 4) * b2 * first));
}

/* (19): context is alpha^2 L / 2. */
static double rate_19(const void *context, double eta)
{
    return eta * *(const double *)context;
}

/* The steps that brought the loss where it is, against (42) and (46). */
static void iteration_rows(const tsri_gated_file *f, const ends *e)
{
    int64_t latest = tsri_gated_latest(f->past, "loss");
    double first = tsri_past_at(f->past, 0, "loss"), now = tsri_past_at(f->past, latest, "loss");
    double steps = latest > 0 ? (double)(latest * f->view->settings->local_steps) : (double)NAN;
    double fallen = log(first / now);
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.one,
                                   .where = "(42)",
                                   .sense = TSRI_AT_MOST,
                                   .measured = steps,
                                   .required = 2 / (f->s.eta * e->alpha2 * f->s.L) * fallen,
                                   .seen = tsri_gated_some(e->seen),
                                   .trivial = {"infinity", INFINITY}},
                 "steps done: 2 / (eta alpha^2 L) log(l_0 / l_t)");
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.one,
                                   .where = "(46)",
                                   .sense = TSRI_AT_MOST,
                                   .measured = steps,
                                   .required = 2 * 81 * 81 * fallen,
                                   .seen = TSRI_SEEN_ALL},
                 "steps done: 2 x 81^2 log(l_0 / l_t)");
}

/* How far (19) lets the weights go, after (42). */
static void radius_row(const tsri_gated_file *f, const ends *e)
{
    int64_t latest = tsri_gated_latest(f->past, "loss");
    double first = tsri_past_at(f->past, 0, "loss") / 2;
    double fallen = log(first / (tsri_past_at(f->past, latest, "loss") / 2));
    bool far = f->past->round > 0;
    double tau = far ? tsri_past_most(f->past, "tau") : (double)NAN;
    tsri_certify(
        f->c,
        &(tsri_condition){
            .of = f->of.one,
            .where = "section 10.4",
            .sense = TSRI_AT_MOST,
            .measured = tau,
            .required = 2 * sqrt(e->beta2) * sqrt(2 * first) / (e->alpha2 * f->s.L) * fallen,
            .seen = tsri_gated_some(e->seen),
            .interval = {tau, tsri_past_most(f->past, "tau_high"), far ? 1 - TSRI_GATED_CHANCE : 0},
            .trivial = {"infinity", INFINITY}},
        "tau: largest |W_k - W_k(1)|_2 so far, against 2 beta sqrt(2 l_0) / (alpha^2 L) "
        "log(l_0 / l_t)");
}

tsr_status tsri_gated_rate_rows(tsri_gated_file *f)
{
    tsr_status st = TSR_OK;
    ends e = ends_of(f);
    double half = e.alpha2 * f->s.L / 2, first = tsri_past_at(f->past, 0, "loss");
    tsri_promise p = {.of = f->of.three_l,
                      .where = "(19)",
                      .loss = "L_k",
                      .what = "L_0",
                      .rate = rate_19,
                      .context = &half,
                      .settings = f->view->settings,
                      .position = f->view->position,
                      .first = first,
                      .also = tsri_gated_some(e.seen)};
    eigen_rows(f);
    cross_rows(f, &e);
    kernel_rows(f, &e);
    tsri_certify(f->c,
                 &(tsri_condition){.of = f->of.three_l,
                                   .where = "(18)",
                                   .sense = TSRI_AT_MOST,
                                   .measured = f->s.eta,
                                   .required = step_18(&e, first / 2, &f->s),
                                   .seen = e.seen},
                 "step eta: Lemma 3's, with the alpha, beta and l_0 measured");
    tsri_certify_rate(f->c, &p, "eta alpha^2 L / 2");
    TSR_TRY(tsri_certify_fall(f->c, f->past, &p));
    iteration_rows(f, &e);
    radius_row(f, &e);
done:
    return st;
}
