/* cmd_metrics.c - tessera metrics: what runs told, as a table or for TensorBoard. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/string.h"

#include <stdio.h>

typedef struct told {
    int64_t runs, lines, numbers;
} told;

static tsr_status write_csv(told *t, const cli_args *args)
{
    tsr_status st = TSR_OK;
    char *text = NULL;
    TSR_TRY(tsr_metrics_csv(&text, &t->lines, args->operand[0], cli_text(args, "event"),
                            cli_text(args, "csv")));
    if (text)
        (void)fputs(text, stdout);
done:
    tsr_free(text);
    return st;
}

static tsr_status print_json(const told *t, const char *csv, const char *out)
{
    tsr_json *j = tsr_json_create();
    if (csv) {
        tsr_json_text(j, "csv", csv);
        tsr_json_int(j, "lines", t->lines);
    }
    if (out) {
        tsr_json_text(j, "tensorboard", out);
        tsr_json_int(j, "runs", t->runs);
        tsr_json_int(j, "numbers", t->numbers);
    }
    return cli_json_print(j);
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    told t = {0};
    const char *csv = cli_text(args, "csv"), *out = cli_text(args, "tensorboard");
    TSR_CHECK(!args->json || csv || out, TSR_USAGE,
              "--json says what was written: add --csv FILE or --tensorboard FOLDER");
    TSR_CHECK(!cli_has(args, "event") || csv || !out, TSR_USAGE,
              "--event chooses the lines of the table; TensorBoard gets all");
    if (csv || !out)
        TSR_TRY(write_csv(&t, args));
    if (out)
        TSR_TRY(tsr_metrics_tensorboard(&t.runs, &t.numbers, args->operand[0], out));
    if (args->json)
        TSR_TRY(print_json(&t, csv, out));
    else if (out)
        (void)printf("events   %s: %lld numbers of %lld run%s\n", out, (long long)t.numbers,
                     (long long)t.runs, t.runs == 1 ? "" : "s");
    if (!args->json && csv)
        (void)printf("csv      %s: %lld lines\n", csv, (long long)t.lines);
done:
    return st;
}

static const cli_option options[] = {
    {"csv", 0, "FILE", CLI_FILE, .help = "write the table here instead of printing it"},
    {"event", 'e', "NAME", CLI_TEXT,
     .help = "the lines of this event (put, times, ...) instead of evaluations"},
    {"tensorboard", 't', "FOLDER", CLI_FOLDER,
     .help = "write event files for TensorBoard here, a folder for each run"},
    {0},
};

const cli_command cli_metrics = {
    .name = "metrics",
    .help = "export the metrics of runs as CSV, or as event files for TensorBoard",
    .synopsis = "FOLDER",
    .least = 1,
    .most = 1,
    .operand = CLI_FOLDER,
    .options = options,
    .details =
        "FOLDER is that of a run, or one with runs below it. The table has a line for each "
        "evaluation and a column for each of its fields (docs/formats.md).\n\n"
        "TensorBoard gets every number of every line: `tensorboard --logdir FOLDER` shows them. "
        "Its files hold 32-bit numbers. Call it again for what has come since.",
    .run = run,
};
