/* cmd_ticket.c - tessera ticket: from a run file to smaller networks, and a table that compares
 * them. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/string.h"
#include "cli/training.h"

#include <math.h>
#include <stdio.h>

/* Each row has a bar of its own. */
static void say_stage(void *context, const char *name)
{
    *(cli_pace *)context = (cli_pace){0};
    cli_progress_end();
    cli_progress_begin(name, false);
}

/* ---- The table ---------------------------------------------------------------------------- */

static void percent(cli_table *t, double part)
{
    if (isnan(part))
        cli_table_text(t, "");
    else
        cli_table_format(t, "%.2f", 100 * part);
}

static tsr_status print_table(const tsr_doc *rows)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    bool classes = !isnan(tsr_doc_real(tsr_doc_at(rows, 0), "accuracy"));
    cli_table_head(&t, 10, "network", classes ? "pruned %" : "", classes ? "final %" : "loss",
                   "params", "file", "traffic", "epochs", "seconds", "ms/batch", "ms/step");
    for (int64_t i = 0; i < tsr_doc_count(rows); i++) {
        const tsr_doc *r = tsr_doc_at(rows, i);
        int64_t traffic = tsr_doc_int(r, "bytes_total");
        cli_table_text(&t, tsr_doc_text(r, "network"));
        percent(&t, tsr_doc_real(r, "accuracy_before"));
        if (classes)
            percent(&t, tsr_doc_real(r, "accuracy"));
        else
            cli_table_real(&t, tsr_doc_real(r, "loss"), 4);
        cli_table_int(&t, tsr_doc_int(r, "params"));
        cli_table_text(&t, cli_bytes((double)tsr_doc_int(r, "file_bytes")));
        cli_table_text(&t, traffic ? cli_bytes((double)traffic) : "");
        cli_table_format(&t, "%.4g", tsr_doc_real(r, "epochs"));
        cli_table_real(&t, tsr_doc_real(r, "seconds"), 1);
        cli_table_real(&t, tsr_doc_real(r, "ms"), 2);
        cli_table_real(&t, tsr_doc_real(r, "step_ms"), 2);
    }
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

/* ---- The command -------------------------------------------------------------------------- */

/* The best ticket in words, against the whole, below the table. */
static tsr_status print_text(const tsr_doc *doc)
{
    tsr_status st = TSR_OK;
    const char *sentence = tsr_doc_text(tsr_doc_get(doc, "best"), "sentence");
    TSR_TRY(print_table(tsr_doc_get(doc, "rows")));
    if (sentence)
        (void)printf("%s\n", sentence);
    (void)printf("report   %s\n", tsr_doc_text(doc, "report"));
done:
    return st;
}

static tsr_status tell(const cli_args *args, const char *json, const char *folder)
{
    tsr_status st = TSR_OK;
    cli_string report = {0};
    tsr_json *w = NULL;
    char *all = NULL;
    TSR_TRY(cli_string_add(&report, "%s/report.html", folder));
    TSR_TRY(tsr_report(folder, NULL));
    w = tsr_json_from(json);
    tsr_json_text(w, "report", report.data);
    TSR_TRY(tsr_json_end(&all, w));
    TSR_TRY(cli_show(args, all, print_text));
done:
    tsr_free(all);
    cli_string_fini(&report);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char *json = NULL;
    cli_pace pace;
    tsr_run_options o = cli_run_options(args, &pace);
    o.init = cli_text(args, "init");
    o.stage = args->quiet ? NULL : say_stage;
    TSR_CHECK(o.folder && *o.folder, TSR_USAGE, "give --out DIR, the folder of the runs");
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    cli_catch_signals();
    TSR_TRY(tsr_tickets(&json, config, &o));
    cli_progress_end();
    TSR_TRY(tell(args, json, o.folder));
done:
    tsr_free(json);
    tsr_config_destroy(config);
    return st;
}

static const cli_option options[] = {
    CLI_OPTION_RUN_FOLDER,
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    CLI_OPTION_RESUME,
    CLI_OPTION_FORCE,
    {"init", 0, "FILE", CLI_FILE, .help = "start pretraining from the weights of a model file"},
    {0},
};

const cli_command cli_ticket = {
    .name = "ticket",
    .help = "pretrain, prune at several ratios, fine-tune each",
    .synopsis = "RUN-FILE --out DIR",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "The section ticket: of the run file says how: ratios, criterion, epochs of fine-tuning, "
        "controls. DIR is the folder of pretraining; each ticket has a folder in it with "
        "ticket.safetensors (as pruned), model.safetensors (fine-tuned) and model.py, a PyTorch "
        "module that loads either. The table at the end is also in DIR/ticket.json and, with "
        "pictures, in DIR/report.html.\n\n"
        "Accuracies are those on the test set in percent: pruned, before fine-tuning, and final. "
        "Times of a batch are measured side by side on this machine.\n\n"
        "It can be stopped at any point; --resume goes on from there and ends with the same bits.",
    .run = run,
};
