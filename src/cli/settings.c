/* settings.c - options that several commands share. */
#include "cli/settings.h"
#include "cli/string.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

tsr_status cli_settings(tsr_config *config, const cli_args *args)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < args->given_count; i++) {
        const cli_given *g = &args->given[i];
        if (strcmp(g->option->name, "set") == 0)
            TSR_TRY(tsr_config_set(config, g->value));
        else if (strcmp(g->option->name, "data") == 0)
            TSR_TRY(tsr_config_use_data(config, g->value));
    }
done:
    return st;
}

/* Keys whose values a trained model keeps for good: its file says what its inputs and outputs are.
 * A file of an older version does not, so there the run file still tells the columns. */
static bool is_kept(const char *key, bool schema)
{
    static const char *const columns[] = {"data.target", "data.task", "data.ignore",
                                          "data.words",  "data.unit", "data.size"};
    static const char *const always[] = {"model.", "scheme.", "optim.", "data.normalize",
                                         "data.target_scale"};
    for (size_t i = 0; schema && i < sizeof columns / sizeof *columns; i++)
        if (strcmp(key, columns[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strncmp(key, always[i], strlen(always[i])) == 0)
            return true;
    return false;
}

/* --set of such a key would change nothing, or make another network. */
static tsr_status refuse_kept(const tsr_model *model, const cli_args *args)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < args->given_count; i++) {
        const cli_given *g = &args->given[i];
        char key[96];
        if (strcmp(g->option->name, "set") != 0)
            continue;
        (void)snprintf(key, sizeof key, "%.*s", (int)strcspn(g->value, "="), g->value);
        TSR_CHECK(!is_kept(key, tsr_model_meta(model, "tessera.schema") != NULL), TSR_USAGE,
                  "--set %s: a trained model keeps it; train again to change it", key);
    }
done:
    return st;
}

tsr_status cli_model_settings(tsr_model *model, const cli_args *args)
{
    tsr_status st = TSR_OK;
    TSR_TRY(refuse_kept(model, args));
    for (int64_t i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i].option->name, "data") == 0)
            TSR_TRY(tsr_model_use_data(model, args->given[i].value));
    for (int64_t i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i].option->name, "set") == 0)
            TSR_TRY(tsr_config_set(tsr_model_config(model), args->given[i].value));
done:
    return st;
}

tsr_status cli_spare(const char *out, const char *read, const char *what)
{
    tsr_status st = TSR_OK;
    struct stat a, b;
    TSR_CHECK(!out || !read || stat(out, &a) != 0 || stat(read, &b) != 0 || a.st_dev != b.st_dev ||
                  a.st_ino != b.st_ino,
              TSR_USAGE, "%s is %s itself: give --out another name", tsr_quote(out), what);
done:
    return st;
}

bool cli_names_data(tsr_model *model)
{
    const tsr_config *config = tsr_model_config(model);
    return !tsr_model_meta(model, "tessera.imported") || tsr_config_given(config, "data.name") ||
           tsr_config_given(config, "data.path");
}
