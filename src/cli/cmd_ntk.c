/* cmd_ntk.c - tessera ntk: the tangent kernel of a network on its data, and its eigenvalues. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/settings.h"

#include "io/json.h"
#include "io/npy.h"
#include "theory/ntk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {"auto", "exact", "finite", "infinite"};

static void say(void *context, const char *text)
{
    (void)context;
    (void)fprintf(stderr, "%s\n", text);
}

static tsri_ntk_options options_of(const cli_args *args)
{
    tsri_ntk_options o = tsri_ntk_options_default();
    const char *kind = cli_text(args, "kind");
    for (int i = 0; kind && i < 4; i++)
        if (strcmp(kind, kind_names[i]) == 0)
            o.kind = (tsri_ntk_kind)i;
    o.n = cli_int(args, "n", 0);
    o.output = cli_int(args, "output", -1);
    o.memory = (int64_t)(cli_real(args, "memory", 0) * 1e9);
    o.test_set = cli_has(args, "test-set");
    o.spectrum = cli_has(args, "spectrum");
    o.lanczos = cli_has(args, "lanczos");
    o.repeats = cli_int(args, "repeats", 1);
    o.say = args->quiet || args->json ? NULL : say;
    return o;
}

static tsr_status write_kernel(const tsri_ntk *ntk, const char *path)
{
    tsri_tensor t = {
        .name = "k", .dtype = TSRI_F64, .dims = 2, .shape = {ntk->n, ntk->n}, .data = ntk->k};
    return tsri_npy_write(path, &t);
}

static tsr_status print_json(const tsri_ntk *ntk)
{
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "kind", kind_names[ntk->kind]);
    tsri_json_put_int(&w, "n", ntk->n);
    tsri_json_put_int(&w, "outputs", ntk->outputs);
    tsri_json_put_real(&w, "trace", ntk->trace);
    if (ntk->ends) {
        tsri_json_put_real(&w, "lambda_min", ntk->smallest.value);
        tsri_json_put_real(&w, "lambda_min_error", ntk->smallest.error);
        tsri_json_put_real(&w, "lambda_max", ntk->largest.value);
        tsri_json_put_real(&w, "lambda_max_error", ntk->largest.error);
    }
    if (ntk->value) {
        tsri_json_key(&w, "eigenvalues");
        tsri_json_open(&w, '[');
        for (int64_t i = 0; i < ntk->n; i++)
            tsri_json_real(&w, ntk->value[i]);
        tsri_json_close(&w, ']');
    }
    tsri_json_put_real(&w, "memory", ntk->bytes);
    tsri_json_put_real(&w, "flops", ntk->flops);
    tsri_json_put_real(&w, "seconds", ntk->seconds);
    tsri_json_put_real(&w, "kernel_min_ms", ntk->kernel_min * 1e3);
    tsri_json_put_real(&w, "kernel_median_ms", ntk->kernel_median * 1e3);
    if (ntk->kind == TSRI_NTK_FINITE) {
        tsri_json_put_real(&w, "product_min_ms", ntk->product_min * 1e3);
        tsri_json_put_real(&w, "product_median_ms", ntk->product_median * 1e3);
    }
    tsri_json_put_real(&w, "peak_mb", cli_peak_megabytes());
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static void print_text(const tsri_ntk *ntk)
{
    (void)printf("%s kernel, %lld x %lld, trace %.6g\n", kind_names[ntk->kind], (long long)ntk->n,
                 (long long)ntk->n, ntk->trace);
    if (ntk->ends) {
        (void)printf("smallest eigenvalue %.6g (within %.1e), largest %.6g (within %.1e)\n",
                     ntk->smallest.value, ntk->smallest.error, ntk->largest.value,
                     ntk->largest.error);
        if (ntk->smallest.error >= fabs(ntk->smallest.value))
            (void)printf("the smallest one is not larger than its error: %s\n",
                         ntk->value ? "rounding of the kernel" : "Lanczos has not found it");
    }
    if (ntk->value)
        (void)printf("quartiles of the eigenvalues: %.4g, %.4g, %.4g\n", ntk->value[ntk->n / 4],
                     ntk->value[ntk->n / 2], ntk->value[3 * ntk->n / 4]);
    (void)printf("%.2f s\n", ntk->seconds);
}

/* A model is a safetensors file, or the folder of a run (which reading a model explains). */
static bool is_model(const char *path)
{
    size_t n = strlen(path), m = strlen(".safetensors");
    return n > m && strcmp(path + n - m, ".safetensors") == 0;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_model *model = NULL;
    tsri_ntk ntk = {0};
    tsri_ntk_options o = options_of(args);
    const char *path = args->operand[0];
    if (is_model(path)) {
        TSR_TRY(tsr_model_read(&model, path));
        TSR_TRY(cli_model_settings(model, args));
        TSR_TRY(tsri_ntk_of_model(&ntk, model, &o));
    } else {
        TSR_TRY(tsr_config_read(&config, path));
        TSR_TRY(cli_settings(config, args));
        TSR_TRY(tsri_ntk_of_run(&ntk, config, &o));
    }
    if (cli_text(args, "out"))
        TSR_TRY(write_kernel(&ntk, cli_text(args, "out")));
    if (args->json)
        TSR_TRY(print_json(&ntk));
    else if (!args->quiet)
        print_text(&ntk);
done:
    tsri_ntk_fini(&ntk);
    tsr_model_destroy(model);
    tsr_config_destroy(config);
    return st;
}

static const cli_option options[] = {
    {"n", 'n', "N", CLI_INT, .help = "how many samples, from the first on; 1000 or all by default",
     .least = 1, .most = 1e6},
    {"kind", 'k', "KIND", CLI_CHOICE, .choices = "auto|exact|finite|infinite",
     .help = "exact: products of gradients; finite: H(k) of model shallow; infinite: H_inf"},
    {"output", 0, "O", CLI_INT,
     .help = "exact: of this output alone, counted from 0; all by default", .least = 0,
     .most = 1e9},
    {"memory", 0, "GB", CLI_REAL, .help = "exact: memory for gradients; 2 GiB by default",
     .least = 1e-6, .most = 1e6},
    {"spectrum", 0, NULL, CLI_FLAG,
     .help = "eigenvalues: all of them up to n = 5000, the two ends by Lanczos above"},
    {"lanczos", 0, NULL, CLI_FLAG, .help = "only the smallest and the largest, by Lanczos"},
    {"repeats", 0, "N", CLI_INT, .help = "compute the kernel N times, for --json's times",
     .least = 1, .most = 1e6},
    {"test-set", 0, NULL, CLI_FLAG, .help = "samples of the test set instead of the training set"},
    {"out", 'o', "FILE", CLI_FILE, .help = "write the kernel as .npy, doubles [n, n]"},
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    {0},
};

const cli_command cli_ntk = {
    .name = "ntk",
    .help = "the tangent kernel of a network on its data, and its eigenvalues",
    .synopsis = "RUN-FILE|MODEL",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "With a run file the kernel is that of the first weights, with a model.safetensors that "
        "of the trained ones. Batch norm is in inference mode. An estimate of memory and work is "
        "printed first.",
    .run = run,
};
