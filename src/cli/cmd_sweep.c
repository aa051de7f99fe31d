/* cmd_sweep.c - tessera sweep: one run file, a grid of values, some seeds. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/string.h"
#include "cli/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40 }; /* cells on the screen; all are in the files */

static void show(void *context, int64_t done, int64_t runs, int64_t resumed, int64_t diverged)
{
    bool *begun = context;
    char position[64], lost[48] = "";
    if (!*begun && resumed > 0)
        cli_say("%lld of %lld runs were done before", (long long)resumed, (long long)runs);
    *begun = true;
    if (!cli_progress_due() && done < runs)
        return;
    (void)snprintf(position, sizeof position, "run %lld/%lld", (long long)done, (long long)runs);
    if (diverged > 0)
        (void)snprintf(lost, sizeof lost, "%lld diverged", (long long)diverged);
    cli_progress_update((double)done / (double)runs, position, NULL, diverged > 0 ? lost : NULL);
}

/* ---- What came out ------------------------------------------------------------------------ */

static void real_or_dash(cli_table *t, double value)
{
    if (isfinite(value))
        cli_table_format(t, "%.4g", value);
    else
        cli_table_text(t, "-");
}

static void add_row(cli_table *t, const tsr_doc *cell, bool refused)
{
    const tsr_doc *values = tsr_doc_get(cell, "values");
    double accuracy = tsr_doc_real(tsr_doc_get(cell, "accuracy"), "mean");
    for (int64_t g = 0; g < tsr_doc_count(values); g++)
        cli_table_text(t, tsr_doc_text(tsr_doc_at(values, g), NULL));
    real_or_dash(t, tsr_doc_real(tsr_doc_get(cell, "train_loss"), "mean"));
    real_or_dash(t, tsr_doc_real(tsr_doc_get(cell, "train_loss"), "deviation"));
    real_or_dash(t, tsr_doc_real(tsr_doc_get(cell, "loss"), "mean"));
    if (isnan(accuracy))
        cli_table_text(t, "-");
    else
        cli_table_format(t, "%.2f %%", 100 * accuracy);
    cli_table_int(t, tsr_doc_int(cell, "diverged"));
    if (refused)
        cli_table_int(t, tsr_doc_int(cell, "refused"));
}

static tsr_status print_table(const tsr_doc *s)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    const tsr_doc *table = tsr_doc_get(s, "table");
    const tsr_doc *keys = tsr_doc_get(tsr_doc_at(table, 0), "values");
    bool refused = tsr_doc_int(s, "refused") > 0;
    int64_t cells = tsr_doc_count(table), grids = tsr_doc_count(keys);
    if (grids + 6 > CLI_COLUMNS_MAX)
        return TSR_OK;
    cli_table_columns(&t, (int)grids + 5 + refused, 0);
    for (int64_t g = 0; g < grids; g++)
        cli_table_text(&t, tsr_doc_key(keys, g));
    cli_table_text(&t, "train loss");
    cli_table_text(&t, "deviation");
    cli_table_text(&t, "test loss");
    cli_table_text(&t, "accuracy");
    cli_table_text(&t, "diverged");
    if (refused)
        cli_table_text(&t, "refused");
    for (int64_t cell = 0; cell < cells && cell < ROWS; cell++)
        add_row(&t, tsr_doc_at(table, cell), refused);
    TSR_TRY(cli_table_print(&t, stdout));
    if (cells > ROWS)
        (void)printf("... %lld more in the files\n", (long long)(cells - ROWS));
done:
    cli_table_fini(&t);
    return st;
}

/* The first reason; every line of the file has its own. */
static void print_refusal(const tsr_doc *s)
{
    const tsr_doc *outcomes = tsr_doc_get(s, "outcomes");
    const char *why = NULL;
    for (int64_t i = 0; i < tsr_doc_count(outcomes) && !why; i++)
        why = tsr_doc_text(tsr_doc_at(outcomes, i), "refused");
    if (why)
        (void)printf("\n%lld of the runs were refused on their way, the first: %s",
                     (long long)tsr_doc_int(s, "refused"), tsr_quote(why));
}

static void print_best(const tsr_doc *best)
{
    if (!tsr_doc_text(best, "settings"))
        return;
    if (strcmp(tsr_doc_text(best, "by"), "accuracy") == 0)
        (void)printf("best   %s: test accuracy %.2f %%\n", tsr_doc_text(best, "settings"),
                     100 * tsr_doc_real(best, "accuracy"));
    else
        (void)printf("best   %s: loss %.4g\n", tsr_doc_text(best, "settings"),
                     tsr_doc_real(best, "loss"));
}

