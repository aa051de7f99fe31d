/* masked_ahead.c - a round before it happens: shares, local steps, aggregation. */
#include "theory/masked_ahead.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "scheme/team.h"
#include "theory/ntk_shallow.h"
#include "theory/spectrum.h"

#include <math.h>
#include <string.h>

typedef struct ahead {
    tsri_masked_ground *g;
    const tsri_masked_draw_options *o;
    tsri_masked_round *out;
    tsri_share share;
    int64_t units;
    const int64_t *unit; /* [units] of the share in the whole */
    int64_t *every;      /* 0, 1, 2, ...: of a share that is the whole */
    float *w, *a, *dw;   /* [units, d], [units], [units, d] */
    double *way;         /* [units, d] the sum of the round's steps: floats lose small ones */
    double *u, *u0;      /* [n] outputs of the share, now and before its first step */
    double *sum0, *sum; /* [n] sums of them over shares, before the first and after the last step */
    double squares0, squares; /* of their norms */
    int64_t *drawn;           /* [m] shares that a unit will be in; NULL = not asked for */
    float *b;                 /* [units] signs over that */
    double *v;                /* [n] outputs with them */
    double *owned;            /* [m, d] sums of the shares' last weights */
    int64_t *owners;          /* [m] */
} ahead;

/* ---- Making ------------------------------------------------------------------------------- */

static tsr_status ahead_init(ahead *h)
{
    tsr_status st = TSR_OK;
    int64_t n = h->g->n, m = h->g->m, d = h->g->d;
    TSR_TRY(tsri_share_init(&h->share, h->g->view->net));
    TSR_TRY(tsri_alloc(&h->every, m, sizeof *h->every));
    TSR_TRY(tsri_alloc_raw(&h->w, m * d, sizeof *h->w));
    TSR_TRY(tsri_alloc_raw(&h->dw, m * d, sizeof *h->dw));
    TSR_TRY(tsri_alloc_raw(&h->way, m * d, sizeof *h->way));
    TSR_TRY(tsri_alloc_raw(&h->a, m, sizeof *h->a));
    TSR_TRY(tsri_alloc(&h->u, n, sizeof *h->u));
    TSR_TRY(tsri_alloc(&h->u0, n, sizeof *h->u0));
    TSR_TRY(tsri_alloc(&h->sum, n, sizeof *h->sum));
    TSR_TRY(tsri_alloc(&h->sum0, n, sizeof *h->sum0));
    TSR_TRY(tsri_alloc(&h->owned, m * d, sizeof *h->owned));
    TSR_TRY(tsri_alloc(&h->owners, m, sizeof *h->owners));
    for (int64_t r = 0; r < m; r++)
        h->every[r] = r;
    if (h->o->mixed) {
        TSR_TRY(tsri_alloc(&h->drawn, m, sizeof *h->drawn));
        TSR_TRY(tsri_alloc(&h->b, m, sizeof *h->b));
        TSR_TRY(tsri_alloc(&h->v, n, sizeof *h->v));
    }
done:
    return st;
}

static void ahead_fini(ahead *h)
{
    tsri_share_fini(&h->share);
    tsri_free(h->every);
    tsri_free(h->w);
    tsri_free(h->dw);
    tsri_free(h->way);
    tsri_free(h->a);
    tsri_free(h->u);
    tsri_free(h->u0);
    tsri_free(h->sum);
    tsri_free(h->sum0);
    tsri_free(h->drawn);
    tsri_free(h->b);
    tsri_free(h->v);
    tsri_free(h->owned);
    tsri_free(h->owners);
}

/* ---- Shares ------------------------------------------------------------------------------- */

/* The seed of a draw: the run's for its own masks, another stream of it for each other one. */
static uint64_t seed_of(const tsri_run_view *view, int64_t draw)
{
    tsri_rng rng =
        tsri_rng_stream(view->settings->seed, TSRI_FOR_THEORY, draw, view->position->round, 0);
    uint64_t high = tsri_rng_u32(&rng);
    return draw == 0 ? view->settings->seed : high << 32 | tsri_rng_u32(&rng);
}

static void find_share(ahead *h, int64_t l)
{
    const tsri_run_view *view = h->g->view;
    const tsri_draw *draw = tsri_team_draws(view->team);
    const tsri_pick *pick = &h->share.pick[tsri_axis_find(view->net, "hidden")];
    if (draw)
        tsri_share_draw(&h->share, draw, seed_of(view, h->o->draw), view->position->round, l);
    h->units = pick->whole ? h->g->m : pick->count;
    h->unit = pick->whole ? h->every : pick->index;
}

/* How many shares each unit will be in: the mixing function is a mean over them. */
static void count_owners(ahead *h)
{
    for (int64_t l = 0; h->drawn && l < h->g->p; l++) {
        find_share(h, l);
        for (int64_t u = 0; u < h->units; u++)
            h->drawn[h->unit[u]]++;
    }
}

