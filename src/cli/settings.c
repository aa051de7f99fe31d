/* settings.c - options that several commands share. */
#include "cli/settings.h"

#include "base/status.h"
#include "io/config.h"
#include "scheme/model.h"

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
    static const char *const all[] = {"data.split=0", "data.limit=0",     "data.test_limit=0",
                                      "data.size=0",  "data.format=auto", "data.header=auto"};
    tsr_config *config = tsr_model_config(model);
    for (size_t i = 0; cli_has(args, "data") && i < sizeof all / sizeof *all; i++)
        TSR_TRY(tsr_config_set(config, all[i]));
    TSR_TRY(cli_settings(config, args));
    model->shown_others = cli_has(args, "data");
done:
    return st;
}
