/* cmd_predict.c - tessera predict: what a model says of each sample.
 *
 * A line a sample on stdout or in --out FILE: its row or its file, the predicted class with its
 * probability, or the predicted numbers in the units of the target, under the target's own name;
 * what the data say stands behind it where they say something. FILE.json takes JSON instead of CSV,
 * FILE.npy the raw outputs [n, outputs].
 */
#include "cli/commands.h"
#include "cli/gates_report.h"
#include "cli/print.h"
#include "cli/settings.h"

#include "base/text.h"
#include "io/file.h"
#include "io/npy.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct answers {
    tsri_predictions p;
    const tsr_model *model;
    bool probabilities; /* of every class */
} answers;

/* ---- Names ---------------------------------------------------------------------------------- */

/* Of output j: the target's own, where the training data had one. */
static const char *target_name(char text[32], const answers *a, int64_t j)
{
    const tsri_data_schema *s = &a->model->schema;
    if (s->targets > j && s->target[j] && (a->p.classes || s->targets == a->p.width))
        return s->target[j];
    if (a->p.classes)
        (void)snprintf(text, 32, "predicted");
    else
        (void)snprintf(text, 32, "output%lld", (long long)j);
    return text;
}

static const char *class_name(char text[32], const answers *a, int64_t k)
{
    if (a->model->class_name && k < a->model->classes)
        return a->model->class_name[k];
    (void)snprintf(text, 32, "%lld", (long long)k);
    return text;
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* Names are the data's own, whole: whoever reads the answers looks for them. */
static tsr_status name(tsri_text *out, const char *text)
{
    tsr_status st = TSR_OK;
    tsri_text plain = {0};
    TSR_TRY(tsri_text_add_shown(&plain, text));
    TSR_TRY(tsri_text_add_field(out, plain.data ? plain.data : ""));
done:
    tsri_text_fini(&plain);
    return st;
}

static tsr_status field(tsri_text *out, const char *text)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add_bytes(out, ",", 1));
    TSR_TRY(name(out, text));
done:
    return st;
}

/* A name with something behind it: "price (given)", "p(cat)". */
static tsr_status field_of(tsri_text *out, const char *before, const char *name, const char *behind)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    TSR_TRY(tsri_text_add(&text, "%s%s%s", before, name, behind));
    TSR_TRY(field(out, text.data));
done:
    tsri_text_fini(&text);
    return st;
}

static tsr_status csv_header(tsri_text *out, const answers *a)
{
    tsr_status st = TSR_OK;
    char text[32];
    TSR_TRY(tsri_text_add(out, a->p.name ? "file" : "row"));
    for (int64_t j = 0; j < (a->p.classes ? 1 : a->p.width); j++)
        TSR_TRY(field(out, target_name(text, a, j)));
    if (a->p.classes)
        TSR_TRY(tsri_text_add(out, ",probability"));
    for (int64_t k = 0; a->probabilities && k < tsri_prediction_classes(&a->p); k++)
        TSR_TRY(field_of(out, "p(", class_name(text, a, k), ")"));
    if (a->p.label)
        TSR_TRY(field_of(out, "", target_name(text, a, 0), " (given)"));
    for (int64_t j = 0; a->p.target && j < a->p.width; j++)
        TSR_TRY(field_of(out, "", target_name(text, a, j), " (given)"));
    TSR_TRY(tsri_text_add(out, "\n"));
done:
    return st;
}