static tsr_status take_share(ahead *h, int64_t l)
{
    const float *w = tsri_masked_weights(h->g);
    int64_t d = h->g->d;
    find_share(h, l);
    for (int64_t u = 0; u < h->units; u++) {
        memcpy(h->w + u * d, w + h->unit[u] * d, (size_t)d * sizeof *w);
        h->a[u] = h->g->a[h->unit[u]];
        if (h->drawn)
            h->b[u] = h->a[u] / (float)h->drawn[h->unit[u]];
    }
    tsri_tensor t = {.dtype = TSRI_I64, .dims = 1, .shape = {h->units}, .data = h->unit};
    return tsri_note(h->g->view, &t, "share.%lld.%lld", (long long)h->o->draw, (long long)l);
}

/* How far the share's units are from where the round and the run began. */
static double moved(ahead *h)
{
    double most = 0, radius = 0;
    int64_t d = h->g->d;
    for (int64_t u = 0; u < h->units; u++) {
        double round = 0, view = 0;
        for (int64_t c = 0; c < d; c++) {
            double step = h->way[u * d + c];
            double from = h->g->w0 ? (double)h->g->w0[h->unit[u] * d + c] : (double)NAN;
            round += step * step;
            view += ((double)h->w[u * d + c] - from) * ((double)h->w[u * d + c] - from);
        }
        most = fmax(most, round);
        radius = fmax(radius, view);
    }
    if (h->g->w0)
        h->out->radius = fmax(h->out->radius, sqrt(radius));
    h->out->travel = fmax(h->out->travel, sqrt(most));
    return sqrt(most);
}

/* m o H of the share as it is. Only a kernel with a smaller eigenvalue than all before it changes
 * what is asked for, and Cholesky's factor tells whether it has one. */
static tsr_status look_at_kernel(ahead *h, tsri_signs *bits)
{
    tsr_status st = TSR_OK;
    tsri_masked_ground *g = h->g;
    tsri_eigen low = {0}, high;
    bool above = false;
    double rounding = (double)g->n * 2.3e-16;
    h->out->kernels++;
    if (bits->n == 0) /* of no unit: zero */
        h->out->least = fmin(h->out->least, 0);
    if (h->out->least <= rounding) /* a Gram matrix has nothing below 0 */
        return TSR_OK;
    TSR_TRY(tsri_kernel_bits(g->k, g->gram, bits, 1 / (double)g->m, g->view->device.pool));
    if (isfinite(h->out->least))
        TSR_TRY(tsri_spectrum_above(&above, g->work, g->k, g->n, h->out->least * (1 - 1e-9)));
    if (above)
        return TSR_OK;
    TSR_TRY(tsri_spectrum_proven(&low, &high, g->work, g->k, g->n, g->view->device.pool));
    h->out->least = fmin(h->out->least, low.value);
done:
    return st;
}

/* ---- Local steps -------------------------------------------------------------------------- */

/* Outputs of the share; where `bits` are wanted its kernel too, with dw the gradient. */
static tsr_status pass(ahead *h, double *loss, double *blur, bool first, bool gradient, bool kernel)
{
    tsr_status st = TSR_OK;
    tsri_signs bits = {0};
    tsri_masked_pass p = {.w = h->w,
                          .a = h->a,
                          .units = h->units,
                          .scale = h->g->scale,
                          .u = h->u,
                          .b = first ? h->b : NULL,
                          .v = h->v,
                          .bits = kernel ? &bits : NULL,
                          .gradient = gradient ? h->dw : NULL};
    TSR_TRY(tsri_masked_run_pass(&p, h->g));
    *loss = p.loss;
    *blur = p.blur;
    if (kernel)
        TSR_TRY(look_at_kernel(h, &bits));
done:
    tsri_signs_fini(&bits);
    return st;
}

/* g_r = eta_r sum over l of the gradients: sums now, divided when all shares are there. The mixing
 * function f_r = eta_r sum over l of m_r^l u^l is not made: each share adds u^l v^l to its product
 * with the outputs' signs. */
static void mix(ahead *h)
{
    for (int64_t i = 0; h->o->mixed && i < h->g->n; i++)
        h->o->mixing[i] += h->u[i] * h->v[i];
    for (int64_t u = 0; h->o->mixed && u < h->units; u++)
        for (int64_t c = 0; c < h->g->d; c++)
            h->o->mixed[h->unit[u] * h->g->d + c] += (double)h->dw[u * h->g->d + c];
}

/* Lemma 5, after t steps; `rounding` is that of all outputs, before and after. */
static void note_drift(ahead *h, int64_t t, double first, double rounding)
{
    double may = h->o->eta * (double)t * sqrt((double)h->g->n) * sqrt(first);
    if (!(may > 0))
        return;
    for (int64_t i = 0; i < h->g->n; i++)
        h->out->drift = fmax(h->out->drift, fabs(h->u[i] - h->u0[i]) / may);
    h->out->drift_blur = fmax(h->out->drift_blur, rounding / may);
}

