/* cmd_sweep.c - tessera sweep: one run file, a grid of values, some seeds. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/training.h"

#include "base/alloc.h"
#include "base/status.h"
#include "io/json.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 40 }; /* cells on the screen; all are in the files */

static void show(void *context, const tsri_sweep *s)
{
    bool *begun = context;
    char position[64], diverged[48] = "";
    if (!*begun && s->resumed > 0)
        cli_say("%lld of %lld runs were done before", (long long)s->resumed, (long long)s->runs);
    *begun = true;
    if (!cli_progress_due() && s->done < s->runs)
        return;
    (void)snprintf(position, sizeof position, "run %lld/%lld", (long long)s->done,
                   (long long)s->runs);
    if (s->diverged > 0)
        (void)snprintf(diverged, sizeof diverged, "%lld diverged", (long long)s->diverged);
    cli_progress_update((double)s->done / (double)s->runs, position, NULL,
                        s->diverged > 0 ? diverged : NULL);
}

/* ---- What came out ------------------------------------------------------------------------ */

static void real_or_dash(cli_table *t, double value)
{
    if (isfinite(value))
        cli_table_format(t, "%.4g", value);
    else
        cli_table_text(t, "-");
}

static void add_row(cli_table *t, const tsri_sweep *s, int64_t cell)
{
    tsri_cell_sum u = tsri_sweep_sum(s, cell);
    for (int64_t g = 0; g < s->options.grids; g++)
        cli_table_text(t, s->grid[g].value[tsri_sweep_value(s, cell, g)]);
    real_or_dash(t, u.train_loss.mean);
    real_or_dash(t, u.train_loss.deviation);
    real_or_dash(t, u.loss.mean);
    if (isnan(u.accuracy.mean))
        cli_table_text(t, "-");
    else
        cli_table_format(t, "%.2f %%", 100 * u.accuracy.mean);
    cli_table_int(t, u.diverged);
    if (s->refused > 0)
        cli_table_int(t, u.refused);
}

static tsr_status print_table(const tsri_sweep *s)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    cli_table_columns(&t, (int)s->options.grids + 5 + (s->refused > 0), 0);
    for (int64_t g = 0; g < s->options.grids; g++)
        cli_table_text(&t, s->grid[g].key);
    cli_table_text(&t, "train loss");
    cli_table_text(&t, "deviation");
    cli_table_text(&t, "test loss");
    cli_table_text(&t, "accuracy");
    cli_table_text(&t, "diverged");
    if (s->refused > 0)
        cli_table_text(&t, "refused");
    for (int64_t cell = 0; cell < s->cells && cell < ROWS; cell++)
        add_row(&t, s, cell);
    TSR_TRY(cli_table_print(&t, stdout));
    if (s->cells > ROWS)
        (void)printf("... %lld more in the files\n", (long long)(s->cells - ROWS));
done:
    cli_table_fini(&t);
    return st;
}

/* The first reason; every line of the file has its own. */
static void print_refusal(const tsri_sweep *s)
{
    int64_t i = 0;
    while (i < s->runs && !s->outcome[i].refused)
        i++;
    if (i < s->runs)
        (void)printf("\n%lld of the runs were refused on their way, the first: %s",
                     (long long)s->refused, s->outcome[i].refused);
}

static tsr_status print_best(const tsri_sweep *s)
{
    tsr_status st = TSR_OK;
    tsri_cell_sum *ranking = NULL;
    tsri_text cell = {0};
    TSR_TRY(tsri_sweep_ranking(&ranking, s));
    if (s->cells < 2 || ranking[0].count == 0)
        goto done;
    TSR_TRY(tsri_sweep_cell_text(&cell, s, ranking[0].cell, ""));
    if (tsri_sweep_by_accuracy(s))
        (void)printf("best   %s: test accuracy %.2f %%\n", cell.data,
                     100 * ranking[0].accuracy.mean);
    else
        (void)printf("best   %s: loss %.4g\n", cell.data, ranking[0].loss.mean);
done:
    tsri_text_fini(&cell);
    tsri_free(ranking);
    return st;
}

