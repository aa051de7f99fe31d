/* settings.c - options that several commands share. */
#include "cli/settings.h"

#include "base/text.h"
#include "io/config.h"
#include "io/file.h"

#include <string.h>

/* What is there as a file or folder, or looks like one, is a path, anything else a name. It takes
 * the place of all that the run file says of where the data are. */
static tsr_status set_data(tsr_config *config, const char *value)
{
    tsr_status st = TSR_OK;
    tsri_text assignment = {0};
    bool path = strpbrk(value, "/.") || tsri_file_exists(value);
    const char *key = path ? "data.path" : "data.name";
    tsri_config_unset(config, "data.name");
    tsri_config_unset(config, "data.path");
    tsri_config_unset(config, "data.test_path");
    TSR_TRY(tsri_text_add(&assignment, "%s=%s", key, value));
    TSR_TRY(tsr_config_set(config, assignment.data));
done:
    tsri_text_fini(&assignment);
    return st;
}

tsr_status cli_settings(tsr_config *config, const cli_args *args)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < args->given_count; i++) {
        const cli_given *g = &args->given[i];
        if (strcmp(g->option->name, "set") == 0)
            TSR_TRY(tsr_config_set(config, g->value));
        else if (strcmp(g->option->name, "data") == 0)
            TSR_TRY(set_data(config, g->value));
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
