/* gated_look.c - what the GReLU paper's certificate keeps of every round.
 *
 * Cheap numbers are kept every round: how far the weights are from the first ones. The loss, and
 * the rest (eigenvalues, pairs, norms, gradients), are looked at in as many rounds as
 * certify.budget pays for. Series, by their names:
 *
 *     loss                                  sum of squares, twice (2)
 *     tau, tau_high                         (4): at least; at most, in every round, by |.|_F
 *     alpha_x, alpha_x_low, beta_x, beta_x_high, alpha_y, beta_y     (14), (15)
 *     cross                                 (16)
 *     far_f, far_g, gamma                   Theorem 6: constants C', C', C'' that they would need
 *     lambda, lambda_most                   ends of the tangent kernel of output 0
 *     chain, chain_high                     Lemmas 5 and 7
 *     steepest, steepest_high, steepest_bound                        (39), squared
 *     fall, fall_bound, fall_printed        (13)
 *     ratio, kernel                         (7), (8)
 *     gradient, gradient_change             section 6.3
 *     switched, hamming, died               sections 6.3 and 4.3; of gates: fixed numbers changed
 *     at round 0: off, off_row, delta, delta_row, delta_row_2, target, target_row,
 *     overlap_0, overlap, least_gradient, born
 */
#include "theory/gated.h"

#include "base/alloc.h"
#include "run/evaluate.h"
#include "theory/first.h"
#include "theory/rates.h"
#include "theory/spectrum.h"

#include <math.h>
#include <string.h>

/* ---- Between looks --------------------------------------------------------------------------- */

typedef struct state {
    tsri_store first;
    tsri_opened start;      /* its numbers */
    tsri_gate_table *gates; /* of the first samples; NULL of a ReLU net */
    int64_t converted;      /* view->position.converted: of which net they are */
    tsri_gated_reach reach;
} state;

static void clear(state *s)
{
    tsri_store_close(&s->start);
    tsri_store_fini(&s->first);
    tsri_gate_table_destroy(s->gates);
    s->gates = NULL;
}

void tsri_gated_forget(void *memory)
{
    state *s = memory;
    if (!s)
        return;
    clear(s);
    tsri_free(s);
}

static tsr_status state_of(state **out, const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    state *s = past->state;
    if (s && s->first.w && s->converted == view->position->converted) {
        *out = s;
        return TSR_OK;
    }
    if (!s) {
        TSR_TRY(tsri_alloc(&s, 1, sizeof *s));
        past->state = s;
    }
    clear(s);
    s->converted = view->position->converted;
    s->reach = tsri_gated_reach_of(view->net, view->data, tsri_effort(view->settings));
    TSR_TRY(tsri_first_weights(&s->first, view));
    TSR_TRY(tsri_store_open(&s->start, &s->first, TSRI_OPEN_WEIGHTS));
    TSR_TRY(tsri_gated_gates(&s->gates, view, &s->first, tsri_gated_kept(&s->reach)));
    *out = s;
done:
    if (st != TSR_OK && s)
        clear(s);
    return st;
}

/* ---- Keeping --------------------------------------------------------------------------------- */

typedef struct number {
    const char *name;
    double value;
} number;

static tsr_status keep_all(tsri_past *past, const number *n, size_t count)
{
    tsr_status st = TSR_OK;
    for (size_t i = 0; i < count; i++)
        TSR_TRY(tsri_past_keep(past, n[i].name, n[i].value));
done:
    return st;
}

#define KEEP(past, ...)                                                                            \
    keep_all(past, (const number[]){__VA_ARGS__},                                                  \
             sizeof((const number[]){__VA_ARGS__}) / sizeof(number))

static tsr_status keep_loss(const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsr_result r = tsr_result_default();
    TSR_TRY(tsri_evaluate(&r, view->store, view->device, view->data, &view->data->train,
                          view->settings->loss));
    TSR_TRY(tsri_past_keep(past, "loss", r.loss));
done:
    return st;
}

static tsr_status keep_data(const tsri_run_view *view, tsri_past *past,
                            const tsri_gated_reach *reach)
{
    tsr_status st = TSR_OK;
    tsri_gated_data d;
    TSR_TRY(tsri_gated_data_of(&d, view->net, view->data, reach, view->device.pool));
    TSR_TRY(KEEP(past, {"off", d.off}, {"off_row", (double)d.off_at}, {"delta", d.delta},
                 {"delta_row", (double)d.delta_a}, {"delta_row_2", (double)d.delta_b},
                 {"target", d.target}, {"target_row", (double)d.target_at}));
done:
    return st;
}

