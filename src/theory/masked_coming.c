/* masked_coming.c - the round that comes, gone through with its own masks and with others. */
#include "theory/masked_coming.h"

#include "base/alloc.h"
#include "scheme/team.h"
#include "theory/masked_ahead.h"
#include "theory/masked_mixture.h"
#include "theory/papers.h"
#include "theory/rates.h"

#include <math.h>
#include <stdio.h>

/* ---- What it costs ------------------------------------------------------------------------ */

/* Shares in wholes. */
static double wholes(const tsri_run_view *view)
{
    return tsri_team_draws(view->team)
               ? (double)view->settings->workers * tsri_team_chances(view->team).xi
               : 1;
}

int64_t tsri_masked_draws(const tsri_run_view *view)
{
    bool many = !tsri_masked_whole(view) && tsri_plain_steps(view);
    return many ? tsri_config_int(view->settings->config, "certify.continuations") : 1;
}

/* Local steps to go through: none of a run that is not Algorithm 1. */
static int64_t steps_of(const tsri_run_view *view)
{
    return tsri_plain_steps(view) ? view->settings->local_steps : 0;
}

/* A pair of patterns takes about an operation for ten units (signs.h); Cholesky's factor 2/3 n^3 in
 * double on one thread, worth three times as many in floats on all. Where an eigenvalue may be
 * smaller there are two more factors and some dozen solutions: taken as often as not. */
double tsri_masked_coming_cost(const tsri_run_view *view)
{
    double n = (double)view->data->train.n,
           m = (double)view->net->param[view->net->layer[0].weight].shape[0],
           d = (double)view->data->dim;
    double pass = n * m * (2 * d + 80), step = n * m * (4 * d + 120);
    double tau = (double)steps_of(view), shares = wholes(view);
    double round = shares * (tau * step + pass) + 3 * pass;
    double kernel = (double)view->settings->workers * (4 * n * n * n + 500 * n * n);
    double kernels = n > TSRI_MASKED_KERNEL ? 0 : fmax(tau, 1) * (shares * n * n * m / 10 + kernel);
    return TSRI_MASKED_COMING * ((double)tsri_masked_draws(view) * round + kernels);
}

/* ---- Keeping ----------------------------------------------------------------------------- */

/* Every unit in exactly one share? */
static bool dealt(const tsri_run_view *view)
{
    const tsri_draw *draw = tsri_team_draws(view->team);
    return draw && (draw->kind == TSRI_DRAW_CATEGORICAL || draw->kind == TSRI_DRAW_CHUNKS);
}

/* |a - b| in parts of what they are made of, not of themselves: of one share both are 0 but for
 * rounding. */
static double apart(double a, double b, double size)
{
    return size > 0 ? fabs(a - b) / size : 0;
}

static tsr_status keep_round(tsri_past *past, const tsri_masked_round *r,
                             const tsri_masked_ground *g, int64_t steps)
{
    tsr_status st = TSR_OK;
    if (g->gram)
        TSR_TRY(tsri_past_keep(past, "least", r->least));
    if (dealt(g->view))
        TSR_TRY(tsri_past_keep(past, "error_14", apart(r->sampled, r->pairs, r->outputs)));
    if (steps == 0)
        return TSR_OK;
    TSR_TRY(tsri_past_keep(past, "ratio", r->ratio));
    TSR_TRY(tsri_past_keep(past, "step_blur", r->blur));
    TSR_TRY(tsri_past_keep(past, "travel", r->travel));
    TSR_TRY(tsri_past_keep(past, "reach", r->reach));
    TSR_TRY(tsri_past_keep(past, "drift", r->drift));
    TSR_TRY(tsri_past_keep(past, "drift_blur", r->drift_blur));
    TSR_TRY(tsri_past_keep(past, "path", r->radius));
    if (dealt(g->view)) {
        TSR_TRY(tsri_past_keep(past, "parted", r->parted));
        TSR_TRY(tsri_past_keep(past, "error_13", apart(r->loss, r->ends - r->parted, r->ends)));
    }
done:
    return st;
}

/* ---- All of it ---------------------------------------------------------------------------- */

/* Lemmas 1 and 2 are about masks thrown unit by unit, and signs of the output: a run that began
 * from a file may have other numbers there. */
static bool biased(const tsri_masked_ground *g)
{
    const tsri_draw *draw = tsri_team_draws(g->view->team);
    return g->w0 && draw && draw->kind == TSRI_DRAW_BERNOULLI && draw->xi < 1 &&
           steps_of(g->view) > 0;
}

tsr_status tsri_masked_coming(tsri_masked_ground *g, tsri_past *past, tsri_masked_pass *whole)
{
    tsr_status st = TSR_OK;
    tsri_mixture x = {0};
    double *loss = NULL, state = whole->loss;
    double least = tsri_past_least(past, "least");
    int64_t draws = tsri_masked_draws(g->view), steps = steps_of(g->view);
    TSR_TRY(tsri_alloc(&loss, draws, sizeof *loss));
    if (biased(g))
        TSR_TRY(tsri_mixture_init(&x, g, whole, draws));
    for (int64_t c = 0; c < draws; c++) {
        tsri_masked_round r;
        tsri_masked_draw_options o = {
            .draw = c,
            .steps = steps,
            .eta = tsri_rate_of(g->view->settings, g->view->position, g->view->position->round),
            .u = whole->u,
            .kernels = c == 0 && g->gram,
            .least = isnan(least) ? (double)INFINITY : least,
            .mixed = x.mixed,
            .mixing = x.mixing};
        TSR_TRY(tsri_masked_ahead(&r, g, &o));
        loss[c] = r.loss;
        if (x.mixed)
            tsri_mixture_note(&x, c);
        if (c == 0)
            TSR_TRY(keep_round(past, &r, g, steps));
    }
    if (steps > 0) {
        TSR_TRY(tsri_past_keep(past, "state", state));
        TSR_TRY(tsri_past_keep_mean(past, "ahead", loss, draws));
    }
    TSR_TRY(tsri_notes_write(g->view, "certificate"));
    if (x.mixed)
        TSR_TRY(tsri_mixture_keep(past, &x));
done:
    tsri_mixture_fini(&x);
    tsri_free(loss);
    return st;
}
