/* model_public.c - models as programs see them: made, looked at, changed, written.
 *
 * A model is its file: one that was made in memory has the bytes that its file would have, and what
 * a program changes is changed there, too. So everything that takes a model from a file takes any.
 */
#include "model/model.h"
#include "model/whole.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "data/arrays.h"
#include "io/json.h"

#include <stdio.h>
#include <string.h>

/* ---- From bytes, and back ------------------------------------------------------------------- */

static const char unnamed[] = "a model in memory";

tsr_status tsr_model_parse(tsr_model **out, const void *bytes, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_tensors *file = NULL;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(bytes);
    TSR_TRY(tsri_tensors_parse(&file, bytes, n, unnamed));
    TSR_TRY(tsri_model_of_file(out, file, unnamed));
done:
    return st;
}

tsri_model_parts tsri_model_parts_of(const tsr_model *m)
{
    return (tsri_model_parts){.net = m->net,
                              .w = tsri_store_own(&m->store),
                              .config = m->config,
                              .scaling = tsri_tensors_meta(m->file, TSRI_META_SCALING),
                              .classes = tsri_tensors_meta(m->file, TSRI_META_CLASSES),
                              .schema = tsri_tensors_meta(m->file, TSRI_META_SCHEMA),
                              .ticket = tsri_tensors_meta(m->file, TSRI_META_TICKET),
                              .forced = tsri_tensors_meta(m->file, TSRI_META_FORCED),
                              .rollbacks = tsri_tensors_meta(m->file, TSRI_META_ROLLBACKS),
                              .imported = tsri_tensors_meta(m->file, TSRI_META_IMPORT)};
}

tsr_status tsr_model_write(const tsr_model *model, const char *path)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(model);
    TSRI_GIVEN(path);
    tsri_model_parts parts = tsri_model_parts_of(model);
    TSR_TRY(tsri_model_save(path, &parts));
done:
    return st;
}

tsr_status tsr_model_bytes(void **bytes, int64_t *n, const tsr_model *model)
{
    tsr_status st = TSR_OK;
    tsri_sink sink = {0};
    TSRI_GIVEN(bytes);
    *bytes = NULL;
    TSRI_GIVEN(n);
    TSRI_GIVEN(model);
    tsri_model_parts parts = tsri_model_parts_of(model);
    TSR_TRY(tsri_model_put(&sink, &parts));
    *bytes = sink.bytes;
    *n = sink.n;
done:
    return st;
}

tsr_status tsri_model_of_parts(tsr_model **out, const tsri_model_parts *parts)
{
    tsr_status st = TSR_OK;
    tsri_sink sink = {0};
    *out = NULL;
    TSR_TRY(tsri_model_put(&sink, parts));
    TSR_TRY(tsr_model_parse(out, sink.bytes, sink.n));
done:
    tsri_free(sink.bytes);
    return st;
}

tsr_status tsri_model_tensors(tsri_tensors **out, const tsr_model *model)
{
    tsr_status st = TSR_OK;
    void *bytes = NULL;
    int64_t n = 0;
    *out = NULL;
    TSR_TRY(tsr_model_bytes(&bytes, &n, model));
    TSR_TRY(tsri_tensors_parse(out, bytes, n, model->path));
done:
    tsri_free(bytes);
    return st;
}

tsr_status tsr_model_copy(tsr_model **out, const tsr_model *model)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(model);
    tsri_model_parts parts = tsri_model_parts_of(model);
    TSR_TRY(tsri_model_of_parts(out, &parts));
done:
    return st;
}

/* ---- From a description --------------------------------------------------------------------- */

/* The metadata of a model that was built without data. */
static tsr_status write_nothing(tsri_json *scaling, tsri_json *schema, int64_t classes)
{
    tsr_status st = TSR_OK;
    tsri_scaling none = {.target_scale = 1};
    char normalize[] = "none", target_scale[] = "none";
    tsri_data_schema arrays = {
        .kind = "arrays", .classes = classes, .normalize = normalize, .target_scale = target_scale};
    tsri_scaling_write(scaling, &none);
    TSR_TRY(tsri_json_end(scaling));
    tsri_data_schema_write(schema, &arrays);
    TSR_TRY(tsri_json_end(schema));
done:
    return st;
}