/* ---- Norms, patterns, gradients ------------------------------------------------------------- */

static tsr_status keep_tau(const tsri_run_view *view, tsri_past *past, const state *s)
{
    tsr_status st = TSR_OK;
    tsri_gated_norm tau;
    TSR_TRY(tsri_gated_tau(&tau, view, &view->seen, &s->start));
    TSR_TRY(KEEP(past, {"tau", tau.low},
                 {"tau_high", fmin(tau.high, tsri_past_now(past, "tau_high"))}));
done:
    return st;
}

/* The trained numbers one round ago, where they are known and of the same net. */
static const float *one_round_ago(const tsri_run_view *view, const tsri_past *past)
{
    const tsri_memory *m = past->memory;
    bool known = m && m->before && m->before_round == view->position->round - 1 &&
                 m->before_converted == view->position->converted &&
                 m->before_count == view->net->trained;
    return known ? m->before : NULL;
}

static tsr_status keep_patterns(const tsri_run_view *view, tsri_past *past, const state *s)
{
    tsr_status st = TSR_OK;
    tsri_gated_switched w;
    TSR_TRY(tsri_gated_switches(&w, view, &s->start, one_round_ago(view, past), s->gates,
                                s->reach.gates.samples, s->reach.block));
    TSR_TRY(tsri_past_keep(past, "switched", w.since_start));
    if (view->position->round == 0)
        TSR_TRY(tsri_past_keep(past, "born", (double)w.born));
    if (!s->gates)
        TSR_TRY(KEEP(past, {"hamming", w.since_before}, {"died", (double)w.died}));
done:
    return st;
}

static double norm_of(const float *g, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)g[i] * (double)g[i];
    return sqrt(sum);
}

/* |g_t| and |g_t - g_(t-1)|; gradient [trained] is that of now. */
static tsr_status keep_gradients(const tsri_run_view *view, tsri_past *past, const float *gradient)
{
    tsr_status st = TSR_OK;
    float *ago = NULL;
    const float *before = one_round_ago(view, past);
    int64_t count = view->net->trained;
    double change = NAN;
    if (before) {
        TSR_TRY(tsri_alloc_raw(&ago, count, sizeof *ago));
        TSR_TRY(tsri_gated_gradient(ago, view, before));
        for (int64_t i = 0; i < count; i++)
            ago[i] = gradient[i] - ago[i];
        change = norm_of(ago, count);
    }
    TSR_TRY(KEEP(past, {"gradient", norm_of(gradient, count)}, {"gradient_change", change}));
done:
    tsri_free(ago);
    return st;
}

/* ---- What is about a gated net alone -------------------------------------------------------- */

static tsr_status keep_chains(const tsri_run_view *view, tsri_past *past, const state *s)
{
    tsr_status st = TSR_OK;
    tsri_gated_norm z;
    TSR_TRY(tsri_gated_chains(&z, view, &view->seen, s->gates, s->reach.chains.samples,
                              s->reach.block));
    TSR_TRY(KEEP(past, {"chain", z.low}, {"chain_high", z.high}));
done:
    return st;
}

/* Theorem 6: the constants that its bounds would need here, with this round's beta and the tau so
 * far. */
static tsr_status keep_apart(tsri_past *past, const tsri_gated_pairs *p, const tsri_gated_ends *e,
                             double m)
{
    double L = (double)p->L, tau = tsri_past_most(past, "tau"), f = 0, g = 0;
    double delta = tsri_past_at(past, 0, "delta"), drift = pow(L, 1.5) * tau, four = pow(m, -0.25);
    for (int64_t k = 0; k <= p->L; k++) { /* apart_f[k] is of F_(k+1) */
        double behind = four + pow(5.0 / 6, L - (double)(k + 1)) + drift;
        double before = four + delta * pow(5.0 / 6, (double)k) + drift;
        f = fmax(f, p->apart_f[k] / (behind * p->beta_y));
        g = fmax(g, p->apart_g[k] / (before * e->beta.low));
    }
    double form = drift * drift + delta * pow(5.0 / 6, L) + 1 / sqrt(m);
    return KEEP(past, {"far_f", f}, {"far_g", g},
                {"gamma", p->cross / (e->beta.low * p->beta_y * form)});
}

