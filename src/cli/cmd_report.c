/* cmd_report.c - tessera report: a run's folder as one page, or several runs beside each other. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/string.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static tsr_status tell(const cli_args *args, const char *path)
{
    if (!args->json) {
        (void)printf("report   %s\n", path);
        return TSR_OK;
    }
    tsr_json *w = tsr_json_create();
    tsr_json_text(w, "report", path);
    return cli_json_print(w);
}

static tsr_status one_run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    cli_string path = {0};
    const char *folder = args->operand[0], *out = cli_text(args, "out");
    const char *picture = cli_text(args, "picture");
    int64_t count = 0;
    TSR_CHECK(!cli_has(args, "accuracy"), TSR_USAGE,
              "--accuracy compares runs: give more than one folder");
    TSR_TRY(cli_string_add(&path, "%s/report.html", folder));
    TSR_TRY(tsr_report(folder, out));
    if (picture)
        TSR_TRY(tsr_report_pictures(&count, folder, picture));
    if (count > 0 && !args->json)
        (void)printf("pictures %s-*: %lld as SVG%s, charts as CSV, too\n", picture,
                     (long long)count, cli_built_with("png") ? " and PNG" : "");
    TSR_TRY(tell(args, out ? out : path.data));
done:
    cli_string_fini(&path);
    return st;
}

/* ---- Several runs -------------------------------------------------------------------------- */

/* "9.0 s, 53 MB" when it was reached. */
static void reached_cell(cli_table *t, const tsr_doc *reached)
{
    double seconds = tsr_doc_real(reached, "seconds");
    if (isnan(seconds))
        cli_table_text(t, "-");
    else
        cli_table_format(t, "%.1f s, %s", seconds, cli_bytes(tsr_doc_real(reached, "bytes_total")));
}

static void add_run(cli_table *t, const tsr_doc *r)
{
    const tsr_doc *reached = tsr_doc_get(r, "reached");
    cli_table_text(t, tsr_doc_text(r, "run"));
    cli_table_real(t, tsr_doc_real(r, "rounds"), 0);
    cli_table_real(t, tsr_doc_real(r, "loss"), 4);
    cli_table_real(t, tsr_doc_real(r, "best"), 2);
    for (int64_t g = 0; g < tsr_doc_count(reached); g++)
        reached_cell(t, tsr_doc_at(reached, g));
    if (!tsr_doc_get(r, "compute"))
        cli_table_text(t, "");
    else
        cli_table_format(t, "%.0f, %.0f, %.0f %%", tsr_doc_real(r, "compute"),
                         tsr_doc_real(r, "send"), tsr_doc_real(r, "wait"));
}

static tsr_status print_table(const tsr_doc *doc)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    const tsr_doc *runs = tsr_doc_get(doc, "runs");
    const tsr_doc *goals = tsr_doc_get(tsr_doc_at(runs, 0), "reached");
    cli_table_columns(&t, 5 + (int)tsr_doc_count(goals), 0);
    cli_table_text(&t, "run");
    cli_table_text(&t, "rounds");
    cli_table_text(&t, "loss");
    cli_table_format(&t, "best, %%");
    for (int64_t g = 0; g < tsr_doc_count(goals); g++)
        cli_table_format(&t, "to %.4g %%", tsr_doc_real(tsr_doc_at(goals, g), "accuracy"));
    cli_table_text(&t, "workers compute, send, wait");
    for (int64_t i = 0; i < tsr_doc_count(runs); i++)
        add_run(&t, tsr_doc_at(runs, i));
    TSR_TRY(cli_table_print(&t, stdout));
    (void)printf("report   %s\n", tsr_doc_text(doc, "report"));
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status compare(const cli_args *args)
{
    enum { GOALS = 8 };
    tsr_status st = TSR_OK;
    char *json = NULL;
    double goal[GOALS + 1] = {0};
    tsr_compare_options o = tsr_compare_options_default();
    const char *text;
    o.page = cli_text(args, "out") ? cli_text(args, "out") : "compare.html";
    o.picture = cli_text(args, "picture");
    o.goal = goal;
    while (o.goals <= GOALS && (text = cli_nth(args, "accuracy", o.goals)))
        goal[o.goals++] = strtod(text, NULL); /* checked with the row */
    TSR_TRY(tsr_compare(&json, (const char *const *)args->operand, args->count, &o));
    TSR_TRY(cli_show(args, json, print_table));
done:
    tsr_free(json);
    return st;
}

static tsr_status run(const cli_args *args)
{
    return args->count == 1 ? one_run(args) : compare(args);
}

static const cli_option options[] = {
    {"out", 'o', "FILE", CLI_FILE,
     .help = "write here instead of FOLDER/report.html (several runs: compare.html)"},
    {"accuracy", 'a', "PERCENT", CLI_REAL, .least = 0, .most = 100,
     .help = "several runs: time and traffic to this test accuracy; may be given again, rising"},
    {"picture", 0, "BASE", CLI_FILE,
     .help = "every chart as files, too: BASE-SECTION.svg, .csv and .png (several runs: their "
             "curves as BASE.svg, ...)"},
    {0},
};

const cli_command cli_report = {
    .name = "report",
    .help = "show a run on one page: curves, tickets, traffic, certificates; or compare runs",
    .synopsis = "FOLDER [FOLDER ...]",
    .least = 1,
    .most = -1,
    .operand = CLI_FOLDER,
    .options = options,
    .details =
        "One file for every browser, which asks the network for nothing. Charts show the values "
        "under the cursor; drag to zoom, click a name to switch its line off. It can be made again "
        "at any time, even while the run goes on. For a sweep's folder it shows the best cell, "
        "maps of all cells, curves and a table.\n\n"
        "Several folders make one page, compare.html in the current folder: test accuracy against "
        "time and against traffic, and what each run took to the same accuracy (if no run has "
        "one, the losses). Of each, metrics.jsonl is read, and run.yaml where "
        "there is one.",
    .run = run,
};
