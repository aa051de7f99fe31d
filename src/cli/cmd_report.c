/* cmd_report.c - tessera report: a run's folder as one page. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"

#include "base/status.h"
#include "base/text.h"
#include "io/json.h"
#include "report/report.h"

#include <stdio.h>

static tsr_status tell(const cli_args *args, const char *path)
{
    tsri_json w = {0};
    if (!args->json) {
        (void)printf("report   %s\n", path);
        return TSR_OK;
    }
    tsri_json_open(&w, '{');
    tsri_json_put_text(&w, "report", path);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsri_text path = {0};
    const char *folder = args->operand[0], *out = cli_text(args, "out");
    TSR_TRY(tsri_text_add(&path, "%s/report.html", folder));
    TSR_TRY(tsri_report_write(folder, out));
    TSR_TRY(tell(args, out ? out : path.data));
done:
    tsri_text_fini(&path);
    return st;
}

static const cli_option options[] = {
    {"out", 'o', "FILE", CLI_FILE, .help = "write here instead of FOLDER/report.html"},
    {0},
};

const cli_command cli_report = {
    .name = "report",
    .help = "show a run on one page: curves, tickets, traffic, certificates",
    .synopsis = "FOLDER",
    .least = 1,
    .most = 1,
    .operand = CLI_FOLDER,
    .options = options,
    .details = "One file for every browser: no script, no network, light or dark as the reader "
               "likes. It can be made again at any time, also while the run goes on.",
    .run = run,
};
