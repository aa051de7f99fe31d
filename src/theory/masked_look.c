/* masked_look.c - looks at a run of model shallow: the data once, the weights round by round. */
#include "theory/masked_look.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "linalg/gemm.h"
#include "scheme/team.h"
#include "theory/masked_coming.h"
#include "theory/ntk_shallow.h"
#include "theory/papers.h"
#include "theory/spectrum.h"

#include <math.h>

/* ---- What looks cost ---------------------------------------------------------------------- */

static double units(const tsri_run_view *view)
{
    return (double)view->net->param[view->net->layer[0].weight].shape[0];
}

double tsri_masked_whole_cost(const tsri_run_view *view)
{
    /* A product and a pass over what comes out of it. */
    return TSRI_MASKED_WHOLE * (double)view->data->train.n * units(view) *
           (2 * (double)view->data->dim + 80);
}

/* ---- The data, once ----------------------------------------------------------------------- */

static tsr_status look_at_rows(tsri_masked_ground *g, tsri_past *past)
{
    tsr_status st = TSR_OK;
    double error = 0, most = 0, expected = 0,
           kappa = tsri_config_real(g->view->settings->config, "model.kappa");
    int64_t row = 0;
    for (int64_t i = 0; i < g->n; i++) {
        double square = 0, y = (double)g->y[i];
        for (int64_t c = 0; c < g->d; c++)
            square += (double)g->x[i * g->d + c] * (double)g->x[i * g->d + c];
        double off = fabs(sqrt(square) - 1);
        row = off > error ? i : row;
        error = fmax(error, off);
        most = fmax(most, fabs(y));
        expected += y * y + g->xi * g->xi * kappa * kappa * square / 2;
    }
    TSR_TRY(tsri_past_keep(past, "unit_error", error));
    TSR_TRY(tsri_past_keep(past, "unit_row", (double)row));
    TSR_TRY(tsri_past_keep(past, "target", most));
    TSR_TRY(tsri_past_keep(past, "expected", expected));
done:
    return st;
}

/* The pair of samples whose lines are nearest. One sample has no pair: no line is parallel to
 * it. */
static tsr_status look_at_pairs(tsri_masked_ground *g, tsri_past *past)
{
    tsr_status st = TSR_OK;
    double largest = g->n > 1 ? -1 : 0;
    int64_t a = 0, b = 0;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t j = 0; j < i; j++) {
            double norms = sqrt(g->gram[i * g->n + i] * g->gram[j * g->n + j]);
            double c = norms > 0 ? fabs(g->gram[i * g->n + j]) / norms : 1;
            if (c > largest) {
                largest = c;
                a = j;
                b = i;
            }
        }
    TSR_TRY(tsri_past_keep(past, "angle", acos(fmin(largest, 1))));
    TSR_TRY(tsri_past_keep(past, "angle_a", (double)a));
    TSR_TRY(tsri_past_keep(past, "angle_b", (double)b));
done:
    return st;
}

static tsr_status look_at_infinite(tsri_masked_ground *g, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_eigen low, high;
    tsri_kernel_infinite(g->k, g->gram, g->n, g->xi, g->view->device.pool);
    TSR_TRY(tsri_spectrum_proven(&low, &high, g->work, g->k, g->n, g->view->device.pool));
    TSR_TRY(tsri_past_keep(past, "lambda_0", low.value));
    TSR_TRY(tsri_past_keep(past, "lambda_0_error", low.error));
    TSR_TRY(tsri_past_keep(past, "lambda_most", high.value));
done:
    return st;
}

double tsri_masked_lambda(const tsri_past *past)
{
    double lambda = tsri_past_at(past, 0, "lambda_0");
    double error = tsri_past_at(past, 0, "lambda_0_error");
    if (tsri_past_at(past, 0, "angle") <= TSRI_MASKED_PARALLEL) /* its arc cosine is sure to 1e-8 */
        error += 1e-7 * tsri_past_at(past, 0, "lambda_most");
    return lambda > error ? lambda : (double)NAN;
}

/* Lemmas 16 and 23, of the first weights. */
static tsr_status look_at_start(tsri_masked_ground *g, tsri_past *past)
{
    tsr_status st = TSR_OK;
    double kappa = tsri_config_real(g->view->settings->config, "model.kappa"), squares = 0;
    double R = kappa * tsri_masked_lambda(past) / (192 * (double)g->n);
    int64_t near = 0;
    for (int64_t from = 0; from < g->n; from += TSRI_MASKED_ROWS) {
        int64_t rows = tsri_min(TSRI_MASKED_ROWS, g->n - from);
        tsri_gemm product = {.b_transposed = true, .m = rows, .n = g->m, .k = g->d, .c = g->z};
        product.a = g->x + from * g->d;
        product.b = g->w0;
        TSR_TRY(tsri_gemm_run(&product, g->view->device.pool));
        for (int64_t i = 0; i < rows; i++) {
            int64_t here = 0;
            double sum = 0;
            for (int64_t r = 0; r < g->m; r++) {
                double z = (double)g->z[i * g->m + r];
                here += fabs(z) <= R;
                sum += z * z;
            }
            near = tsri_max(near, here);
            squares = fmax(squares, sum);
        }
    }
    TSR_TRY(tsri_past_keep(past, "near", isnan(R) ? (double)NAN : (double)near));
    TSR_TRY(tsri_past_keep(past, "squares", squares));
done:
    return st;
}

