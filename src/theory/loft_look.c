/* loft_look.c - what a certificate of LoFT measures after every round, and keeps. See
 * loft_look.h. */
#include "theory/loft_look.h"

#include "base/alloc.h"
#include "base/estimate.h"
#include "linalg/openblas.h"
#include "scheme/team.h"
#include "theory/first.h"
#include "theory/loft_patches.h"
#include "theory/loft_paths.h"
#include "theory/ntk.h"
#include "theory/rates.h"

#include <math.h>
#include <string.h>

/* What is kept of a path, or of the mean over several. */
typedef struct kept {
    double loss, error, difference, distance, square; /* square: of moved */
} kept;

/* Another draw of masks: as it is now, and its differences summed over the rounds before. */
typedef struct draw {
    tsri_draw_path path;
    kept now;
    double sum;
} draw;

typedef struct watch {
    tsri_patches patches;
    tsri_store first;
    float *w, *w0;            /* [m, d] filters now and at the start, in the order of patches */
    double *u, *twin, *other; /* [n] outputs: of the run, of gradient descent, of a draw */
    double *square;           /* [m] */
    double *H0;               /* [samples, samples] the first kernel, or NULL */
    tsri_descent gd;          /* .plan NULL = it does not go along */
    draw *draw;               /* [draws] */
    int64_t draws;
} watch;

/* ---- Making and unmaking --------------------------------------------------------------------- */

void tsri_loft_forget(void *state)
{
    watch *w = state;
    if (!w)
        return;
    for (int64_t k = 0; k < w->draws; k++)
        tsri_draw_path_fini(&w->draw[k].path);
    tsri_free(w->draw);
    tsri_descent_fini(&w->gd);
    tsri_patches_fini(&w->patches);
    tsri_store_fini(&w->first);
    tsri_free(w->w);
    tsri_free(w->w0);
    tsri_free(w->u);
    tsri_free(w->twin);
    tsri_free(w->other);
    tsri_free(w->square);
    tsri_free(w->H0);
    tsri_free(w);
}

static tsr_status make_draws(watch *w, const tsri_run_view *view)
{
    tsr_status st = TSR_OK;
    if (!tsri_loft_draws(view))
        return TSR_OK;
    TSR_TRY(tsri_alloc(&w->draw, TSRI_LOFT_DRAWS, sizeof *w->draw));
    while (w->draws < TSRI_LOFT_DRAWS) {
        draw *one = &w->draw[w->draws];
        TSR_TRY(tsri_draw_path_init(&one->path, view, &w->first, ++w->draws));
    }
done:
    return st;
}

static tsr_status watch_of(watch **out, const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    watch *w = past->state;
    *out = w;
    if (w)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&w, 1, sizeof *w));
    *out = past->state = w;
    TSR_TRY(tsri_patches_init(&w->patches, view->store, view->data, view->device.pool));
    int64_t n = w->patches.n, m = w->patches.m, filters = m * w->patches.d;
    TSR_TRY(tsri_first_weights(&w->first, view));
    TSR_TRY(tsri_alloc_raw(&w->w, filters, sizeof *w->w));
    TSR_TRY(tsri_alloc_raw(&w->w0, filters, sizeof *w->w0));
    TSR_TRY(tsri_alloc_raw(&w->u, n, sizeof *w->u));
    TSR_TRY(tsri_alloc_raw(&w->twin, n, sizeof *w->twin));
    TSR_TRY(tsri_alloc_raw(&w->other, n, sizeof *w->other));
    TSR_TRY(tsri_alloc_raw(&w->square, m, sizeof *w->square));
    TSR_TRY(tsri_patches_filters(w->w0, &w->first));
    if (tsri_loft_descends(view))
        TSR_TRY(tsri_descent_init(&w->gd, view, &w->first, 0));
    if (w->gd.plan)
        TSR_TRY(make_draws(w, view));
done:
    return st;
}

/* ---- Keeping --------------------------------------------------------------------------------- */

/* What is not a number any more was looked at all the same: it is beyond every bound. */
static double larger(double most, double value)
{
    return isnan(most) || value <= most ? most : value; /* NaN stays */
}

static tsr_status keep(tsri_past *past, const char *name, double value)
{
    return tsri_past_keep(past, name, isnan(value) ? (double)INFINITY : value);
}

/* ---- Outputs --------------------------------------------------------------------------------- */

