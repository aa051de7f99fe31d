/* loft.c - certificate of "LoFT: Finding Lottery Tickets through Filter-wise Training" (Wang, Dun,
 * Liao, Jermaine, Kyrillidis 2022), section 5 and appendices B, C: the one-hidden-layer CNN (model
 * cnn1, one output), masks thrown filter by filter, one local step (scheme masked), beside gradient
 * descent on the xi-scaled network from the same start.
 *
 * Gradient descent is computed anew from the start for each certificate: it needs no state, and a
 * step of cnn1 is cheap beside the kernel.
 *
 * Departure: the paper's Lemma 3 writes x_i where its proof has patches; both sums are over patches
 * here, the largest of them reported.
 */
#include "theory/papers.h"

#include "base/alloc.h"
#include "linalg/gemm.h"
#include "linalg/openblas.h"
#include "net/order.h"
#include "scheme/team.h"
#include "theory/fall.h"
#include "theory/loft_bounds.h"
#include "theory/loft_paths.h"
#include "theory/masked_bounds.h"
#include "theory/ntk.h"
#include "theory/ntk_shallow.h"

#include <math.h>
#include <string.h>

static bool applies(const tsri_run *run)
{
    return strcmp(tsri_config_text(run->config, "model.name"), "cnn1") == 0 &&
           run->net->outputs == 1 && run->data->train.target && run->loss == TSRI_HALF_SQUARES;
}

/* ---- Measuring ---------------------------------------------------------------------------- */

typedef struct look {
    tsri_run *run;
    tsri_loft s;
    float *x, *patch; /* [n, input], [n p, d] */
    float *w, *w0;    /* filters [m, d] in the order of the patches; w0 NULL = not known */
    double *k;
    tsri_store first;
    double norm_error, least_distance, largest_target, radius, flips, initial, patch_sum, loss;
    tsri_eigen lambda_0, lambda;
    double distance, difference;
} look;

static int64_t rows_of(const look *l)
{
    return (int64_t)(l->s.n * l->s.p);
}

/* Filters lie [size, size, in, out] or [out, in, size, size]: here [out][in][size][size]. */
static void take_filters(float *to, const tsri_store *store, const tsri_net *net)
{
    const tsri_param *w = &net->param[net->layer[0].weight];
    const float *from = tsri_store_at(store, store->w, net->layer[0].weight);
    tsri_order_to_file(to, from, w);
}

static void take_patches(look *l)
{
    const tsri_net *net = l->run->net;
    tsri_shape s = net->input;
    int64_t side = net->layer[0].size, half = side / 2, p = s.h * s.w;
    float *to = l->patch;
    for (int64_t i = 0; i < (int64_t)l->s.n; i++)
        for (int64_t j = 0; j < p; j++)
            for (int64_t c = 0; c < s.c; c++)
                for (int64_t y = j / s.w - half; y <= j / s.w + half; y++)
                    for (int64_t z = j % s.w - half; z <= j % s.w + half; z++)
                        *to++ = y >= 0 && y < s.h && z >= 0 && z < s.w
                                    ? l->x[i * tsri_shape_count(s) + (c * s.h + y) * s.w + z]
                                    : 0;
}

static void measure_data(look *l)
{
    int64_t n = (int64_t)l->s.n, each = tsri_shape_count(l->run->net->input);
    double want = 1 / (double)l->run->net->layer[0].size; /* q^(-1/2) */
    l->least_distance = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t e = 0; e < each; e++)
            square += (double)l->x[i * each + e] * (double)l->x[i * each + e];
        l->norm_error = fmax(l->norm_error, fabs(sqrt(square) / want - 1));
        l->largest_target = fmax(l->largest_target, fabs((double)l->run->data->train.target[i]));
        for (int64_t j = 0; j < i; j++) {
            double apart = 0;
            for (int64_t e = 0; e < each; e++) {
                double d = (double)l->x[i * each + e] - (double)l->x[j * each + e];
                apart += d * d;
            }
            l->least_distance = fmin(l->least_distance, sqrt(apart));
        }
    }
}

