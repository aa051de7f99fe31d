/* cmd_bench.c - tessera bench: the time of a training step, layer by layer. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/string.h"

#include <math.h>
#include <stdio.h>

/* The least, in seconds. */
static double least(const tsr_doc *doc, const char *key)
{
    return 1e-3 * tsr_doc_real(tsr_doc_get(doc, key), "min_ms");
}

static double median(const tsr_doc *doc, const char *key)
{
    return 1e-3 * tsr_doc_real(tsr_doc_get(doc, key), "median_ms");
}

static void add_row(cli_table *t, const char *name, const char *kind, const char *kernel)
{
    cli_table_text(t, name);
    cli_table_text(t, kind);
    cli_table_text(t, kernel);
}

/* The speed of a product and of a copy on the device, per second; copy is NaN when none was
 * timed. */
typedef struct limits {
    double flops, bytes;
} limits;

static limits limits_of(const tsr_doc *b)
{
    return (limits){1e9 * tsr_doc_real(b, "gemm_gflops"), 1e9 * tsr_doc_real(b, "copy_gbs")};
}

/* Of a GPU: also the rate of its memory, and the larger of what it has of the two limits. */
static void add_rates(cli_table *t, const limits *most, double flops, double bytes, double seconds,
                      int digits)
{
    double product = seconds > 0 ? flops / seconds : 0, copy = seconds > 0 ? bytes / seconds : 0;
    cli_table_real(t, seconds * 1e3, digits);
    if (isnan(most->bytes)) {
        cli_table_real(t, product / 1e9, 1);
        return;
    }
    double part = fmax(product / most->flops, copy / most->bytes);
    cli_table_real(t, product / 1e12, 1);
    cli_table_real(t, copy / 1e12, 2);
    cli_table_real(t, 100 * part, 0);
}

static tsr_status print_layers(const tsr_doc *b)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    limits most = limits_of(b);
    int digits = least(b, "step") < 0.01 ? 4 : 3;
    const tsr_doc *layers = tsr_doc_get(b, "layers");
    if (isnan(most.bytes))
        cli_table_head(&t, 7, "layer", "kind", "kernel", "forward ms", "GFLOP/s", "backward ms",
                       "GFLOP/s");
    else
        cli_table_head(&t, 11, "layer", "kind", "kernel", "forward ms", "TFLOP/s", "TB/s", "%",
                       "backward ms", "TFLOP/s", "TB/s", "%");
    for (int64_t i = 0; i < tsr_doc_count(layers); i++) {
        const tsr_doc *r = tsr_doc_at(layers, i);
        add_row(&t, tsr_doc_text(r, "name"), tsr_doc_text(r, "kind"), tsr_doc_text(r, "kernel"));
        add_rates(&t, &most, tsr_doc_real(r, "flops"), tsr_doc_real(r, "bytes"),
                  least(r, "forward"), digits);
        add_rates(&t, &most, tsr_doc_real(r, "backward_flops"), tsr_doc_real(r, "backward_bytes"),
                  least(r, "backward"), digits);
    }
    TSR_TRY(cli_table_print(&t, stdout));
done:
    cli_table_fini(&t);
    return st;
}

static void print_chip(const tsr_doc *b)
{
    limits most = limits_of(b);
    if (isnan(most.bytes))
        return;
    (void)printf("%s: a %lld^3 product at %.1f TFLOP/s, a copy at %.2f TB/s; %% is of the one that "
                 "binds, for the fewest bytes that a layer must move\n",
                 tsr_doc_text(b, "chip"), (long long)tsr_doc_int(b, "gemm_size"), most.flops / 1e12,
                 most.bytes / 1e12);
}

static tsr_status print_text(const tsr_doc *b)
{
    tsr_status st = TSR_OK;
    TSR_TRY(print_layers(b));
    (void)printf("\nbatch %lld, %lld threads, %s, plan %s\n", (long long)tsr_doc_int(b, "batch"),
                 (long long)tsr_doc_int(b, "threads"), tsr_doc_text(b, "backend"),
                 cli_bytes((double)tsr_doc_int(b, "plan_bytes")));
    (void)printf("loss %.3f ms, update %.3f ms, waiting for data %.3f ms\n", least(b, "loss") * 1e3,
                 least(b, "update") * 1e3, least(b, "data") * 1e3);
    (void)printf("%.0f %% of the step is not convolution (norms that a convolution applies as it "
                 "reads count as convolution)\n",
                 100 * (1 - tsr_doc_real(b, "conv_part")));
    if (!isnan(tsr_doc_real(b, "round_samples")))
        (void)printf("round of all workers at once: min %.3f ms, median %.3f ms; %.0f samples/s\n",
                     least(b, "round") * 1e3, median(b, "round") * 1e3,
                     tsr_doc_real(b, "round_samples") / least(b, "round"));
    print_chip(b);
    (void)printf("step: min %.3f ms, median %.3f ms; %.1f GFLOP/s, %.0f %% of the %.1f GFLOP/s of "
                 "a %lld^3 product\n",
                 least(b, "step") * 1e3, median(b, "step") * 1e3, tsr_doc_real(b, "gflops"),
                 100 * tsr_doc_real(b, "gflops") / tsr_doc_real(b, "gemm_gflops"),
                 tsr_doc_real(b, "gemm_gflops"), (long long)tsr_doc_int(b, "gemm_size"));
done:
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    char *json = NULL;
    TSR_TRY(tsr_config_read(&config, args->operand[0]));
    TSR_TRY(cli_settings(config, args));
    TSR_TRY(tsr_bench(&json, config, cli_int(args, "repeats", 50), cli_has(args, "share")));
    TSR_TRY(cli_show(args, json, print_text));
done:
    tsr_free(json);
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
