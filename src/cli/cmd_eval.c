/* cmd_eval.c - tessera eval: loss and accuracy of a model file. */
#include "cli/commands.h"
#include "cli/gates_report.h"
#include "cli/print.h"
#include "cli/result.h"
#include "cli/settings.h"

#include "base/status.h"
#include "io/config.h"
#include "model/evaluation.h"

#include <math.h>
#include <stdio.h>

/* With --gates or --batch: the same numbers, and what the gates cost. */
static tsr_status with_gates(tsr_model *model, const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsri_gates_report gates = {0};
    tsri_text text = {0};
    tsri_json w = {0};
    TSR_TRY(cli_gates_use(&gates, model, args));
    if (args->json) {
        tsri_json_begin(&w);
        tsri_json_put_int(&w, "n", gates.n);
        tsri_json_put_real(&w, "loss", gates.judged.n > 0 ? gates.judged.loss[1] : (double)NAN);
        tsri_json_put_real(&w, "accuracy",
                           gates.judged.n > 0 ? gates.judged.accuracy[1] : (double)NAN);
        cli_gates_json(&w, &gates);
        tsri_json_close(&w, '}');
        TSR_TRY(cli_json_print(&w));
    } else {
        TSR_TRY(cli_gates_text(&text, &gates));
        (void)puts(text.data);
    }
done:
    tsri_text_fini(&text);
    tsri_gates_fini(&gates);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    tsr_result r = tsr_result_default();
    char text[200];
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
        TSR_TRY(tsri_evaluation_write(cli_text(args, "out"), model, cli_has(args, "train-set")));
    if (args->json) {
        TSR_TRY(cli_result_json(&r, NULL));
    } else {
        cli_result_text(text, sizeof text, &r,
                        tsri_config_text(tsr_model_config(model), "data.unit"));
        (void)printf("%s, in %.2f s\n", text, r.seconds);
    }
done:
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
     .help =
         "also write what the page of a run shows of it: confusions with examples, calibration, "
         "what each layer reads (RUN/" TSRI_EVALUATION_FILE ")"},
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
