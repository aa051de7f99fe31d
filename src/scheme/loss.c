/* loss.c - the loss that a run file means, and the outputs it wants. */
#include "scheme/run.h"

#include "data/points.h"

#include <string.h>

static const struct {
    const char *name;
    tsri_loss_kind kind;
} losses[] = {{"cross_entropy", TSRI_CROSS_ENTROPY},
              {"mse", TSRI_MSE},
              {"half_squares", TSRI_HALF_SQUARES},
              {"huber", TSRI_HUBER},
              {"hinge", TSRI_HINGE},
              {"squared_hinge", TSRI_SQUARED_HINGE},
              {"exponential", TSRI_EXPONENTIAL},
              {"logistic", TSRI_LOGISTIC}};

/* What `auto` means. */
static tsri_loss_kind usual(const tsr_config *config, const tsr_data *data)
{
    const char *model = tsri_config_text(config, "model.name");
    if (strcmp(model, "shallow") == 0 || strcmp(model, "grelu") == 0 ||
        strcmp(model, "relu_twin") == 0)
        return TSRI_HALF_SQUARES;
    if (tsri_wants_signs(config))
        return TSRI_LOGISTIC;
    return data->classes > 0 ? TSRI_CROSS_ENTROPY : TSRI_MSE;
}

tsr_status tsri_choose_loss(tsri_loss_kind *kind, const tsr_config *config, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    const char *name = tsri_config_text(config, "loss");
    *kind = usual(config, data);
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (strcmp(losses[i].name, name) == 0)
            *kind = losses[i].kind;
    TSR_CHECK(data->classes > 0 || *kind != TSRI_CROSS_ENTROPY, TSR_USAGE,
              "%s: cross_entropy needs classes, but %s has real targets: use loss: mse",
              tsri_config_place(config, "loss"), data->name);
done:
    return st;
}

int64_t tsri_outputs_wanted(const tsr_config *config, tsri_loss_kind kind, const tsr_data *data)
{
    bool signs = tsri_loss_of_margin(kind) && data->classes == 2;
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