/* Patterns flipped since the start, of the patch that has most; and for the first weights the
 * largest sum over filters of <w_0,r, patch>^2. */
static tsr_status measure_patches(look *l)
{
    tsr_status st = TSR_OK;
    tsri_signs now = {0}, then = {0};
    float *z = NULL;
    int64_t rows = rows_of(l), d = (int64_t)l->s.d, m = (int64_t)l->s.m, most = 0;
    TSR_TRY(tsri_patterns(&now, l->patch, rows, d, l->w, m, l->run->pool));
    TSR_TRY(tsri_patterns(&then, l->patch, rows, d, l->w0, m, l->run->pool));
    TSR_TRY(tsri_alloc_raw(&z, m, sizeof *z));
    for (int64_t i = 0; i < rows; i++) {
        int64_t flips = tsri_signs_differ(&now, &then, i);
        most = flips > most ? flips : most;
        tsri_gemm g = {.b_transposed = true, .m = 1, .n = m, .k = d, .b = l->w0, .c = z};
        g.a = l->patch + i * d;
        TSR_TRY(tsri_gemm_run(&g, l->run->pool));
        double sum = 0;
        for (int64_t r = 0; r < m; r++)
            sum += (double)z[r] * (double)z[r];
        l->patch_sum = fmax(l->patch_sum, sum);
    }
    l->flips = (double)most;
    for (int64_t r = 0; r < m; r++) {
        double moved = 0;
        for (int64_t c = 0; c < d; c++) {
            double step = (double)l->w[r * d + c] - (double)l->w0[r * d + c];
            moved += step * step;
            l->initial += (double)l->w0[r * d + c] * (double)l->w0[r * d + c];
        }
        l->radius = fmax(l->radius, sqrt(moved));
    }
    l->initial = sqrt(l->initial);
done:
    tsri_signs_fini(&now);
    tsri_signs_fini(&then);
    tsri_free(z);
    return st;
}

/* H(t) is the kernel of f without the factor xi. */
static tsr_status measure_kernels(look *l, const tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_run *run = l->run;
    tsri_eigen high;
    int64_t n = (int64_t)l->s.n;
    tsri_tangent whole = {.output = 0};
    l->lambda_0 = (tsri_eigen){tsri_past_at(past, 0, "lambda_0"), 0};
    if (isnan(l->lambda_0.value)) {
        TSR_TRY(tsri_kernel_cnn1_infinite(l->k, l->x, n, run->net, run->pool));
        TSR_TRY(tsri_spectrum_ends(&l->lambda_0, &high, l->k, n, run->pool));
    }
    TSR_TRY(tsri_tangent_kernel(l->k, &run->store, run->backend, run->pool, l->x, n, &whole));
    TSR_TRY(tsri_spectrum_ends(&l->lambda, &high, l->k, n, run->pool));
    l->lambda.value /= l->s.xi * l->s.xi;
done:
    return st;
}

/* LoFT's weights now beside those of as many steps of gradient descent. */
static tsr_status measure_paths(look *l)
{
    tsr_status st = TSR_OK;
    tsri_descent gd = {0};
    TSR_TRY(tsri_descent_init(&gd, l->run, l->first.w));
    for (int64_t t = 0; t < l->run->round; t++)
        TSR_TRY(tsri_descent_step(&gd));
    l->distance = tsri_descent_weights(&gd, &l->run->store);
    TSR_TRY(tsri_descent_outputs(&l->difference, &gd, &l->run->store));
done:
    tsri_descent_fini(&gd);
    return st;
}