static tsr_status look_once(tsri_masked_ground *g, tsri_past *past)
{
    tsr_status st = TSR_OK;
    TSR_TRY(look_at_rows(g, past));
    if (g->gram) {
        TSR_TRY(look_at_pairs(g, past));
        TSR_TRY(look_at_infinite(g, past));
    }
    if (g->w0)
        TSR_TRY(look_at_start(g, past));
done:
    return st;
}

/* ---- The weights -------------------------------------------------------------------------- */

/* max over units u of ||w_u - w0_unit(u)||; unit NULL = the same. */
static double moved(const float *w, const float *w0, const int64_t *unit, int64_t count, int64_t d)
{
    double most = 0;
    for (int64_t u = 0; u < count; u++) {
        const float *from = w0 + (unit ? unit[u] : u) * d;
        double sum = 0;
        for (int64_t c = 0; c < d; c++) {
            double step = (double)w[u * d + c] - (double)from[c];
            sum += step * step;
        }
        most = fmax(most, sum);
    }
    return sqrt(most);
}

static tsr_status look_at_radius(tsri_masked_ground *g, tsri_past *past)
{
    tsr_status st = TSR_OK;
    const tsri_run_view *view = g->view;
    tsri_opened host = {0};
    int64_t hidden = view->net->layer[0].weight, axis = tsri_axis_find(view->net, "hidden");
    if (!g->w0)
        return TSR_OK;
    double most = moved(tsri_masked_weights(g), g->w0, NULL, g->m, g->d);
    for (int64_t l = 0; view->position->round > 0 && tsri_team_draws(view->team) && l < g->p; l++) {
        const tsri_store *local = NULL;
        const tsri_share *share = tsri_team_member(view->team, l, &local);
        if (!share)
            continue;
        const tsri_pick *pick = &share->pick[axis];
        TSR_TRY(tsri_store_open(&host, local, TSRI_OPEN_WEIGHTS));
        most = fmax(most, moved(tsri_opened_at(&host, host.w, hidden), g->w0,
                                pick->whole ? NULL : pick->index, pick->whole ? g->m : pick->count,
                                g->d));
        tsri_store_close(&host);
    }
    TSR_TRY(tsri_past_keep(past, "radius", most));
done:
    tsri_store_close(&host);
    return st;
}

/* Of full batches on the whole, a step has told the loss that it began with. */
static tsr_status hear_loss(const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    int64_t before = view->position->round - 1;
    if (view->position->round == 0 || tsri_team_draws(view->team) ||
        view->settings->batch < view->data->train.n || view->settings->independent ||
        !isnan(tsri_past_at(past, before, "loss")))
        return TSR_OK;
    tsri_past_begin(past, before);
    st = tsri_past_keep(past, "loss", 2 * view->round_loss);
    tsri_past_begin(past, view->position->round);
    return st;
}

static tsr_status look_at_whole(tsri_masked_ground *g, tsri_past *past, tsri_masked_pass *whole)
{
    tsr_status st = TSR_OK;
    tsri_signs bits = {0};
    int64_t flips = 0;
    whole->bits = &bits;
    TSR_TRY(tsri_masked_run_pass(whole, g));
    TSR_TRY(tsri_past_keep(past, "loss", whole->loss));
    TSR_TRY(tsri_past_keep(past, "blur", whole->blur));
    TSR_TRY(tsri_past_keep(past, "variance", g->xi * (1 - g->xi) / (double)g->m * whole->squares));
    for (int64_t i = 0; g->w0 && i < g->n; i++)
        flips = tsri_max(flips, tsri_signs_differ(&bits, &g->start, i));
    if (g->w0)
        TSR_TRY(tsri_past_keep(past, "flips", (double)flips));
done:
    tsri_signs_fini(&bits);
    whole->bits = NULL;
    return st;
}

/* ---- All of it ---------------------------------------------------------------------------- */

tsr_status tsri_masked_look(const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_masked_ground *g = NULL;
    double *u = NULL;
    TSR_TRY(tsri_masked_ground_of(&g, view, past));
    if (view->position->round == 0)
        TSR_TRY(look_once(g, past));
    TSR_TRY(look_at_radius(g, past));
    TSR_TRY(hear_loss(view, past));
    bool whole_due = tsri_look_due(view, tsri_masked_whole_cost(view));
    bool ahead_due = tsri_look_due(view, tsri_masked_coming_cost(view));
    if (!whole_due && !ahead_due)
        return TSR_OK;
    TSR_TRY(tsri_alloc_raw(&u, g->n, sizeof *u));
    tsri_masked_pass whole = {
        .w = tsri_masked_weights(g), .a = g->a, .units = g->m, .scale = g->whole, .u = u};
    TSR_TRY(look_at_whole(g, past, &whole));
    if (ahead_due)
        TSR_TRY(tsri_masked_coming(g, past, &whole));
done:
    tsri_free(u);
    return st;
}
