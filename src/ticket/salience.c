/* salience.c - what the loss says of a unit. See salience.h. */
#include "ticket/salience.h"

#include "base/alloc.h"
#include "net/order.h"
#include "run/recipe.h"
#include "run/run.h"
#include "ticket/statistics.h"
#include "train/describe.h"

#include <math.h>
#include <string.h>

/* Of the weights' length: small beside the kinks of ReLUs, large beside the rounding of f32. */
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

static tsr_status bench_init(bench *b, const tsri_store *weights)
{
    tsr_status st = TSR_OK;
    int64_t n = b->run.net->trained;
    tsri_aim aim = tsri_run_aim(&b->run.settings);
    tsri_loader_options o = tsri_run_loader(&b->run.settings, b->run.settings.workers);
    o.shard = 0;
    o.shards = 1;
    o.prefetch = false;
    o.bare = false;
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

/* Of each trained weight w times g, from the order of the run to that of files. */
static tsr_status put_products(tsri_store *to, const bench *b)
{
    tsr_status st = TSR_OK;
    tsri_opened host = {0};
    const tsri_net *net = b->run.net;
    TSR_TRY(tsri_store_open(&host, to, TSRI_OPEN_WEIGHTS));
    for (int64_t i = 0; i < net->params; i++) {
        const tsri_param *p = &net->param[i], *q = &to->net->param[i];
        float *v = tsri_opened_at(&host, host.w, i);
        for (int64_t j = 0; p->role == TSRI_TRAINED && j < p->count; j++) {
            int64_t at = p->offset + tsri_order_place(p, j);
            v[tsri_order_place(q, j)] = (float)((double)b->weight[at] * b->g[at]);
        }
    }
    TSR_TRY(tsri_store_save(&host));
done:
    tsri_store_close(&host);
    return st;
}

tsr_status tsri_salience_measure(tsri_store *to, const tsr_model *model, const tsr_model *shown,
                                 tsri_criterion criterion, int64_t batches)
{
    tsr_status st = TSR_OK;
    tsr_config *own = NULL;
    tsr_run_options options = tsr_run_options_default();
    tsri_ground ground = {.dry = true};
    bench b = {.run = {.process.lock = -1}, .batches = batches};
    tsri_like like = tsri_model_like(shown, false);
    const tsri_backend *backend;
    TSR_TRY(tsri_model_has_data(shown));
    TSR_TRY(tsri_ticket_run_file(&own, model->config, shown));
    TSR_TRY(tsr_config_set(own, "precision=f32"));
    TSR_TRY(tsri_start_backend(&backend, &ground.threads, own));
    tsri_wants wants = tsri_model_wants(own);
    TSR_TRY(tsri_data_load_like(&ground.data, own, &wants, &like));
    TSR_TRY(tsri_run_init_on(&b.run, own, &options, &ground));
    TSR_TRY(bench_init(&b, &model->store));
    if (b.run.settings.gd) /* one batch is all there is */
        b.batches = 1;
    TSR_TRY(gradient(b.g, &b, 0, NULL));
    if (criterion == TSRI_SCORE_GRASP)
        TSR_TRY(hessian_times(&b));
    TSR_TRY(tsri_store_init_host(to, model->net));
    TSR_TRY(put_products(to, &b));
done:
    bench_fini(&b);
    tsr_data_destroy(ground.data);
    tsr_config_destroy(own);
    return st;
}