static tsri_loft letters(const tsri_run *run)
{
    const tsri_net *net = run->net;
    const tsri_layer *conv = &net->layer[0];
    tsri_chances chances = tsri_team_chances(run);
    tsri_loft s = {.n = (double)run->data->train.n,
                   .d = (double)(net->input.c * conv->size * conv->size),
                   .p = (double)(net->input.h * net->input.w),
                   .m = (double)net->value[conv->out].shape.c,
                   .S = (double)run->workers,
                   .T = (double)run->rounds,
                   .xi = chances.xi,
                   .theta = chances.theta,
                   .kappa = tsri_config_real(run->config, "model.kappa"),
                   .eta = tsri_rates_of(run).most,
                   .delta = tsri_config_real(run->config, "certify.delta")};
    return s;
}

static void close_look(look *l)
{
    tsri_store_fini(&l->first);
    tsri_free(l->x);
    tsri_free(l->patch);
    tsri_free(l->w);
    tsri_free(l->w0);
    tsri_free(l->k);
}

static tsr_status open_look(look *l, tsri_run *run)
{
    tsr_status st = TSR_OK;
    *l = (look){.run = run, .s = letters(run)};
    int64_t n = (int64_t)l->s.n, filters = (int64_t)(l->s.m * l->s.d);
    TSR_TRY(tsri_openblas_start(tsri_pool_threads(run->pool)));
    TSR_TRY(tsri_take_samples(&l->x, run->data, &run->data->train, n));
    TSR_TRY(tsri_alloc_raw(&l->patch, rows_of(l) * (int64_t)l->s.d, sizeof *l->patch));
    TSR_TRY(tsri_alloc_raw(&l->w, filters, sizeof *l->w));
    TSR_TRY(tsri_alloc_raw(&l->w0, filters, sizeof *l->w0));
    TSR_TRY(tsri_alloc_raw(&l->k, n * n, sizeof *l->k));
    TSR_TRY(tsri_store_init(&l->first, run->net, sizeof(float), false));
    if (run->round == 0)
        memcpy(l->first.w, run->store.w, (size_t)run->net->total * sizeof(float));
    else
        tsri_store_fill(&l->first, run->seed);
    take_patches(l);
    take_filters(l->w, &run->store, run->net);
    take_filters(l->w0, &l->first, run->net);
done:
    return st;
}

static tsr_status measure(look *l, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsr_result result;
    tsri_run *run = l->run;
    measure_data(l);
    TSR_TRY(measure_patches(l));
    TSR_TRY(measure_kernels(l, past));
    TSR_TRY(measure_paths(l));
    TSR_TRY(tsri_evaluate(&result, &run->store, run->backend, run->pool, run->data,
                          &run->data->train, run->loss));
    l->loss = result.loss;
    l->s.lambda = l->lambda_0.value;
    TSR_TRY(tsri_past_keep(past, "loss", l->loss));
    TSR_TRY(tsri_past_keep(past, "lambda_0", l->lambda_0.value));
    TSR_TRY(tsri_past_keep(past, "lambda", l->lambda.value));
    TSR_TRY(tsri_past_keep(past, "radius", l->radius));
    TSR_TRY(tsri_past_keep(past, "flips", l->flips));
    TSR_TRY(tsri_past_keep(past, "distance", l->distance));
    TSR_TRY(tsri_past_keep(past, "difference", l->difference));
    TSR_TRY(tsri_past_keep(past, "start", l->initial));
done:
    return st;
}

/* ---- Rows --------------------------------------------------------------------------------- */

static void assumptions(tsri_certificate *c, const look *l)
{
    tsri_certify_old(c, "Assumption 1", TSRI_AT_MOST, l->norm_error, 1e-5,
                     "largest | ||x_i|| sqrt(q) - 1 |: images of length q^(-1/2)");
    tsri_certify_old(c, "Assumption 1", TSRI_AT_LEAST, l->least_distance, 1e-6,
                     "least distance of two images: all different");
    tsri_certify_old(c, "Assumption 1", TSRI_MEASURED, l->largest_target, 0, "C = max |y_i|");
    tsri_certify_old(c, "section 5", TSRI_AT_MOST, (double)l->run->local_steps, 1, "local steps");
    tsri_certify_old(c, "section 5", TSRI_AT_LEAST, (double)l->run->batch, l->s.n,
                     "samples in a step");
    tsri_certify_old(c, "section 5", TSRI_AT_MOST, l->run->momentum, 0, "momentum");
    tsri_certify_old(c, "section 5", TSRI_MEASURED, l->s.xi, 0, "xi, the chance of a filter");
    tsri_certify_old(c, "section 5", TSRI_MEASURED, l->s.theta, 0,
                     "theta, the chance to be in a share");
}

