/* cmd_bench.c - tessera bench: the time of a training step, layer by layer. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/settings.h"

#include "base/status.h"
#include "base/text.h"
#include "io/json.h"
#include "train/bench.h"

#include <stdio.h>

static void times_json(tsri_json *w, const char *key, tsri_times t)
{
    tsri_json_key(w, key);
    tsri_json_open(w, '{');
    tsri_json_put_real(w, "min_ms", t.least * 1e3);
    tsri_json_put_real(w, "median_ms", t.median * 1e3);
    tsri_json_close(w, '}');
}

static tsr_status print_json(const tsri_bench *b)
{
    tsri_json w = {0};
    tsri_json_begin(&w);
    times_json(&w, "step", b->step);
    times_json(&w, "data", b->data);
    times_json(&w, "loss", b->loss);
    times_json(&w, "update", b->update);
    tsri_json_put_real(&w, "flops_step", b->flops);
    tsri_json_put_real(&w, "gflops", b->flops / b->step.least / 1e9);
    tsri_json_put_real(&w, "gemm_gflops", b->gemm_rate / 1e9);
    tsri_json_put_real(&w, "conv_part", b->conv_part);
    tsri_json_put_int(&w, "params", b->params);
    tsri_json_put_int(&w, "batch", b->batch);
    tsri_json_put_int(&w, "threads", b->threads);
    tsri_json_put_text(&w, "backend", b->backend);
    tsri_json_put_int(&w, "plan_bytes", b->plan_bytes);
    tsri_json_put_real(&w, "peak_mb", cli_peak_megabytes());
    tsri_json_key(&w, "layers");
    tsri_json_open(&w, '[');
    for (int64_t i = 0; i < b->rows; i++) {
        tsri_json_open(&w, '{');
        tsri_json_put_text(&w, "name", b->row[i].name);
        tsri_json_put_text(&w, "kind", b->row[i].kind);
        tsri_json_put_text(&w, "kernel", b->row[i].kernel);
        times_json(&w, "forward", b->row[i].forward);
        times_json(&w, "backward", b->row[i].backward);
        tsri_json_close(&w, '}');
    }
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static void add_row(cli_table *t, const char *name, const char *kind, const char *kernel)
{
    cli_table_text(t, name);
    cli_table_text(t, kind);
    cli_table_text(t, kernel);
}

/* In GFLOP/s; 0 of what was not done (a layer that is fixed, gates that were given). */
static double rate(double flops, double seconds)
{
    return seconds > 0 ? flops / seconds / 1e9 : 0;
}

static tsr_status print_text(const tsri_bench *b)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    int digits = b->step.least < 0.01 ? 4 : 3;
    cli_table_head(&t, 7, "layer", "kind", "kernel", "forward ms", "GFLOP/s", "backward ms",
                   "GFLOP/s");
    for (int64_t i = 0; i < b->rows; i++) {
        const tsri_bench_row *r = &b->row[i];
        add_row(&t, r->name, r->kind, r->kernel);
        cli_table_real(&t, r->forward.least * 1e3, digits);
        cli_table_real(&t, rate(r->flops, r->forward.least), 1);
        cli_table_real(&t, r->backward.least * 1e3, digits);
        cli_table_real(&t, rate(r->backward_flops, r->backward.least), 1);
    }
    TSR_TRY(cli_table_print(&t, stdout));
    (void)printf("\nbatch %lld, %d threads, %s, plan %s\n", (long long)b->batch, b->threads,
                 b->backend, tsri_bytes_text((double)b->plan_bytes));
    (void)printf("loss %.3f ms, update %.3f ms, waiting for data %.3f ms\n", b->loss.least * 1e3,
                 b->update.least * 1e3, b->data.least * 1e3);
    (void)printf("%.0f %% of the step is not convolution (norms that a convolution applies as it "
                 "reads count as convolution)\n",
                 100 * (1 - b->conv_part));
    if (b->round_samples > 0)
        (void)printf("round of all workers at once: min %.3f ms, median %.3f ms; %.0f samples/s\n",
                     b->round.least * 1e3, b->round.median * 1e3,
                     b->round_samples / b->round.least);
    (void)printf(
        "step: min %.3f ms, median %.3f ms; %.1f GFLOP/s, %.0f %% of the %.1f GFLOP/s of a "
        "2048^3 product\n",
        b->step.least * 1e3, b->step.median * 1e3, b->flops / b->step.least / 1e9,
        100 * b->flops / b->step.least / b->gemm_rate, b->gemm_rate / 1e9);
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_bench bench = {0};
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    TSR_TRY(tsri_bench_run(&bench, config, cli_int(args, "repeats", 50), cli_has(args, "share")));
    TSR_TRY(args->json ? print_json(&bench) : print_text(&bench));
done:
    tsri_bench_fini(&bench);
    tsr_config_destroy(config);
    return st;
}

static const cli_option options[] = {
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    {"repeats", 'n', "N", CLI_INT, .help = "steps to time (50)", .least = 1, .most = 1e6},
    {"share", 0, NULL, CLI_FLAG,
     .help = "time the share of the scheme's first worker, not the whole network"},
    {0},
};

const cli_command cli_bench = {
    .name = "bench",
    .help = "time a training step, layer by layer, against the machine's limit",
    .synopsis = "RUN-FILE",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .run = run,
};