static tsr_status print_text(const tsr_doc *s, const char *folder, bool reported)
{
    tsr_status st = TSR_OK;
    long long diverged = tsr_doc_int(s, "diverged");
    TSR_TRY(print_table(s));
    (void)printf("%lld cells x %lld seeds in %.1f s", (long long)tsr_doc_int(s, "cells"),
                 (long long)tsr_doc_int(s, "seeds"), tsr_doc_real(s, "seconds"));
    if (diverged > 0)
        (void)printf(", %lld runs diverged", diverged);
    print_refusal(s);
    (void)printf("\n");
    print_best(tsr_doc_get(s, "best"));
    if (tsr_doc_text(s, "incomparable"))
        (void)printf("best   not told: results cannot be compared when %s differs\n",
                     tsr_doc_text(s, "incomparable"));
    (void)printf("lines  %s/sweep.jsonl\ntable  %s/sweep.csv\n", folder, folder);
    if (reported)
        (void)printf("report %s/report.html\n", folder);
done:
    return st;
}

static void put_path(tsr_json *w, const char *key, const char *folder, const char *name)
{
    cli_string path = {0};
    if (cli_string_add(&path, "%s/%s", folder, name) == TSR_OK)
        tsr_json_text(w, key, path.data);
    cli_string_fini(&path);
}

/* All runs are in the files: they are not printed again. */
static tsr_status print_json(const tsr_doc *s, const char *folder, bool reported)
{
    static const char *const counts[] = {"cells",   "seeds",    "runs",
                                         "resumed", "diverged", "refused"};
    tsr_json *w = tsr_json_create();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        tsr_json_int(w, counts[i], tsr_doc_int(s, counts[i]));
    tsr_json_real(w, "seconds", tsr_doc_real(s, "seconds"));
    put_path(w, "jsonl", folder, "sweep.jsonl");
    put_path(w, "csv", folder, "sweep.csv");
    if (reported)
        put_path(w, "report", folder, "report.html");
    return cli_json_print(w);
}

/* ---- The command -------------------------------------------------------------------------- */

static tsr_status read_grids(const char ***grid, int64_t *count, const cli_args *args)
{
    tsr_status st = TSR_OK;
    *count = 0;
    while (cli_nth(args, "grid", *count))
        ++*count;
    TSR_CHECK(*count > 0, TSR_USAGE,
              "give at least one --grid KEY=FIRST:LAST:STEP or KEY=VALUE,VALUE,...");
    TSR_TRY(cli_alloc(grid, *count, sizeof **grid));
    for (int64_t i = 0; i < *count; i++)
        (*grid)[i] = cli_nth(args, "grid", i);
done:
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char *json = NULL;
    tsr_doc *doc = NULL;
    const char **grid = NULL;
    bool begun = false;
    tsr_sweep_options o = tsr_sweep_options_default();
    o.seeds = cli_int(args, "seeds", 1);
    o.curves = cli_has(args, "curves");
    o.weights = cli_has(args, "weights");
    o.folder = cli_text(args, "out");
    o.counts = args->quiet ? NULL : show;
    o.context = &begun;
    TSR_CHECK(o.folder && *o.folder, TSR_USAGE, "give --out DIR, the folder of the sweep");
    TSR_TRY(read_grids(&grid, &o.grids, args));
    o.grid = grid;
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    cli_catch_signals();
    cli_progress_begin("sweep", args->quiet);
    TSR_TRY(tsr_sweep(&json, config, &o));
    cli_progress_end();
    TSR_TRY(tsr_doc_parse(&doc, json));
    bool reported = cli_write_report(o.folder);
    TSR_TRY((args->json ? print_json : print_text)(doc, o.folder, reported));
done:
    tsr_doc_destroy(doc);
    tsr_free(json);
    free(grid);
    tsr_config_destroy(config);
    return st;
}

static const cli_option options[] = {
    {"out", 'o', "DIR", CLI_FOLDER, .help = "folder of the results (created if missing)"},
    {"grid", 'g', "KEY=VALUES", CLI_SETTING,
     .help =
         "values of a key: FIRST:LAST:STEP or a list between commas; may be given several times"},
    {"seeds", 0, "N", CLI_INT,
     .help = "runs of each cell, with the run file's seed and the next ones", .least = 1,
     .most = 1e6},
    {"curves", 0, NULL, CLI_FLAG, .help = "keep the loss of the whole network after every round"},
    {"weights", 0, NULL, CLI_FLAG,
     .help = "train on weights even where training on samples gives the same result faster"},
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    {0},
};

const cli_command cli_sweep = {
    .name = "sweep",
    .help = "run a grid of values of a run file's keys, with several seeds",
    .synopsis = "RUN-FILE --grid KEY=VALUES ... --out DIR",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "The folder then holds report.html (the best cell, maps, curves; 'tessera report' makes "
        "it again), sweep.jsonl and sweep.csv, a line per cell and seed: the grid's values, loss "
        "and accuracy on the test set, the whole network's loss on the training set, bytes sent "
        "between workers, seconds. A cell that diverges, or whose conversion (convert_at) is "
        "refused, is recorded as such.\n\n"
        "Cells run side by side, one thread each. After Ctrl-C or a crash the unfinished runs are "
        "lost; the same command goes on, and ends with the same results.",
    .run = run,
};
