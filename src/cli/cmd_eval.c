/* cmd_eval.c - tessera eval: loss and accuracy of a model file. */
#include "cli/commands.h"
#include "cli/result.h"
#include "cli/settings.h"

#include "base/status.h"

#include <stdio.h>

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    tsr_result r;
    char text[128];
    TSR_TRY(tsr_model_read(&model, args->operand[0]));
    TSR_TRY(cli_model_settings(model, args));
    TSR_TRY(tsr_model_evaluate(&r, model, cli_has(args, "train-set")));
    if (args->json) {
        TSR_TRY(cli_result_json(&r, NULL));
    } else {
        cli_result_text(text, sizeof text, &r);
        (void)printf("%s, in %.2f s\n", text, r.seconds);
    }
done:
    tsr_model_destroy(model);
    return st;
}

static const cli_option options[] = {CLI_OPTION_SET, CLI_OPTION_DATA, CLI_OPTION_TRAIN_SET, {0}};

const cli_command cli_eval = {
    .name = "eval",
    .help = "loss and accuracy of a model",
    .synopsis = "MODEL",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .run = run,
};