static tsr_status csv_row(tsri_text *out, const answers *a, int64_t i)
{
    tsr_status st = TSR_OK;
    char text[32];
    int64_t best = a->p.classes ? tsri_predicted_class(&a->p, i) : 0;
    if (a->p.name)
        TSR_TRY(name(out, a->p.name[i]));
    else
        TSR_TRY(tsri_text_add(out, "%lld", (long long)i + 1));
    if (a->p.classes) {
        TSR_TRY(field(out, class_name(text, a, best)));
        TSR_TRY(tsri_text_add(out, ",%.6f", tsri_predicted_chance(&a->p, i, best)));
    }
    for (int64_t j = 0; !a->p.classes && j < a->p.width; j++)
        TSR_TRY(tsri_text_add(out, ",%.9g", (double)a->p.outputs[i * a->p.width + j]));
    for (int64_t k = 0; a->probabilities && k < tsri_prediction_classes(&a->p); k++)
        TSR_TRY(tsri_text_add(out, ",%.6f", tsri_predicted_chance(&a->p, i, k)));
    if (a->p.label)
        TSR_TRY(field(out, class_name(text, a, a->p.label[i])));
    for (int64_t j = 0; a->p.target && j < a->p.width; j++)
        TSR_TRY(tsri_text_add(out, ",%.9g", (double)a->p.target[i * a->p.width + j]));
    TSR_TRY(tsri_text_add(out, "\n"));
done:
    return st;
}

static tsr_status write_csv(tsri_text *out, const answers *a)
{
    tsr_status st = TSR_OK;
    TSR_TRY(csv_header(out, a));
    for (int64_t i = 0; i < a->p.n; i++)
        TSR_TRY(csv_row(out, a, i));
done:
    return st;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_numbers(tsri_json *w, const char *key, const float *y, int64_t n)
{
    tsri_json_key(w, key);
    tsri_json_open(w, '[');
    for (int64_t j = 0; j < n; j++)
        tsri_json_float(w, y[j]);
    tsri_json_close(w, ']');
}

static void json_row(tsri_json *w, const answers *a, int64_t i)
{
    char text[32];
    tsri_json_open(w, '{');
    if (a->p.name)
        tsri_json_put_text(w, "file", a->p.name[i]);
    else
        tsri_json_put_int(w, "row", i + 1);
    if (a->p.classes) {
        int64_t best = tsri_predicted_class(&a->p, i);
        tsri_json_put_text(w, "predicted", class_name(text, a, best));
        tsri_json_put_real(w, "probability", tsri_predicted_chance(&a->p, i, best));
    } else {
        json_numbers(w, "predicted", a->p.outputs + i * a->p.width, a->p.width);
    }
    if (a->probabilities) {
        tsri_json_key(w, "probabilities");
        tsri_json_open(w, '[');
        for (int64_t k = 0; k < tsri_prediction_classes(&a->p); k++)
            tsri_json_real(w, tsri_predicted_chance(&a->p, i, k));
        tsri_json_close(w, ']');
    }
    if (a->p.label)
        tsri_json_put_text(w, "given", class_name(text, a, a->p.label[i]));
    if (a->p.target)
        json_numbers(w, "given", a->p.target + i * a->p.width, a->p.width);
    tsri_json_close(w, '}');
}

static void write_json(tsri_json *w, const answers *a)
{
    char text[32];
    tsri_json_begin(w);
    tsri_json_put_int(w, "n", a->p.n);
    tsri_json_put_int(w, "outputs", a->p.width);
    tsri_json_key(w, "targets");
    tsri_json_open(w, '[');
    for (int64_t j = 0; j < (a->p.classes ? 1 : a->p.width); j++)
        tsri_json_text(w, target_name(text, a, j));
    tsri_json_close(w, ']');
    tsri_json_key(w, "unit");
    if (a->model->schema.unit)
        tsri_json_text(w, a->model->schema.unit);
    else
        tsri_json_null(w);
    tsri_json_key(w, "classes");
    tsri_json_open(w, '[');
    for (int64_t k = 0; a->p.classes && k < tsri_prediction_classes(&a->p); k++)
        tsri_json_text(w, class_name(text, a, k));
    tsri_json_close(w, ']');
    tsri_json_key(w, "predictions");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < a->p.n; i++)
        json_row(w, a, i);
    tsri_json_close(w, ']');
    tsri_json_close(w, '}');
}

