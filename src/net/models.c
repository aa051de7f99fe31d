/* models.c - every model the program knows, and what it wants of data. */
#include "net/models.h"

#include <assert.h>
#include <string.h>

const tsri_model *const tsri_models[] = {
#define X(name) &tsri_model_##name,
    TSRI_MODEL_NAMES(X)
#undef X
        NULL};

const tsri_model *tsri_model_named(const char *name)
{
    for (int i = 0; tsri_models[i]; i++)
        if (strcmp(tsri_models[i]->name, name) == 0)
            return tsri_models[i];
    return NULL;
}

const tsri_model *tsri_model_of(const tsr_config *config)
{
    const tsri_model *model = tsri_model_named(tsri_config_text(config, "model.name"));
    assert(model); /* the choices of the schema are made from the same list */
    return model;
}

tsri_wants tsri_model_wants(const tsr_config *config)
{
    const tsri_model *model = tsri_model_of(config);
    const tsri_loss_kind *loss = tsri_loss_named(tsri_config_text(config, "loss"));
    loss = loss ? loss : model->loss;
    return (tsri_wants){.normalize = model->normalize,
                        .length = 1 / (double)tsri_config_int(config, "model.filter"),
                        .signs = loss && loss->margin,
                        .separate = model->separate};
}
