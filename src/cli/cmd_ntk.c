/* cmd_ntk.c - tessera ntk: the tangent kernel of a network on its data, and its eigenvalues. */
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/string.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {"auto", "exact", "finite", "infinite"};

static void say(void *context, const char *text)
{
    (void)context;
    (void)fprintf(stderr, "%s\n", text);
}

static tsr_ntk_options options_of(const cli_args *args)
{
    tsr_ntk_options o = tsr_ntk_options_default();
    const char *kind = cli_text(args, "kind");
    for (int i = 0; kind && i < 4; i++)
        if (strcmp(kind, kind_names[i]) == 0)
            o.kind = (tsr_ntk_kind)i;
    o.n = cli_int(args, "n", 0);
    o.output = cli_int(args, "output", -1) + 1;
    o.memory = (int64_t)(cli_real(args, "memory", 0) * 1e9);
    o.test_set = cli_has(args, "test-set");
    o.spectrum = cli_has(args, "spectrum");
    o.lanczos = cli_has(args, "lanczos");
    o.repeats = cli_int(args, "repeats", 1);
    o.say = args->quiet || args->json ? NULL : say;
    return o;
}

static double eigenvalue(const tsr_doc *values, int64_t i)
{
    return tsr_doc_real(tsr_doc_at(values, i), NULL);
}

static tsr_status print_text(const tsr_doc *d)
{
    long long n = tsr_doc_int(d, "n");
    const tsr_doc *values = tsr_doc_get(d, "eigenvalues");
    double least = tsr_doc_real(d, "lambda_min"), error = tsr_doc_real(d, "lambda_min_error");
    (void)printf("%s kernel, %lld x %lld, trace %.6g\n", tsr_doc_text(d, "kind"), n, n,
                 tsr_doc_real(d, "trace"));
    if (tsr_doc_get(d, "lambda_min")) {
        (void)printf("smallest eigenvalue %.6g (within %.1e), largest %.6g (within %.1e)\n", least,
                     error, tsr_doc_real(d, "lambda_max"), tsr_doc_real(d, "lambda_max_error"));
        if (error >= fabs(least))
            (void)printf("the smallest one is not larger than its error: %s\n",
                         values ? "rounding of the kernel" : "Lanczos has not found it");
    }
    if (values)
        (void)printf("quartiles of the eigenvalues: %.4g, %.4g, %.4g\n", eigenvalue(values, n / 4),
                     eigenvalue(values, n / 2), eigenvalue(values, 3 * n / 4));
    (void)printf("%.2f s\n", tsr_doc_real(d, "seconds"));
    return TSR_OK;
}

/* The kernel is square. */
static tsr_status write_kernel(const char *path, const double *kernel, const char *json)
{
    tsr_status st = TSR_OK;
    tsr_doc *doc = NULL;
    TSR_TRY(tsr_doc_parse(&doc, json));
    int64_t n = tsr_doc_int(doc, "n");
    tsr_array array = tsr_array_of(kernel, TSR_F64, 2, (int64_t[]){n, n});
    TSR_TRY(tsr_array_write(path, &array));
done:
    tsr_doc_destroy(doc);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_model *model = NULL;
    char *json = NULL;
    double *kernel = NULL;
    tsr_ntk_options o = options_of(args);
    const char *path = args->operand[0];
    /* a model is a safetensors file, or the folder of a run (which reading a model explains) */
    if (cli_ends_in(path, ".safetensors")) {
        TSR_TRY(tsr_model_read(&model, path));
        TSR_TRY(cli_model_settings(model, args));
    } else {
        TSR_TRY(tsr_config_read(&config, path));
        TSR_TRY(cli_settings(config, args));
    }
    TSR_TRY(tsr_ntk_measure(&json, &kernel, model, config, &o));
    if (cli_text(args, "out"))
        TSR_TRY(write_kernel(cli_text(args, "out"), kernel, json));
    if (args->json || !args->quiet)
        TSR_TRY(cli_show(args, json, print_text));
done:
    tsr_free(json);
    tsr_free(kernel);
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