/* ---- Where they go -------------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static tsr_status write_npy(const answers *a, const char *path)
{
    tsri_tensor t = {.name = "outputs",
                     .dtype = TSRI_F32,
                     .dims = 2,
                     .shape = {a->p.n, a->p.width},
                     .data = a->p.outputs};
    return tsri_npy_write(path, &t);
}

static tsr_status write_answers(const answers *a, const char *path, bool json)
{
    tsr_status st = TSR_OK;
    tsri_text csv = {0};
    tsri_json w = {0};
    const char *text = NULL;
    if (path && ends_in(path, ".npy"))
        return write_npy(a, path);
    if (path ? ends_in(path, ".json") : json) {
        write_json(&w, a);
        TSR_TRY(tsri_json_end(&w));
        text = w.text.data;
    } else {
        TSR_TRY(write_csv(&csv, a));
        text = csv.data;
    }
    if (path)
        TSR_TRY(tsri_file_write_text(path, text));
    else
        (void)printf("%s%s", text, w.text.data ? "\n" : "");
done:
    tsri_text_fini(&csv);
    tsri_json_fini(&w);
    return st;
}

/* Beside predictions on stdout the measurements go where messages go. */
static tsr_status tell_gates(const tsri_gates_report *gates, bool to_stdout)
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
                       const tsri_gates_report *gates)
{
    tsri_json w = {0};
    if (!path)
        return gates->n > 0 ? tell_gates(gates, false) : TSR_OK;
    if (!args->json) {
        (void)printf("%lld predictions in %s\n", (long long)a->p.n, path);
        return gates->n > 0 ? tell_gates(gates, true) : TSR_OK;
    }
    tsri_json_begin(&w);
    tsri_json_put_int(&w, "n", a->p.n);
    tsri_json_put_int(&w, "outputs", a->p.width);
    tsri_json_put_text(&w, "file", path);
    if (gates->n > 0)
        cli_gates_json(&w, gates);
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

/* With --gates or --batch the gates are measured beside; the outputs move to the answers. */
static tsr_status ask_gates(answers *a, tsri_gates_report *gates, tsr_model *model,
                            const cli_args *args)
{
    tsr_status st = TSR_OK;
    TSR_TRY(cli_gates_use(gates, model, args));
    a->p = (tsri_predictions){.n = gates->n,
                              .width = gates->width,
                              .classes = gates->label != NULL,
                              .outputs = gates->outputs,
                              .label = gates->label};
    gates->outputs = NULL;
    gates->label = NULL;
done:
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    tsr_model *model = NULL;
    answers a = {.probabilities = cli_has(args, "probabilities")};
    tsri_gates_report gates = {0};
    const char *path = cli_text(args, "out");
    TSR_TRY(tsr_model_read(&model, args->operand[0]));
    TSR_TRY(cli_model_settings(model, args));
    a.model = model;
    tsri_model_asked asked = {.on_training_set = cli_has(args, "train-set"), .unlabelled = true};
    if (cli_wants_gates(args))
        TSR_TRY(ask_gates(&a, &gates, model, args));
    else
        TSR_TRY(tsri_model_predict(&a.p, model, &asked));
    TSR_CHECK(a.p.classes || !a.probabilities, TSR_USAGE,
              "--probabilities is for classes; %s predicts real numbers", args->operand[0]);
    TSR_TRY(write_answers(&a, path, args->json));
    TSR_TRY(tell(args, &a, path, &gates));
done:
    tsri_predictions_fini(&a.p);
    tsri_gates_fini(&gates);
    tsr_model_destroy(model);
    return st;
}

static const cli_option options[] = {
    {"out", 'o', "FILE", CLI_FILE,
     .help = "write there instead of stdout: CSV, .json, or .npy for raw outputs"},
    {"probabilities", 'p', NULL, CLI_FLAG, .help = "add the probability of every class"},
    CLI_OPTION_SET,
    CLI_OPTION_DATA,
    CLI_OPTION_TRAIN_SET,
    CLI_OPTION_GATES,
    CLI_OPTION_BATCH,
    {0},
};

const cli_command cli_predict = {
    .name = "predict",
    .help = "predict each sample with a model, as CSV or JSON",
    .synopsis = "MODEL",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "The data (--data) needs no targets: a table without the target's column or with it "
        "empty, x.npy alone, a folder of pictures, one picture, or - for a table on standard "
        "input. Columns and classes are matched with those of the training by name; a missing "
        "one, or a word never seen, is refused.",
    .run = run,
};
