/* gated_step.c - one step of descent: the gradient of all samples, and Lemma 2 of the GReLU paper.
 *
 *     l(W_(t+1)) - l(W_t) <= sum_i (Lambda_i + eta^2 a_i)/2 |r_i|^2
 *                            + sum_i eta^2 (3 eta^2 + 1/a_i)/2 |Delta_i x_i|^2           (13)
 *
 * for any a_i > 0; r_i = y_i - target. The best a_i, |Delta_i x_i| / |r_i|, leave eta^2 |Delta_i
 * x_i| |r_i|. By Lemma 1 eta^2 Delta_i x_i is what the step does to the output of sample i beyond
 * its first order. The third term of Lambda_i has lambda_max(F F^T) in (13), where its proof, (30),
 * has the square: both are shown.
 */
#include "theory/gated.h"

#include "base/alloc.h"
#include "optim/step.h"

#include <math.h>
#include <string.h>

/* ---- The gradient ---------------------------------------------------------------------------- */

enum { BATCH = 256 };

/* What the mean of a batch counts in that of all; of a sum, all. */
static float weight(const tsri_run_view *view, const tsri_batch *b)
{
    return view->settings->loss->sum ? 1.0f : (float)b->n / (float)view->data->train.n;
}

static tsr_status add_batch(float *sum, tsri_store *store, tsri_step *step,
                            const tsri_run_view *view, const tsri_batch *b)
{
    tsr_status st = TSR_OK;
    tsri_opened host = {0};
    TSR_TRY(tsri_step_gradient(step, b, 0));
    TSR_TRY(tsri_store_open(&host, store, TSRI_OPEN_GRADIENT));
    const float *g = host.g;
    for (int64_t i = 0; i < view->net->trained; i++)
        sum[i] += weight(view, b) * g[i];
done:
    tsri_store_close(&host);
    return st;
}

tsr_status tsri_gated_gradient(float *gradient, const tsri_run_view *view, const float *trained)
{
    tsr_status st = TSR_OK;
    tsri_store store = {0};
    tsri_loader *loader = NULL;
    tsri_plan *plan = NULL;
    tsri_step step = {0};
    tsri_aim aim = {.kind = view->settings->loss};
    const tsri_part *part = &view->data->train;
    size_t bytes = (size_t)view->net->trained * sizeof *gradient;
    tsri_loader_options o = {.batch = part->n < BATCH ? part->n : BATCH, .shards = 1};
    memset(gradient, 0, bytes);
    TSR_TRY(tsri_store_init(&store, view->net, view->device.backend, true));
    TSR_TRY(tsri_store_copy(&store, view->store));
    if (trained)
        TSR_TRY(store.heap->in(store.w, trained, (int64_t)bytes));
    TSR_TRY(tsri_loader_create(&loader, view->data, part, &o));
    TSR_TRY(tsri_plan_create(&plan, &store, view->device, o.batch, true));
    TSR_TRY(tsri_step_init(&step, plan, &aim, NULL));
    for (int64_t i = 0; i < tsri_loader_steps(loader); i++) {
        const tsri_batch *b = NULL;
        TSR_TRY(tsri_loader_get(loader, &b, i));
        TSR_TRY(add_batch(gradient, &store, &step, view, b));
    }
done:
    tsri_step_fini(&step);
    tsri_plan_destroy(plan);
    tsri_loader_destroy(loader);
    tsri_store_fini(&store);
    return st;
}

/* ---- Lemma 2 --------------------------------------------------------------------------------- */

/* Lambda_i, with lambda_max to this power. */
static double lambda(const tsri_gated_pairs *p, const tsri_gated_ends *e, int64_t i, double eta,
                     int power)
{
    double L = (double)p->L, n = (double)p->n, own = 0, most = 0;
    for (int64_t k = 1; k <= p->L; k++) {
        const double *end = p->end_y + (i * (p->L + 1) + k) * 2;
        double square = p->length2[i * (p->L + 1) + k - 1];
        own += end[0] * e->least[i * (p->L + 1) + k - 1];
        most += (power == 2 ? end[1] * end[1] : end[1]) * square * square;
    }
    return -2 * eta * own + 2 * eta * p->sum[i] + 3 * eta * eta * L * most +
           3 * eta * eta * n * L * p->squares[i];
}

/* What sample i adds to the change and to both bounds; y [dy] are its outputs after the step. */
static void add_sample(tsri_gated_fall *f, const tsri_gated_pairs *p, const tsri_gated_ends *e,
                       int64_t i, const double *target, const double *y, double eta)
{
    double r2 = 0, after2 = 0, beyond2 = 0;
    for (int64_t q = 0; q < p->dy; q++) {
        double r = p->residual[i * p->dy + q], after = y[q] - target[q];
        double beyond = after - r + eta * p->push[i * p->dy + q];
        r2 += r * r;
        after2 += after * after;
        beyond2 += beyond * beyond;
    }
    double rest = sqrt(beyond2 * r2) + 1.5 * beyond2;
    f->change += (after2 - r2) / 2;
    f->bound += lambda(p, e, i, eta, 2) / 2 * r2 + rest;
    f->printed += lambda(p, e, i, eta, 1) / 2 * r2 + rest;
}

tsr_status tsri_gated_fall_of(tsri_gated_fall *f, const tsri_run_view *view,
                              const tsri_gate_table *gates, const tsri_gated_pairs *p,
                              const tsri_gated_ends *e, const float *gradient, double eta,
                              int64_t block)
{
    tsr_status st = TSR_OK;
    tsri_gated v = {0};
    double *target = NULL;
    *f = (tsri_gated_fall){0};
    TSR_TRY(tsri_alloc_raw(&target, block * p->dy, sizeof *target));
    for (int64_t from = 0; from < p->n; from += block) {
        tsri_gated_part part = {.from = from,
                                .n = p->n - from < block ? p->n - from : block,
                                .gates = gates,
                                .step = gradient,
                                .eta = eta};
        TSR_TRY(tsri_gated_init(&v, view, &view->seen, &part));
        tsri_gated_targets(target, view, from, v.n);
        for (int64_t i = 0; i < v.n; i++)
            add_sample(f, p, e, from + i, target + i * p->dy, v.y + i * p->dy, eta);
        tsri_gated_fini(&v);
    }
done:
    tsri_free(target);
    tsri_gated_fini(&v);
    return st;
}
