/* convert_model.c - converting model files. */
#include "convert/convert_model.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sized.h"
#include "model/whole.h"
#include "net/grelu.h"
#include "run/loss_choice.h"

typedef struct work {
    tsr_model *model;
    tsr_data *data;
    tsri_device device;
    tsri_net *net[2]; /* before, after */
    tsri_store store[2];
} work;

static void work_fini(work *w)
{
    for (int i = 0; i < 2; i++) {
        tsri_store_fini(&w->store[i]);
        tsri_net_destroy(w->net[i]);
    }
    tsr_data_destroy(w->data);
    tsri_pool_destroy(w->device.pool);
}

static tsr_status work_init(work *w)
{
    tsr_status st = TSR_OK;
    tsr_model *m = w->model;
    int64_t threads = tsri_config_int(m->config, "threads");
    int count = threads > 0 ? (int)threads : tsri_cores();
    w->device.backend = &tsri_backend_cpu;
    TSR_TRY(w->device.backend->start(count));
    TSR_TRY(tsri_pool_create(&w->device.pool, count));
    TSR_TRY(tsri_model_load(&w->net[0], &w->store[0], m, w->device.backend, false));
    tsri_like like = tsri_model_like(m, false);
    tsri_wants wants = tsri_model_wants(m->config);
    TSR_TRY(tsri_data_load_like(&w->data, m->config, &wants, &like));
    TSR_CHECK(w->data->dim == tsri_shape_count(m->input), TSR_USAGE,
              "%s takes samples of %lld numbers but %s has %lld: give the data it was trained for",
              m->path, (long long)tsri_shape_count(m->input), w->data->name,
              (long long)w->data->dim);
    TSR_TRY(tsri_convert_config(m->config));
    TSR_TRY(tsri_whole_create(&w->net[1], m->config, m->input, m->outputs, true));
    TSR_TRY(tsri_store_init(&w->store[1], w->net[1], w->device.backend, false));
done:
    return st;
}

static tsr_status save(tsri_sink *to, const work *w)
{
    tsr_status st = TSR_OK;
    const tsr_model *m = w->model;
    tsri_opened host;
    TSR_TRY(tsri_store_open(&host, &w->store[1], TSRI_OPEN_WEIGHTS));
    tsri_model_parts parts = {.net = w->net[1],
                              .w = host.w,
                              .config = m->config,
                              .scaling = tsri_tensors_meta(m->file, TSRI_META_SCALING),
                              .classes = tsri_tensors_meta(m->file, TSRI_META_CLASSES),
                              .schema = tsri_tensors_meta(m->file, TSRI_META_SCHEMA)};
    TSR_TRY(tsri_model_put(to, &parts));
done:
    tsri_store_close(&host);
    return st;
}

tsr_status tsri_convert_put(tsri_converted *out, tsri_sink *to, tsr_model *model,
                            tsri_convert_how how)
{
    tsr_status st = TSR_OK;
    work w = {.model = model};
    double start = tsri_clock();
    const tsri_model *from = tsri_model_of(model->config);
    *out = (tsri_converted){.to_relu = how.to_relu};
    TSR_CHECK(from->twin && from->gated == how.to_relu, TSR_USAGE,
              "%s holds a %s: --to %s converts a %s", model->path, from->name,
              how.to_relu ? "relu" : "grelu", how.to_relu ? "grelu" : "relu_twin");
    TSR_TRY(work_init(&w));
    tsri_judge_on on = {w.device, w.data, 0};
    TSR_TRY(tsri_choose_loss(&on.loss, model->config, w.data));
    if (how.to_relu)
        TSR_TRY(tsri_convert_pair(&out->how, &w.store[1], &w.store[0], &on, how.least_squares));
    else
        TSR_TRY(tsri_grelu_from_tensors(&w.store[1], model->file, model->path));
    TSR_TRY(tsri_judge_pair(&out->train, &w.store[0], &w.store[1], &on, &w.data->train));
    TSR_TRY(tsri_judge_pair(&out->test, &w.store[0], &w.store[1], &on, &w.data->test));
    TSR_TRY(save(to, &w));
    out->seconds = tsri_clock() - start;
done:
    work_fini(&w);
    return st;
}

tsr_status tsri_convert_model(tsri_converted *out, const char *path, tsr_model *model,
                              tsri_convert_how how)
{
    return tsri_convert_put(out, &(tsri_sink){.path = path}, model, how);
}

/* ---- As programs see it --------------------------------------------------------------------- */

static tsr_conversion told(const tsri_converted *c)
{
    return (tsr_conversion){.points = c->how.n,
                            .width = c->how.width,
                            .layers = c->how.layers,
                            .residual = c->how.worst,
                            .loss_before = c->train.loss[0],
                            .loss_after = c->train.loss[1],
                            .accuracy_before = c->train.accuracy[0],
                            .accuracy_after = c->train.accuracy[1],
                            .seconds = c->seconds};
}

tsr_status tsr_model_convert(tsr_model **out, tsr_conversion *conversion, const tsr_model *model,
                             bool to_relu, bool least_squares)
{
    tsr_status st = TSR_OK;
    tsr_model *copy = NULL; /* its settings change */
    tsri_converted c;
    tsri_sink sink = {0};
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(model);
    TSR_TRY(tsr_model_copy(&copy, model));
    TSR_TRY(tsri_convert_put(&c, &sink, copy, (tsri_convert_how){to_relu, least_squares}));
    tsr_conversion mine = told(&c);
    if (conversion)
        TSR_TRY(TSRI_SIZED_GIVE(conversion, &mine));
    TSR_TRY(tsr_model_parse(out, sink.bytes, sink.n));
done:
    tsri_free(sink.bytes);
    tsr_model_destroy(copy);
    return st;
}

tsr_status tsr_convert(char **json, const char *path, tsr_model *model, bool to_relu,
                       bool least_squares)
{
    tsr_status st = TSR_OK;
    tsri_converted c;
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(path);
    TSRI_GIVEN(model);
    TSR_TRY(tsri_convert_model(&c, path, model, (tsri_convert_how){to_relu, least_squares}));
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "to", c.to_relu ? "relu" : "grelu");
    tsri_json_put_text(&w, "model", path);
    if (c.to_relu) {
        tsri_conversion_json(&w, &c.how);
        tsri_json_put_bool(&w, "equal", c.how.worst < TSRI_CONVERT_EQUAL);
    }
    tsri_judged_json(&w, "train", &c.train);
    tsri_judged_json(&w, "test", &c.test);
    tsri_json_put_real(&w, "seconds", c.seconds);
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    return st;
}
