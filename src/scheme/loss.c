/* loss.c - the loss that a run file means, and the outputs it wants. */
#include "scheme/run.h"

#include "data/points.h"

#include <string.h>

/* What `auto` means. */
static const tsri_loss_kind *usual(const tsr_config *config, const tsr_data *data)
{
    const char *model = tsri_config_text(config, "model.name");
    if (strcmp(model, "shallow") == 0 || strcmp(model, "grelu") == 0 ||
        strcmp(model, "relu_twin") == 0)
        return &tsri_loss_half_squares;
    if (tsri_wants_signs(config))
        return &tsri_loss_logistic;
    return data->classes > 0 ? &tsri_loss_cross_entropy : &tsri_loss_mse;
}

tsr_status tsri_choose_loss(const tsri_loss_kind **kind, const tsr_config *config,
                            const tsr_data *data)
{
    tsr_status st = TSR_OK;
    *kind = tsri_loss_named(tsri_config_text(config, "loss"));
    *kind = *kind ? *kind : usual(config, data);
    TSR_CHECK(data->classes > 0 || !(*kind)->classes, TSR_USAGE,
              "%s: %s needs classes, but %s has real targets: use loss: mse",
              tsri_config_place(config, "loss"), (*kind)->name, data->name);
done:
    return st;
}

int64_t tsri_outputs_wanted(const tsr_config *config, const tsri_loss_kind *kind,
                            const tsr_data *data)
{
    bool signs = kind->margin && data->classes == 2;
    bool every = data->sequences && strcmp(tsri_config_text(config, "model.read"), "every") == 0;
    int64_t classes = signs ? 1 : data->classes;
    return classes == 0 ? data->targets : every ? classes * data->height : classes;
}

tsr_status tsri_resolve_sequences(tsr_config *config, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    const char *model = tsri_config_text(config, "model.name");
    bool rnn = strcmp(model, "rnn") == 0;
    TSR_CHECK(rnn || !data->sequences, TSR_USAGE, "%s: %s holds sequences: use model: {name: rnn}",
              tsri_config_place(config, "model.name"), data->name);
    TSR_CHECK(
        !rnn || data->sequences, TSR_USAGE,
        "%s: rnn reads sequences, and %s has none: use data.format: sequences, or data: {name: "
        "sequences}",
        tsri_config_place(config, "model.name"), data->name);
    if (rnn && strcmp(tsri_config_text(config, "model.read"), "auto") == 0)
        TSR_TRY(tsr_config_set(config, data->targets > 0 ? "model.read=every" : "model.read=last"));
    if (rnn && data->targets > 0 && strcmp(tsri_config_text(config, "loss"), "auto") == 0)
        TSR_TRY(tsr_config_set(config, "loss=half_squares"));
done:
    return st;
}
