/* cmd_ticket.c - tessera ticket: from a run file to smaller networks and the table that says so. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/training.h"

#include "base/status.h"
#include "base/text.h"
#include "io/json.h"
#include "report/report.h"
#include "ticket/latency.h"
#include "ticket/pipeline.h"

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
    cli_table_head(&t, 9, "network", classes ? "pruned %" : "", classes ? "final %" : "loss",
                   "params", "file", "traffic", "seconds", "ms/batch", "ms/step");
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
        cli_table_real(&t, r->seconds, 1);
        cli_table_real(&t, r->time.infer.least, 2);
        cli_table_real(&t, r->time.step.least, 2);
    }
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

/* The smallest ticket in words, against the network it came from. */
static void print_sentence(const tsri_tickets *tickets)
{
    const tsri_ticket_row *whole = &tickets->row[0], *best = NULL;
    for (int64_t i = 1; i < tickets->rows; i++)
        if (tickets->row[i].kind == TSRI_TICKET_PRUNED &&
            (!best || tickets->row[i].params < best->params))
            best = &tickets->row[i];
    if (!best)
        return;
    (void)printf("%s has %.1f %% of the parameters of the whole", best->name,
                 100 * (double)best->params / (double)whole->params);
    double before = whole->time.infer.least, after = best->time.infer.least;
    switch (tsri_faster(whole->time.infer, best->time.infer)) {
    case TSRI_FASTER:
        (void)printf(" and runs %.2f times as fast\n", before / after);
        break;
    case TSRI_PERHAPS_FASTER:
        (void)printf(
            " and may be faster (%.2f ms against %.2f, within the noise of this machine)\n", after,
            before);
        break;
    default:
        (void)printf(" and is not faster (%.2f ms against %.2f)\n", after, before);
    }
}

static tsr_status print_json(const tsri_tickets *tickets, const char *report)
{
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_tickets_json(&w, tickets);
    tsri_json_put_text(&w, "report", report);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

/* ---- The command -------------------------------------------------------------------------- */

static tsr_status tell(const cli_args *args, const tsri_tickets *tickets, const char *folder)
{
    tsr_status st = TSR_OK;
    tsri_text report = {0};
    TSR_TRY(tsri_text_add(&report, "%s/report.html", folder));
    TSR_TRY(tsri_report_write(folder, NULL));
    if (args->json) {
        TSR_TRY(print_json(tickets, report.data));
    } else {
        TSR_TRY(print_table(tickets));
        print_sentence(tickets);
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
        "module "
        "that loads either. The table at the end "
        "is also in DIR/ticket.json and, with pictures, in DIR/report.html.\n\n"
        "Accuracies are of the test set in percent: pruned, before fine-tuning, and final. Times "
        "of a batch are measured side by side on this machine.\n\n"
        "It can be stopped at any point; --resume goes on from there and ends with the same bits.",
    .run = run,
};
