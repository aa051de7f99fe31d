/* cmd_train.c - tessera train: a run from its run file to model.safetensors. */
#include "cli/commands.h"
#include "cli/settings.h"
#include "cli/string.h"
#include "cli/training.h"

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    cli_pace pace;
    tsr_run_options o = cli_run_options(args, &pace);
    o.init = cli_text(args, "init");
    o.trace = cli_has(args, "trace");
    TSR_CHECK(o.folder && *o.folder, TSR_USAGE, "give --out DIR, the folder of the run");
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    TSR_TRY(cli_train_one(args, config, &o));
done:
    tsr_config_destroy(config);
    return st;
}

static const cli_option options[] = {
    CLI_OPTIONS_TRAIN,
    {0},
};

const cli_command cli_train = {
    .name = "train",
    .help = "train a network as a run file says",
    .synopsis = "RUN-FILE --out DIR",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .ranks = true,
    .details =
        "The folder then holds run.yaml (every key filled in), metrics.jsonl (one line per "
        "evaluation), checkpoints/, model.safetensors (PyTorch's names and layouts) and "
        "report.html (all of it on one page).\n\n"
        "Ctrl-C finishes the step, saves and exits with 130; --resume goes on from there, and the "
        "finished model has the same bits as if nothing had happened.",
    .run = run,
};