/* u = f(X, W) of a store's filters; with w->square what each filter adds. */
static tsr_status outputs(double *u, watch *w, const tsri_store *store, double *square)
{
    tsr_status st = TSR_OK;
    double xi = tsri_shallow_xi(store->net);
    TSR_TRY(tsri_patches_filters(w->w, store));
    tsri_pass pass = {.w = w->w, .u = u, .square = square};
    tsri_patches_pass(&w->patches, &pass);
    for (int64_t i = 0; i < w->patches.n; i++)
        u[i] *= xi;
done:
    return st;
}

static double apart(const double *u, const double *v, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (u[i] - v[i]) * (u[i] - v[i]);
    return sum;
}

/* ||u - y||^2. */
static double loss_of(const watch *w, const double *u)
{
    double sum = 0;
    const float *y = w->patches.data->train.target;
    for (int64_t i = 0; i < w->patches.n; i++)
        sum += (u[i] - (double)y[i]) * (u[i] - (double)y[i]);
    return sum;
}

/* B.4: of filter r in a share, sum over images of (1-xi)^2 e_r^2 + Var nu sum over others
 * e_r'^2. */
static double spread_of(const watch *w, const tsri_loft *s)
{
    double V = tsri_loft_variance(s), own = (1 - s->xi) * (1 - s->xi), all = 0, most = 0;
    for (int64_t r = 0; r < w->patches.m; r++)
        all += w->square[r];
    for (int64_t r = 0; r < w->patches.m; r++)
        most = larger(most, own * w->square[r] + V * (all - w->square[r]));
    return most;
}

static tsr_status look_at_outputs(watch *w, const tsri_run_view *view, tsri_past *past,
                                  const tsri_loft *s)
{
    tsr_status st = TSR_OK;
    if (!tsri_loft_due(view, tsri_patches_operations(view->net, view->data, 1)) && !w->gd.plan)
        return TSR_OK;
    TSR_TRY(outputs(w->u, w, view->store, w->square));
    TSR_TRY(keep(past, "loss", loss_of(w, w->u)));
    TSR_TRY(keep(past, "spread", spread_of(w, s)));
done:
    return st;
}

/* ---- Weights and patterns -------------------------------------------------------------------- */

static tsr_status radius_of(double *most, watch *w, const tsri_store *store)
{
    tsr_status st = TSR_OK;
    int64_t d = w->patches.d;
    *most = 0;
    TSR_TRY(tsri_patches_filters(w->w, store));
    for (int64_t r = 0; r < w->patches.m; r++) {
        double moved = 0;
        for (int64_t c = r * d; c < (r + 1) * d; c++)
            moved += ((double)w->w[c] - (double)w->w0[c]) * ((double)w->w[c] - (double)w->w0[c]);
        *most = larger(*most, sqrt(moved));
    }
done:
    return st;
}

