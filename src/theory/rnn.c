/* rnn.c - certificates of Allen-Zhu, Li, Song, "On the Convergence Rate of Training Recurrent
 * Neural Networks".
 *
 * Before a run: Assumption 2.1, what Theorem 1 or 2 asks for, (4.1)-(4.6) as Appendix B states
 * them, Theorem 3's ratio and Theorem 4's residual for the step to come. During one: how far W has
 * moved, tau_0 = sqrt(m) |W - W(0)|_2, (5.1)-(5.3) as Appendix C states them for that tau_0, and
 * Theorems 3 and 4 at W. O(...) is read with a constant of 1, poly(rho) as rho = n L d log m,
 * varrho as n L d log(m/epsilon) / delta, and poly(varrho) of Theorem 4, which has no epsilon, as
 * rho / delta.
 *
 * Sections 4 and 5 are rnn_norms.c.
 */
#include "base/alloc.h"
#include "data/points.h"
#include "theory/fall.h"
#include "theory/first.h"
#include "theory/rnn_bounds.h"
#include "theory/rnn_norms.h"

#include <math.h>
#include <string.h>

enum { MOST = 128, STEPS = TSRI_RNN_STEPS };

static const double EPSILON = 1e-2; /* the loss to reach, where the run does not stop at one */

/* ---- The run as the paper sees it ----------------------------------------------------------- */

static int64_t param(const tsri_run *run, const char *name)
{
    return run->net->param[tsri_net_param(run->net, name)].offset;
}

static tsr_status view_init(tsri_rnn_view *v, const tsri_run *run, const float *w)
{
    const tsr_data *data = run->data;
    const tsri_param *out = &run->net->param[tsri_net_param(run->net, "out.weight")];
    *v = (tsri_rnn_view){.n = data->train.n < MOST ? data->train.n : MOST,
                         .L = data->height,
                         .m = out->shape[1],
                         .dx = data->channels,
                         .d = out->shape[0],
                         .W = w + param(run, "rnn.weight_hh_l0"),
                         .A = w + param(run, "rnn.weight_ih_l0"),
                         .B = w + out->offset,
                         .x = data->train.numbers,
                         .length = data->train.length};
    return tsri_rnn_view_init(v, run->pool);
}

/* delta: the least distance of two first positions. */
static tsr_status separation(double *delta, const tsri_rnn_view *v)
{
    tsr_status st = TSR_OK;
    float *first = NULL;
    int64_t i, j;
    TSR_TRY(tsri_alloc(&first, v->n * v->dx, sizeof *first));
    for (int64_t k = 0; k < v->n; k++)
        memcpy(first + k * v->dx, v->x + k * v->L * v->dx, (size_t)v->dx * sizeof *first);
    *delta = tsri_least_distance(first, v->n, v->dx, &i, &j);
done:
    tsri_free(first);
    return st;
}

static void assumptions(tsri_certificate *c, const tsri_rnn_view *v, double delta)
{
    double first = 0, longest = 0, last = 0;
    for (int64_t i = 0; i < v->n; i++) {
        const float *x = v->x + i * v->L * v->dx;
        first = fmax(first, fabs(tsri_length(x, v->dx) - 1));
        last = fmax(last, fabs((double)x[v->dx - 1] - sqrt(0.5)));
        for (int64_t l = 0; l < tsri_rnn_length(v, i); l++)
            longest = fmax(longest, tsri_length(x + l * v->dx, v->dx));
    }
    tsri_certify_old(c, "section 2.1", TSRI_AT_MOST, first, 1e-6, "largest | |x_(i,1)| - 1 |");
    tsri_certify_old(c, "section 2.1", TSRI_AT_MOST, last, 1e-6,
                     "largest distance of x_(i,1)'s last coordinate from 1/sqrt 2");
    tsri_certify_old(c, "section 2.1", TSRI_AT_MOST, longest, 1 + 1e-6, "largest |x_(i,l)|");
    tsri_certify_old(c, "Assumption 2.1", TSRI_AT_LEAST, delta, 1e-6,
                     "delta: least |x_(i,1) - x_(j,1)|");
}

/* ---- Theorems 1 and 2 ------------------------------------------------------------------------ */

static tsri_rnn_letters letters(const tsri_run *run, const tsri_rnn_view *v, double delta)
{
    double below = tsri_config_real(run->config, "stop.below");
    bool stops = strcmp(tsri_config_text(run->config, "stop.metric"), "loss") == 0;
    return (tsri_rnn_letters){.n = (double)v->n,
                              .L = (double)v->L,
                              .d = (double)v->d,
                              .m = (double)v->m,
                              .delta = delta,
                              .epsilon = stops && below > 0 && below <= 1 ? below : EPSILON,
                              .sgd = !run->gd};
}