static void lemmas(tsri_certificate *c, const look *l, const tsri_past *past)
{
    const tsri_loft *s = &l->s;
    double R = tsri_loft_radius(s);
    bool moved = c->round > 0;
    tsri_certify_old(c, "appendix B.3", TSRI_AT_LEAST, s->lambda, l->lambda_0.error,
                     "lambda_0, smallest eigenvalue of H_inf");
    tsri_certify_old(c, "Lemma 1", TSRI_AT_MOST,
                     moved ? tsri_past_most(past, "flips") : (double)NAN, 3 * s->m * R / s->kappa,
                     "most patterns flipped on a patch: 3 m R / kappa");
    tsri_certify_old(c, "Lemma 2", TSRI_AT_MOST, l->initial,
                     s->kappa * sqrt(2 * s->m * s->d) - sqrt(s->m) * R,
                     "||W_0||_F: kappa sqrt(2md) - sqrt(m) R");
    tsri_certify_old(c, "Lemma 3", TSRI_AT_MOST, l->patch_sum,
                     2 * s->m * s->kappa * s->kappa - s->m * R * R,
                     "largest sum_r <w_0,r, patch>^2: 2 m kappa^2 - m R^2");
    double L_0 = tsri_past_at(past, 0, "loss");
    tsri_certify_old(c, "Lemma 4", TSRI_AT_MOST, L_0,
                     (1 / s->p + l->largest_target * l->largest_target) * s->n,
                     "||y - u_0||^2: (1/p + C^2) n");
    tsri_certify_old(c, "Lemma 5", TSRI_AT_LEAST, s->m, tsri_loft_width5(s),
                     "width m: n^2 log(n/delta) / lambda_0^2");
    tsri_certify_old(c, "Lemma 5", TSRI_AT_MOST,
                     moved ? tsri_past_most(past, "radius") : (double)NAN, R,
                     "largest ||w_r - w_0,r|| so far: kappa lambda_0 / n");
    tsri_certify_old(c, "Lemma 5", TSRI_AT_LEAST, tsri_past_least(past, "lambda"), s->lambda / 2,
                     "least lambda_min(H(t)) so far: lambda_0/2");
}

/* The sum over rounds of eta times the output differences; between certificates the last one seen
 * stands for the rounds that were not looked at. */
static double summed(const look *l, const tsri_past *past)
{
    double sum = 0;
    for (int64_t t = 0; t < past->round; t++)
        sum += tsri_past_at(past, t, "difference") * tsri_rate_of(l->run, t);
    return sum;
}

