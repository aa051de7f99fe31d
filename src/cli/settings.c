/* settings.c - options that several commands share. */
#include "cli/settings.h"

#include "base/status.h"
#include "io/config.h"

#include <string.h>

tsr_status cli_settings(tsr_config *config, const cli_args *args)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < args->given_count; i++) {
        const cli_given *g = &args->given[i];
        if (strcmp(g->option->name, "set") == 0)
            TSR_TRY(tsr_config_set(config, g->value));
        else if (strcmp(g->option->name, "data") == 0)
            TSR_TRY(tsri_config_set_data(config, g->value));
    }
done:
    return st;
}

tsr_status cli_model_settings(tsr_model *model, const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = tsr_model_config(model);
    if (cli_has(args, "data"))
        TSR_TRY(tsr_config_set(config, "data.split=0"));
    TSR_TRY(cli_settings(config, args));
done:
    return st;
}
