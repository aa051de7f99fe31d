/* cmd_finetune.c - tessera finetune: trains on from a model's weights, a ticket's above all. */
#include "cli/commands.h"
#include "cli/settings.h"
#include "cli/string.h"
#include "cli/training.h"

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    cli_pace pace;
    tsr_run_options o = cli_run_options(args, &pace);
    o.init = args->operand[0];
    TSR_CHECK(o.folder && *o.folder, TSR_USAGE, "give --out DIR, the folder of the run");
    TSR_TRY(tsr_model_read(&model, o.init));
    TSR_TRY(tsr_config_finetune(tsr_model_config(model), cli_int(args, "epochs", 0),
                                cli_real(args, "lr", 0)));
    if (cli_has(args, "data")) { /* of other data, all, whatever the training took of its own */
        TSR_TRY(tsr_config_set(tsr_model_config(model), "data.limit=0"));
        TSR_TRY(tsr_config_set(tsr_model_config(model), "data.test_limit=0"));
    }
    TSR_TRY(cli_settings(tsr_model_config(model), args));
    TSR_CHECK(cli_names_data(model), TSR_USAGE,
              "%s was imported and has no data of its own: give --data", o.init);
    TSR_TRY(cli_train_one(args, tsr_model_config(model), &o));
done:
    tsr_model_destroy(model);
    return st;
}

static const cli_option options[] = {
    CLI_OPTION_RUN_FOLDER,
    {"epochs", 'e', "N", CLI_INT, .least = 1, .most = 1e9,
     .help = "passes over the training set (default: as the model's run)"},
    {"lr", 0, "RATE", CLI_REAL, .least = 0, .most = 1e6,
     .help = "learning rate at the start (default: as the model's run)"},
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    CLI_OPTION_RESUME,
    CLI_OPTION_FORCE,
    {0},
};

const cli_command cli_finetune = {
    .name = "finetune",
    .help = "continue training a ticket, or any model, from its weights",
    .synopsis = "MODEL --out DIR",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "The run file is the one inside the model, with the scheme dense: one worker trains all "
        "of the given network. --set changes it further. The folder is that of any run, and "
        "--resume works as in train.",
    .run = run,
};