/* The paper's eta of ours. A step of ours descends the sum over its batch, one of Theorem 2's n/B
 * times that (appendix I). */
static double step_of(const tsri_run *run, double eta)
{
    return run->gd ? eta : eta * (double)run->batch / (double)run->data->train.n;
}

static void convergence(tsri_certificate *c, const tsri_run *run, const tsri_rnn_letters *s)
{
    const char *where = s->sgd ? "Theorem 2" : "Theorem 1";
    tsri_certify_old(c, where, TSRI_AT_LEAST, s->m, tsri_rnn_varrho(s),
                     "width m: C varrho^C with C = 1, varrho = n L d log(m/epsilon) / delta");
    tsri_certify_old(c, where, TSRI_AT_MOST, step_of(run, tsri_rates_of(run).most),
                     tsri_rnn_step(s), "step eta: delta / (rho^%d m)", s->sgd ? 42 : 44);
    tsri_certify_old(c, where, TSRI_AT_LEAST, (double)run->rounds, tsri_rnn_rounds(s),
                     "iterations T: rho^%d / delta^2 log(1/epsilon)", s->sgd ? 57 : 59);
}

/* ---- Theorems 3 and 4 ---------------------------------------------------------------------------
 */

typedef struct objective {
    tsri_plan *plan;
    tsri_run *run;
    const tsri_rnn_view *v;
} objective;

static tsr_status value(double *f, objective *o)
{
    tsr_status st = TSR_OK;
    tsri_loss loss = {
        .kind = TSRI_HALF_SQUARES, .valid = o->v->n, .target = o->run->data->train.target};
    tsri_plan_lengths(o->plan, o->v->length);
    TSR_TRY(tsri_plan_forward(o->plan, o->v->x));
    TSR_TRY(tsri_plan_loss(o->plan, &loss));
    *f = loss.sum;
done:
    return st;
}

/* f(W - eta grad), W as it was afterwards. */
static tsr_status value_ahead(double *f, objective *o, double eta)
{
    tsr_status st = TSR_OK;
    float *keep = NULL, *w = o->run->store.w;
    const float *g = o->run->store.g;
    int64_t at = param(o->run, "rnn.weight_hh_l0"), n = o->v->m * o->v->m;
    TSR_TRY(tsri_alloc(&keep, n, sizeof *keep));
    memcpy(keep, w + at, (size_t)n * sizeof *keep);
    for (int64_t i = 0; i < n; i++)
        w[at + i] -= (float)(eta * (double)g[at + i]);
    st = value(f, o);
    memcpy(w + at, keep, (size_t)n * sizeof *keep);
done:
    tsri_free(keep);
    return st;
}

typedef struct promised {
    const tsri_rnn_letters *s;
    const tsri_run *run;
} promised;

static double rate_of(const void *context, double eta)
{
    const promised *p = context;
    return tsri_rnn_rate(p->s, step_of(p->run, eta));
}

static tsr_status theorems_3_and_4(tsri_certificate *c, tsri_run *run, const tsri_rnn_view *v,
                                   double delta, tsri_past *past)
{
    tsr_status st = TSR_OK;
    objective o = {NULL, run, v};
    tsri_rnn_letters s = letters(run, v, delta);
    double f, ahead, m = (double)v->m, eta, rho = tsri_rnn_rho(&s);
    tsri_norm step;
    TSR_TRY(tsri_plan_create(&o.plan, &run->store, run->backend, run->pool, v->n, true));
    TSR_TRY(value(&f, &o));
    TSR_TRY(tsri_past_keep(past, "loss", f));
    TSR_TRY(tsri_plan_backward(o.plan));
    const float *g = (const float *)run->store.g + param(run, "rnn.weight_hh_l0");
    double squares = tsri_length(g, v->m * v->m);
    squares *= squares;
    tsri_certify_old(c, "Theorem 3", TSRI_AT_LEAST, squares / (m * f), delta / rho,
                     "|grad f|_F^2 / (m f), against delta / rho");
    tsri_certify_old(c, "Theorem 3", TSRI_AT_MOST, squares / (m * f), rho, "the same, against rho");
    eta = tsri_rate_of(run, run->round);
    tsri_factor whole = {g, v->m, v->m, NULL};
    TSR_TRY(tsri_chain_norm(&step, &(tsri_chain){&whole, 1}, NULL, STEPS, run->seed, run->pool));
    TSR_TRY(value_ahead(&ahead, &o, eta));
    double size = eta * step.value;
    tsri_certify_old(
        c, "Theorem 4", TSRI_AT_MOST, ahead - f + eta * squares,
        rho / delta * cbrt(m) * sqrt(f) * size + rho * m * size * size,
        "f(W + W') - f(W) - <grad f, W'> for the next step, against varrho m^(1/3) sqrt(f) "
        "|W'| + rho m |W'|^2");
    if (run->round > 0) {
        tsri_promise p = {.where = s.sgd ? "Theorem 2" : "Theorem 1",
                          .loss = "f",
                          .what = "f(W(0))",
                          .rate = rate_of,
                          .context = &(promised){&s, run},
                          .run = run,
                          .first = tsri_past_at(past, 0, "loss")};
        TSR_TRY(tsri_certify_fall(c, past, &p));
    }
done:
    tsri_plan_destroy(o.plan);
    return st;
}

