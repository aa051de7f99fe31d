/* cmd_ticket.c - tessera ticket: from a run file to smaller networks and the table that says so. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/training.h"

#include "base/status.h"
#include "base/text.h"
#include "io/json.h"
#include "ticket/best.h"

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

static tsr_status print_table(const tsri_tickets *tickets)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    bool classes = !isnan(tickets->row[0].accuracy);
    cli_table_head(&t, 10, "network", classes ? "pruned %" : "", classes ? "final %" : "loss",
                   "params", "file", "traffic", "epochs", "seconds", "ms/batch", "ms/step");
    for (int64_t i = 0; i < tickets->rows; i++) {
        const tsri_ticket_row *r = &tickets->row[i];
        cli_table_text(&t, r->name);
        percent(&t, r->before);
        if (classes)
            percent(&t, r->accuracy);
        else
            cli_table_real(&t, r->loss, 4);
        cli_table_int(&t, r->params);
        cli_table_text(&t, tsri_bytes_text((double)r->file_bytes));
        cli_table_text(&t, r->traffic ? tsri_bytes_text((double)r->traffic) : "");
        cli_table_format(&t, "%.4g", r->epochs);
        cli_table_real(&t, r->seconds, 1);
        cli_table_real(&t, r->time.infer.least, 2);
        cli_table_real(&t, r->time.step.least, 2);
    }
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

/* The best ticket in words, against the whole. */
static tsr_status print_sentence(const tsri_tickets *tickets)
{
    tsr_status st = TSR_OK;
    tsri_text sentence = {0};
    tsri_best best = tsri_tickets_best(tickets);
    TSR_TRY(tsri_best_sentence(&sentence, &best));
    if (best.ticket)
        (void)printf("%s\n", sentence.data);
done:
    tsri_text_fini(&sentence);
    return st;
}

static tsr_status print_json(const tsri_tickets *tickets, const char *report)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_json_begin(&w);
    TSR_TRY(tsri_tickets_json(&w, tickets));
    tsri_json_put_text(&w, "report", report);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
done:
    tsri_json_fini(&w);
    return st;
}

/* ---- The command -------------------------------------------------------------------------- */

static tsr_status tell(const cli_args *args, const tsri_tickets *tickets, const char *folder)
{
    tsr_status st = TSR_OK;
    tsri_text report = {0};
    TSR_TRY(tsri_text_add(&report, "%s/report.html", folder));
    TSR_TRY(tsr_report(folder, NULL));
    if (args->json) {
        TSR_TRY(print_json(tickets, report.data));
    } else {
        TSR_TRY(print_table(tickets));
        TSR_TRY(print_sentence(tickets));
        (void)printf("report   %s\n", report.data);
    }
done:
    tsri_text_fini(&report);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_tickets tickets = {0};
    cli_pace pace;
    tsr_run_options o = cli_run_options(args, &pace);
    o.init = cli_text(args, "init");
    TSR_CHECK(o.folder && *o.folder, TSR_USAGE, "where shall the runs live? give --out DIR");
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    cli_catch_signals();
    TSR_TRY(tsri_tickets_run(&tickets, config, &o, args->quiet ? NULL : say_stage));
    cli_progress_end();
    TSR_TRY(tell(args, &tickets, o.folder));
done:
    tsri_tickets_fini(&tickets);
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
