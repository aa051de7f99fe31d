/* cmd_report.c - tessera report: a run's folder as one page, or several runs beside each other. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"

#include "base/status.h"
#include "base/text.h"
#include "io/json.h"
#include "report/compare.h"
#include "report/png.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static tsr_status tell(const cli_args *args, const char *path)
{
    tsri_json w = {0};
    if (!args->json) {
        (void)printf("report   %s\n", path);
        return TSR_OK;
    }
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "report", path);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static tsr_status one_run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsri_text path = {0};
    const char *folder = args->operand[0], *out = cli_text(args, "out");
    const char *picture = cli_text(args, "picture");
    int64_t count = 0;
    TSR_CHECK(!cli_has(args, "accuracy"), TSR_USAGE,
              "--accuracy compares runs: give more than one folder");
    TSR_TRY(tsri_text_add(&path, "%s/report.html", folder));
    TSR_TRY(tsr_report(folder, out));
    if (picture)
        TSR_TRY(tsr_report_pictures(&count, folder, picture));
    if (count > 0 && !args->json)
        (void)printf("pictures %s-*: %lld charts as SVG and CSV%s\n", picture, (long long)count,
                     tsri_png_available() ? " and PNG" : "");
    TSR_TRY(tell(args, out ? out : path.data));
done:
    tsri_text_fini(&path);
    return st;
}

/* ---- Several runs -----------------------------------------------------------------------------
 */

/* "9.0 s, 53 MB" when it was reached. */
static void reached_cell(cli_table *t, const tsri_rival *r, double goal)
{
    int64_t at = tsri_rival_reached(r, goal);
    if (at < 0)
        cli_table_text(t, "-");
    else
        cli_table_format(t, "%.1f s, %s", r->seconds[at], tsri_bytes_text(r->bytes[at]));
}

static tsr_status print_table(const tsri_compare *c)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    cli_table_columns(&t, 5 + (int)c->goals, 0);
    cli_table_text(&t, "run");
    cli_table_text(&t, "rounds");
    cli_table_text(&t, "loss");
    cli_table_format(&t, "best, %%");
    for (int64_t g = 0; g < c->goals; g++)
        cli_table_format(&t, "to %.4g %%", c->goal[g]);
    cli_table_text(&t, "workers compute, send, wait");
    for (int64_t i = 0; i < c->count; i++) {
        const tsri_rival *r = &c->run[i];
        cli_table_text(&t, r->name);
        cli_table_real(&t, tsri_rival_rounds(r), 0);
        cli_table_real(&t, tsri_rival_loss(r), 4);
        cli_table_real(&t, tsri_rival_best(r), 2);
        for (int64_t g = 0; g < c->goals; g++)
            reached_cell(&t, r, c->goal[g]);
        if (isnan(r->part[0]))
            cli_table_text(&t, "");
        else
            cli_table_format(&t, "%.0f, %.0f, %.0f %%", r->part[0], r->part[1], r->part[2]);
    }
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

static void put_rival(tsri_json *w, const tsri_compare *c, const tsri_rival *r)
{
    tsri_json_open(w, '{');
    tsri_json_put_text(w, "run", r->name);
    tsri_json_put_real(w, "rounds", tsri_rival_rounds(r));
    tsri_json_put_real(w, "loss", tsri_rival_loss(r));
    tsri_json_put_real(w, "best", tsri_rival_best(r));
    for (int k = 0; k < TSRI_PARTS && !isnan(r->part[0]); k++)
        tsri_json_put_real(w, tsri_part_names[k], r->part[k]);
    tsri_json_key(w, "reached");
    tsri_json_open(w, '[');
    for (int64_t g = 0; g < c->goals; g++) {
        int64_t at = tsri_rival_reached(r, c->goal[g]);
        tsri_json_open(w, '{');
        tsri_json_put_real(w, "accuracy", c->goal[g]);
        tsri_json_put_real(w, "seconds", at < 0 ? (double)NAN : r->seconds[at]);
        tsri_json_put_real(w, "bytes_total", at < 0 ? (double)NAN : r->bytes[at]);
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
}

static tsr_status print_json(const tsri_compare *c, const char *path)
{
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "report", path);
    tsri_json_key(&w, "runs");
    tsri_json_open(&w, '[');
    for (int64_t i = 0; i < c->count; i++)
        put_rival(&w, c, &c->run[i]);
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static tsr_status compare(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsri_compare c = {0};
    double goal[TSRI_GOALS + 1] = {0};
    int64_t goals = 0;
    const char *text, *out = cli_text(args, "out"), *picture = cli_text(args, "picture");
    out = out ? out : "compare.html";
    while (goals <= TSRI_GOALS && (text = cli_nth(args, "accuracy", goals)))
        goal[goals++] = strtod(text, NULL); /* checked with the row */
    TSR_TRY(tsri_compare_read(&c, args->operand, args->count));
    TSR_TRY(tsri_compare_goals(&c, goal, goals));
    TSR_TRY(tsri_compare_page(&c, out));
    if (picture)
        TSR_TRY(tsri_compare_picture(&c, picture));
    if (args->json)
        TSR_TRY(print_json(&c, out));
    else {
        TSR_TRY(print_table(&c));
        TSR_TRY(tell(args, out));
    }
done:
    tsri_compare_fini(&c);
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
        "one, the losses). Only metrics.jsonl is read from each.",
    .run = run,
};