static tsr_status keep_pairs(const tsri_run_view *view, tsri_past *past, const tsri_gated_pairs *p)
{
    tsr_status st = TSR_OK;
    tsri_eigen least, most;
    TSR_TRY(tsri_spectrum_ends(&least, &most, p->k0, p->n, view->device.pool));
    TSR_TRY(KEEP(past, {"alpha_y", p->alpha_y}, {"beta_y", p->beta_y}, {"cross", p->cross},
                 {"lambda", least.value}, {"lambda_most", most.value}));
    if (view->position->round == 0)
        TSR_TRY(KEEP(past, {"overlap_0", p->overlap_0}, {"overlap", p->overlap},
                     {"least_gradient", p->least_gradient}));
done:
    return st;
}

/* Lemma 2 and (39): of the paper's loss, with the eigenvalues of all samples. */
static tsr_status keep_step(const tsri_run_view *view, tsri_past *past, const state *s,
                            const tsri_gated_pairs *p, const tsri_gated_ends *e,
                            const float *gradient)
{
    tsr_status st = TSR_OK;
    tsri_gated_fall f;
    tsri_gated_norm g;
    bool all = p->n == s->reach.n && s->reach.G.samples == s->reach.n;
    double loss = tsri_past_now(past, "loss") / 2;
    if (!view->settings->loss->squares)
        return TSR_OK;
    TSR_TRY(tsri_gated_steepest(&g, view, gradient));
    TSR_TRY(
        KEEP(past, {"steepest", g.low * g.low}, {"steepest_high", g.high * g.high},
             {"steepest_bound", (e->beta.low * p->beta_y + (double)s->reach.n * p->cross) * loss}));
    if (!all)
        return TSR_OK;
    TSR_TRY(tsri_gated_fall_of(&f, view, s->gates, p, e, gradient,
                               tsri_rate_of(view->settings, view->position, view->position->round),
                               s->reach.block));
    TSR_TRY(KEEP(past, {"fall", f.change}, {"fall_bound", f.bound}, {"fall_printed", f.printed}));
done:
    return st;
}

static tsr_status look_gated(const tsri_run_view *view, tsri_past *past, const state *s,
                             const tsri_gated_pairs *p, const float *gradient)
{
    tsr_status st = TSR_OK;
    tsri_gated_ends e = {0};
    const tsri_param *c = &view->net->param[tsri_net_param(view->net, "c.weight")];
    TSR_TRY(tsri_gated_ends_of(&e, view, &view->seen, s->gates, s->reach.G.samples));
    TSR_TRY(KEEP(past, {"alpha_x", e.alpha.high}, {"alpha_x_low", e.alpha.low},
                 {"beta_x", e.beta.low}, {"beta_x_high", e.beta.high}));
    TSR_TRY(keep_pairs(view, past, p));
    TSR_TRY(keep_apart(past, p, &e, (double)c->shape[0]));
    TSR_TRY(keep_chains(view, past, s));
    TSR_TRY(keep_step(view, past, s, p, &e, gradient));
done:
    tsri_gated_ends_fini(&e);
    return st;
}

/* ---- A look --------------------------------------------------------------------------------- */

static tsr_status look_whole(const tsri_run_view *view, tsri_past *past, const state *s)
{
    tsr_status st = TSR_OK;
    tsri_gated_pairs p = {0};
    float *gradient = NULL;
    TSR_TRY(keep_tau(view, past, s));
    TSR_TRY(tsri_gated_pairs_of(&p, view, &view->seen, &s->start, s->gates, s->reach.pairs.samples,
                                s->reach.block));
    TSR_TRY(KEEP(past, {"ratio", p.ratio}, {"kernel", p.kernel}));
    TSR_TRY(tsri_alloc_raw(&gradient, view->net->trained, sizeof *gradient));
    TSR_TRY(tsri_gated_gradient(gradient, view, NULL));
    TSR_TRY(keep_gradients(view, past, gradient));
    TSR_TRY(keep_patterns(view, past, s));
    if (s->gates)
        TSR_TRY(look_gated(view, past, s, &p, gradient));
done:
    tsri_free(gradient);
    tsri_gated_pairs_fini(&p);
    return st;
}

tsr_status tsri_gated_look(const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    state *s = NULL;
    TSR_TRY(state_of(&s, view, past));
    bool whole = tsri_look_due(view, s->reach.look);
    TSR_TRY(tsri_past_keep(past, "tau_high", tsri_gated_drift(&view->seen, &s->start)));
    if (whole || tsri_look_due(view, s->reach.loss))
        TSR_TRY(keep_loss(view, past));
    if (view->position->round == 0)
        TSR_TRY(keep_data(view, past, &s->reach));
    if (whole)
        TSR_TRY(look_whole(view, past, s));
done:
    return st;
}