tsr_status tsr_model_build(tsr_model **out, const tsr_config *config, const int64_t shape[3],
                           int64_t outputs, bool classes)
{
    tsr_status st = TSR_OK;
    tsri_net *net = NULL;
    tsri_store store = {0};
    tsri_json scaling = {0}, schema = {0};
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(config);
    TSRI_GIVEN(shape);
    const int64_t most = (int64_t)1 << 30;
    TSR_CHECK(shape[0] > 0 && shape[1] > 0 && shape[2] > 0 && outputs > 0 && outputs <= most &&
                  shape[0] <= most && shape[1] <= most / shape[0] &&
                  shape[2] <= most / (shape[0] * shape[1]),
              TSR_USAGE, "samples of %lld x %lld x %lld numbers and %lld outputs make no network",
              (long long)shape[0], (long long)shape[1], (long long)shape[2], (long long)outputs);
    TSR_TRY(tsri_whole_create(&net, config, (tsri_shape){shape[0], shape[1], shape[2]}, outputs,
                              false));
    TSR_TRY(tsri_store_init_host(&store, net));
    TSR_TRY(tsri_store_fill(&store, (uint64_t)tsri_config_int(config, "seed")));
    TSR_TRY(write_nothing(&scaling, &schema, classes ? outputs : 0));
    TSR_TRY(tsri_model_of_parts(out, &(tsri_model_parts){.net = net,
                                                         .w = tsri_store_own(&store),
                                                         .config = config,
                                                         .scaling = scaling.text.data,
                                                         .classes = "[]",
                                                         .schema = schema.text.data}));
done:
    tsri_json_fini(&scaling);
    tsri_json_fini(&schema);
    tsri_store_fini(&store);
    tsri_net_destroy(net);
    return st;
}

/* ---- Looking -------------------------------------------------------------------------------- */

tsr_config *tsr_model_config(tsr_model *model)
{
    return model ? model->config : NULL;
}

tsr_status tsr_model_use_data(tsr_model *model, const char *name_or_path)
{
    static const char *const all[] = {"data.split=0", "data.limit=0", "data.test_limit=0",
                                      "data.size=0", "data.header=auto"};
    tsr_status st = TSR_OK;
    TSRI_GIVEN(model);
    TSRI_GIVEN(name_or_path);
    bool sequences = tsri_model_of(model->config)->sequences; /* arrays look like images */
    TSR_TRY(
        tsr_config_set(model->config, sequences ? "data.format=sequences" : "data.format=auto"));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        TSR_TRY(tsr_config_set(model->config, all[i]));
    TSR_TRY(tsr_config_use_data(model->config, name_or_path));
    model->shown_others = true;
done:
    return st;
}

tsr_status tsr_model_look(tsr_model_info *info, const tsr_model *model)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(model);
    const tsri_data_schema *schema = &model->schema;
    tsr_model_info mine = {.path = strcmp(model->path, unnamed) == 0 ? "" : model->path,
                           .channels = model->input.c,
                           .height = model->input.h,
                           .width = model->input.w,
                           .outputs = model->outputs,
                           .classes = model->classes,
                           .class_name = (const char *const *)model->class_name,
                           .params = model->net->params,
                           .numbers = model->net->total,
                           .trained = model->net->trained,
                           .flops = tsri_net_flops(model->net),
                           .target = schema->targets > 0 ? schema->target[0] : NULL};
    TSR_TRY(TSRI_SIZED_GIVE(info, &mine));
done:
    return st;
}

int64_t tsr_model_params(const tsr_model *model)
{
    return model ? model->net->params : 0;
}

static float *values_of(const tsr_model *model, const tsri_param *p)
{
    return (model->plain ? model->plain : tsri_store_own(&model->store)) + p->offset;
}

tsr_status tsr_model_param(tsr_param *param, const tsr_model *model, int64_t i)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(model);
    TSR_CHECK(i >= 0 && i < model->net->params, TSR_USAGE,
              "the model has %lld parameters, numbered from 0, and no number %lld",
              (long long)model->net->params, (long long)i);
    const tsri_param *p = &model->net->param[i];
    tsr_param mine = {.name = p->name,
                      .values = tsr_array_of(values_of(model, p), TSR_F32, p->dims, p->shape),
                      .trained = p->role == TSRI_TRAINED,
                      .count = p->role == TSRI_COUNT};
    TSR_TRY(TSRI_SIZED_GIVE(param, &mine));
done:
    return st;
}

static tsr_status find(int64_t *i, const tsr_model *model, const char *name)
{
    tsr_status st = TSR_OK;
    *i = -1;
    TSRI_GIVEN(model);
    TSRI_GIVEN(name);
    *i = tsri_net_param(model->net, name);
    tsri_near near = tsri_near_to(name);
    for (int64_t k = 0; *i < 0 && k < model->net->params; k++)
        tsri_near_try(&near, model->net->param[k].name);
    TSR_CHECK(*i >= 0, TSR_USAGE, "the model has no parameter %s; %s", tsri_quote(name),
              tsri_near_ask(&near, "tessera info lists them"));
done:
    return st;
}

tsr_status tsr_model_find(tsr_param *param, const tsr_model *model, const char *name)
{
    tsr_status st = TSR_OK;
    int64_t i;
    TSR_TRY(find(&i, model, name));
    TSR_TRY(tsr_model_param(param, model, i));
done:
    return st;
}

const char *tsr_model_meta(const tsr_model *model, const char *key)
{
    return model && key ? tsri_tensors_meta(model->file, key) : NULL;
}