static tsr_status look_at_weights(watch *w, const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    double radius;
    TSR_TRY(radius_of(&radius, w, view->store));
    TSR_TRY(keep(past, "radius", radius));
    if (tsri_loft_due(view, tsri_patches_operations(view->net, view->data, 2))) {
        tsri_pass pass = {.w = w->w, .before = w->w0};
        tsri_patches_pass(&w->patches, &pass);
        TSR_TRY(tsri_past_keep(past, "flips", pass.flips));
    }
done:
    return st;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Samples of the kernels as the network sees them, spread evenly over the training set. */
static tsr_status take_spread(float **x, const tsri_run_view *view, int64_t count)
{
    tsr_status st = TSR_OK;
    int64_t n = view->data->train.n, dim = view->data->dim;
    TSR_TRY(tsri_alloc_raw(x, count * dim, sizeof **x));
    for (int64_t i = 0; i < count; i++)
        tsri_sample(*x + i * dim, view->data, &view->data->train, i * n / count);
done:
    return st;
}

/* H of the paper, without the factor xi of the whole. */
static tsr_status kernel(double *H, const tsri_run_view *view, tsri_store *store, const float *x,
                         int64_t n)
{
    tsri_tangent one = {.output = 0};
    double xi = tsri_shallow_xi(view->net);
    tsr_status st = tsri_tangent_kernel(H, store, view->device, x, n, &one);
    for (int64_t e = 0; st == TSR_OK && e < n * n; e++)
        H[e] /= xi * xi;
    return st;
}

static double most_apart(const double *a, const double *b, int64_t count)
{
    double most = 0;
    for (int64_t e = 0; e < count; e++)
        most = larger(most, fabs(a[e] - b[e]));
    return most;
}

/* The first kernel is needed again in every look: a resumed run makes it anew. */
static tsr_status first_kernel(watch *w, const tsri_run_view *view, const float *x, int64_t n)
{
    tsr_status st = TSR_OK;
    if (w->H0)
        return TSR_OK;
    TSR_TRY(tsri_alloc_raw(&w->H0, n * n, sizeof *w->H0));
    TSR_TRY(kernel(w->H0, view, &w->first, x, n));
done:
    return st;
}

static tsr_status look_at_kernel(watch *w, const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    float *x = NULL;
    double *H = NULL, *work = NULL;
    tsri_eigen low, high;
    int64_t n = tsri_loft_kernel_samples(view);
    if (!tsri_loft_due(view, tsri_loft_kernel_operations(view, n)))
        return TSR_OK;
    TSR_TRY(take_spread(&x, view, n));
    TSR_TRY(tsri_alloc_raw(&H, n * n, sizeof *H));
    TSR_TRY(tsri_alloc_raw(&work, n * n, sizeof *work));
    TSR_TRY(first_kernel(w, view, x, n));
    if (view->position->round == 0) {
        TSR_TRY(tsri_kernel_cnn1_infinite(H, x, n, view->net, view->device.pool));
        TSR_TRY(tsri_past_keep(past, "entry_first", most_apart(w->H0, H, n * n)));
        TSR_TRY(tsri_spectrum_proven(&low, &high, work, H, n, view->device.pool));
        TSR_TRY(tsri_past_keep(past, "lambda_0", low.value));
        TSR_TRY(tsri_past_keep(past, "lambda_0_error", low.error));
    }
    TSR_TRY(kernel(H, view, view->store, x, n));
    TSR_TRY(keep(past, "entry_later", most_apart(w->H0, H, n * n)));
    TSR_TRY(tsri_spectrum_proven(&low, &high, work, H, n, view->device.pool));
    TSR_TRY(tsri_past_keep(past, "lambda", low.value));
done:
    tsri_free(x);
    tsri_free(H);
    tsri_free(work);
    return st;
}

/* ---- The start ------------------------------------------------------------------------------ */

static tsr_status look_at_start(watch *w, tsri_past *past, const tsri_loft *s)
{
    tsr_status st = TSR_OK;
    double square = 0;
    tsri_pass pass = {.w = w->w0, .start = true, .radius = tsri_loft_radius(s)};
    tsri_patches_pass(&w->patches, &pass);
    for (int64_t c = 0; c < w->patches.m * w->patches.d; c++)
        square += (double)w->w0[c] * (double)w->w0[c];
    TSR_TRY(tsri_past_keep(past, "near", pass.near));
    TSR_TRY(tsri_past_keep(past, "most_square", pass.most_square));
    TSR_TRY(tsri_past_keep(past, "all_squares", pass.all_squares));
    TSR_TRY(tsri_past_keep(past, "energy", pass.energy));
    TSR_TRY(tsri_past_keep(past, "start", sqrt(square)));
done:
    return st;
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static tsr_status kept_of(kept *out, const watch *w, const double *u, const tsri_store *store)
{
    tsr_status st = TSR_OK;
    double loss = loss_of(w, u);
    *out = (kept){.loss = loss, .error = sqrt(loss), .difference = apart(u, w->twin, w->patches.n)};
    TSR_TRY(tsri_weights_apart(&out->distance, store, &w->gd.store));
    TSR_TRY(tsri_weights_apart(&out->square, store, &w->first));
done:
    return st;
}

/* All paths one round further. */
static tsr_status step_paths(watch *w, const tsri_run_view *view)
{
    tsr_status st = TSR_OK;
    double eta = tsri_rate_of(view->settings, view->position, w->gd.round);
    TSR_TRY(tsri_descent_step(&w->gd));
    if (w->draws > 0)
        TSR_TRY(outputs(w->twin, w, &w->gd.store, NULL));
    for (int64_t k = 0; k < w->draws; k++) {
        draw *one = &w->draw[k];
        one->sum += eta * one->now.difference;
        TSR_TRY(tsri_draw_path_round(&one->path));
        TSR_TRY(outputs(w->other, w, &one->path.run.store, NULL));
        TSR_TRY(kept_of(&one->now, w, w->other, &one->path.run.store));
    }
done:
    return st;
}

/* The mean of all draws, with the intervals of the loss and of distance + half of the sum. */
static tsr_status mean_of_draws(kept *mean, const watch *w, tsri_past *past)
{
    tsr_status st = TSR_OK;
    double loss[TSRI_LOFT_DRAWS], both[TSRI_LOFT_DRAWS], part = 1 / (double)w->draws;
    *mean = (kept){0};
    for (int64_t k = 0; k < w->draws; k++) {
        const kept *one = &w->draw[k].now;
        loss[k] = one->loss;
        both[k] = one->distance + w->draw[k].sum / 2;
        mean->loss += part * one->loss;
        mean->error += part * one->error;
        mean->difference += part * one->difference;
        mean->distance += part * one->distance;
        mean->square += part * one->square;
    }
    tsri_estimate l = tsri_mean_of(loss, w->draws), b = tsri_mean_of(both, w->draws);
    TSR_TRY(tsri_past_keep(past, "loss_low", l.low));
    TSR_TRY(tsri_past_keep(past, "loss_high", l.high));
    TSR_TRY(tsri_past_keep(past, "both_low", b.low));
    TSR_TRY(tsri_past_keep(past, "both_high", b.high));
done:
    return st;
}

/* The masks that a draw had in the round just done, for replaying it. */
static tsr_status note_masks(const watch *w, const tsri_run_view *view)
{
    tsr_status st = TSR_OK;
    const tsri_store *local;
    for (int64_t i = 0;
         view->notes && view->position->round > 0 && i < w->draws * view->settings->workers; i++) {
        int64_t k = i / view->settings->workers, l = i % view->settings->workers;
        const tsri_share *share = tsri_team_member(tsri_team_of(&w->draw[k].path.run), l, &local);
        if (!share) /* it had nothing */
            continue;
        const tsri_pick *pick = &share->pick[view->net->value[view->net->layer[0].out].axis];
        tsri_tensor t = {.dtype = TSRI_I64, .dims = 1, .shape = {pick->count}, .data = pick->index};
        TSR_TRY(tsri_note(view, &t, "draw.%lld.share.%lld", (long long)k, (long long)l));
    }
    TSR_TRY(tsri_notes_write(view, "masks"));
done:
    return st;
}

static tsr_status look_at_paths(watch *w, const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    kept of;
    double moved, radius;
    if (!w->gd.plan)
        return TSR_OK;
    while (w->gd.round < view->position->round)
        TSR_TRY(step_paths(w, view));
    TSR_TRY(note_masks(w, view));
    if (w->draws == 0 || view->position->round == 0)
        TSR_TRY(outputs(w->twin, w, &w->gd.store, NULL));
    TSR_TRY(kept_of(&of, w, w->u, view->store));
    for (int64_t k = 0; view->position->round == 0 && k < w->draws; k++)
        w->draw[k].now = of;
    if (w->draws > 0)
        TSR_TRY(mean_of_draws(&of, w, past));
    TSR_TRY(keep(past, "loss", of.loss));
    TSR_TRY(keep(past, "error", of.error));
    TSR_TRY(keep(past, "difference", of.difference));
    TSR_TRY(keep(past, "distance", of.distance));
    TSR_TRY(keep(past, "moved", sqrt(of.square)));
    TSR_TRY(keep(past, "twin_error", sqrt(loss_of(w, w->twin))));
    TSR_TRY(tsri_weights_apart(&moved, &w->gd.store, &w->first));
    TSR_TRY(keep(past, "twin_moved", sqrt(moved)));
    TSR_TRY(radius_of(&radius, w, &w->gd.store));
    TSR_TRY(keep(past, "twin_radius", radius));
done:
    return st;
}

tsr_status tsri_loft_look(const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    watch *w = NULL;
    TSR_TRY(tsri_openblas_start(tsri_pool_threads(view->device.pool)));
    TSR_TRY(watch_of(&w, view, past));
    TSR_TRY(look_at_kernel(w, view, past));
    tsri_loft s = tsri_loft_letters(view, past);
    if (view->position->round == 0)
        TSR_TRY(look_at_start(w, past, &s));
    TSR_TRY(look_at_weights(w, view, past));
    TSR_TRY(look_at_outputs(w, view, past, &s));
    TSR_TRY(look_at_paths(w, view, past));
done:
    return st;
}
