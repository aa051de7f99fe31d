/* cmd_eval.c - tessera eval: loss and accuracy of a model file. */
#include "cli/commands.h"
#include "cli/gates_report.h"
#include "cli/print.h"
#include "cli/result.h"
#include "cli/settings.h"
#include "cli/string.h"

#include <stdio.h>

static tsr_status print_gates(const tsr_doc *doc)
{
    cli_gates_print(stdout, tsr_doc_get(doc, "gates"));
    return TSR_OK;
}

/* With --gates or --batch: the same numbers, and what the gates cost. */
static tsr_status with_gates(tsr_model *model, const cli_args *args)
{
    tsr_status st = TSR_OK;
    char *json = NULL;
    TSR_TRY(tsr_model_gates(&json, model, cli_text(args, "gates"), cli_int(args, "batch", 0),
                            cli_has(args, "train-set")));
    TSR_TRY(cli_show(args, json, print_gates));
done:
    tsr_free(json);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    tsr_result r = tsr_result_default();
    char text[200], *unit = NULL;
    TSR_TRY(tsr_model_read(&model, args->operand[0]));
    TSR_TRY(cli_model_settings(model, args));
    TSR_CHECK(!cli_wants_gates(args) || !cli_text(args, "out"), TSR_USAGE,
              "--out writes what the exact network does: give it without --gates and --batch");
    if (cli_wants_gates(args)) {
        st = with_gates(model, args);
        goto done;
    }
    TSR_TRY(tsr_model_evaluate(&r, model, cli_has(args, "train-set")));
    if (cli_text(args, "out"))
        TSR_TRY(tsr_model_evaluation(cli_text(args, "out"), model, cli_has(args, "train-set")));
    if (args->json) {
        TSR_TRY(cli_result_json(&r, NULL));
    } else {
        unit = cli_setting(tsr_model_config(model), "data.unit");
        cli_result_text(text, sizeof text, &r, unit);
        (void)printf("%s, in %.2f s\n", text, r.seconds);
    }
done:
    tsr_free(unit);
    tsr_model_destroy(model);
    return st;
}

static const cli_option options[] = {
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    CLI_OPTION_TRAIN_SET,
    CLI_OPTION_GATES,
    CLI_OPTION_BATCH,
    {"out", 'o', "FILE", CLI_FILE,
     .help = "also write what the page of a run shows of a model: confusions with examples, "
             "calibration, what each layer reads (RUN/evaluation.json)"},
    {0},
};

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