/* From t = 0 to tau: loss[t] = ||y - u_t^l||^2. */
static tsr_status local_steps(ahead *h, double *last)
{
    tsr_status st = TSR_OK;
    double loss = 0, first = 0, before = 0, most = 0, blur = 0, blur_before = 0, rounding = 0;
    int64_t steps = h->o->steps, count = h->units * h->g->d;
    memset(h->way, 0, (size_t)count * sizeof *h->way);
    for (int64_t t = 0; t <= steps; t++) {
        bool kernel = h->o->kernels && (t < steps || steps == 0);
        before = loss;
        blur_before = blur;
        TSR_TRY(pass(h, &loss, &blur, t == 0, t < steps, kernel));
        if (t == 0) {
            first = loss;
            rounding = blur * sqrt(loss) / 2;
            memcpy(h->u0, h->u, (size_t)h->g->n * sizeof *h->u);
            mix(h);
        } else {
            if (before > 0) {
                h->out->ratio = fmax(h->out->ratio, loss / before);
                h->out->blur = fmax(h->out->blur, (blur + blur_before) * loss / before);
            }
            note_drift(h, t, first, rounding + blur * sqrt(loss) / 2);
        }
        if (t == steps)
            break;
        for (int64_t i = 0; i < count; i++) {
            h->w[i] -= (float)h->o->eta * h->dw[i];
            h->way[i] -= h->o->eta * (double)h->dw[i];
        }
        most = fmax(most, moved(h));
    }
    double may = h->o->eta * (double)steps * sqrt((double)h->g->n / (double)h->g->m * first);
    if (may > 0)
        h->out->reach = fmax(h->out->reach, most / may);
    *last = loss;
done:
    return st;
}

/* What the share leaves behind: its outputs and weights in the sums over shares. */
static void leave(ahead *h, double loss)
{
    const double *u = h->o->u;
    for (int64_t i = 0; i < h->g->n; i++) {
        double off = u[i] - h->u0[i];
        h->out->sampled += off * off;
        h->out->outputs += u[i] * u[i] + h->u0[i] * h->u0[i];
        h->squares0 += h->u0[i] * h->u0[i];
        h->squares += h->u[i] * h->u[i];
        h->sum0[i] += h->u0[i];
        h->sum[i] += h->u[i];
    }
    h->out->ends += loss / (double)h->g->p;
    for (int64_t k = 0; k < h->units; k++) {
        double *to = h->owned + h->unit[k] * h->g->d;
        h->owners[h->unit[k]]++;
        for (int64_t c = 0; c < h->g->d; c++)
            to[c] += (double)h->w[k * h->g->d + c];
    }
}

/* ---- Aggregation -------------------------------------------------------------------------- */

/* Sum over pairs l' < l of ||u^l - u^l'||^2 = p sum ||u^l||^2 - ||sum u^l||^2. */
static double over_pairs(const ahead *h, double squares, const double *sum)
{
    double all = 0;
    for (int64_t i = 0; i < h->g->n; i++)
        all += sum[i] * sum[i];
    return fmax((double)h->g->p * squares - all, 0);
}

/* A unit's new weights are the mean over its owners; w is where they go. */
static tsr_status aggregate(ahead *h)
{
    tsr_status st = TSR_OK;
    int64_t m = h->g->m, d = h->g->d;
    double p = (double)h->g->p;
    const float *w = tsri_masked_weights(h->g);
    for (int64_t i = 0; i < m * d; i++) {
        int64_t owners = h->owners[i / d];
        h->w[i] = owners ? (float)(h->owned[i] / (double)owners) : w[i];
        if (h->o->mixed && owners)
            h->o->mixed[i] /= (double)owners;
    }
    tsri_masked_pass whole = {.w = h->w, .a = h->g->a, .units = m, .scale = h->g->whole, .u = h->u};
    TSR_TRY(tsri_masked_run_pass(&whole, h->g));
    h->out->loss = whole.loss;
    h->out->parted = over_pairs(h, h->squares, h->sum) / (p * p);
done:
    return st;
}

tsr_status tsri_masked_ahead(tsri_masked_round *out, tsri_masked_ground *g,
                             const tsri_masked_draw_options *o)
{
    tsr_status st = TSR_OK;
    ahead h = {.g = g, .o = o, .out = out};
    *out = (tsri_masked_round){.least = o->least, .radius = g->w0 ? 0 : (double)NAN};
    TSR_TRY(ahead_init(&h));
    if (o->mixed) {
        memset(o->mixed, 0, (size_t)(g->m * g->d) * sizeof *o->mixed);
        memset(o->mixing, 0, (size_t)g->n * sizeof *o->mixing);
    }
    count_owners(&h);
    for (int64_t l = 0; l < g->p; l++) {
        double last = 0;
        TSR_TRY(take_share(&h, l));
        TSR_TRY(local_steps(&h, &last));
        leave(&h, last);
    }
    out->pairs = over_pairs(&h, h.squares0, h.sum0) / (double)g->p;
    if (o->steps > 0)
        TSR_TRY(aggregate(&h));
done:
    ahead_fini(&h);
    return st;
}
