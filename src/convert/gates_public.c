/* gates_public.c - what gates of a gated net cost, and what a model says of each sample, for
 * programs.
 *
 * Answers are a line a sample: its row or its file, the predicted class with its probability, or the
 * predicted numbers in the units of the target, under the target's own name; what the data say stands
 * behind it where they say something.
 */
#include "base/alloc.h"
#include "base/sized.h"
#include "convert/gates.h"
#include "io/file.h"
#include "io/json.h"
#include "io/npy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Gates ---------------------------------------------------------------------------------- */

enum { BATCH = 256 };

static tsr_status use_gates(tsri_gates_report *report, tsr_model *model, const char *gates,
                            int64_t batch, bool on_training_set)
{
    tsr_status st = TSR_OK;
    int64_t gate_rank = 0;
    *report = (tsri_gates_report){0};
    if (gates)
        TSR_TRY(tsri_gates_parse(&gate_rank, gates));
    TSR_TRY(tsri_gates_use(report, model, gate_rank, batch > 0 ? batch : BATCH, on_training_set));
done:
    return st;
}

static void gates_json(tsri_json *w, const tsri_gates_report *t)
{
    double none = (double)NAN;
    const tsri_judged *j = &t->judged;
    tsri_json_key(w, "gates");
    tsri_json_open(w, '{');
    tsri_json_put_int(w, "rank", t->gate_rank);
    tsri_json_put_int(w, "batch", t->batch);
    tsri_json_put_real(w, "agreement", t->overall);
    tsri_json_key(w, "agreement_layers");
    tsri_json_open(w, '[');
    for (int64_t l = 0; l < t->layers; l++)
        tsri_json_real(w, t->agreement[l]);
    tsri_json_close(w, ']');
    tsri_json_put_real(w, "loss", j->n > 0 ? j->loss[1] : none);
    tsri_json_put_real(w, "loss_exact", j->n > 0 ? j->loss[0] : none);
    tsri_json_put_real(w, "accuracy", j->n > 0 ? j->accuracy[1] : none);
    tsri_json_put_real(w, "accuracy_exact", j->n > 0 ? j->accuracy[0] : none);
    tsri_json_put_real(w, "difference_mean", j->n > 0 ? j->difference : none);
    tsri_json_put_int(w, "skipping", t->skipping);
    tsri_json_put_real(w, "seconds_sample", t->seconds[1]);
    tsri_json_put_real(w, "seconds_sample_exact", t->seconds[0]);
    tsri_json_put_real(w, "seconds_sample_relu", t->seconds[2]);
    tsri_json_close(w, '}');
}

tsr_status tsr_model_gates(char **json, tsr_model *model, const char *gates, int64_t batch,
                           bool on_training_set)
{
    tsr_status st = TSR_OK;
    tsri_gates_report report = {0};
    tsri_json w = {0};
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(model);
    TSR_TRY(use_gates(&report, model, gates, batch, on_training_set));
    const tsri_judged *j = &report.judged;
    tsri_json_begin(&w);
    tsri_json_put_int(&w, "n", report.n);
    tsri_json_put_real(&w, "loss", j->n > 0 ? j->loss[1] : (double)NAN);
    tsri_json_put_real(&w, "accuracy", j->n > 0 ? j->accuracy[1] : (double)NAN);
    gates_json(&w, &report);
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    tsri_gates_fini(&report);
    return st;
}

/* ---- Answers -------------------------------------------------------------------------------- */

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

/* Names are those of the data, never cut: readers of the answers look for them. */
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
        TSR_TRY(tsri_text_add(out, "%lld", (long long)a->p.row[i]));
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
        tsri_json_put_int(w, "row", a->p.row[i]);
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

static tsr_status as_text(char **text, const answers *a, bool json)
{
    tsr_status st = TSR_OK;
    tsri_text csv = {0};
    tsri_json w = {0};
    if (json) {
        write_json(&w, a);
        TSR_TRY(tsri_json_give(text, &w));
    } else {
        TSR_TRY(write_csv(&csv, a));
        TSR_TRY(tsri_text_give(text, &csv));
    }
done:
    tsri_text_fini(&csv);
    tsri_json_fini(&w);
    return st;
}

static tsr_status to_file(const answers *a, const char *path)
{
    tsr_status st = TSR_OK;
    char *text = NULL;
    if (ends_in(path, ".npy"))
        return write_npy(a, path);
    TSR_TRY(as_text(&text, a, ends_in(path, ".json")));
    TSR_TRY(tsri_file_write_text(path, text));
done:
    tsri_free(text);
    return st;
}

/* With gates they are measured beside; the outputs move to the answers. */
static tsr_status ask_gates(answers *a, tsri_gates_report *gates, tsr_model *model,
                            const tsr_answers_options *o)
{
    tsr_status st = TSR_OK;
    TSR_TRY(use_gates(gates, model, o->gates, o->batch, o->on_training_set));
    a->p = (tsri_predictions){.n = gates->n,
                              .width = gates->width,
                              .classes = gates->label != NULL,
                              .outputs = gates->outputs,
                              .label = gates->label,
                              .row = gates->row};
    gates->outputs = NULL;
    gates->label = NULL;
    gates->row = NULL;
done:
    return st;
}

static tsr_status tell(char **told, const answers *a, const char *path,
                       const tsri_gates_report *gates)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_put_int(&w, "n", a->p.n);
    tsri_json_put_int(&w, "outputs", a->p.width);
    if (path)
        tsri_json_put_text(&w, "file", path);
    if (gates->n > 0)
        gates_json(&w, gates);
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_give(told, &w));
done:
    tsri_json_fini(&w);
    return st;
}

static tsr_status answer(char **text, char **told, answers *a, tsr_model *model,
                         const tsr_answers_options *o)
{
    tsr_status st = TSR_OK;
    tsri_gates_report gates = {0};
    tsri_model_asked asked = {.on_training_set = o->on_training_set, .unlabelled = true};
    a->model = model;
    a->probabilities = o->probabilities;
    if (o->gates || o->batch > 0)
        TSR_TRY(ask_gates(a, &gates, model, o));
    else
        TSR_TRY(tsri_model_predict(&a->p, model, &asked));
    TSR_CHECK(a->p.classes || !a->probabilities, TSR_USAGE,
              "--probabilities is for classes; %s predicts real numbers", model->path);
    if (o->path)
        TSR_TRY(to_file(a, o->path));
    else
        TSR_TRY(as_text(text, a, o->json));
    if (told)
        TSR_TRY(tell(told, a, o->path, &gates));
done:
    tsri_gates_fini(&gates);
    return st;
}

tsr_status tsr_model_answers(char **text, char **told, tsr_model *model,
                             const tsr_answers_options *options)
{
    tsr_status st = TSR_OK;
    tsr_answers_options o;
    answers a = {0};
    if (told)
        *told = NULL;
    TSRI_GIVEN(text);
    *text = NULL;
    TSRI_GIVEN(model);
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_TRY(answer(text, told, &a, model, &o));
done:
    if (st != TSR_OK && text)
        TSRI_FREE(*text);
    tsri_predictions_fini(&a.p);
    return st;
}
