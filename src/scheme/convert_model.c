/* convert_model.c - model files converted. See convert_model.h. */
#include "scheme/convert_model.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "net/grelu.h"
#include "scheme/run.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-4 /* of the issue: largest relative difference over points and layers */

typedef struct work {
    tsr_model *model;
    tsr_data *data;
    tsri_pool *pool;
    const tsri_backend *backend;
    tsri_net *net[2]; /* before, after */
    tsri_store store[2];
    tsri_gate_table *gates;
    float *x;
} work;

static void work_fini(work *w)
{
    tsri_gate_table_destroy(w->gates);
    for (int i = 0; i < 2; i++) {
        tsri_store_fini(&w->store[i]);
        tsri_net_destroy(w->net[i]);
    }
    tsr_data_destroy(w->data);
    tsri_pool_destroy(w->pool);
    tsri_free(w->x);
}

static tsr_status work_init(work *w, bool to_relu)
{
    tsr_status st = TSR_OK;
    tsr_model *m = w->model;
    int64_t threads = tsri_config_int(m->config, "threads");
    int count = threads > 0 ? (int)threads : tsri_cores();
    w->backend = &tsri_backend_cpu;
    TSR_TRY(w->backend->start(count));
    TSR_TRY(tsri_pool_create(&w->pool, count));
    TSR_TRY(tsri_model_load(&w->net[0], &w->store[0], m, w->backend, false));
    TSR_TRY(tsri_data_load_like(&w->data, m->config, &m->scaling));
    TSR_CHECK(w->data->dim == tsri_shape_count(m->input), TSR_USAGE,
              "%s takes samples of %lld numbers but %s has %lld: give the data it was trained for",
              m->path, (long long)tsri_shape_count(m->input), w->data->name,
              (long long)w->data->dim);
    TSR_TRY(tsr_config_set(m->config, to_relu ? "model.name=relu_twin" : "model.name=grelu"));
    TSR_TRY(tsr_config_set(m->config, "model.gate_rank=0"));
    TSR_TRY(tsri_net_create(&w->net[1], m->config, m->input, m->outputs, true));
    TSR_TRY(tsri_store_init(&w->store[1], w->net[1], sizeof(float), false));
done:
    return st;
}

static tsr_status to_relu_net(tsri_conversion *how, work *w, bool least_squares)
{
    tsr_status st = TSR_OK;
    const tsri_part *part = &w->data->train;
    TSR_TRY(tsri_gate_table_create(&w->gates, &w->store[0], w->backend, w->pool, w->data, part));
    TSR_TRY(tsri_alloc(&w->x, part->n * w->data->dim, sizeof *w->x));
    for (int64_t i = 0; i < part->n; i++)
        tsri_sample(w->x + i * w->data->dim, w->data, part, i);
    TSR_TRY(tsri_convert_to_relu(how, &w->store[1], &w->store[0], w->x, w->gates, TOLERANCE,
                                 least_squares, w->pool));
done:
    return st;
}

static tsr_status judge(tsri_judged *j, work *w, const tsri_part *part)
{
    tsr_status st = TSR_OK;
    float *y[2] = {NULL, NULL};
    tsri_loss_kind loss;
    int64_t k = w->model->outputs;
    *j = (tsri_judged){.n = part->n};
    if (part->n == 0)
        return TSR_OK;
    TSR_TRY(tsri_choose_loss(&loss, w->model->config, w->data));
    for (int i = 0; i < 2; i++) {
        tsr_result r;
        TSR_TRY(tsri_evaluate(&r, &w->store[i], w->backend, w->pool, w->data, part, loss));
        j->loss[i] = r.loss;
        j->accuracy[i] = r.accuracy;
        TSR_TRY(tsri_outputs(&y[i], &w->store[i], w->backend, w->pool, w->data, part));
    }
    double size = 0;
    for (int64_t i = 0; i < part->n * k; i++)
        size += pow((double)y[0][i], 2) / (double)part->n;
    for (int64_t i = 0; i < part->n; i++) {
        double off = 0;
        for (int64_t o = 0; o < k; o++)
            off += pow((double)y[0][i * k + o] - (double)y[1][i * k + o], 2);
        double ratio = size > 0 ? sqrt(off / size) : sqrt(off);
        j->difference += ratio / (double)part->n;
        j->most_difference = fmax(j->most_difference, ratio);
    }
done:
    tsri_free(y[0]);
    tsri_free(y[1]);
    return st;
}

static tsr_status save(const char *path, const work *w)
{
    const tsr_model *m = w->model;
    tsri_model_parts parts = {.net = w->net[1],
                              .w = w->store[1].w,
                              .config = m->config,
                              .scaling = tsri_tensors_meta(m->file, TSRI_META_SCALING),
                              .classes = tsri_tensors_meta(m->file, TSRI_META_CLASSES)};
    return tsri_model_save(path, &parts);
}

tsr_status tsri_convert_model(tsri_converted *out, const char *path, tsr_model *model, bool to_relu,
                              bool least_squares)
{
    tsr_status st = TSR_OK;
    work w = {.model = model};
    double start = tsri_clock();
    const char *from = tsri_config_text(model->config, "model.name");
    *out = (tsri_converted){.to_relu = to_relu};
    TSR_CHECK(strcmp(from, to_relu ? "grelu" : "relu_twin") == 0, TSR_USAGE,
              "%s holds a %s: --to %s converts a %s", model->path, from, to_relu ? "relu" : "grelu",
              to_relu ? "grelu" : "relu_twin");
    TSR_TRY(work_init(&w, to_relu));
    if (to_relu)
        TSR_TRY(to_relu_net(&out->how, &w, least_squares));
    else
        TSR_TRY(tsri_grelu_from_relu(&w.store[1], model->path));
    TSR_TRY(judge(&out->train, &w, &w.data->train));
    TSR_TRY(judge(&out->test, &w, &w.data->test));
    TSR_TRY(save(path, &w));
    out->seconds = tsri_clock() - start;
done:
    work_fini(&w);
    return st;
}