/* ---- The paper ----------------------------------------------------------------------------------
 */

static double frobenius(const float *a, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += pow((double)a[i] - (double)b[i], 2);
    return sqrt(sum);
}

static tsr_status along_the_way(tsri_certificate *c, const tsri_run *run, const tsri_rnn_view *now,
                                double delta)
{
    tsr_status st = TSR_OK;
    tsri_store first = {0};
    tsri_rnn_view then = {0};
    tsri_norm radius;
    TSR_TRY(tsri_first_weights(&first, run));
    TSR_TRY(view_init(&then, run, first.w));
    tsri_factor a = {now->W, now->m, now->m, NULL}, b = {then.W, then.m, then.m, NULL};
    TSR_TRY(tsri_chain_norm(&radius, &(tsri_chain){&a, 1}, &(tsri_chain){&b, 1}, STEPS, run->seed,
                            run->pool));
    double tau = radius.value * sqrt((double)now->m);
    tsri_rnn_letters s = letters(run, now, delta);
    tsri_certify_old(c, s.sgd ? "(I.1)" : "(H.1)", TSRI_AT_MOST,
                     frobenius(now->W, then.W, now->m * now->m) * sqrt((double)now->m),
                     tsri_rnn_radius(&s), "sqrt(m) |W - W(0)|_F, against varrho^50");
    tsri_certify_old(c, "Appendix C", TSRI_MEASURED, tau, 0, "tau_0 = sqrt(m) |W - W(0)|_2");
    tsri_certify_old_interval(c, tau, radius.high * sqrt((double)now->m), radius.level);
    TSR_TRY(tsri_rnn_certify_drift(c, run, now, &then, tau));
done:
    tsri_rnn_view_fini(&then);
    tsri_store_fini(&first);
    return st;
}

static void notes(tsri_certificate *c, const tsri_run *run, const tsri_rnn_view *v, bool squares)
{
    tsri_certify_note(c, "O(...) is read with a constant of 1, poly(rho) as rho = n L d log m, "
                         "poly(varrho) as rho / delta");
    tsri_certify_note(c,
                      "n is %lld; spectral norms are those of %d sequences, their ends hold at "
                      "99 %%; sparse vectors have random supports",
                      (long long)v->n, TSRI_RNN_FEW);
    if (!squares)
        tsri_certify_note(c, "Theorems 1 to 4 speak of half the squares at every position: they "
                             "were not measured");
    if (strcmp(tsri_config_text(run->config, "model.train"), "all") == 0)
        tsri_certify_note(c, "A and B are trained too, of which the paper does not speak");
}

static tsr_status certify(tsri_certificate *c, tsri_run *run, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_rnn_view v = {0};
    double delta = 0;
    bool squares = run->loss == TSRI_HALF_SQUARES && run->data->train.target &&
                   strcmp(tsri_config_text(run->config, "model.read"), "every") == 0;
    TSR_TRY(view_init(&v, run, run->store.w));
    TSR_TRY(separation(&delta, &v));
    assumptions(c, &v, delta);
    tsri_rnn_letters s = letters(run, &v, delta);
    if (squares && run->round == 0)
        convergence(c, run, &s);
    if (run->round == 0)
        TSR_TRY(tsri_rnn_certify_start(c, run, &v, delta));
    else
        TSR_TRY(along_the_way(c, run, &v, delta));
    if (squares)
        TSR_TRY(theorems_3_and_4(c, run, &v, delta, past));
    notes(c, run, &v, squares);
done:
    tsri_rnn_view_fini(&v);
    return st;
}

/* One layer. */
static bool applies(const tsri_run *run)
{
    return strcmp(tsri_config_text(run->config, "model.name"), "rnn") == 0 &&
           tsri_config_int(run->config, "model.layers") <= 1;
}

const tsri_paper tsri_paper_rnn = {
    .name = "relu-rnn",
    .title = "Allen-Zhu, Li, Song: On the Convergence Rate of Training Recurrent Neural Networks",
    .applies = applies,
    .certify = certify,
};
