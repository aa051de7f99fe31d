/* keys.c - keys of a run file that its scheme or model does not read. See keys.h. */
#include "scheme/keys.h"

#include "base/sized.h"
#include "data/augment.h"
#include "data/source.h"
#include "optim/optim.h"
#include "run/stop_metric.h"
#include "scheme/scheme.h"

#include <stdio.h>
#include <string.h>

/* A model that has its hidden layers either one by one or as that many of one width reads one of
 * the two; NULL where there is no such choice. */
static const char *hidden_unread(const tsr_config *config)
{
    const char *keys = tsri_model_of(config)->keys;
    if (!tsri_reads(keys, "hidden") || !tsri_reads(keys, "layers"))
        return NULL;
    return tsri_config_int(config, "model.layers") > 0 ? "model.hidden" : "model.width";
}

/* What every data set reads, and what some file formats do. */
#define ANY_DATA                                                                                   \
    "path limit test_limit split seed normalize target_scale unit augment pad "                    \
    "randaugment magnitude cutout order prefetch"
#define ANY_FILE                                                                                   \
    "format test_path task size target ignore header missing words unknown decimal dates"

/* The row of a set that is made, which names its keys; NULL for files. */
static const tsri_source *made_source(const tsr_config *config)
{
    const char *name = tsri_config_text(config, "data.name");
    const tsri_source *source = name ? tsri_source_find(name) : NULL;
    return source && source->keys ? source : NULL;
}

/* What `data:` says that these data do not use: their source or format tells its keys. */
static tsr_status check_data_keys(const tsr_config *config, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_text reader = {0}, keys = {0};
    bool made = made_source(config) != NULL, named = tsri_config_text(config, "data.name") != NULL;
    bool image = data->height * data->width > 1 && !data->sequences;
    int64_t side = tsri_config_int(config, "data.size");
    bool as_large = image && data->height == side && data->width == side;
    if (!data->keys)
        return TSR_OK;
    TSR_TRY(tsri_text_add(&reader, "data set %s", tsri_quote(data->name)));
    TSR_TRY(tsri_text_add(&keys, ANY_DATA " %s%s%s%s", data->keys, made ? "" : " test_path",
                          named ? "" : " format", as_large ? " size" : ""));
    TSR_TRY(tsri_config_only(config, "data", keys.data, reader.data));
    if (!image) {
        TSR_TRY(tsri_config_unread(config, "data.augment", reader.data));
        TSR_TRY(tsri_config_unread(config, "data.randaugment", reader.data));
        TSR_TRY(tsri_config_unread(config, "data.cutout", reader.data));
    }
    if (data->targets == 0)
        TSR_TRY(tsri_config_unread(config, "data.unit", "a data set of classes"));
    if (!strstr(tsri_config_text(config, "data.augment"), "crop"))
        TSR_TRY(tsri_config_unread(config, "data.pad", "data.augment without crop"));
    if (tsri_config_int(config, "data.randaugment") == 0)
        TSR_TRY(tsri_config_unread(config, "data.magnitude", "data.randaugment: 0"));
    if (data->own_test && tsri_config_real(config, "data.split") > 0.0)
        TSR_TRY(tsri_config_unread(config, "data.split", "a data set with its own test part"));
done:
    tsri_text_fini(&reader);
    tsri_text_fini(&keys);
    return st;
}

/* Can these images be changed as `data:` asks for? */
static tsr_status check_augment(const tsr_config *config, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_text place = {0};
    tsri_augment how = tsri_augment_from(config);
    const char *key = how.ops > 0      ? "data.randaugment"
                      : how.cutout > 0 ? "data.cutout"
                                       : "data.augment";
    TSR_TRY(tsri_text_add(&place, "%s: ", tsri_config_place(config, key)));
    TSR_TRY(tsri_augment_check(&how, data, &data->train, place.data));
done:
    tsri_text_fini(&place);
    return st;
}

tsr_status tsri_check_keys(const tsr_config *config, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    char reader[100];
    const tsri_scheme *scheme = tsri_scheme_of(config);
    const tsri_model *model = tsri_model_of(config);
    (void)snprintf(reader, sizeof reader, "scheme %s", scheme->name);
    TSR_TRY(tsri_config_only(config, "scheme", scheme->keys, reader));
    (void)snprintf(reader, sizeof reader, "model %s", model->name);
    TSR_TRY(tsri_config_only(config, "model", model->keys, reader));
    if (hidden_unread(config)) {
        (void)snprintf(reader, sizeof reader, "model %s with %lld model.layers", model->name,
                       (long long)tsri_config_int(config, "model.layers"));
        TSR_TRY(tsri_config_unread(config, hidden_unread(config), reader));
    }
    if (tsri_config_text(config, "scheme.axes")) { /* they name what those choose */
        TSR_TRY(tsri_config_unread(config, "scheme.stages", "scheme.axes"));
        TSR_TRY(tsri_config_unread(config, "scheme.strided", "scheme.axes"));
    }
    (void)snprintf(reader, sizeof reader, "stop.metric: %s",
                   tsri_config_text(config, "stop.metric"));
    TSR_TRY(tsri_config_only(config, "stop", tsri_stop_metric_of(config)->keys, reader));
    (void)snprintf(reader, sizeof reader, "optim.name: %s", tsri_optim_of(config)->name);
    TSR_TRY(tsri_config_only(config, "optim", tsri_optim_of(config)->keys, reader));
    TSR_TRY(check_data_keys(config, data));
    TSR_TRY(check_augment(config, data));
done:
    return st;
}

tsr_status tsri_forget_unread(tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_text keys = {0};
    TSR_TRY(tsri_config_keep(config, "scheme", tsri_scheme_of(config)->keys));
    TSR_TRY(tsri_config_keep(config, "model", tsri_model_of(config)->keys));
    TSR_TRY(tsri_config_keep(config, "stop", tsri_stop_metric_of(config)->keys));
    TSR_TRY(tsri_config_keep(config, "optim", tsri_optim_of(config)->keys));
    if (hidden_unread(config))
        TSR_TRY(tsri_config_reset(config, hidden_unread(config)));
    const tsri_source *made = made_source(config);
    TSR_TRY(tsri_text_add(&keys, ANY_DATA " %s", made ? made->keys : ANY_FILE));
    TSR_TRY(tsri_config_keep(config, "data", keys.data));
done:
    tsri_text_fini(&keys);
    return st;
}

tsr_status tsr_config_forget(tsr_config *config)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(config);
    TSR_TRY(tsri_forget_unread(config));
done:
    return st;
}
