/* cmd_metrics.c - tessera metrics: what runs told, as a table or for TensorBoard. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "io/file.h"
#include "watch/handout.h"

#include <stdio.h>

typedef struct told {
    int64_t runs, lines, numbers;
} told;

static tsr_status write_csv(told *t, const tsri_lookout *w, const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    const char *file = cli_text(args, "csv"), *event = cli_text(args, "event");
    TSR_TRY(tsri_handout_csv(&text, &t->lines, w, event));
    TSR_CHECK(t->lines > 0, TSR_USAGE, "%s: there are no lines of %s%s in the metrics",
              tsri_quote(w->folder), event ? "event " : "evaluations",
              event ? tsri_quote(event) : "");
    if (file)
        TSR_TRY(tsri_file_write_text(file, text.data));
    else
        (void)fputs(text.data, stdout);
done:
    tsri_text_fini(&text);
    return st;
}

/* Each run in a folder of its name, the watched folder's own in OUT itself. */
static tsr_status write_events(told *t, const tsri_lookout *w, const char *out)
{
    tsr_status st = TSR_OK;
    char *folder = NULL;
    for (int64_t i = 0; i < w->runs; i++) {
        const tsri_followed *run = w->run[i];
        int64_t count = 0;
        if (!tsri_file_exists(run->metrics.path))
            continue;
        TSR_TRY(*run->name ? tsri_path_join(&folder, out, run->name) : tsri_strdup(&folder, out));
        TSR_TRY(tsri_handout_tensorboard(&count, run, folder));
        t->runs++;
        t->numbers += count;
        TSRI_FREE(folder);
    }
    TSR_CHECK(t->runs > 0, TSR_USAGE, "%s: there is no run with a metrics.jsonl in it or below it",
              tsri_quote(w->folder));
done:
    tsri_free(folder);
    return st;
}

static tsr_status print_json(const told *t, const char *csv, const char *out)
{
    tsri_json j = {0};
    tsri_json_begin(&j);
    if (csv) {
        tsri_json_put_text(&j, "csv", csv);
        tsri_json_put_int(&j, "lines", t->lines);
    }
    if (out) {
        tsri_json_put_text(&j, "tensorboard", out);
        tsri_json_put_int(&j, "runs", t->runs);
        tsri_json_put_int(&j, "numbers", t->numbers);
    }
    tsri_json_close(&j, '}');
    return cli_json_print(&j);
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsri_lookout *w = NULL;
    told t = {0};
    const char *csv = cli_text(args, "csv"), *out = cli_text(args, "tensorboard");
    TSR_CHECK(!args->json || csv || out, TSR_USAGE,
              "--json says what was written: add --csv FILE or --tensorboard FOLDER");
    TSR_CHECK(!cli_has(args, "event") || csv || !out, TSR_USAGE,
              "--event chooses the lines of the table; TensorBoard gets all");
    TSR_TRY(tsri_lookout_open(&w, args->operand[0]));
    TSR_TRY(tsri_lookout_look(w));
    if (csv || !out)
        TSR_TRY(write_csv(&t, w, args));
    if (out)
        TSR_TRY(write_events(&t, w, out));
    if (args->json)
        TSR_TRY(print_json(&t, csv, out));
    else if (out)
        (void)printf("events   %s: %lld numbers of %lld run%s\n", out, (long long)t.numbers,
                     (long long)t.runs, t.runs == 1 ? "" : "s");
    if (!args->json && csv)
        (void)printf("csv      %s: %lld lines\n", csv, (long long)t.lines);
done:
    tsri_lookout_close(w);
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
    .help = "give what runs told to other tools: as CSV, or as TensorBoard's event files",
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
