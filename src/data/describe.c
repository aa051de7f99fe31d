/* describe.c - data sets described, listed, fetched and written, for programs. */
#include "base/alloc.h"
#include "base/sized.h"
#include "data/get.h"
#include "data/info.h"
#include "data/source.h"
#include "io/json.h"
#include "io/npy.h"

/* ---- All of them --------------------------------------------------------------------------- */

static tsr_status source_json(tsri_json *w, const tsri_source *s)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    TSR_TRY(tsri_source_locate(&path, NULL, s->name, NULL));
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "name", s->name);
    tsri_json_put_text(w, "help", s->help);
    tsri_json_put_bool(w, "made", !s->get);
    tsri_json_key(w, "path");
    if (path)
        tsri_json_text(w, path);
    else
        tsri_json_null(w);
    tsri_json_close(w, '}');
done:
    tsri_free(path);
    return st;
}

tsr_status tsr_data_list(char **json)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    tsri_json_begin(&w);
    tsri_json_key(&w, "sources");
    tsri_json_open(&w, '[');
    for (int64_t i = 0; i < tsri_source_count; i++)
        TSR_TRY(source_json(&w, &tsri_sources[i]));
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    return st;
}

/* ---- One ------------------------------------------------------------------------------------ */

/* Bytes are shown as 0 .. 1, as everyone quotes them. */
static double unit_of(const tsr_data *data)
{
    return data->train.bytes ? 1.0 / 255.0 : 1.0;
}

static void json_column(tsri_json *w, const tsri_column_info *k, double unit, const char *name)
{
    const double value[] = {k->mean, k->deviation, k->least, k->most};
    static const char *const key[] = {"mean", "deviation", "least", "most"};
    tsri_json_open(w, '{');
    if (name)
        tsri_json_put_text(w, "name", name);
    for (int i = 0; i < 4; i++)
        tsri_json_put_real(w, key[i], value[i] * unit);
    tsri_json_close(w, '}');
}

static void json_classes(tsri_json *w, const tsr_data *data, const tsri_data_info *info)
{
    tsri_json_key(w, "class");
    tsri_json_open(w, '[');
    for (int64_t c = 0; c < data->classes; c++) {
        tsri_json_open(w, '{');
        if (data->class_name)
            tsri_json_put_text(w, "name", data->class_name[c]);
        tsri_json_put_int(w, "train_n", info->count[c]);
        tsri_json_put_int(w, "test_n", info->test_count[c]);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
}

static void json_pair(tsri_json *w, const char *key, const int64_t pair[2])
{
    tsri_json_key(w, key);
    tsri_json_open(w, '[');
    tsri_json_int(w, pair[0]);
    tsri_json_int(w, pair[1]);
    tsri_json_close(w, ']');
}

static void json_facts(tsri_json *w, const tsr_data *data, const tsri_data_info *info)
{
    tsri_json_put_int(w, "train_n", data->train.n);
    tsri_json_put_int(w, "test_n", data->test.n);
    tsri_json_put_int(w, "channels", data->channels);
    tsri_json_put_int(w, "height", data->height);
    tsri_json_put_int(w, "width", data->width);
    tsri_json_put_int(w, "dim", data->dim);
    tsri_json_put_bool(w, "bytes", data->of_bytes);
    tsri_json_put_bool(w, "sequences", data->sequences);
    if (data->sequences) {
        tsri_json_put_int(w, "shortest", info->shortest);
        tsri_json_put_int(w, "longest", info->longest);
    }
    tsri_json_put_int(w, "classes", data->classes);
    tsri_json_put_int(w, "targets", data->targets);
    tsri_json_put_int(w, "missing", data->missing_found);
    tsri_json_put_int(w, "filled", data->missing);
    tsri_json_put_int(w, "duplicates", info->duplicates);
    tsri_json_put_int(w, "conflicts", info->conflicts);
    if (info->conflicts > 0)
        json_pair(w, "conflict", info->conflict);
    tsri_json_key(w, "phi");
    if (info->phi >= 0.0)
        tsri_json_real(w, info->phi);
    else
        tsri_json_null(w);
    tsri_json_put_int(w, "phi_rows", info->phi_rows);
    if (info->phi >= 0.0)
        json_pair(w, "phi_pair", info->phi_pair);
}

static tsr_status json_schema(tsri_json *w, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_text words = {0};
    TSR_TRY(tsri_data_schema_text(&words, &data->schema));
    if (words.data)
        tsri_json_put_text(w, "columns", words.data);
    tsri_json_key(w, "schema");
    tsri_data_schema_write(w, &data->schema);
done:
    tsri_text_fini(&words);
    return st;
}

static tsr_status describe(tsri_json *w, const tsr_data *data, const tsri_data_info *info)
{
    tsr_status st = TSR_OK;
    tsri_json_begin(w);
    tsri_json_put_text(w, "name", data->name);
    tsri_json_put_text(w, "source", data->source);
    json_facts(w, data, info);
    TSR_TRY(json_schema(w, data));
    tsri_json_key(w, "channel");
    tsri_json_open(w, '[');
    for (int64_t c = 0; c < data->channels; c++)
        json_column(w, &info->channel[c], unit_of(data), data->column ? data->column[c] : NULL);
    tsri_json_close(w, ']');
    if (data->classes > 0) {
        json_classes(w, data, info);
    } else {
        tsri_json_key(w, "target");
        json_column(w, &info->target, 1.0, NULL);
    }
    tsri_json_put_real(w, "seconds", data->seconds);
    tsri_json_close(w, '}');
done:
    return st;
}

tsr_status tsr_data_describe(char **json, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_data_info info = {0};
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(data);
    TSR_TRY(tsri_data_info_of(&info, data));
    TSR_TRY(describe(&w, data, &info));
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    tsri_data_info_fini(&info);
    return st;
}

/* ---- Files ---------------------------------------------------------------------------------- */

tsr_status tsr_data_write(const tsr_data *data, const char *folder)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(data);
    TSRI_GIVEN(folder);
    TSR_TRY(tsri_data_export(data, folder));
done:
    return st;
}

