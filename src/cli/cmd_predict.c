/* cmd_predict.c - tessera predict: what a model says of each sample.
 *
 * One CSV line a sample on stdout or in --out FILE: its number, the predicted class and its
 * probability, the true class where it is known; for real targets the outputs themselves. A FILE
 * that ends in .npy takes the raw outputs [n, outputs] instead.
 */
#include "cli/commands.h"
#include "cli/gates_told.h"
#include "cli/settings.h"
#include "cli/print.h"

#include "base/text.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct answers {
    float *outputs;
    int32_t *label;
    int64_t n, width;
    tsri_json_value *names; /* of the classes, as the model file has them */
} answers;

static int64_t best_of(const float *y, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (y[i] > y[best])
            best = i;
    return best;
}

/* One output of a classifier is the margin of class 1 over class 0: as two outputs, 0 and y. */
static double probability(const float *y, int64_t n, int64_t best)
{
    double sum = 0;
    if (n == 1)
        return 1 / (1 + exp(-fabs((double)y[0])));
    for (int64_t i = 0; i < n; i++)
        sum += exp((double)y[i] - (double)y[best]);
    return 1 / sum;
}

static tsr_status add_class(tsri_text *out, const answers *a, int64_t k)
{
    tsr_status st = TSR_OK;
    const char *name;
    TSR_TRY(tsri_text_add_bytes(out, ",", 1));
    if (tsri_json_length(a->names) > k && tsri_json_as_text(tsri_json_at(a->names, k), &name))
        TSR_TRY(tsri_text_add_field(out, tsri_quote(name)));
    else
        TSR_TRY(tsri_text_add(out, "%lld", (long long)k));
done:
    return st;
}

static tsr_status classes_csv(tsri_text *out, const answers *a)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "sample,predicted,probability%s\n", a->label ? ",label" : ""));
    for (int64_t i = 0; i < a->n; i++) {
        const float *y = a->outputs + i * a->width;
        int64_t best = a->width == 1 ? y[0] > 0 : best_of(y, a->width);
        TSR_TRY(tsri_text_add(out, "%lld", (long long)i));
        TSR_TRY(add_class(out, a, best));
        TSR_TRY(tsri_text_add(out, ",%.6f", probability(y, a->width, best)));
        if (a->label)
            TSR_TRY(add_class(out, a, a->label[i]));
        TSR_TRY(tsri_text_add(out, "\n"));
    }
done:
    return st;
}

static tsr_status numbers_csv(tsri_text *out, const answers *a)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "sample"));
    for (int64_t j = 0; j < a->width; j++)
        TSR_TRY(tsri_text_add(out, ",output%lld", (long long)j));
    for (int64_t i = 0; i < a->n; i++) {
        TSR_TRY(tsri_text_add(out, "\n%lld", (long long)i));
        for (int64_t j = 0; j < a->width; j++)
            TSR_TRY(tsri_text_add(out, ",%.9g", (double)a->outputs[i * a->width + j]));
    }
    TSR_TRY(tsri_text_add(out, "\n"));
done:
    return st;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static tsr_status write_answers(const answers *a, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_text csv = {0};
    if (path && ends_in(path, ".npy")) {
        tsri_tensor t = {.name = "outputs",
                         .dtype = TSRI_F32,
                         .rank = 2,
                         .shape = {a->n, a->width},
                         .data = a->outputs};
        return tsri_npy_write(path, &t);
    }
    TSR_TRY(a->label ? classes_csv(&csv, a) : numbers_csv(&csv, a));
    if (path)
        TSR_TRY(tsri_file_write_text(path, csv.data));
    else
        (void)fputs(csv.data, stdout);
done:
    tsri_text_fini(&csv);
    return st;
}

/* Beside predictions on stdout the measurements go where messages go. */
static tsr_status tell_gates(const tsri_gates_told *gates, bool to_stdout)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    TSR_TRY(cli_gates_text(&text, gates));
    (void)fprintf(to_stdout ? stdout : stderr, "%s\n", text.data);
done:
    tsri_text_fini(&text);
    return st;
}

static tsr_status tell(const cli_args *args, const answers *a, const char *path,
                       const tsri_gates_told *gates)
{
    tsri_json w = {0};
    if (!path)
        return gates->n > 0 ? tell_gates(gates, false) : TSR_OK;
    if (!args->json) {
        (void)printf("%lld predictions in %s\n", (long long)a->n, path);
        return gates->n > 0 ? tell_gates(gates, true) : TSR_OK;
    }
    tsri_json_begin(&w);
    tsri_json_put_int(&w, "n", a->n);
    tsri_json_put_int(&w, "outputs", a->width);
    tsri_json_put_text(&w, "file", path);
    if (gates->n > 0)
        cli_gates_json(&w, gates);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    answers a = {0};
    tsri_gates_told gates = {0};
    const char *path = cli_text(args, "out");
    TSR_CHECK(!args->json || path, TSR_USAGE,
              "predict --json needs --out FILE for the predictions");
    TSR_TRY(tsr_model_read(&model, args->operand[0]));
    TSR_TRY(cli_model_settings(model, args));
    if (cli_wants_gates(args)) {
        TSR_TRY(cli_gates_use(&gates, model, args));
        a.n = gates.n;
        a.width = gates.width;
        a.outputs = gates.outputs;
        a.label = gates.label;
    } else {
        TSR_TRY(tsr_model_predict(&a.outputs, &a.label, &a.n, &a.width, model,
                                  cli_has(args, "train-set")));
    }
    const char *classes = tsr_model_meta(model, "tessera.classes");
    if (!classes)
        classes = "[]";
    TSR_TRY(tsri_json_parse(&a.names, classes, (int64_t)strlen(classes), args->operand[0]));
    TSR_TRY(write_answers(&a, path));
    TSR_TRY(tell(args, &a, path, &gates));
done:
    if (a.outputs != gates.outputs)
        tsr_free(a.outputs);
    if (a.label != gates.label)
        tsr_free(a.label);
    tsri_gates_fini(&gates);
    tsri_json_destroy(a.names);
    tsr_model_destroy(model);
    return st;
}

static const cli_option options[] = {
    {"out", 'o', "FILE", CLI_FILE, .help = "write there instead of stdout; .npy takes raw outputs"},
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    CLI_OPTION_TRAIN_SET,
    CLI_OPTION_GATES,
    CLI_OPTION_BATCH,
    {0},
};

const cli_command cli_predict = {
    .name = "predict",
    .help = "what a model says of each sample, as CSV",
    .synopsis = "MODEL",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .run = run,
};
