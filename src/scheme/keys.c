/* keys.c - keys of a run file that its scheme or model does not read. See keys.h. */
#include "scheme/keys.h"

#include "base/sized.h"
#include "scheme/scheme.h"

#include <stdio.h>
#include <string.h>

/* What `stop:` reads follows from its metric. */
static const char *stop_keys(const tsr_config *config)
{
    const char *metric = tsri_config_text(config, "stop.metric");
    return strcmp(metric, "none") == 0              ? "metric"
           : strcmp(metric, "filter_distance") == 0 ? "metric below window"
           : strcmp(metric, "mask_distance") == 0   ? "metric below window ratio"
           : strncmp(metric, "test_", 5) == 0       ? "metric patience"
                                                    : "metric below";
}

/* And what `optim:` reads, from its name. */
static const char *optim_keys(const tsr_config *config)
{
    const char *name = tsri_config_text(config, "optim.name");
    return strcmp(name, "adam") == 0 || strcmp(name, "adamw") == 0
               ? "name lr beta1 beta2 epsilon weight_decay clip ema schedule milestones gamma "
                 "final_lr "
                 "warmup keep"
               : "name lr momentum nesterov weight_decay clip ema schedule milestones gamma "
                 "final_lr "
                 "warmup "
                 "keep";
}

/* A model that has its hidden layers either one by one or as that many of one width reads one of the
 * two; NULL where there is no such choice. */
static const char *hidden_unread(const tsr_config *config)
{
    const char *keys = tsri_model_of(config)->keys;
    if (!tsri_reads(keys, "hidden") || !tsri_reads(keys, "layers"))
        return NULL;
    return tsri_config_int(config, "model.layers") > 0 ? "model.hidden" : "model.width";
}

tsr_status tsri_check_keys(const tsr_config *config)
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
    TSR_TRY(tsri_config_only(config, "stop", stop_keys(config), reader));
    (void)snprintf(reader, sizeof reader, "optim.name: %s", tsri_config_text(config, "optim.name"));
    TSR_TRY(tsri_config_only(config, "optim", optim_keys(config), reader));
done:
    return st;
}

tsr_status tsri_forget_unread(tsr_config *config)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_config_keep(config, "scheme", tsri_scheme_of(config)->keys));
    TSR_TRY(tsri_config_keep(config, "model", tsri_model_of(config)->keys));
    TSR_TRY(tsri_config_keep(config, "stop", stop_keys(config)));
    TSR_TRY(tsri_config_keep(config, "optim", optim_keys(config)));
    if (hidden_unread(config))
        TSR_TRY(tsri_config_reset(config, hidden_unread(config)));
done:
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
