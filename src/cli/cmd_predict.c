/* cmd_predict.c - tessera predict: what a model says of each sample, on stdout or in --out FILE. */
#include "cli/commands.h"
#include "cli/gates_report.h"
#include "cli/print.h"
#include "cli/settings.h"

#include <stdio.h>

/* Beside predictions on stdout the measurements of gates go where messages go. */
static tsr_status tell(const cli_args *args, const char *told, const char *path)
{
    tsr_status st = TSR_OK;
    tsr_doc *doc = NULL;
    if (args->json && path)
        (void)puts(told);
    TSR_TRY(tsr_doc_parse(&doc, told));
    const tsr_doc *gates = tsr_doc_get(doc, "gates");
    if (!args->json && path)
        (void)printf("%lld predictions in %s\n", (long long)tsr_doc_int(doc, "n"), path);
    if (gates && !(args->json && path))
        cli_gates_print(path ? stdout : stderr, gates);
done:
    tsr_doc_destroy(doc);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    char *text = NULL, *told = NULL, *data = NULL;
    tsr_answers_options o = tsr_answers_options_default();
    o.path = cli_text(args, "out");
    o.json = args->json;
    o.probabilities = cli_has(args, "probabilities");
    o.on_training_set = cli_has(args, "train-set");
    o.gates = cli_has(args, "batch") && !cli_has(args, "gates") ? "exact" : cli_text(args, "gates");
    o.batch = cli_int(args, "batch", 0);
    TSR_TRY(tsr_model_read(&model, args->operand[0]));
    TSR_TRY(cli_model_settings(model, args));
    TSR_TRY(tsr_config_get(&data, tsr_model_config(model), "data.path"));
    TSR_TRY(cli_spare(o.path, args->operand[0], "the model"));
    TSR_TRY(cli_spare(o.path, data, "the data"));
    TSR_TRY(tsr_model_answers(&text, &told, model, &o));
    if (text)
        (void)printf("%s%s", text, args->json ? "\n" : "");
    TSR_TRY(tell(args, told, o.path));
done:
    tsr_free(text);
    tsr_free(told);
    tsr_free(data);
    tsr_model_destroy(model);
    return st;
}

static const cli_option options[] = {
    {"out", 'o', "FILE", CLI_FILE,
     .help = "write there instead of stdout: CSV, .json, or .npy for raw outputs"},
    {"probabilities", 'p', NULL, CLI_FLAG, .help = "add the probability of every class"},
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    CLI_OPTION_TRAIN_SET,
    CLI_OPTION_GATES,
    CLI_OPTION_BATCH,
    {0},
};

const cli_command cli_predict = {
    .name = "predict",
    .help = "predict each sample with a model, as CSV or JSON",
    .synopsis = "MODEL",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "The data (--data) needs no targets: a table without the target's column or with it "
        "empty, x.npy alone, a folder of pictures, one picture, or - for a table on standard "
        "input. Columns and classes are matched with those of the training by name; a missing "
        "one, or a word never seen, is refused.",
    .run = run,
};