tsr_status tsr_data_sheet(const tsr_data *data, const char *path)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(data);
    TSRI_GIVEN(path);
    TSR_TRY(tsri_sheet_write(path, data));
done:
    return st;
}

tsr_status tsr_data_get(char **where, const char *name, const tsr_get_options *options)
{
    tsr_status st = TSR_OK;
    tsr_get_options o = tsr_get_options_default();
    TSRI_GIVEN(where);
    *where = NULL;
    TSRI_GIVEN(name);
    if (options)
        TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    tsri_get_options how = {o.folder, o.from, o.progress, o.context};
    TSR_TRY(tsri_get(where, name, &how));
done:
    return st;
}

tsr_status tsr_array_write(const char *path, const tsr_array *array)
{
    static const tsri_dtype types[] = {
        [TSR_F32] = TSRI_F32, [TSR_F64] = TSRI_F64, [TSR_U8] = TSRI_U8,
        [TSR_I32] = TSRI_I32, [TSR_I64] = TSRI_I64,
    };
    static const int64_t bytes[] = {
        [TSR_F32] = 4, [TSR_F64] = 8, [TSR_U8] = 1, [TSR_I32] = 4, [TSR_I64] = 8};
    tsr_status st = TSR_OK;
    TSRI_GIVEN(path);
    TSRI_GIVEN(array);
    TSRI_GIVEN(array->data);
    TSR_CHECK(array->type >= TSR_F32 && array->type <= TSR_I64 && array->dims >= 0 &&
                  array->dims <= TSR_DIMS,
              TSR_USAGE, "an array has a known type and at most %d dimensions", TSR_DIMS);
    tsri_tensor t = {.name = "", .dtype = types[array->type], .dims = array->dims};
    int64_t stride = bytes[array->type];
    for (int d = array->dims - 1; d >= 0; stride *= array->shape[d--]) {
        TSR_CHECK(array->shape[d] >= 0 && (array->stride[d] == 0 || array->stride[d] == stride),
                  TSR_USAGE, "only an array in C's order can be written");
        t.shape[d] = array->shape[d];
    }
    t.data = array->data;
    TSR_TRY(tsri_npy_write(path, &t));
done:
    return st;
}