/* ---- Changing ------------------------------------------------------------------------------- */

/* The numbers of an array in C's order, as the tensor of a file has them. */
static tsr_status as_tensor(tsri_tensor *t, void **memory, const tsr_array *a, const char *name)
{
    tsr_status st = TSR_OK;
    int64_t count = tsri_array_count(a);
    *t = (tsri_tensor){.name = name, .dims = a->dims};
    memcpy(t->shape, a->shape, sizeof t->shape);
    TSR_CHECK(a->type == TSR_F32 || a->type == TSR_F64 || a->type == TSR_I64, TSR_USAGE,
              "%s: weights are F32 or F64", name);
    t->dtype = a->type == TSR_F32 ? TSRI_F32 : a->type == TSR_F64 ? TSRI_F64 : TSRI_I64;
    TSR_TRY(tsri_alloc_raw(memory, count, (size_t)tsri_array_bytes(a)));
    tsri_array_copy(*memory, a);
    t->data = *memory;
done:
    return st;
}

/* The file has the same numbers, as F32 (or I64); one of another type is made anew. */
static tsr_status change_file(tsr_model *m, const tsri_param *p)
{
    tsr_status st = TSR_OK;
    tsri_tensors *fresh = NULL;
    const tsri_tensor *t = tsri_tensors_find(m->file, p->name);
    void *to = t ? (void *)(uintptr_t)t->data : NULL; /* the model's own memory */
    int64_t counted = (int64_t)values_of(m, p)[0];
    if (t && t->dtype == TSRI_F32)
        memcpy(to, values_of(m, p), (size_t)p->count * sizeof(float));
    else if (t && t->dtype == TSRI_I64 && p->count == 1)
        memcpy(to, &counted, sizeof counted);
    if (t && (t->dtype == TSRI_F32 || (t->dtype == TSRI_I64 && p->count == 1)))
        goto done;
    TSR_TRY(tsri_model_tensors(&fresh, m));
    tsri_tensors_destroy(m->file);
    m->file = fresh;
done:
    return st;
}

/* Undoes a change that failed half-way: the parameter is again what the file has. */
static void restore(tsr_model *m, int64_t i)
{
    char sentence[2048];
    const tsri_tensor *t = tsri_tensors_find(m->file, m->net->param[i].name);
    (void)snprintf(sentence, sizeof sentence, "%s", tsr_last_error());
    if (t)
        (void)tsri_whole_load_param(&m->store, i, t, m->path); /* it was sound when it was read */
    (void)tsri_fail(TSR_USAGE, "%s", sentence);
}

/* The numbers as files have them, where memory has others. */
static void fill_plain(tsr_model *m, const tsri_param *p, const tsri_tensor *t)
{
    const float *f = t->data, *own = tsri_store_own(&m->store) + p->offset;
    const double *d = t->data;
    for (int64_t j = 0; j < p->count; j++)
        m->plain[p->offset + j] = t->dtype == TSRI_F32   ? f[j]
                                  : t->dtype == TSRI_F64 ? (float)d[j]
                                                         : own[j];
}

static tsr_status set_param(tsr_model *model, int64_t i, const tsri_tensor *t)
{
    tsr_status st = tsri_whole_load_param(&model->store, i, t, "the array");
    const tsri_param *p = &model->net->param[i];
    if (st != TSR_OK)
        restore(model, i);
    TSR_TRY(st == TSR_BAD_FILE ? TSR_USAGE : st);
    if (model->plain)
        fill_plain(model, p, t);
    TSR_TRY(change_file(model, p));
done:
    return st;
}

const float *tsri_model_plain(const tsr_model *model)
{
    return model->plain ? model->plain : tsri_store_own(&model->store);
}

tsr_status tsri_model_fill(tsr_model *model, const float *w)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < model->net->params; i++) {
        const tsri_param *p = &model->net->param[i];
        tsri_tensor t = {
            .name = p->name, .dtype = TSRI_F32, .dims = p->dims, .data = w + p->offset};
        memcpy(t.shape, p->shape, sizeof p->shape);
        TSR_TRY(set_param(model, i, &t));
    }
done:
    return st;
}

tsr_status tsr_model_set(tsr_model *model, const char *name, const tsr_array *values)
{
    tsr_status st = TSR_OK;
    int64_t i;
    void *memory = NULL;
    tsri_tensor t;
    TSR_TRY(find(&i, model, name));
    TSR_TRY(tsri_array_check(values, name));
    TSR_TRY(as_tensor(&t, &memory, values, name));
    const tsri_param *p = &model->net->param[i];
    if (p->dims == 0 && t.dims == 1 && t.shape[0] == 1)
        t.dims = 0; /* a scalar, which an array has no form for */
    TSR_TRY(set_param(model, i, &t));
done:
    tsri_free(memory);
    return st;
}

void tsr_free(void *memory)
{
    tsri_free(memory);
}
