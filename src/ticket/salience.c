/* salience.c - how much the loss depends on a unit (salience.h). */
#include "ticket/salience.h"

#include "base/alloc.h"
#include "base/log.h"
#include "model/whole.h"
#include "net/order.h"
#include "run/loss_choice.h"
#include "run/recipe.h"
#include "run/run.h"
#include "ticket/hessian.h"
#include "ticket/statistics.h"
#include "train/describe.h"

#include <math.h>
#include <string.h>

/* Of the weights' length, where H g is a difference in f32: small beside the kinks of ReLUs, large
 * beside the rounding. */
#define STEP 0.0002

/* The run that gives gradients, and room for them: all [trained]. */
typedef struct bench {
    tsri_run run;
    tsri_plan *plan;
    tsri_step step;
    tsri_loader *loader;
    int64_t batches;
    float *one, *weight;
    double *g, *more, *less;
} bench;

static void bench_fini(bench *b)
{
    tsri_step_fini(&b->step);
    tsri_plan_destroy(b->plan);
    tsri_loader_destroy(b->loader);
    tsri_run_fini(&b->run);
    tsri_free(b->one);
    tsri_free(b->weight);
    tsri_free(b->g);
    tsri_free(b->more);
    tsri_free(b->less);
}

/* Batches of the whole training set. */
static tsri_loader_options loader_of(const tsri_run *run)
{
    tsri_loader_options o = tsri_run_loader(&run->settings, run->settings.workers);
    o.shard = 0;
    o.shards = 1;
    o.prefetch = false;
    o.bare = false;
    return o;
}

static tsr_status bench_init(bench *b, const tsri_store *weights)
{
    tsr_status st = TSR_OK;
    int64_t n = b->run.net->trained;
    tsri_aim aim = tsri_run_aim(&b->run.settings);
    tsri_loader_options o = loader_of(&b->run);
    TSR_TRY(tsri_ticket_copy_numbers(&b->run.store, weights));
    TSR_TRY(tsri_loader_create(&b->loader, b->run.data, &b->run.data->train, &o));
    TSR_TRY(tsri_run_plan(&b->plan, &b->run));
    TSR_TRY(tsri_step_init(&b->step, b->plan, &aim, NULL));
    TSR_TRY(tsri_alloc(&b->one, n, sizeof *b->one));
    TSR_TRY(tsri_alloc(&b->weight, b->run.net->total, sizeof *b->weight));
    TSR_TRY(tsri_alloc(&b->g, n, sizeof *b->g));
    TSR_TRY(tsri_alloc(&b->more, n, sizeof *b->more));
    TSR_TRY(tsri_alloc(&b->less, n, sizeof *b->less));
    TSR_TRY(tsri_store_read(b->weight, &b->run.store, TSRI_WEIGHTS));
done:
    return st;
}

/* The mean gradient of the batches at weight + h along, or at the weights as they are. */
static tsr_status gradient(double *g, bench *b, double h, const double *along)
{
    tsr_status st = TSR_OK;
    int64_t n = b->run.net->trained;
    float *moved = NULL;
    TSR_TRY(tsri_alloc(&moved, b->run.net->total, sizeof *moved));
    memcpy(moved, b->weight, (size_t)b->run.net->total * sizeof *moved);
    for (int64_t i = 0; along && i < n; i++)
        moved[i] = (float)((double)b->weight[i] + h * along[i]);
    TSR_TRY(tsri_store_write(&b->run.store, TSRI_WEIGHTS, moved));
    memset(g, 0, (size_t)n * sizeof *g);
    for (int64_t k = 0; k < b->batches; k++) {
        const tsri_batch *batch = NULL;
        TSR_TRY(tsri_loader_get(b->loader, &batch, k));
        TSR_TRY(tsri_step_gradient(&b->step, batch, 0));
        TSR_TRY(tsri_store_read(b->one, &b->run.store, TSRI_GRADIENT));
        for (int64_t i = 0; i < n; i++)
            g[i] += (double)b->one[i] / (double)b->batches;
    }
done:
    tsri_free(moved);
    return st;
}

/* g becomes H g. */
static tsr_status hessian_times(bench *b)
{
    tsr_status st = TSR_OK;
    int64_t n = b->run.net->trained;
    double w = 0, g = 0;
    for (int64_t i = 0; i < n; i++) {
        w += (double)b->weight[i] * (double)b->weight[i];
        g += b->g[i] * b->g[i];
    }
    if (!(g > 0)) /* nothing moves: no unit counts */
        return TSR_OK;
    double h = STEP * sqrt(w > 0 ? w / g : 1);
    TSR_TRY(gradient(b->more, b, h, b->g));
    TSR_TRY(gradient(b->less, b, -h, b->g));
    for (int64_t i = 0; i < n; i++)
        b->g[i] = (b->more[i] - b->less[i]) / (2 * h);
done:
    return st;
}

