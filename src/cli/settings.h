/* settings.h - options that several commands share: --set key=value and --data NAME|PATH. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "cli/args.h"

#define CLI_OPTION_SET                                                                             \
    {                                                                                              \
        "set", 's', "KEY=VALUE", CLI_SETTING,                                                      \
            .help = "change a key of the run file; may be given several times"                     \
    }
#define CLI_OPTION_DATA                                                                            \
    {                                                                                              \
        "data", 'd', "NAME|PATH", CLI_DATA, .help = "other data than the run file names"           \
    }
#define CLI_OPTION_TRAIN_SET                                                                       \
    {                                                                                              \
        "train-set", 0, NULL, CLI_FLAG, .help = "use the training set instead of the test set"     \
    }

/* Applies every --set, and --data where the command has it, in the order of the command line. */
tsr_status cli_settings(tsr_config *config, const cli_args *args);

/* The same for a finished model: first --data, all of it for testing, nothing split off; then
 * --set. */
tsr_status cli_model_settings(tsr_model *model, const cli_args *args);

/* What is written never takes the place of what was read: USAGE when `out` is that file, which is
 * called `what` ("the model"). Either may be NULL. */
tsr_status cli_spare(const char *out, const char *read, const char *what);

/* False when the model was imported, and so has no data of its own, and none were given. */
bool cli_names_data(tsr_model *model);

#endif