static void theorem1(tsri_certificate *c, const look *l, const tsri_past *past)
{
    tsri_loft s = l->s;
    tsri_certify_old(c, "Theorem 1", TSRI_AT_LEAST, s.m, tsri_loft_width1(&s),
                     "width m: n^4 K^2 max(n,d) / (lambda_0^3 delta^2)");
    tsri_certify_old(c, "Theorem 1", TSRI_AT_MOST, s.eta, tsri_loft_step(&s),
                     "step eta: lambda_0 / n^2");
    int64_t rounds = c->round > 0 ? c->round : l->run->rounds;
    s.squares = tsri_rates_squares(l->run, 0, rounds);
    tsri_certify_old(
        c, "Theorem 1", TSRI_MEASURED, tsri_loft_bound_m(&s), 0,
        "bound, term of the width: n^2 sqrt(d) / (lambda_0^2 kappa m^(1/4) sqrt(delta))");
    tsri_certify_old(
        c, "Theorem 1", TSRI_MEASURED, tsri_loft_bound_S(&s), 0,
        tsri_rates_of(l->run).constant
            ? "bound, term of the shares: 2 eta^2 T theta^2 (1-xi) lambda_0 / S"
            : "bound, term of the shares: 2 sum_t eta_t^2 theta^2 (1-xi) lambda_0 / S");
    double distance = c->round > 0 ? l->distance : (double)NAN;
    tsri_certify_old(c, "Theorem 1", TSRI_MEASURED, distance, 0,
                     "||W_T - W^_T||_F^2, LoFT beside gradient descent");
    tsri_certify_old(c, "Theorem 1", TSRI_MEASURED, c->round > 0 ? summed(l, past) : (double)NAN, 0,
                     "eta sum_t ||f(X,W_t) - f(X,W^_t)||^2");
    tsri_certify_old(c, "Theorem 1", TSRI_AT_MOST, distance + summed(l, past),
                     tsri_loft_bound_m(&s) + tsri_loft_bound_S(&s),
                     "both together: the two terms of the bound");
}

static double rate1(const void *context, double eta)
{
    tsri_loft s = *(const tsri_loft *)context;
    s.eta = eta;
    return tsri_loft_rate(&s);
}

static tsr_status corollary1(tsri_certificate *c, const look *l, const tsri_past *past)
{
    const tsri_loft *s = &l->s;
    tsri_promise p = {.where = "Corollary 1",
                      .loss = "L_k",
                      .what = "L_0",
                      .rate = rate1,
                      .context = s,
                      .run = l->run,
                      .floor = tsri_loft_floor(s),
                      .first = tsri_past_at(past, 0, "loss")};
    tsri_certify_old(c, "Theorem 2 (app.)", TSRI_AT_LEAST, s->m, tsri_loft_width2(s),
                     "width m: n^3 K^2 max(n,d) / (lambda_0^4 delta^2 kappa^2)");
    tsri_certify_rate(c, &p, "theta eta lambda_0 / 2");
    tsri_certify_old(c, "Corollary 1", TSRI_MEASURED, p.floor, 0,
                     "proven floor xi(1-xi) n^3 d / (m lambda_0^2) + n kappa^2 (theta-xi^2) / S");
    return tsri_certify_fall(c, past, &p);
}

static tsr_status certify(tsri_certificate *c, tsri_run *run, tsri_past *past)
{
    tsr_status st = TSR_OK;
    look l = {0};
    TSR_TRY(open_look(&l, run));
    TSR_TRY(measure(&l, past));
    assumptions(c, &l);
    lemmas(c, &l, past);
    theorem1(c, &l, past);
    TSR_TRY(corollary1(c, &l, past));
    tsri_certify_note(c, "n %g, d %g, p %g, m %g, S %g, T %g, kappa %g, eta %g, delta %g", l.s.n,
                      l.s.d, l.s.p, l.s.m, l.s.S, l.s.T, l.s.kappa, l.s.eta, l.s.delta);
    tsri_certify_note(c, "constants hidden by Omega and O are taken as 1");
    tsri_certify_note(c, "the theorems bound expectations over masks; these are of this run");
    if (tsri_past_at(past, 0, "start") != l.initial)
        tsri_certify_note(c, "the run began from a file: distances are from the seed's weights, "
                             "which are not its own");
    const tsri_draw *draw = tsri_team_draws(run);
    if (draw && draw->kind != TSRI_DRAW_BERNOULLI)
        tsri_certify_note(c, "the theory throws each filter by itself; this run draws otherwise");
done:
    close_look(&l);
    return st;
}

const tsri_paper tsri_paper_loft = {
    .name = "loft",
    .title = "Wang, Dun, Liao, Jermaine, Kyrillidis: LoFT: Finding Lottery Tickets through "
             "Filter-wise Training",
    .applies = applies,
    .certify = certify};