/* Of each trained weight w times g, both as `net` keeps them, in the order of files. */
static tsr_status put_products(tsri_store *to, const tsri_net *net, const float *w, const double *g)
{
    tsr_status st = TSR_OK;
    tsri_opened host = {0};
    TSR_TRY(tsri_store_open(&host, to, TSRI_OPEN_WEIGHTS));
    for (int64_t i = 0; i < net->params; i++) {
        const tsri_param *p = &net->param[i], *q = &to->net->param[i];
        float *v = tsri_opened_at(&host, host.w, i);
        for (int64_t j = 0; p->role == TSRI_TRAINED && j < p->count; j++) {
            int64_t at = p->offset + tsri_order_place(p, j);
            v[tsri_order_place(q, j)] = (float)((double)w[at] * g[at]);
        }
    }
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    return st;
}

/* ---- On the run's backend ------------------------------------------------------------------- */

static tsr_status by_backend(tsri_store *to, bench *b, const tsri_store *weights,
                             tsri_criterion criterion)
{
    tsr_status st = TSR_OK;
    TSR_TRY(bench_init(b, weights));
    TSR_TRY(gradient(b->g, b, 0, NULL));
    if (criterion == TSRI_SCORE_GRASP)
        TSR_TRY(hessian_times(b));
    TSR_TRY(put_products(to, b->run.net, b->weight, b->g));
done:
    return st;
}

/* ---- In double ------------------------------------------------------------------------------ */

/* The run's network with filters as the reference wants them. */
static tsr_status reference_net(tsri_net **net, const tsri_run *run)
{
    const tsri_settings *s = &run->settings;
    return tsri_whole_create(net, s->config, run->net->input,
                             tsri_outputs_wanted(s->config, s->loss, run->data),
                             tsri_backend_ref64.can.filters);
}

/* *exact = the products are there; else something switched within the step. */
static tsr_status in_double(tsri_store *to, bool *exact, const bench *b, const tsri_store *weights)
{
    tsr_status st = TSR_OK;
    tsri_net *net = NULL;
    tsri_store at = {0};
    double *hg = NULL;
    tsri_loader_options loader = loader_of(&b->run);
    TSR_TRY(reference_net(&net, &b->run));
    TSR_TRY(tsri_store_init_host(&at, net));
    TSR_TRY(tsri_ticket_copy_numbers(&at, weights));
    TSR_TRY(tsri_alloc(&hg, net->trained, sizeof *hg));
    TSR_TRY(
        tsri_hessian_gradient(hg, exact, &b->run, net, tsri_store_own(&at), &loader, b->batches));
    if (*exact)
        TSR_TRY(put_products(to, net, tsri_store_own(&at), hg));
done:
    tsri_free(hg);
    tsri_store_fini(&at);
    tsri_net_destroy(net);
    return st;
}

/* In double where that is not too slow, and where the network is smooth at its weights. */
static tsr_status grasp(tsri_store *to, tsri_salience *how, bench *b, const tsri_store *weights)
{
    tsr_status st = TSR_OK;
    double work = tsri_hessian_operations(&b->run, b->batches);
    how->exact = false;
    if (work <= how->most)
        TSR_TRY(in_double(to, &how->exact, b, weights));
    if (how->exact)
        goto done;
    TSR_TRY(by_backend(to, b, weights, TSRI_SCORE_GRASP));
    if (work > how->most)
        TSRI_WARN("grasp: exact scores would take %.3g billion operations in double, more than "
                  "%.3g: these are differences of gradients in f32, so other units may be kept",
                  work / 1e9, how->most / 1e9);
    else
        TSRI_WARN(
            "grasp: at these weights the input of a ReLU is 0 or nearly 0, where the gradient "
            "jumps: scores are differences of gradients in f32, so other units may be kept");
done:
    return st;
}

tsr_status tsri_salience_measure(tsri_store *to, tsri_salience *how, const tsr_model *model,
                                 const tsr_model *shown)
{
    tsr_status st = TSR_OK;
    tsr_config *own = NULL;
    tsr_run_options options = tsr_run_options_default();
    tsri_ground ground = {.dry = true};
    bench b = {.run = {.process.lock = -1}, .batches = how->batches};
    tsri_like like = tsri_model_like(shown, false);
    const tsri_backend *backend;
    TSR_TRY(tsri_model_has_data(shown));
    TSR_TRY(tsri_ticket_run_file(&own, model->config, shown));
    TSR_TRY(tsr_config_set(own, "precision=f32"));
    TSR_TRY(tsri_start_backend(&backend, &ground.threads, own));
    tsri_wants wants = tsri_model_wants(own);
    TSR_TRY(tsri_data_load_like(&ground.data, own, &wants, &like));
    TSR_TRY(tsri_run_init_on(&b.run, own, &options, &ground));
    if (b.run.settings.gd) /* one batch is all there is */
        b.batches = 1;
    TSR_TRY(tsri_store_init_host(to, model->net));
    how->exact = true;
    TSR_TRY(how->criterion == TSRI_SCORE_GRASP ? grasp(to, how, &b, &model->store)
                                               : by_backend(to, &b, &model->store, how->criterion));
done:
    bench_fini(&b);
    tsr_data_destroy(ground.data);
    tsr_config_destroy(own);
    return st;
}