static tsr_status print_text(const tsri_sweep *s, bool reported)
{
    tsr_status st = TSR_OK;
    if (s->options.grids + 6 <= CLI_COLUMNS_MAX)
        TSR_TRY(print_table(s));
    (void)printf("%lld cells x %lld seeds in %.1f s", (long long)s->cells, (long long)s->seeds,
                 s->seconds);
    if (s->diverged > 0)
        (void)printf(", %lld runs diverged", (long long)s->diverged);
    print_refusal(s);
    (void)printf("\n");
    TSR_TRY(print_best(s));
    (void)printf("lines  %s/sweep.jsonl\ntable  %s/sweep.csv\n", s->options.folder,
                 s->options.folder);
    if (reported)
        (void)printf("report %s/report.html\n", s->options.folder);
done:
    return st;
}

static tsr_status print_json(const tsri_sweep *s, bool reported)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_text path = {0};
    const struct {
        const char *key;
        int64_t value;
    } counts[] = {{"cells", s->cells},     {"seeds", s->seeds},       {"runs", s->runs},
                  {"resumed", s->resumed}, {"diverged", s->diverged}, {"refused", s->refused}};
    tsri_json_begin(&w);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        tsri_json_put_int(&w, counts[i].key, counts[i].value);
    tsri_json_put_real(&w, "seconds", s->seconds);
    TSR_TRY(tsri_text_add(&path, "%s/sweep.jsonl", s->options.folder));
    tsri_json_put_text(&w, "jsonl", path.data);
    path.length = 0;
    TSR_TRY(tsri_text_add(&path, "%s/sweep.csv", s->options.folder));
    tsri_json_put_text(&w, "csv", path.data);
    path.length = 0;
    TSR_TRY(tsri_text_add(&path, "%s/report.html", s->options.folder));
    if (reported)
        tsri_json_put_text(&w, "report", path.data);
    tsri_json_close(&w, '}');
    TSR_TRY(cli_json_print(&w));
done:
    tsri_text_fini(&path);
    tsri_json_fini(&w);
    return st;
}

/* ---- The command -------------------------------------------------------------------------- */

static tsr_status read_grids(const char ***grid, int64_t *count, const cli_args *args)
{
    tsr_status st = TSR_OK;
    *count = 0;
    while (cli_nth(args, "grid", *count))
        ++*count;
    TSR_CHECK(*count > 0, TSR_USAGE,
              "what shall vary? give --grid KEY=FIRST:LAST:STEP or KEY=VALUE,VALUE,...");
    TSR_TRY(tsri_alloc(grid, *count, sizeof **grid));
    for (int64_t i = 0; i < *count; i++)
        (*grid)[i] = cli_nth(args, "grid", i);
done:
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_sweep sweep = {0};
    const char **grid = NULL;
    bool begun = false;
    tsri_sweep_options o = {.seeds = cli_int(args, "seeds", 1),
                            .curves = cli_has(args, "curves"),
                            .weights = cli_has(args, "weights"),
                            .folder = cli_text(args, "out"),
                            .progress = args->quiet ? NULL : show,
                            .context = &begun};
    TSR_CHECK(o.folder && *o.folder, TSR_USAGE, "where shall the results go? give --out DIR");
    TSR_TRY(read_grids(&grid, &o.grids, args));
    o.grid = grid;
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    cli_catch_signals();
    cli_progress_begin("sweep", args->quiet);
    TSR_TRY(tsri_sweep_run(&sweep, config, &o));
    cli_progress_end();
    bool reported = cli_write_report(o.folder);
    TSR_TRY(args->json ? print_json(&sweep, reported) : print_text(&sweep, reported));
done:
    tsri_sweep_fini(&sweep);
    tsri_free(grid);
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
     .help = "train on weights even where training on samples gives the same faster"},
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
