/* loss_choice.c - the loss that a run file means, and the outputs it wants. */
#include "run/loss_choice.h"

#include "base/text.h"
#include "net/net.h"

#include <stdio.h>
#include <string.h>

/* What `auto` means. */
static const tsri_loss_kind *usual(const tsri_model *model, const tsr_data *data)
{
    if (model->loss)
        return model->loss;
    if (data->classes > 0)
        return &tsri_loss_cross_entropy;
    return model->target_loss ? model->target_loss : &tsri_loss_mse;
}

tsr_status tsri_choose_loss(const tsri_loss_kind **kind, const tsr_config *config,
                            const tsr_data *data)
{
    tsr_status st = TSR_OK;
    *kind = tsri_loss_named(tsri_config_text(config, "loss"));
    *kind = *kind ? *kind : usual(tsri_model_of(config), data);
    TSR_CHECK(data->classes > 0 || !(*kind)->classes, TSR_USAGE,
              "%s: %s needs classes, but %s has real targets: use loss: mse",
              tsri_config_place(config, "loss"), (*kind)->name, data->name);
    TSR_CHECK(data->classes != 1, TSR_USAGE,
              "%s: all samples are of one class%s%s: there is nothing to tell apart",
              tsri_quote(data->name), data->class_name ? ", " : "",
              data->class_name ? tsri_quote(data->class_name[0]) : "");
done:
    return st;
}

int64_t tsri_outputs_wanted(const tsr_config *config, const tsri_loss_kind *kind,
                            const tsr_data *data)
{
    bool signs = kind->margin && data->classes == 2;
    bool every = data->sequences && tsri_config_is(config, "model.read", "every");
    int64_t classes = signs ? 1 : data->classes;
    return classes == 0 ? data->targets : every ? classes * data->height : classes;
}

static bool is_auto(const tsr_config *config, const char *key)
{
    return strcmp(tsri_config_text(config, key), "auto") == 0;
}

/* What `auto` means for the loss of real targets, for the model's file to carry. */
static tsr_status note_target_loss(tsr_config *config, const tsri_model *model)
{
    char setting[80];
    if (!model->target_loss || !is_auto(config, "loss"))
        return TSR_OK;
    (void)snprintf(setting, sizeof setting, "loss=%s", model->target_loss->name);
    return tsr_config_set(config, setting);
}

tsr_status tsri_resolve_sequences(tsr_config *config, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    const tsri_model *model = tsri_model_of(config);
    TSR_CHECK(model->sequences || !data->sequences, TSR_USAGE,
              "%s: %s holds sequences: use model: {name: rnn}",
              tsri_config_place(config, "model.name"), data->name);
    TSR_CHECK(
        !model->sequences || data->sequences, TSR_USAGE,
        "%s: %s reads sequences, and %s has none: use data.format: sequences, or data: {name: "
        "sequences}",
        tsri_config_place(config, "model.name"), model->name, data->name);
    if (model->sequences && is_auto(config, "model.read"))
        TSR_TRY(tsr_config_set(config, data->targets > 0 ? "model.read=every" : "model.read=last"));
    if (data->targets > 0)
        TSR_TRY(note_target_loss(config, model));
done:
    return st;
}
